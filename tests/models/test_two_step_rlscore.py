import importlib.util

import numpy as np
import pytest

from kronbench.models import TwoStepRidge
from kronbench.runner.solvers import make_solver

PATH = "kronbench.models.two_step_rlscore.TwoStepRLScore"
installed = importlib.util.find_spec("rlscore") is not None


@pytest.mark.skipif(not installed, reason="rlscore is not installed")
@pytest.mark.parametrize("setting", ["A", "B", "C", "D"])
def test_the_reference_implementation_makes_the_same_predictions(setting):
    rng = np.random.default_rng(0)
    K, G = (X @ X.T for X in (rng.random((12, 15)), rng.random((9, 4))))  # G is singular
    Y = rng.standard_normal((12, 9))
    grids = [0.1, 5.0], [0.3, 1.0, 20.0]
    reference = dict(make_solver(PATH).fit_matrix(K, G, Y).loo_grid(setting, *grids))
    ours = TwoStepRidge(row_kernel="precomputed", col_kernel="precomputed").fit_matrix(K, G, Y)
    found = dict(ours.loo_grid(setting, *grids))
    assert reference.keys() == found.keys()
    for point, F in found.items():
        np.testing.assert_allclose(reference[point], F, atol=1e-10)
