"""Sums along the paths of a tree and over what lies below its nodes, for the rows of a block."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

# Rows of a block that pass the tree together, so that each node is looked up once for all of them.
_TOGETHER = 16


@njit(cache=True)
def _take_rows(block, low, places, sums):
    """sums[places[c], r] = block[low + r, c], four rows at once."""
    size = min(_TOGETHER, len(block) - low)
    for r in range(0, size - 3, 4):
        a, b, c, d = block[low + r], block[low + r + 1], block[low + r + 2], block[low + r + 3]
        for i in range(len(places)):
            four = sums[places[i], r : r + 4]
            four[0], four[1], four[2], four[3] = a[i], b[i], c[i], d[i]
    for r in range(size - size % 4, size):
        for i in range(len(places)):
            sums[places[i], r] = block[low + r, i]


@njit(cache=True)
def _give_rows(sums, places, low, out):
    """out[low + r, c] = sums[places[c], r], four rows at once."""
    size = min(_TOGETHER, len(out) - low)
    for r in range(0, size - 3, 4):
        a, b, c, d = out[low + r], out[low + r + 1], out[low + r + 2], out[low + r + 3]
        for i in range(len(places)):
            four = sums[places[i], r : r + 4]
            a[i], b[i], c[i], d[i] = four[0], four[1], four[2], four[3]
    for r in range(size - size % 4, size):
        for i in range(len(places)):
            out[low + r, i] = sums[places[i], r]


@njit(parallel=True, cache=True)
def pass_tree(block, take_at, give_at, up, weights, upward, out):
    """Rows of a block from the places of some nodes through the tree to those of others.

    Nodes are in the order of their depths, ``up`` is where the parent of each stands.
    """
    for part in prange(-(-len(block) // _TOGETHER)):
        low = part * _TOGETHER
        sums = np.zeros((len(up), _TOGETHER), block.dtype)
        _take_rows(block, low, take_at, sums)
        # For each node the sum over its leaves (Algorithm 2)
        if upward:
            for k in range(len(up) - 1, 0, -1):
                above, here = sums[up[k]], sums[k]
                for r in range(_TOGETHER):
                    above[r] += here[r]
            sums[0] = 0
        # For each node the weighted sum along its path (Algorithm 1)
        for k in range(1, len(weights)):
            above, here, weight = sums[up[k]], sums[k], weights[k]
            for r in range(_TOGETHER):
                here[r] = here[r] * weight + above[r]
        _give_rows(sums, give_at, low, out)
