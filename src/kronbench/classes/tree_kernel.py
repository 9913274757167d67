"""The kernel exp(-d / width) of the path lengths d between the leaves of a tree."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kronbench.errors import InputError, check_positive


def path_features(parents: np.ndarray, leaves: np.ndarray, width: float) -> sparse.csr_array:
    """Features whose inner products are exp(-d / width) exactly, d edges between two leaves.

    Parameters
    ----------
    parents : (P,) integer array
        ``parents[0] == -1`` is the root; a node comes after its parent.
    leaves : (C,) integer array
    width : float

    Returns
    -------
    (C, P) sparse array, as many entries in a row as its leaf has nodes on its path to the root.

    Raises
    ------
    InputError
        ``parents`` is no tree whose nodes come after their parents, or the width is not positive.

    Notes
    -----
    Stock et al. 2016, Section 6.3, with the width 10. rho^d with rho = exp(-1 / width) is the
    covariance of the process z_v = rho z_parent + noise of variance 1 - rho^2 that starts with
    variance 1 at the root; a feature is the coefficient of one node's noise.
    """
    parents, node = np.asarray(parents), np.asarray(leaves)
    if len(parents) == 0 or parents[0] != -1 or (parents[1:] < 0).any():
        raise InputError("parents has no root at its start, or another one: give -1 there alone")
    if (parents >= np.arange(len(parents))).any():
        raise InputError("parents is not ordered: give every node after its parent")
    decay = np.exp(-1.0 / check_positive(width, "width"))
    weight = np.ones(len(node))
    entries, row = [], np.arange(len(node))
    while len(node):
        scale = np.where(node == 0, 1.0, np.sqrt(1.0 - decay**2))
        entries.append((row, node, weight * scale))
        below = node > 0
        row, node, weight = row[below], parents[node[below]], decay * weight[below]
    rows, cols, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return sparse.csr_array((values, (rows, cols)), shape=(len(leaves), len(parents)))
