"""Two-step and independent ridge regression: the paper's theorems, retraining, updates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge

from kronbench.errors import InputError
from kronbench.models.independent_ridge import IndependentRidge
from kronbench.models.two_step_ridge import TwoStepRidge
from kronbench.pairs import PairData
from tests.models.complete_problems import make_problem, problems, two_step


@settings(max_examples=40, deadline=None)
@given(problems, st.floats(-3, 3), st.floats(-3, 3))
def test_closed_form_solves_both_systems_and_theorem_3_holds_for_new_pairs(
    problem, log_row, log_col
):
    K, G, Y = make_problem(*problem)
    regs, rng = (10.0**log_row, 10.0**log_col), np.random.default_rng(problem[0])
    model = two_step(K, G, Y, regs)
    # the kernels with deltas, by least squares
    left, right = K + regs[0] * np.eye(len(K)), G + regs[1] * np.eye(len(G))
    np.testing.assert_allclose(left @ model.dual_coef_ @ right, Y, atol=1e-8)
    rows, cols = rng.normal(size=(3, len(K))), rng.normal(size=(2, len(G)))
    of_new = 1e-8 * (1 + np.abs(model.dual_coef_).max())
    for at, tol in (((K, G), 1e-8), ((rows, cols), of_new)):
        direct = at[0] @ np.linalg.solve(left, Y) @ np.linalg.solve(right, at[1].T)
        np.testing.assert_allclose(model.predict_matrix(*at), direct, atol=tol)


UPDATES = [  # old and new vertices, features: l < d, l = d, l > d, fewer vertices than features
    (12, 1, 5),
    (12, 3, 5),
    (12, 5, 5),
    (6, 20, 5),
    (4, 3, 9),
    (4, 20, 9),
]


@pytest.mark.parametrize(("m", "new", "d"), UPDATES)
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("other", ["primal", "dual"])
@pytest.mark.parametrize("side", ["rows", "cols"])
def test_updates_are_retraining(m, new, d, kernel, other, side, rng):
    features = rng.normal(size=(m + 2 * new, d))
    fixed = rng.normal(size=(7, 3 if other == "primal" else 8))
    Y = rng.normal(size=(len(features), 7))
    kernels = dict(row_kernel=kernel, row_gamma=0.1, col_kernel="linear")
    if side == "cols":
        kernels = {k.replace("row", "c").replace("col", "row").replace("c_", "col_"): v
                   for k, v in kernels.items()}  # fmt: skip
    model = TwoStepRidge(reg_rows=0.3, reg_cols=0.2, **kernels)
    whole = clone(model)
    rows = side == "rows"

    def given(part):
        sides = features[part], fixed
        return (*sides, Y[part]) if rows else (*sides[::-1], Y[part].T)

    model.fit_matrix(*given(slice(m)))
    update = model.partial_fit_rows if rows else model.partial_fit_cols
    for batch in (slice(m, m + new), slice(m + new, None)):
        assert update(features[batch], Y[batch] if rows else Y[batch].T) is model
    whole.fit_matrix(*given(slice(None)))
    at = (rng.normal(size=(4, d)), rng.normal(size=(3, fixed.shape[1])))[:: 1 if rows else -1]
    assert model.shape_ == whole.shape_
    np.testing.assert_allclose(model.predict_matrix(*at), whole.predict_matrix(*at), atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_, whole.dual_coef_, atol=1e-8)
    for setting in "ABCD":
        np.testing.assert_allclose(model.loo(setting), whole.loo(setting), atol=1e-8)


@pytest.mark.parametrize("reg", [1e-4, 1e-8, 1e-12])
def test_features_that_only_new_vertices_have(reg, rng):
    """The inverse has entries of 1 / reg, from which an update of it would leave no digit."""
    Phi, Psi, Y = rng.normal(size=(16, 5)), rng.normal(size=(9, 3)), rng.normal(size=(16, 9))
    Phi[:12, 4] = 0.0
    model = TwoStepRidge(reg_rows=reg, reg_cols=0.2).fit_matrix(Phi[:12], Psi, Y[:12])
    for row in range(12, 16):
        model.partial_fit_rows(Phi[[row]], Y[[row]])
    whole = TwoStepRidge(reg_rows=reg, reg_cols=0.2).fit_matrix(Phi, Psi, Y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    stream = IndependentRidge(reg=reg, keep_data=False).fit_matrix(Phi[:12], None, Y[:12])
    stream.partial_fit_rows(Phi[12:14], Y[12:14]).partial_fit_rows(Phi[14:], Y[14:])
    whole = IndependentRidge(reg=reg).fit_matrix(Phi, None, Y)
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-8, atol=1e-10)


def test_updates_of_precomputed_kernels():
    K, G, Y = make_problem(11, 9, 7, "full", "clipped")
    model = two_step(K[:5, :5], G[:4, :4], Y[:5, :4], (0.3, 0.2))
    model.partial_fit_rows(K[5:, :], Y[5:, :4]).partial_fit_cols(G[4:, :], Y[:, 4:])
    whole = two_step(K, G, Y, (0.3, 0.2))
    np.testing.assert_allclose(model.dual_coef_, whole.dual_coef_, atol=1e-8)
    new = np.random.default_rng(11).normal(size=(2, 9))
    np.testing.assert_allclose(
        model.predict_matrix(new, G), whole.predict_matrix(new, G), atol=1e-8
    )
    np.testing.assert_allclose(model.loo("D"), whole.loo("D"), atol=1e-8)


@pytest.mark.parametrize("reg", [1e-2, 1e-9, 1e-18])
def test_dual_updates_are_retraining_at_any_weight(reg, rng):
    Phi, Psi, Y = rng.normal(size=(140, 3)), rng.normal(size=(6, 8)), rng.normal(size=(140, 6))
    whole = TwoStepRidge(reg_rows=reg, reg_cols=0.2, row_kernel="gaussian", row_gamma=0.1)
    model = clone(whole).fit_matrix(Phi[:20], Psi, Y[:20])
    for batch in (slice(20, 80), slice(80, 140)):
        model.partial_fit_rows(Phi[batch], Y[batch])
    whole.fit_matrix(Phi, Psi, Y)
    at = rng.normal(size=(30, 3)), Psi
    assert np.isfinite(model.predict_matrix(*at)).all()
    np.testing.assert_array_equal(model.predict_matrix(*at), whole.predict_matrix(*at))


def test_sparse_features_and_labels(rng):
    Phi = rng.normal(size=(20, 4)) * (rng.random((20, 4)) < 0.5)
    Psi, Y = rng.normal(size=(9, 3)), 1.0 * (rng.random((20, 9)) < 0.2)
    dense = TwoStepRidge(reg_rows=0.3, reg_cols=0.2).fit_matrix(Phi, Psi, Y)
    thin = TwoStepRidge(reg_rows=0.3, reg_cols=0.2).fit_matrix(
        sparse.csr_array(Phi[:12]), Psi, sparse.csr_array(Y[:12])
    )
    thin.partial_fit_rows(sparse.csr_array(Phi[12:14]), sparse.csr_array(Y[12:14]))
    thin.partial_fit_rows(sparse.csr_array(Phi[14:]), sparse.csr_array(Y[14:]))
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(thin.dual_coef_, dense.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(thin.loo("B"), dense.loo("B"), atol=1e-10)
    at = sparse.csr_array(Phi[:5]), Psi
    np.testing.assert_allclose(
        thin.predict_matrix(*at), dense.predict_matrix(Phi[:5], Psi), atol=1e-10
    )


def test_updates_that_are_not_exact_are_refused():
    K, G, Y = make_problem(15, 5, 4, "full", "full")
    for model in (two_step(K, G, Y, row_filter="cutoff"), two_step(K, G, Y, (0.0, 1.0))):
        with pytest.raises(InputError, match="fit again"):
            model.partial_fit_rows(np.ones((1, 6)), np.ones((1, 4)))
    with pytest.raises(NotFittedError):
        TwoStepRidge().partial_fit_rows(np.ones((1, 6)), np.ones((1, 4)))
    model = two_step(K, G, Y)
    with pytest.raises(InputError, match="one column for each of the 5 old and the 1 new"):
        model.partial_fit_rows(np.ones((1, 5)), np.ones((1, 4)))
    with pytest.raises(InputError, match="row kernel of the new vertices is not symmetric"):
        model.partial_fit_rows(np.triu(np.ones((2, 7)), 6), np.ones((2, 4)))
    with pytest.raises(InputError, match=r"Y has shape \(1, 3\)"):
        model.partial_fit_rows(np.ones((1, 6)), np.ones((1, 3)))
    alone = IndependentRidge(keep_data=False).fit_matrix(K, None, Y)
    with pytest.raises(InputError, match="keep_data=True"):
        alone.loo("B")


@pytest.mark.parametrize("rank", [3, 5])
@pytest.mark.parametrize("reg", [1e-7, 1e-4, 1e-2, 1e6])
def test_leaving_out_a_pair_against_exact_arithmetic(reg, rank, rng):
    # At small weights 1 - H_ii J_jj is a difference that loses digits: as it stands it leaves
    # an error of 7e-8 at the smallest. So is H Y J - H_ii J_jj Y where both are near one, and at
    # large weights Y less what the model leaves of it.
    K, G = (X @ X.T for X in (rng.integers(-3, 4, (6, 6)), rng.integers(-3, 4, (5, rank))))
    Y = rng.integers(-2, 3, (6, 5))
    model = two_step(K.astype(float), G.astype(float), Y, (reg, reg))
    H, J, exact_Y = exact_hat(K, reg), exact_hat(G, reg), as_fractions(Y)
    leverages = np.outer(H.diagonal(), J.diagonal())
    exact = (H @ exact_Y @ J - leverages * exact_Y) / (1 - leverages)
    error = abs(model.loo("A") - exact.astype(float)).max()
    assert error <= 1e-12 * abs(exact.astype(float)).max()


def exact_hat(K, reg):
    """K (K + reg I)^-1 in fractions, by Gauss and Jordan; the matrix is positive definite."""
    n = len(K)
    system = as_fractions(np.hstack([K, K]))
    for i in range(n):
        system[i, i] += Fraction(reg)
    for i in range(n):
        system[i] /= system[i, i]
        for k in {*range(n)} - {i}:
            system[k] -= system[k, i] * system[i]
    return system[:, n:]


def as_fractions(A):
    return np.vectorize(lambda value: Fraction(int(value)), otypes=[object])(A)


def test_independent_ridges_predict_pairs_of_known_columns(rng):
    D, T, Y = rng.normal(size=(7, 2)), rng.normal(size=(5, 1)), rng.normal(size=(7, 5))
    X = PairData(D, T, np.repeat(np.arange(7), 3), np.tile([4, 0, 2], 7))
    model = IndependentRidge(reg=0.5, row_kernel="gaussian", row_gamma=0.4)
    model.fit(X, Y[X.rows, X.cols])
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.4).fit(D, Y)
    new = PairData(rng.normal(size=(3, 2)), T, [0, 2, 1, 2], [4, 0, 2, 2])
    expected = theirs.predict(new.row_features)[new.rows, new.cols]
    np.testing.assert_allclose(model.predict(new), expected, atol=1e-10)
    with pytest.raises(InputError, match="column 3, which has no training labels"):
        model.predict(PairData(D, T, [0, 1], [0, 3]))
    with pytest.raises(InputError, match="6 column vertices and the training set 5"):
        model.predict(PairData(D, rng.normal(size=(6, 1)), [0], [0]))


def test_independent_least_squares_by_the_pseudo_inverse():
    K, _, Y = make_problem(5, 6, 3, "deficient", "full")
    model = IndependentRidge(reg=0, row_kernel="precomputed").fit_matrix(K, None, Y)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.pinv(K, rcond=1e-12) @ Y, atol=1e-9)
    with pytest.warns(LinAlgWarning, match="row kernel has condition number"):
        model.fit_matrix(np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 1e-10]), None, Y)
