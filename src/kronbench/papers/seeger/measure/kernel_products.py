"""What products with class kernels cost: in classes, in trees, in folds, stored or made anew."""

import numpy as np
import pandas as pd
from numba import njit, prange
from scipy import sparse

from kronbench.class_tree import Tree
from kronbench.class_tree.covariance import DualCovariance
from kronbench.class_tree.kernels import DenseFeatures, GaussianKernels, SparseFeatures
from kronbench.linalg.gram_matrix import squared_distances
from kronbench.papers.seeger.measure.reject_curves import to_unit_range
from kronbench.runner.clock import time_interleaved
from kronbench.runner.columns import TIMING, Columns

# The shortest products take a tenth of a millisecond: nine of them say little.
_MOST_REPEATS = 99

COLUMNS = TIMING | Columns(
    key=("comparison", "way"),
    clock=("gbytes_per_second",),
)


def run(spec, data, rng):
    """One row for each ``comparison``, ``way`` and number of classes (Seeger 2006, 4, 6.2, D.1).

    - classes: one kernel and growing numbers of classes, the linear kernel of words or a stored
      Gaussian kernel of vectors.
    - tree: the flat and the hierarchical product of the data's own tree; ``bound`` is P / C.
    - folds: a submatrix of a stored Gaussian kernel times one vector. Its rows and columns are
      contiguous (permuted once, section D.1), looked up element by element in a loop, copied, or
      all used with a zero-padded vector. ``gbytes_per_second`` are those of the submatrix, where a
      way reads it alone and once.
    - stored: a stored kernel, and the exponential of stored squared distances in each product.

    Documents have a tree, vectors the last two.
    """
    rows = []
    if "parents" in data.arrays:
        X = data["X"]
        kernels = SparseFeatures(X, spec["dtype"]) if sparse.issparse(X) else DenseFeatures(X)
        if sparse.issparse(X):
            rows += _classes(kernels, spec["classes"], rng)
        rows += _trees(kernels, Tree(data["parents"]), rng)
        return pd.DataFrame(rows)
    train = ~data["is_test"]
    part = to_unit_range(data["X"], train)[train][: spec["stored"]]
    rows += _classes(GaussianKernels(part, [spec["gamma"]], spec["dtype"]), spec["classes"], rng)
    distances = squared_distances(part)
    K = np.exp(-spec["gamma"] * distances)
    rows += _folds(K, rng)
    block = rng.standard_normal((len(K), 8))
    ways = {
        "stored": lambda: K @ block,
        "from distances": lambda: np.exp(-spec["gamma"] * distances) @ block,
    }
    rows += _rows("stored", ways, classes=8)
    return pd.DataFrame(rows)


def _classes(kernels, numbers, rng):
    blocks = {C: rng.standard_normal((kernels.n_rows, C)).astype(kernels.dtype) for C in numbers}
    ways = {C: lambda block=block: kernels.product(block) for C, block in blocks.items()}
    return _rows("classes", ways)


def _rows(comparison, ways, classes=None):
    """Timed in turn; with None the name of each way is its number of classes."""
    products = [function() for function in ways.values()]  # compiles
    if comparison in ("folds", "stored"):  # several ways to one product
        for way, product in zip(ways, products, strict=True):
            np.testing.assert_allclose(product, products[0], 1e-8, 1e-10, err_msg=way)
    for way, (_, timing) in time_interleaved(ways, max_repeats=_MOST_REPEATS).items():
        yield {
            "comparison": comparison,
            "way": str(way),
            "classes": classes or way,
            **timing.columns(),
        }


def _trees(kernels, tree, rng):
    block = rng.standard_normal((kernels.n_rows, tree.n_classes)).astype(kernels.dtype)
    ways = {}
    for name, model in {"flat": Tree.flat(tree.n_classes), "tree": tree}.items():
        covariance = DualCovariance(kernels, model, np.ones(model.n_nodes), 0.1)
        ways[name] = lambda c=covariance: c.image(block)
    bound = tree.n_nodes / tree.n_classes
    for row in _rows("tree", ways, tree.n_classes):
        yield row | {"bound": bound}


def _folds(K, rng):
    n = len(K)
    index = np.sort(rng.permutation(n)[: 4 * n // 5])
    order = np.concatenate([index, np.setdiff1d(np.arange(n), index)])
    permuted = np.ascontiguousarray(K[np.ix_(order, order)])
    v = rng.standard_normal(len(index))
    padded = np.zeros(n)
    padded[index] = v
    ways = {
        "contiguous": lambda: permuted[: len(v), : len(v)] @ v,
        "looked up": lambda: _looked_up(K, index, v),
        "copied": lambda: K[np.ix_(index, index)] @ v,
        "zero-padded": lambda: (K @ padded)[index],
    }
    gbytes = 8 * len(index) ** 2 / 1e9
    for row in _rows("folds", ways, classes=1):
        once = row["way"] in ("contiguous", "looked up")
        yield row | {"gbytes_per_second": gbytes / row["seconds"] if once else np.nan}


@njit(parallel=True)
def _looked_up(K, index, v):
    out = np.empty(len(index))
    for i in prange(len(index)):
        total = 0.0
        for j in range(len(index)):
            total += K[index[i], index[j]] * v[j]
        out[i] = total
    return out
