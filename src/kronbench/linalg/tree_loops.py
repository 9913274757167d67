"""Sums along the paths of a tree and over what lies below its nodes, for the rows of a block."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

# Rows of a block that pass the tree together, so that each node is looked up once for all of them.
_TOGETHER = 16


@njit(cache=True)
def _take_rows(block, low, places, sums):
    """sums[places[c], r] = block[low + r, c]."""
    size = min(_TOGETHER, len(block) - low)
    for i in range(len(places)):
        row = sums[places[i]]
        for r in range(size):
            row[r] = block[low + r, i]


@njit(cache=True)
def _give_rows(sums, places, low, out):
    """out[low + r, c] = sums[places[c], r]."""
    size = min(_TOGETHER, len(out) - low)
    for i in range(len(places)):
        row = sums[places[i]]
        for r in range(size):
            out[low + r, i] = row[r]


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
