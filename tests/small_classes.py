"""A small class tree with documents, and a few pixels, for the experiments of Seeger (2006)."""

import numpy as np
from scipy import sparse

from kronbench.class_tree import Tree
from kronbench.datasets.dataset import Dataset

# Two children of the root, two subclasses each, three leaves each.
PARENTS = np.array([-1, 0, 0, 1, 1, 2, 2, *np.repeat([3, 4, 5, 6], 3)])
COMMON = {"seed": 1, "time_cap": 60, "folds": 3, "bias_variance": 0.1, "dtype": "float32"}


def documents(n=240, d=60, dense=False, name="ipc-d"):
    rng = np.random.default_rng(0)
    tree = Tree(PARENTS)
    y = rng.integers(0, tree.n_classes, n)
    topics = rng.random((tree.n_nodes, d)) ** 6
    rates = 0.1 + 8 * tree.sum_paths(topics.T).T[y] / 3
    X = rng.poisson(rates * (0.2 if not dense else 1)).astype(float)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    arrays = {"X": X if dense else sparse.csr_array(X), "y": y, "parents": PARENTS}
    kind = "vectors" if dense else "documents"
    return Dataset(name=name, source="mirror", kind=kind, arrays=arrays)


def pixels(n=260, n_test=80):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = 100 + 30 * rng.standard_normal((3, 4))[y] + 20 * rng.standard_normal((n, 4))
    arrays = {"X": X, "y": y, "is_test": np.arange(n) >= n - n_test}
    return Dataset(name="satimage", source="mirror", kind="vectors", arrays=arrays)
