"""Collections of documents with a class tree, cut down to a part of it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kronbench.class_tree import Tree


def some_subclasses(
    X: np.ndarray | sparse.csr_array,
    y: np.ndarray,
    parents: np.ndarray,
    most_documents: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray | sparse.csr_array, np.ndarray, np.ndarray]:
    """X, y, parents of whole subclasses (parents of leaves).

    As many in a random order as have at most ``most_documents`` documents together; all where
    there are no more. Nodes and words without documents do not occur.
    """
    if len(y) <= most_documents:
        return X, y, parents
    tree = Tree(parents)
    home = tree.parents[tree.leaves][y]
    subclasses, counts = np.unique(home, return_counts=True)
    order = rng.permutation(len(subclasses))
    kept = subclasses[order[np.cumsum(counts[order]) <= most_documents]]
    rows = np.flatnonzero(np.isin(home, kept))
    # number the nodes on the paths to these documents anew
    used = np.unique(np.concatenate([[0], tree.paths[np.unique(y[rows])].ravel()]))
    used = used[used >= 0]
    smaller = Tree(np.concatenate([[-1], np.searchsorted(used, tree.parents[used[1:]])]))
    labels = np.searchsorted(used[smaller.leaves], tree.leaves[y[rows]])
    if isinstance(X, np.ndarray):
        return X[rows], labels, smaller.parents
    words = sparse.csr_array(X)[rows]
    return words[:, np.unique(words.indices)], labels, smaller.parents
