"""Products with the path matrix against the dense matrix, and trees that are refused."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kronbench.class_tree import Tree
from kronbench.errors import InputError

seeds = st.integers(0, 2**32 - 1)


def random_parents(rng, n_nodes):
    """A random tree whose nodes come in any order, with chains and leaves of many depths."""
    parents = np.concatenate([[-1], [rng.integers(max(0, k - 4), k) for k in range(1, n_nodes)]])
    place = np.concatenate([[0], 1 + rng.permutation(n_nodes - 1)])
    shuffled = np.empty(n_nodes, np.int64)
    shuffled[place] = np.where(parents < 0, -1, place[parents])
    return shuffled


def path_matrix(parents):
    """Phi_L (C, P), by walking up from each leaf."""
    leaves = sorted(set(range(len(parents))) - set(parents.tolist()))
    Phi = np.zeros((len(leaves), len(parents) - 1))
    for c, node in enumerate(leaves):
        while node > 0:
            Phi[c, node - 1] = 1
            node = parents[node]
    return Phi


@given(seeds, st.integers(2, 30), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=40, deadline=None)
def test_products_are_those_of_the_path_matrix(seed, n_nodes, dtype):
    rng = np.random.default_rng(seed)
    parents = random_parents(rng, n_nodes)
    tree, Phi = Tree(parents), path_matrix(parents)
    n = int(rng.integers(1, 6))
    F = rng.standard_normal((n, n_nodes - 1)).astype(dtype)
    A = rng.standard_normal((n, len(Phi))).astype(dtype)
    variance = rng.exponential(size=n_nodes - 1)
    tol = {"rtol": 0, "atol": 1e-4 if dtype == np.float32 else 1e-10}
    np.testing.assert_allclose(tree.sum_paths(F), F @ Phi.T, **tol)
    np.testing.assert_allclose(tree.sum_below(A), A @ Phi, **tol)
    np.testing.assert_allclose(
        tree.couple(A, variance), A @ Phi @ np.diag(variance) @ Phi.T, **tol
    )
    assert tree.sum_paths(F).dtype == tree.couple(A, variance).dtype == dtype
    diagonal = Phi @ np.diag(variance) @ Phi.T
    np.testing.assert_allclose(tree.diagonal(variance[None, :])[0], diagonal.diagonal())
    for node in range(n_nodes):
        below = Phi[:, node - 1] > 0 if node else np.ones(len(Phi), bool)
        np.testing.assert_array_equal(tree.members(node), below)


def test_groups_of_nodes():
    tree = Tree([-1, 2, 0, 0, 2, 4, 3])  # leaves 1, 5, 6
    np.testing.assert_array_equal(tree.levels, [1, 0, 0, 1, 2, 1])
    np.testing.assert_array_equal(tree.subtrees, [0, 0, 1, 0, 0, 1])
    np.testing.assert_array_equal(tree.leaf_subtrees, [0, 0, 1])
    np.testing.assert_array_equal(tree.paths, [[2, 1, -1], [2, 4, 5], [3, 6, -1]])


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([0, 0, 0], "start with -1"),
        ([[-1, 0]], "start with -1"),
        ([-1], "has only a root"),
        ([-1, 0, -1], "a second root, node 2"),
        ([-1, 0, 5], "outside 0..2"),
        ([-1, 0, 3, 2, 3], "cycle: node 2"),
        ([-1, 0, 2], "cycle: node 2"),
    ],
)
def test_bad_trees_are_refused(parents, message):
    with pytest.raises(InputError, match=message):
        Tree(parents)


def test_blocks_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"give \(n, 2\)"):
        Tree.flat(2).sum_below(np.ones((3, 4)))
    with pytest.raises(InputError, match="node 7 is not in the tree"):
        Tree.flat(2).members(7)
