"""RLScore's own predictions beside ours, where it is installed."""

import importlib.util

import numpy as np
import pytest

from kronbench.errors import InputError
from kronbench.models import CompleteKronRidge, KronSVM
from kronbench.pairs import PairData
from kronbench.runner.solvers import SolverMissing, make_solver
from tests.models.complete_problems import two_step

PAIRS = "kronbench.models.pair_rlscore.PairRLScore"
installed = importlib.util.find_spec("rlscore") is not None
needs_rlscore = pytest.mark.skipif(not installed, reason="rlscore is not installed")


@pytest.mark.skipif(installed, reason="rlscore is installed")
def test_without_rlscore_the_reason_is_said():
    with pytest.raises(SolverMissing, match="PairRLScore was skipped: rlscore is not installed"):
        make_solver(PAIRS)


@needs_rlscore
@pytest.mark.parametrize(
    "kernels",
    [
        {},
        {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 2.0, "col_gamma": 3.0},
    ],
)
def test_the_reference_implementation_makes_the_same_predictions(kernels):
    rng = np.random.default_rng(0)
    sides = rng.random((40, 3)), rng.random((30, 2))
    pairs = PairData(*sides, rng.integers(0, 40, 500), rng.integers(0, 30, 500))
    y = rng.choice([2, 5], 500)
    new = PairData(rng.random((9, 3)), rng.random((7, 2)), [8, 0, 3], [6, 6, 1])
    reference = make_solver(PAIRS, reg=0.1, **kernels).fit(pairs, y)
    ours = KronSVM(reg=0.1, **kernels).fit(pairs, y)
    # RLScore ends QMR at a residual of 1e-5.
    np.testing.assert_allclose(
        reference.decision_function(new), ours.decision_function(new), atol=1e-6
    )
    assert set(reference.predict(new)) <= {2, 5}
    with pytest.raises(InputError, match="give the same features"):
        reference.decision_function(PairData(sides[0][:, :1], sides[1], [0], [0]))


def learner(K, G, Y, *regs):
    from rlscore.learner import TwoStepRLS

    regs = dict(zip(("regparam1", "regparam2"), regs, strict=True))
    return TwoStepRLS(K1=K, K2=G, Y=Y.ravel(order="F"), **regs)


@needs_rlscore
def test_left_out_predictions_of_two_steps_one_by_one_and_by_folds():
    rng = np.random.default_rng(1)
    K, G = (X @ X.T for X in (rng.random((9, 12)), rng.random((7, 4))))
    Y, pairs = rng.standard_normal((9, 7)), rng.permutation(np.arange(63) % 4).reshape(9, 7)
    rows, cols = rng.permutation(np.arange(9) % 3), rng.permutation(np.arange(7) % 2)
    ours = two_step(K, G, Y, (0.5, 2.0))
    theirs = learner(K, G, Y, 0.5, 2.0)
    row_folds, col_folds = ([np.flatnonzero(f == k) for k in set(f)] for f in (rows, cols))
    for setting, folds, expected in (
        ("A", None, theirs.in_sample_loo()),
        ("B", None, theirs.leave_x1_out()),
        ("C", None, theirs.leave_x2_out()),
        ("D", None, theirs.out_of_sample_loo()),
        ("A", pairs, theirs.in_sample_kfoldcv([np.nonzero(pairs == k) for k in range(4)])),
        ("B", rows, theirs.x1_kfold_cv(row_folds)),
        ("C", cols, theirs.x2_kfold_cv(col_folds)),
        ("D", (rows, cols), theirs.out_of_sample_kfold_cv(row_folds, col_folds)),
    ):
        expected = np.reshape(expected, (9, 7), order="F")
        np.testing.assert_allclose(ours.loo(setting, folds), expected, atol=1e-10)


@needs_rlscore
def test_symmetric_leave_one_out_but_for_antisymmetric_labels_in_sample():
    rng = np.random.default_rng(2)
    X, Y = rng.random((8, 10)), rng.standard_normal((8, 8))
    K, off = X @ X.T, ~np.eye(8, dtype=bool)
    for sign in (1, -1):
        labels = Y + sign * Y.T
        ours = two_step(K, K, labels, (0.5, 0.5))
        theirs = learner(K, K, labels, 0.5, 0.5)
        expected = theirs.out_of_sample_loo_symmetric().reshape((8, 8), order="F")
        np.testing.assert_allclose(ours.loo("D", symmetric=True)[off], expected[off], atol=1e-10)
        expected = theirs.in_sample_loo_symmetric().reshape((8, 8), order="F")
        # theirs adds the label of (j, i) with the sign of symmetric ones
        same = np.allclose(ours.loo("A", symmetric=True)[off], expected[off], atol=1e-10)
        assert same == (sign == 1)


@needs_rlscore
def test_conditional_ranking():
    from rlscore.learner import KronRLS

    rng = np.random.default_rng(3)
    D, T, Y = rng.random((9, 4)), rng.random((7, 3)), rng.standard_normal((9, 7))
    theirs = KronRLS(X1=D, X2=T, Y=Y.ravel(order="F"), regparam=0.7)
    theirs.solve_linear_conditional_ranking(0.7)
    ours = CompleteKronRidge(reg=0.7, loss="ranking").fit_matrix(D, T, Y)
    expected = theirs.predict(D, T).reshape((9, 7), order="F")
    np.testing.assert_allclose(ours.predict_matrix(D, T), expected, atol=1e-10)
