"""What products with class kernels cost: in classes, in folds, stored or made anew.

Parameters
----------
stored : number of points whose kernel matrix is stored
classes : numbers of classes
gamma : width of the Gaussian kernel
dtype : precision
"""

from functools import partial

import numpy as np
import pandas as pd
from numba import njit, prange

from kronbench.class_tree.kernels import GaussianKernels
from kronbench.linalg.gram_matrix import squared_distances
from kronbench_suite.papers.seeger.measure.reject_curves import to_unit_range
from kronbench_suite.runner.clock import time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns

# The shortest products take a tenth of a millisecond: nine of them say little.
_MOST_REPEATS = 99

COLUMNS = TIMING | Columns(key=("comparison", "way"))


def run(spec, data, rng):
    """One row for each ``comparison``, ``way`` and number of classes (Seeger 2006, 3, 6.2, D.1).

    - classes: a stored Gaussian kernel and growing numbers of classes.
    - folds: a submatrix of it times one vector. Its rows and columns are contiguous (permuted
      once, section D.1), looked up element by element in a loop, copied, or all used with a
      zero-padded vector.
    - stored: the kernel, and the exponential of stored squared distances in each product.
    """
    train = ~data["is_test"]
    part = to_unit_range(data["X"], train)[train][: spec["stored"]]
    # Section 3: one kernel for all classes, times a vector for each of them.
    kernels = GaussianKernels(part, [spec["gamma"]], spec["dtype"])
    blocks = {
        C: rng.standard_normal((len(part), C)).astype(kernels.dtype) for C in spec["classes"]
    }
    distances = squared_distances(part)
    K = np.exp(-spec["gamma"] * distances)
    comparisons = {"classes": {C: partial(kernels.product, blocks[C]) for C in blocks}}
    n = len(K)
    # Section D.1: four fifths of the points, first in a permuted matrix.
    index = np.sort(rng.permutation(n)[: 4 * n // 5])
    order = np.concatenate([index, np.setdiff1d(np.arange(n), index)])
    permuted = np.ascontiguousarray(K[np.ix_(order, order)])
    v = rng.standard_normal(len(index))
    padded = np.zeros(n)
    padded[index] = v
    comparisons["folds"] = {
        "contiguous": lambda: permuted[: len(v), : len(v)] @ v,
        "looked up": lambda: _looked_up(K, index, v),
        "copied": lambda: K[np.ix_(index, index)] @ v,
        "zero-padded": lambda: (K @ padded)[index],
    }
    # Section 6.2: a stored matrix, or distances of which the kernel is made each time.
    block = rng.standard_normal((n, 8))
    comparisons["stored"] = {
        "stored": lambda: K @ block,
        "from distances": lambda: np.exp(-spec["gamma"] * distances) @ block,
    }
    rows = []
    for comparison, ways in comparisons.items():
        products = [function() for function in ways.values()]  # compiles
        if comparison != "classes":  # several ways to one product
            for way, product in zip(ways, products, strict=True):
                np.testing.assert_allclose(product, products[0], 1e-8, 1e-10, err_msg=way)
        # in turn
        for way, (_, timing) in time_interleaved(ways, max_repeats=_MOST_REPEATS).items():
            classes = {"folds": 1, "stored": 8}.get(comparison, way)
            row = {"comparison": comparison, "way": str(way), "classes": classes}
            rows.append(row | timing.columns())
    return pd.DataFrame(rows)


@njit(parallel=True)
def _looked_up(K, index, v):
    out = np.empty(len(index))
    for i in prange(len(index)):
        total = 0.0
        for j in range(len(index)):
            total += K[index[i], index[j]] * v[j]
        out[i] = total
    return out
