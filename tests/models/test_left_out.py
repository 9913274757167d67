"""Left-out predictions without retraining, one by one and by folds, against retraining."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from kronbench.errors import InputError
from kronbench.models import IndependentRidge, TwoStepRidge
from tests.models.complete_problems import (
    independent,
    kron,
    make_kernel,
    make_problem,
    problems,
    retrained,
    retrained_two_step,
    splits,
    symmetric_splits,
    two_step,
)

EPS = np.finfo(float).eps
FIT = {
    "kron": lambda K, G, Y, regs: kron(K, G, Y, regs[0]),
    "two-step": two_step,
    "independent": lambda K, G, Y, regs: independent(K, Y, regs[0]),
}
MODELS = [*(("kron", s) for s in "ABCD"), *(("two-step", s) for s in "ABCD")]
MODELS += [("independent", "A"), ("independent", "B")]
one_by_one_and_by_folds = pytest.mark.parametrize("by_folds", [False, True], ids=["one", "folds"])


def expected_of(kind, setting, K, G, Y, regs, folds):
    pairs = splits(setting, folds, Y.shape)
    if kind == "two-step":
        return retrained_two_step(setting, K, G, Y, regs, pairs)
    return retrained(np.kron(K, G if kind == "kron" else np.eye(len(G))), regs[0], Y, pairs)


def random_folds(rng, setting, m, q, k):
    """Folds of any sizes; at least two of each."""

    def numbers(n):
        return rng.permutation(np.append([0, 1], rng.integers(0, k, max(n - 2, 0))))

    rows, cols = numbers(m), np.array(list("abcde"))[numbers(q)]
    return {"A": numbers(m * q).reshape(m, q), "B": rows, "C": cols, "D": (rows, cols)}[setting]


@pytest.mark.parametrize(("kind", "setting"), MODELS)
@one_by_one_and_by_folds
@settings(max_examples=25, deadline=None)
@given(problems, st.integers(2, 5), st.floats(-3, 3), st.floats(-3, 3))
def test_left_out_predictions_are_those_of_retraining(
    kind, setting, by_folds, problem, k, log_row, log_col
):
    seed, m, q, *kinds = problem
    folds, regs = None, (10.0**log_row, 10.0**log_col)
    if by_folds:
        m, q = m + 1, q + 1  # two folds of each
        folds = random_folds(np.random.default_rng(seed), setting, m, q, k)
    K, G, Y = make_problem(seed, m, q, *kinds)
    expected = expected_of(kind, setting, K, G, Y, regs, folds)
    got = FIT[kind](K, G, Y, regs).loo(setting, folds)
    # the dense kernel of Theorem 2 has itself a condition number of up to 1e3 * 1e3 * 1e3
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(Y).max())


# by exact arithmetic for pairs of two-step ridge; pairs of Kronecker ridge in folds iterate
@pytest.mark.parametrize(
    ("kind", "setting", "by_folds"),
    [(k, s, f) for k, s in MODELS for f in (False, True) if k != "independent"
     and not (s == "A" and (f or k == "two-step"))],
)  # fmt: skip
@pytest.mark.parametrize("kinds", [("full", "full"), ("deficient", "clipped")])
@pytest.mark.parametrize(
    "regs",
    [(1e-7, 1e-7), (1e-5, 1e-5), (1e4, 1e4), (1e6, 1e6), (1e-7, 1e6), (1e6, 1e-7)],
)
def test_left_out_predictions_at_the_ends_of_the_grid(kind, setting, by_folds, kinds, regs):
    # Rounding a kernel moves its regression by eps times the condition number, 1e10 for the
    # smallest weight; where the weight is large, predictions are of the order of its reciprocal.
    K, G, Y = make_problem(11, 12, 9, *kinds) if by_folds else make_problem(4, 8, 7, *kinds)
    folds = random_folds(np.random.default_rng(1), setting, 12, 9, 4) if by_folds else None
    expected = expected_of(kind, setting, K, G, Y, regs, folds)
    got = FIT[kind](K, G, Y, regs).loo(setting, folds)
    norms = np.linalg.norm(K, 2), np.linalg.norm(G, 2)
    condition = 1 + norms[0] * norms[1] / regs[0]
    if kind == "two-step":
        condition = 1 + max(norms[0] / regs[0], norms[1] / regs[1])
    tol = max(1e-8, (100 if by_folds else 30) * EPS * condition)
    assert np.abs(got - expected).max() <= tol * np.abs(expected).max()


@pytest.mark.parametrize(("kind", "setting"), MODELS)
@one_by_one_and_by_folds
@pytest.mark.parametrize("shape", [(6, 4), (4, 6)])
def test_a_grid_is_the_single_points_whichever_side_is_larger(kind, setting, by_folds, shape):
    K, G, Y = make_problem(17, *shape, "clipped", "deficient")
    folds = random_folds(np.random.default_rng(1), setting, *shape, 3) if by_folds else None
    regs, second = [1e-2, 1.0, 1e3], [0.1, 10.0, 1.0]
    model = FIT[kind](K, G, Y, (1.0, 1.0))
    grids = (regs, second[:2]) if kind == "two-step" else (regs,)
    scores, points = model.loo_grid(setting, *grids, folds=folds, score=lambda F: F[1, 2]), []
    for point, F in model.loo_grid(setting, *grids, folds=folds):
        i, j = point if kind == "two-step" else (point, 0)
        single = FIT[kind](K, G, Y, (regs[i], second[j])).loo(setting, folds)
        np.testing.assert_allclose(F, single, atol=1e-13)
        assert scores[point] == F[1, 2]
        points.append(point)
    assert sorted(points) == sorted([*np.ndindex(3, 2)] if kind == "two-step" else range(3))


@pytest.mark.parametrize("widths", [(3, 2), (20, 15)], ids=["few", "many"])
@pytest.mark.parametrize("setting", "ABCD")
@one_by_one_and_by_folds
def test_linear_features_are_their_kernel(widths, setting, by_folds, rng):
    D, T, Y = (rng.normal(size=size) for size in ((14, widths[0]), (11, widths[1]), (14, 11)))
    K, G = D @ D.T, T @ T.T
    folds = random_folds(rng, setting, 14, 11, 3) if by_folds else None
    for regs in ((1e-3, 1e-2), (1e4, 1e4), (1e-3, 1e4)):
        thin = TwoStepRidge(reg_rows=regs[0], reg_cols=regs[1]).fit_matrix(D, T, Y)
        full = two_step(K, G, Y, regs)
        found, expected = (model.loo(setting, folds) for model in (thin, full))
        np.testing.assert_allclose(found, expected, atol=1e-9)
        expected = full.predict_matrix(D[:3] @ D.T, T[:4] @ T.T)
        np.testing.assert_allclose(thin.predict_matrix(D[:3], T[:4]), expected, atol=1e-9)
        np.testing.assert_allclose(thin.dual_coef_, full.dual_coef_, rtol=1e-9, atol=1e-9)
        coef = D.T @ full.dual_coef_ @ T if widths == (3, 2) else full.dual_coef_
        np.testing.assert_allclose(thin.coef_, coef, rtol=1e-9, atol=1e-9)
        if setting in "AB":
            thin = IndependentRidge(reg=regs[0]).fit_matrix(D, None, Y)
            full = independent(K, Y, regs[0]).loo(setting, folds)
            np.testing.assert_allclose(thin.loo(setting, folds), full, atol=1e-9)


@pytest.mark.parametrize("setting", "ABCD")
@one_by_one_and_by_folds
def test_blocks_in_several_chunks(monkeypatch, setting, by_folds):
    K, G, Y = make_problem(13, 9, 6, "clipped", "full")
    folds = random_folds(np.random.default_rng(13), setting, 9, 6, 3) if by_folds else None
    whole = kron(K, G, Y, 0.01).loo(setting, folds)
    monkeypatch.setattr("kronbench.pairs.leave_folds_out._CHUNK_BYTES", 8 * 9 * 7)
    monkeypatch.setattr("kronbench.pairs.leave_one_out._CHUNK_BYTES", 8 * 5 * 171)
    np.testing.assert_allclose(kron(K, G, Y, 0.01).loo(setting, folds), whole, atol=1e-11)


def test_pairs_that_are_not_exact_are_told(monkeypatch):
    K, G, Y = make_problem(16, 8, 6, "full", "full")
    monkeypatch.setattr("kronbench.pairs.leave_folds_out._MOST_ITERATIONS", 2)
    with pytest.warns(ConvergenceWarning, match="not exact after 2 iterations"):
        kron(K, G, Y, 0.01).loo("A", np.arange(48).reshape(8, 6) % 3)


SYMMETRIES = {"symmetric": lambda Y: Y + Y.T, "antisymmetric": lambda Y: Y - Y.T, "none": np.copy}


@pytest.mark.parametrize("labels", SYMMETRIES)
@pytest.mark.parametrize("kind", ["full", "deficient", "clipped", "duplicate"])
@pytest.mark.parametrize("log_reg", [-2, 0, 3])
def test_symmetric_leave_one_out_is_retraining(labels, kind, log_reg, rng):
    K, Y, reg = make_kernel(rng, 7, kind), rng.normal(size=(7, 7)), 10.0**log_reg
    Y = SYMMETRIES[labels](Y)
    got = kron(K, K, Y, reg).loo("A", symmetric=True)
    expected = retrained(np.kron(K, K), reg, Y, symmetric_splits("A", 7))
    np.testing.assert_allclose(got, expected, atol=1e-8)
    sign = {"symmetric": 1, "antisymmetric": -1}.get(labels)
    for setting in "ABCD":
        got = two_step(K, K, Y, (reg, reg)).loo(setting, symmetric=True)
        pairs = symmetric_splits(setting, 7)
        expected = retrained_two_step(setting, K, K, Y, (reg, reg), pairs)
        np.testing.assert_allclose(got, expected, atol=1e-8)
        if sign and setting in "AD":
            np.testing.assert_allclose(got, sign * got.T, atol=1e-9)


def test_symmetric_leave_one_out_with_two_kernels_of_one_set_of_vertices(rng):
    K, G = make_kernel(rng, 6, "full"), make_kernel(rng, 6, "deficient")
    Y = rng.normal(size=(6, 6))
    got = kron(K, G, Y, 0.2).loo("A", symmetric=True)
    expected = retrained(np.kron(K, G), 0.2, Y, symmetric_splits("A", 6))
    np.testing.assert_allclose(got, expected, atol=1e-9)
    D = rng.normal(size=(6, 2))
    thin = TwoStepRidge(reg_rows=0.2, reg_cols=3.0, col_kernel="precomputed")
    for setting in "ABCD":
        got = thin.fit_matrix(D, G, Y).loo(setting, symmetric=True)
        pairs = symmetric_splits(setting, 6)
        expected = retrained_two_step(setting, D @ D.T, G, Y, (0.2, 3.0), pairs)
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_wrong_input():
    K, G, Y = make_problem(25, 4, 3, "full", "full")
    models = {"kron": kron(K, G, Y, 1.0), "square": kron(K, K, K, 1.0)}
    models |= {"independent": independent(K, K, 1.0), "two-step": two_step(K, G, Y)}
    models["zero"], models["cutoff"] = kron(K, G, Y, 0), kron(K, G, Y, 1.0, filter="cutoff")
    models["two-step cutoff"] = two_step(K, G, Y, row_filter="cutoff")
    models["ranking"] = kron(K, G, Y, 1.0, loss="ranking")
    for name, setting, folds, message in (
        ("kron", "B", [0, 1, 0], r"folds of setting 'B' have the shapes \[\(3,\)\].*\[\(4,\)\]"),
        ("kron", "C", [0, 1, 0, 1], r"shapes \[\(4,\)\].*\[\(3,\)\]"),
        ("kron", "A", [0, 1, 0, 1], r"shapes \[\(4,\)\].*\[\(4, 3\)\]"),
        ("kron", "D", [[0, 1, 0, 1]], r"shapes \[\(4,\)\].*\[\(4,\), \(3,\)\]"),
        ("kron", "D", ([0, 1, 0, 1], [2, 2, 2]), "folds has one fold"),
        ("kron", "B", [7, 7, 7, 7], "folds has one fold"),
        ("kron", "E", None, "setting='E'"),
        ("zero", "D", None, "give a positive number"),
        ("cutoff", "A", None, "exact for filter='tikhonov' only"),
        ("two-step cutoff", "B", None, "exact for filter='tikhonov' only"),
        ("independent", "C", None, "leaves out tasks"),
        ("independent", "D", None, "leaves out tasks"),
        ("kron", "A", "symmetric", "symmetric=True with 4 rows and 3 columns: "),
        ("square", "D", "symmetric", "no shortcut in setting 'D', only in 'A': TwoStepRidge"),
        ("independent", "A", "symmetric", "symmetric=True leaves out tasks"),
        *(("ranking", s, None, rf"setting '{s}' leaves out columns of a row") for s in "ACD"),
    ):
        options = {"symmetric": True} if folds == "symmetric" else {"folds": folds}
        with pytest.raises(InputError, match=message):
            models[name].loo(setting, **options)
    with pytest.raises(InputError, match="4 columns, and folds"):
        models["square"].loo("B", [0, 0, 1, 1], symmetric=True)
    with pytest.raises(InputError, match=r"regs_cols=0\.0: give a positive"):
        models["two-step"].loo_grid("A", [1.0], [0.0])
    with pytest.raises(InputError, match="1 grids: give one of each of reg_rows, reg_cols"):
        models["two-step"].loo_grid("A", [1.0])
