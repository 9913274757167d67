import numpy as np
import pytest

from kronbench.datasets import Dataset
from kronbench.evaluation import shuffle_split
from kronbench.models import KronRidge
from kronbench_suite.studies.field.measure.cold_splits import _Problem

SPEC = {
    "kernels": ["drug_similarity", "target_similarity"],
    "effects": [0.1, 0.3],
    "regs": [0.01, 0.1],
    "max_iter": 300,
}


@pytest.mark.parametrize("setting", ["B", "C", "D"])
def test_closed_solutions_are_those_of_kron_ridge(setting, rng):
    D, T = (A @ A.T for A in (rng.normal(size=(12, 30)), rng.normal(size=(17, 40))))
    values = rng.normal(size=(12, 17))
    arrays = {"values": values, "drug_similarity": D, "target_similarity": T}
    problem = _Problem(Dataset("small", "generated", "label matrix", arrays), SPEC)
    train, test = shuffle_split(problem.X, setting, 0.3, 2)
    model = KronRidge(
        reg=0.1, row_kernel="precomputed", col_kernel="precomputed",
        row_effect=0.1, col_effect=0.3, max_iter=300, tol=1e-13,
    )  # fmt: skip
    mean = problem.y[train].mean()
    model.fit(problem.X[train], problem.y[train] - mean)
    (closed,) = problem._predictions(setting, train, test, np.array([0.1]))
    np.testing.assert_allclose(closed, model.predict(problem.X[test]) + mean, atol=1e-8)
