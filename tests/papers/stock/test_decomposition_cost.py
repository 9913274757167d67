"""What follows from the eigenvalue decompositions: the right numbers, counted and compared."""

import numpy as np
import pytest

from kronbench.datasets.drug_target import kernels
from kronbench.linalg.eigen import kernel_spectrum
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench_suite.papers.stock.measure.decomposition_cost import at_another_weight
from kronbench_suite.papers.stock.measure.kernels import PRECOMPUTED
from kronbench_suite.papers.stock.plot.decomposition_cost import tabulate
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.runner.plans import load_plan
from tests.helpers import merged

SPEC = {
    "seed": 1,
    "grid": [0.1, 10.0],
    "regs": [1.0, 10.0],
    "missing": 0.1,
    "tol": 1e-8,
    "max_iter": 500,
}


@pytest.fixture(scope="module")
def frame(nr):
    return run_measurement("stock.decomposition_cost", SPEC, nr, "nr").assign(dataset="nr")


def test_coefficients_from_the_eigenpairs_are_those_of_models_trained_anew(nr):
    K, G, Y = kernels(nr)
    found = at_another_weight(kernel_spectrum(K), kernel_spectrum(G), Y)
    anew = {
        "IT": IndependentRidge(reg=1.0, row_kernel="precomputed").fit_matrix(K, None, Y),
        "KK": CompleteKronRidge(reg=1.0, **PRECOMPUTED).fit_matrix(K, G, Y),
        "TS": TwoStepRidge(reg_rows=1.0, reg_cols=1.0, **PRECOMPUTED).fit_matrix(K, G, Y),
    }
    for method, model in anew.items():
        np.testing.assert_allclose(found[method](), model.dual_coef_, atol=1e-9)


def test_iterations_end_where_they_should(frame):
    iterative = frame[frame["step"] == "iterative"].set_index("reg")
    assert iterative["reached"].max() < 1e-7
    assert iterative["iterations"].max() < SPEC["max_iter"]
    # a larger weight, a smaller condition number
    assert iterative.loc[10.0, "iterations"] < iterative.loc[1.0, "iterations"]


def test_the_table_has_seconds_in_units_of_the_decompositions(frame):
    table = tabulate(frame, load_plan(merged()).item("stock", "section-3"), None)
    seconds = frame.set_index(["step", "setting"])["seconds"]
    unit = frame.loc[frame["step"] == "decompositions", "seconds"].item()
    rows = table.set_index(["step", "setting"])["over the decompositions"]
    assert rows["grid", "B"] == pytest.approx(seconds["grid", "B"] / unit)
    assert rows["one point", "B"] == pytest.approx(rows["grid", "B"] / 4)
    ends = table.set_index(["step", "setting"]).loc[("one point", "B")]
    least = frame[frame["setting"] == "B"]["seconds_low"].item() / 4
    most = frame.loc[frame["step"] == "decompositions", "seconds_high"].item()
    assert ends["over the decompositions_low"] == pytest.approx(least / most)
    assert ends["over the decompositions_high"] >= ends["over the decompositions"]
    closed = frame[frame["step"] == "closed form"].set_index("reg")["seconds"]
    iterative = frame[frame["step"] == "iterative"].set_index("reg")["seconds"]
    found = table[table["step"] == "iterative"].set_index("reg")["over the closed form"]
    assert found[1.0] == pytest.approx(iterative[1.0] / closed[1.0])
