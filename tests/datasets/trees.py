"""The contract of every class tree of a collection."""

import numpy as np


def check_tree(parents):
    """Root first, parents before children, the classes last; how many classes there are."""
    assert parents[0] == -1
    assert (parents[1:] < np.arange(1, len(parents))).all()
    leaves = np.setdiff1d(np.arange(len(parents)), parents)
    np.testing.assert_array_equal(leaves, np.arange(len(parents) - len(leaves), len(parents)))
    return len(leaves)


def check_corpus(arrays):
    """Such a tree, of whose classes each has a document."""
    n_classes = check_tree(arrays["parents"])
    assert np.bincount(arrays["y"], minlength=n_classes).min() > 0
    assert arrays["y"].max() == n_classes - 1
