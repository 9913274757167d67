"""Cross-validation and symmetric leave-one-out without retraining, against retraining."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from kronbench.errors import InputError
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from tests.models.complete_problems import condition, make_kernel, make_problem, problems
from tests.models.left_out_problems import (
    broadcast,
    retrained,
    retrained_two_step,
    splits,
    symmetric_splits,
)

EPS = np.finfo(float).eps
PRECOMPUTED = dict(row_kernel="precomputed", col_kernel="precomputed")


def kron(K, G, Y, reg):
    return CompleteKronRidge(reg=reg, **PRECOMPUTED).fit_matrix(K, G, Y)


def two_step(K, G, Y, regs):
    model = TwoStepRidge(reg_rows=regs[0], reg_cols=regs[1], **PRECOMPUTED)
    return model.fit_matrix(K, G, Y)


def random_folds(rng, setting, m, q, k):
    """Folds of any sizes; at least two of each."""

    def numbers(n):
        return rng.permutation(np.append([0, 1], rng.integers(0, k, max(n - 2, 0))))

    rows, cols = numbers(m), numbers(q)
    return {"A": numbers(m * q).reshape(m, q), "B": rows, "C": cols, "D": (rows, cols)}[setting]


def problem_with_folds(setting, problem, k):
    seed, m, q, *kinds = problem
    m, q = m + 1, q + 1  # two folds of each
    return *make_problem(seed, m, q, *kinds), random_folds(
        np.random.default_rng(seed), setting, m, q, k
    )


@pytest.mark.parametrize("setting", "ABCD")
@settings(max_examples=25, deadline=None)
@given(problems, st.integers(2, 5), st.floats(-3, 3))
def test_folds_of_kronecker_ridge_are_retraining(setting, problem, k, log_reg):
    K, G, Y, folds = problem_with_folds(setting, problem, k)
    reg = 10.0**log_reg
    pairs = splits(setting, broadcast(setting, folds, Y.shape))
    expected = retrained(np.kron(K, G), reg, Y, pairs)
    got = kron(K, G, Y, reg).loo(setting, folds)
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(Y).max())


@pytest.mark.parametrize("setting", "ABCD")
@settings(max_examples=25, deadline=None)
@given(problems, st.integers(2, 5), st.floats(-2, 2), st.floats(-2, 2))
def test_folds_of_two_step_ridge_are_retraining(setting, problem, k, log_row, log_col):
    K, G, Y, folds = problem_with_folds(setting, problem, k)
    regs = 10.0**log_row, 10.0**log_col
    pairs = splits(setting, broadcast(setting, folds, Y.shape))
    expected = retrained_two_step(setting, K, G, Y, regs, pairs)
    got = two_step(K, G, Y, regs).loo(setting, folds)
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(Y).max())


@pytest.mark.parametrize("setting", "AB")
@settings(max_examples=25, deadline=None)
@given(problems, st.integers(2, 5), st.floats(-3, 3))
def test_folds_of_independent_ridge_are_retraining(setting, problem, k, log_reg):
    K, _, Y, folds = problem_with_folds(setting, problem, k)
    reg, unrelated = 10.0**log_reg, np.eye(Y.shape[1])
    pairs = splits(setting, broadcast(setting, folds, Y.shape))
    expected = retrained(np.kron(K, unrelated), reg, Y, pairs)
    model = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)
    np.testing.assert_allclose(model.loo(setting, folds), expected, atol=1e-8 * np.abs(Y).max())


@pytest.mark.parametrize("setting", "BCD")
@pytest.mark.parametrize("kinds", [("full", "full"), ("deficient", "clipped")])
@pytest.mark.parametrize("reg", [1e-7, 1e-5, 1e4, 1e6])
def test_folds_at_the_ends_of_the_grid(setting, kinds, reg):
    # relative to the predictions, which are of the order of 1 / reg where it is large
    K, G, Y = make_problem(11, 12, 9, *kinds)
    folds = random_folds(np.random.default_rng(1), setting, 12, 9, 4)
    pairs = list(splits(setting, broadcast(setting, folds, Y.shape)))
    expected = retrained(np.kron(K, G), reg, Y, pairs)
    got = kron(K, G, Y, reg).loo(setting, folds)
    tol = max(1e-8, 100 * EPS * condition(K, G, reg))
    assert np.abs(got - expected).max() < tol * np.abs(expected).max()
    expected = retrained_two_step(setting, K, G, Y, (reg, reg), pairs)
    got = two_step(K, G, Y, (reg, reg)).loo(setting, folds)
    tol = max(1e-8, 100 * EPS * max(np.linalg.norm(M, 2) for M in (K, G)) / reg)
    assert np.abs(got - expected).max() < tol * np.abs(expected).max()


@pytest.mark.parametrize("setting", "ABCD")
def test_leave_one_out_is_folds_of_one(setting):
    K, G, Y = make_problem(12, 8, 6, "full", "deficient")
    folds = {
        "A": np.arange(48).reshape(8, 6),
        "B": np.arange(8),
        "C": np.arange(6),
        "D": (np.arange(8), list("abcdef")),
    }[setting]
    for model in (kron(K, G, Y, 0.3), two_step(K, G, Y, (0.3, 2.0))):
        np.testing.assert_allclose(model.loo(setting, folds), model.loo(setting), atol=1e-11)


def test_few_linear_features_and_blocks_in_several_chunks(monkeypatch):
    rng = np.random.default_rng(13)
    D, T, Y = rng.normal(size=(14, 3)), rng.normal(size=(11, 2)), rng.normal(size=(14, 11))
    K, G = D @ D.T, T @ T.T
    for setting in "ABCD":
        folds = random_folds(rng, setting, 14, 11, 3)
        for regs in ((1e-2, 0.1), (1e4, 1e-2)):
            thin = TwoStepRidge(reg_rows=regs[0], reg_cols=regs[1]).fit_matrix(D, T, Y)
            full = two_step(K, G, Y, regs)
            np.testing.assert_allclose(
                thin.loo(setting, folds), full.loo(setting, folds), atol=1e-9
            )
        whole = kron(K, G, Y, 0.1).loo(setting, folds)
        with monkeypatch.context() as patch:
            patch.setattr("kronbench.pairs.leave_folds_out._CHUNK_BYTES", 8 * 14 * 10)
            chunks = kron(K, G, Y, 0.1).loo(setting, folds)
            np.testing.assert_allclose(chunks, whole, atol=1e-13)


def test_grid_of_folds_is_the_single_points():
    K, G, Y = make_problem(17, 6, 5, "clipped", "full")
    folds, regs, cols = [0, 0, 1, 1, 2, 2], [1e-2, 1.0, 1e3], [0.1, 10.0]
    grid = kron(K, G, Y, 1.0).loo_grid("B", regs, folds=folds, score=np.sum)
    assert list(grid) == [kron(K, G, Y, reg).loo("B", folds).sum() for reg in regs]
    grid = two_step(K, G, Y, (1.0, 1.0)).loo_grid("B", regs, cols, folds=folds, score=np.sum)
    for i, j in np.ndindex(3, 2):
        assert grid[i, j] == two_step(K, G, Y, (regs[i], cols[j])).loo("B", folds).sum()


# RLScore's methods for the same; the held-out rows and columns of its tests, and three pairs
ROWS, COLS, PAIRS = np.zeros(10), np.zeros(13), np.arange(130).reshape(10, 13)
ROWS[[1, 2, 4]], COLS[[1, 3, 4, 5]] = 1, 1
RLSCORE = {
    "in_sample_loo": ("A", None),
    "leave_x1_out": ("B", None),
    "leave_x2_out": ("C", None),
    "out_of_sample_loo": ("D", None),
    "in_sample_kfoldcv": ("A", np.isin(PAIRS, [1, 20, 90])),
    "x1_kfold_cv": ("B", ROWS),
    "x2_kfold_cv": ("C", COLS),
    "out_of_sample_kfold_cv": ("D", (ROWS, COLS)),
}


def exclusive_or(rng, width):
    """Vertices in two clouds a side, features of any ``width``; a pair of unlike clouds is 1."""
    sides = [(rng.permutation(np.arange(n) % 2), far) for n, far in ((10, (0, 1)), (13, (4, 6)))]
    D, T = (rng.normal(size=(len(of), width)) + np.take(far, of)[:, None] for of, far in sides)
    return D, T, np.where(sides[0][0][:, None] != sides[1][0], 1.0, -1.0)


@pytest.mark.parametrize("width", [5, 15])
@pytest.mark.parametrize("name", RLSCORE)
def test_what_rlscore_tests_holds_for_features_and_for_kernels(name, width):
    D, T, Y = exclusive_or(np.random.default_rng(55), width)
    (setting, folds), regs = RLSCORE[name], (1e-3, 10.0)
    ones = {
        "A": PAIRS,
        "B": np.arange(10),
        "C": np.arange(13),
        "D": (np.arange(10), np.arange(13)),
    }
    given = broadcast(setting, ones[setting] if folds is None else folds, Y.shape)
    K, G = D @ D.T, T @ T.T
    expected = retrained_two_step(setting, K, G, Y, regs, splits(setting, given))
    by_features = TwoStepRidge(reg_rows=regs[0], reg_cols=regs[1]).fit_matrix(D, T, Y)
    for model in (by_features, two_step(K, G, Y, regs)):
        np.testing.assert_allclose(model.loo(setting, folds), expected, atol=1e-8)


def test_pairs_that_are_not_exact_are_told(monkeypatch):
    K, G, Y = make_problem(16, 8, 6, "full", "full")
    monkeypatch.setattr("kronbench.pairs.leave_folds_out._MOST_ITERATIONS", 2)
    with pytest.warns(ConvergenceWarning, match="not exact after 2 iterations"):
        kron(K, G, Y, 0.01).loo("A", np.arange(48).reshape(8, 6) % 3)


SYMMETRIES = {"symmetric": lambda Y: Y + Y.T, "antisymmetric": lambda Y: Y - Y.T, "none": np.copy}


@pytest.mark.parametrize("labels", SYMMETRIES)
@pytest.mark.parametrize("kind", ["full", "deficient", "clipped", "duplicate"])
@pytest.mark.parametrize("log_reg", [-2, 0, 3])
def test_symmetric_leave_one_out_is_retraining(labels, kind, log_reg):
    rng = np.random.default_rng(18)
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


def test_symmetric_leave_one_out_with_two_kernels_of_one_set_of_vertices():
    rng = np.random.default_rng(19)
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


def test_the_symmetric_label_tells():
    # with the label of (j, i) in training, symmetric labels are predicted better than they should
    rng = np.random.default_rng(20)
    K, Y = np.eye(8) + 0.1, rng.normal(size=(8, 8))
    Y = Y + Y.T
    one, both = (two_step(K, K, Y, (1.0, 1.0)).loo("A", symmetric=s) for s in (False, True))
    off = ~np.eye(8, dtype=bool)
    assert np.corrcoef(one[off], Y[off])[0, 1] > np.corrcoef(both[off], Y[off])[0, 1]


def test_wrong_input():
    K, G, Y = make_problem(25, 4, 3, "full", "full")
    model, square = kron(K, G, Y, 1.0), kron(K, K, K, 1.0)
    for setting, folds, message in (
        ("B", [0, 1, 0], r"folds of setting 'B' have the shapes \[\(3,\)\].*\[\(4,\)\]"),
        ("C", [0, 1, 0, 1], r"shapes \[\(4,\)\].*\[\(3,\)\]"),
        ("A", [0, 1, 0, 1], r"shapes \[\(4,\)\].*\[\(4, 3\)\]"),
        ("D", [[0, 1, 0, 1]], r"shapes \[\(4,\)\].*\[\(4,\), \(3,\)\]"),
        ("D", ([0, 1, 0, 1], [2, 2, 2]), "folds has one fold"),
        ("B", [7, 7, 7, 7], "folds has one fold"),
    ):
        with pytest.raises(InputError, match=message):
            model.loo(setting, folds)
    with pytest.raises(InputError, match="symmetric=True with 4 rows and 3 columns: "):
        model.loo("A", symmetric=True)
    with pytest.raises(InputError, match="4 columns, and folds"):
        square.loo("B", [0, 0, 1, 1], symmetric=True)
    with pytest.raises(InputError, match="no shortcut in setting 'D', only in 'A': TwoStepRidge"):
        square.loo("D", symmetric=True)
    independent = IndependentRidge().fit_matrix(K, None, K)
    with pytest.raises(InputError, match="symmetric=True leaves out tasks"):
        independent.loo("A", symmetric=True)
