"""RLScore's own predictions beside ours, where it is installed."""

import importlib.util

import numpy as np
import pytest

from kronbench.errors import InputError
from kronbench.models import KronSVM
from kronbench.pairs import PairData
from kronbench.solvers import SolverMissing, make_solver

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
def test_the_reference_implementation_makes_the_same_predictions(kernels, rng):
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
