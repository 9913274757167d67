"""Standard deviations of KronRidge against the dense formula."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kronbench import InputError, PairData
from kronbench.linalg import gram
from kronbench.models import KronRidge, _posterior
from kronbench.models._posterior import _inverse_form
from kronbench.pairs import PairwiseOperator
from tests.models.kron_problems import random_pairs

EXACT = {"tol": 1e-14, "max_iter": 2000, "product": "sparse"}
GAUSSIAN = {"row_kernel": "gaussian", "col_kernel": "tanimoto", "row_gamma": 0.3}


@pytest.fixture
def problem():
    X = random_pairs(15, 12, 120, seed=0)
    return X[:90], np.random.default_rng(0).normal(size=90), X


def dense_std(model, Q, K, prior, y):
    """The Gaussian process with covariance s k and noise s reg, s by maximum likelihood."""
    A = Q + model.reg * np.eye(len(y))
    scale = y @ np.linalg.solve(A, y) / len(y)
    variance = scale * (prior - np.einsum("ij,ji->i", K, np.linalg.solve(A, K.T)))
    return np.sqrt(np.maximum(variance, 0)), scale * model.reg


def kernels(X, Z, row_effect=0.0, col_effect=0.0):
    """Kernel of pairs of X with those of Z, over the same vertices."""
    K = gram(X.row_features, kernel="gaussian", gamma=0.3) + row_effect * np.eye(X.n_rows)
    G = gram(X.col_features, kernel="tanimoto") + col_effect * np.eye(X.n_cols)
    return K[np.ix_(X.rows, Z.rows)] * G[np.ix_(X.cols, Z.cols)]


@pytest.mark.parametrize("effects", [{}, {"row_effect": 0.5, "col_effect": 0.2}])
@pytest.mark.parametrize("reg", [1e-2, 1.0])
def test_the_dense_formula(problem, reg, effects):
    X, y, everything = problem
    model = KronRidge(reg=reg, **GAUSSIAN, **effects, **EXACT).fit(X, y)
    Q, K = kernels(X, X, **effects), kernels(everything, X, **effects)
    prior = np.diagonal(kernels(everything, everything, **effects))
    std, noise = dense_std(model, Q, K, prior, y)
    assert model.noise_variance_ == pytest.approx(noise)
    predicted = model.predict(everything, return_std=True)
    np.testing.assert_array_equal(predicted[0], model.predict(everything))
    np.testing.assert_array_equal(predicted[1], model.predict_std(everything))
    np.testing.assert_allclose(model.predict_std(everything), std, atol=1e-8)


def test_new_vertices_in_both_forms(problem):
    X, y, _ = problem
    model = KronRidge(reg=0.1, **GAUSSIAN, **EXACT).fit(X, y)
    new = random_pairs(6, 5, 20, seed=1)
    K, G = (
        gram(new.row_features, X.row_features, kernel="gaussian", gamma=0.3),
        gram(new.col_features, X.col_features, kernel="tanimoto"),
    )
    K = K[np.ix_(new.rows, X.rows)] * G[np.ix_(new.cols, X.cols)]
    std, _ = dense_std(model, kernels(X, X), K, np.ones(20), y)
    np.testing.assert_allclose(model.predict_std(new), std, atol=1e-8)
    primal = KronRidge(reg=0.1, form="primal", **GAUSSIAN, **EXACT).fit(X, y)
    np.testing.assert_allclose(primal.predict_std(new), std, atol=1e-7)
    assert primal.noise_variance_ == pytest.approx(model.noise_variance_)


@pytest.mark.parametrize("pairwise", ["cartesian", {"kronecker": 1.0, "linear": 0.5}])
def test_other_kernels_of_pairs(problem, pairwise):
    X, y, everything = problem
    model = KronRidge(reg=0.3, pairwise=pairwise, **GAUSSIAN, **EXACT).fit(X, y)
    K = gram(X.row_features, kernel="gaussian", gamma=0.3)
    G = gram(X.col_features, kernel="tanimoto")
    pairs = everything.rows, everything.cols
    Q = PairwiseOperator(pairwise, K, G, *pairs).matmat(np.eye(120))
    std, _ = dense_std(model, Q[:90, :90], Q[:, :90], np.diagonal(Q), y)
    np.testing.assert_allclose(model.predict_std(everything), std, atol=1e-8)


def test_precomputed_kernels_know_their_own_vertices_alone(problem):
    X, y, everything = problem
    K = gram(X.row_features, kernel="gaussian", gamma=0.3)
    G = gram(X.col_features, kernel="tanimoto")
    given = everything.with_features(K, G)
    model = KronRidge(row_kernel="precomputed", col_kernel="precomputed", reg=0.3, **EXACT)
    known = (X.rows != 3) & (X.cols != 2)  # the others have kernel values alone
    by_name = KronRidge(reg=0.3, **GAUSSIAN, **EXACT).fit(X[known], y[known])
    model.fit(given[:90][known], y[known])
    np.testing.assert_allclose(model.predict(given), by_name.predict(everything), atol=1e-8)
    std = by_name.predict_std(everything)
    np.testing.assert_allclose(model.predict_std(given), std, atol=1e-8)
    # by their values they are known in any array of them, also for kernels of other pairs
    some = PairData(K[[5, 0]], G.copy(), [1, 0], [1, 1])
    the_same = PairData(K, G, [0, 5], [1, 1])
    np.testing.assert_array_equal(model.predict_std(some), model.predict_std(the_same))
    linear = clone(model).set_params(pairwise="linear").fit(given[:90], y)
    np.testing.assert_array_equal(linear.predict_std(some), linear.predict_std(the_same))
    new = PairData((K[:3] + K[3:6]) / 2, G, [0, 2], [1, 1])
    with pytest.raises(InputError, match="row_features is a precomputed kernel of new vertices"):
        model.predict_std(new)


def exact_std(model, X, new, weight):
    """Roots of noise_variance_ phi' (X'WX + reg I)^-1 phi by rational numbers."""

    def features(pairs):
        sides = pairs.row_features[pairs.rows].tolist(), pairs.col_features[pairs.cols].tolist()
        return [
            [Fraction(a) * Fraction(b) for a in of_row for b in of_col]
            for of_row, of_col in zip(*sides, strict=True)
        ]

    rows, p = features(X), X.row_features.shape[1] * X.col_features.shape[1]
    system = [
        [sum(w * x[i] * x[j] for w, x in zip(weight, rows, strict=True)) for j in range(p)]
        for i in range(p)
    ]
    variances = []
    for phi in features(new):
        # Gaussian elimination of [A phi; phi' 0] leaves -phi' A^-1 phi in the corner.
        table = [[*row, x] for row, x in zip(system, phi, strict=True)] + [[*phi, Fraction(0)]]
        for i in range(p):
            table[i][i] += Fraction(model.reg)
        for i in range(p):
            for k in range(i + 1, p + 1):
                factor = table[k][i] / table[i][i]
                table[k] = [x - factor * y for x, y in zip(table[k], table[i], strict=True)]
        variances.append(-float(table[p][p]))
    return np.sqrt(model.noise_variance_ * np.array(variances))


def raw_table(n, scale=1.0, seed=0):
    """Pairs of mass and logP with length and charge, as they come, each mass times ``scale``."""
    rng = np.random.default_rng(seed)
    drugs = np.column_stack([scale * rng.uniform(150, 500, 40), rng.normal(2, 1.5, 40)])
    targets = np.column_stack([rng.uniform(100, 900, 40), rng.normal(0, 5, 40)])
    return PairData(drugs, targets, rng.integers(40, size=n), rng.integers(40, size=n))


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reg", [1.0, 1e-3])
@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.filterwarnings("error")
def test_raw_features_are_exact_where_the_design_is_thin(form, weighted, reg, scale):
    X, rng = raw_table(90, scale), np.random.default_rng(1)
    X, new = X[:70], X[60:]
    y, weight = rng.normal(size=70), rng.integers(1, 4, 70)
    model = KronRidge(reg=reg, form=form).fit(X, y, sample_weight=weight if weighted else None)
    exact = exact_std(model, X, new, weight if weighted else np.ones(70, int))
    np.testing.assert_allclose(model.predict_std(new), exact, rtol=1e-6)


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
def test_iterations_are_right_or_warn_and_are_never_too_small(form, scale):
    X, y = raw_table(70, scale), np.random.default_rng(1).normal(size=70)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = KronRidge(form=form, solver="minres").fit(X, y)
    if form == "primal":  # as wide as needs iterations: the same kernel in 400 features more
        wide = np.hstack([X.row_features, np.zeros((40, 200))])
        X = X.with_features(wide, X.col_features)
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            model.fit(X, y)
    narrow = X.with_features(X.row_features[:, :2], X.col_features)
    exact = exact_std(model, narrow, narrow, np.ones(70, int))
    with warnings.catch_warnings(record=True, action="always") as said:
        found = model.predict_std(X)
    assert (found > 0.95 * exact).all()
    if (found > 1.05 * exact).any():
        assert "predict_std" in str(said[0].message)
        assert said[0].category is ConvergenceWarning
    if scale < 1:
        assert not said
    if scale == 1e6:
        assert said


def test_the_warning_counts_pairs_and_says_how_far_off_they_may_be(problem, monkeypatch):
    X, y, _ = problem
    model = KronRidge(**GAUSSIAN).fit(X, y)
    bounds = np.array([[4.0, 4.0, 4.0, 0.0], [4.0, 4.4, 9.0, 0.0]])
    monkeypatch.setattr(_posterior, "_bounds_of_few", lambda model, A, X: bounds)
    with pytest.warns(ConvergenceWarning, match=r"^predict_std of 1 of 4 .* up to 1.5 times"):
        found = model.predict_std(X[:4])
    unit = np.sqrt(model.noise_variance_)
    np.testing.assert_allclose(found / unit, np.sqrt(bounds[1]))
    bounds[0, 1] = 0  # nothing is known of it
    with pytest.warns(ConvergenceWarning, match=r"^predict_std of 2 of 4 .* up to inf times"):
        model.predict_std(X[:4])


@given(
    st.integers(1, 40),
    st.sampled_from([0.01, 0.3, 3.0]),
    st.sampled_from([1e-12, 1e-3, 0.5]),
    st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_bounds_of_a_form_hold_and_are_as_close_as_asked(n, decay, atol, seed):
    """For a matrix with eigenvalues exp(-decay i) and a vector in its range."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (vectors * np.exp(-decay * np.arange(n))) @ vectors.T
    b = A @ rng.normal(size=n)
    low, high = _inverse_form(aslinearoperator(A), b, atol, 1e-3)
    exact = b @ np.linalg.solve(A + 1e-3 * np.eye(n), b)
    assert low - 1e-14 <= exact <= high + 1e-14
    assert high - low <= 1.001 * atol + 1e-14


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(InputError, match="not positive semidefinite"):
        _inverse_form(aslinearoperator(np.diag([1.0, -3.0])), np.ones(2), 0.0, 0.1)
