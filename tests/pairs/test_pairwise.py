"""Pairwise kernels against their formulas, entry by entry."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kronbench.errors import InputError
from kronbench.pairs import PAIRWISE, PairwiseOperator

ONE_SET = ("symmetric", "antisymmetric", "mlpk", "ranking")


def formula(name, K, G, d, t, e, u):
    """k((d, t), (e, u)) as the table of the module says it; the vertices of one number are one."""
    if name in ONE_SET:
        d_e, d_u, t_e, t_u = K[d, e], K[d, u], K[t, e], K[t, u]
        return {
            "symmetric": d_e * t_u + d_u * t_e,
            "antisymmetric": d_e * t_u - d_u * t_e,
            "mlpk": (d_e - d_u - t_e + t_u) ** 2,
            "ranking": d_e - d_u - t_e + t_u,
        }[name]
    return {
        "kronecker": K[d, e] * G[t, u],
        "linear": K[d, e] + G[t, u],
        "poly2d": (K[d, e] + G[t, u]) ** 2,
        "cartesian": K[d, e] * (t == u) + (d == e) * G[t, u],
    }[name]


def problem(name, seed, f=23, e=17):
    """Matrices between more vertices and fewer, and pairs of both, some of them twice."""
    rng = np.random.default_rng(seed)
    a, b, c, q = (7, 5, 7, 5) if name in ONE_SET else (7, 5, 6, 4)
    K, G = rng.standard_normal((a, b)), rng.standard_normal((c, q))
    out = rng.integers(a, size=f), rng.integers(c, size=f)
    in_ = rng.integers(b, size=e), rng.integers(q, size=e)
    return K, None if name in ONE_SET else G, out, in_


def dense(name, K, G, out, in_):
    return np.array(
        [
            [formula(name, K, G, *pair, *known) for known in zip(*in_, strict=True)]
            for pair in zip(*out, strict=True)
        ]
    )


@pytest.mark.parametrize("gather", [0, np.inf])
def test_both_ways_to_match_vertices_are_the_formula(monkeypatch, gather, rng):
    monkeypatch.setattr("kronbench.pairs.pairwise._OPERATIONS_A_GATHER", gather)
    K, G, out, in_ = problem("cartesian", seed=6)
    new = {"row_match": [0, -1, 2, 3, 4, 1, -1], "col_match": [3, 1, -1, 0, 2, 2]}
    operator = PairwiseOperator("cartesian", K, G, *out, *in_, **new)
    row, col = (np.array(new[side])[index] for side, index in zip(new, out, strict=True))
    same_row, same_col = row[:, None] == in_[0], col[:, None] == in_[1]
    Q = K[np.ix_(out[0], in_[0])] * same_col + same_row * G[np.ix_(out[1], in_[1])]
    X, Y = rng.standard_normal((len(in_[0]), 3)), rng.standard_normal((len(out[0]), 2))
    np.testing.assert_allclose(operator @ X, Q @ X, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(operator.T @ Y, Q.T @ Y, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("method", ["sparse", "dense", "auto"])
@pytest.mark.parametrize("name", PAIRWISE)
def test_products_adjoints_and_restrictions_are_those_of_the_dense_matrix(name, method, rng):
    K, G, out, in_ = problem(name, seed=3)
    operator = PairwiseOperator(name, K, G, *out, *in_, method=method)
    Q = dense(name, K, G, out, in_)
    X, Y = rng.standard_normal((len(in_[0]), 3)), rng.standard_normal((len(out[0]), 2))
    np.testing.assert_allclose(operator @ X, Q @ X, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(operator.T @ Y, Q.T @ Y, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(operator @ X[:, 0], Q @ X[:, 0], rtol=1e-10, atol=1e-10)
    keep_out, keep_in = rng.random(len(Q)) < 0.5, rng.random(len(X)) < 0.5
    part, block = operator.restrict(keep_out, keep_in), Q[keep_out][:, keep_in]
    np.testing.assert_allclose(part @ X[keep_in], block @ X[keep_in], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(part.T @ Y[keep_out], block.T @ Y[keep_out], rtol=1e-10, atol=1e-10)


@given(
    st.integers(0, 10**6),
    st.dictionaries(st.sampled_from(PAIRWISE[:4]), st.floats(0.1, 9), min_size=1),
)
def test_a_sum_of_kernels_has_the_sum_of_their_matrices(seed, weights):
    K, G, out, in_ = problem("linear", seed, f=5, e=6)
    Q = sum(weight * dense(name, K, G, out, in_) for name, weight in weights.items())
    operator = PairwiseOperator(weights, K, G, *out, *in_)
    np.testing.assert_allclose(operator @ np.eye(6), Q, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("pairwise", "col", "sentence"),
    [
        ("kroneker", True, "'kroneker' is unknown"),
        ({}, True, "give a name, or a mapping"),
        ({"linear": -1}, True, "give a positive number"),
        ({"linear": np.nan}, True, "give a positive number"),
        ("symmetric", True, "one vertex set: give row_matrix only"),
        ("linear", False, "two vertex sets: give both matrices"),
    ],
)
def test_what_is_no_pairwise_kernel_is_refused(pairwise, col, sentence):
    with pytest.raises(InputError, match=sentence):
        PairwiseOperator(pairwise, np.eye(2), np.eye(2) if col else None, [0, 1], [1, 0])
