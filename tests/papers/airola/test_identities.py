"""Lemmas and equations: what is measured of them is small, and large where they do not hold."""

import numpy as np
import pytest

from kronbench.papers.airola.measure.statements import problem, products
from kronbench.runner.job import run_experiment

SPEC = {
    "fraction": 0.5,
    "fold": 0,
    "pairs": 60,
    "features": 4,
    "reg": 1.0,
    "seed": 3,
    "time_cap": 1,
}


def measured(nr):
    return run_experiment("airola.identities", SPEC, nr, "nr").set_index("name")


def test_statements_hold(nr):
    table = measured(nr)
    derivatives = ["dual gradient", "dual Hessian", "primal gradient", "primal Hessian"]
    optima = ["both forms", "L-BFGS"]
    counted = ["dual instead of primal", "one batch", "zeros"]
    exact = table.drop([*derivatives, *optima, *counted])["deviation"]
    assert exact.max(skipna=False) < 1e-10
    assert table.loc[derivatives, "deviation"].max(skipna=False) < 1e-7
    assert table.loc[optima, "deviation"].max(skipna=False) < 1e-5
    costs = (table["operations"] / table["cost"]).dropna()
    assert len(costs) == 9
    np.testing.assert_allclose(costs, 2)
    assert 0 <= table.loc["zeros", "share"] < 1


@pytest.mark.parametrize(
    ("module", "function", "spoil", "names"),
    [
        (
            products,
            "branch",
            lambda result: (result[0] + 1.0, result[1]),
            ["lines 2 to 11", "lines 13 to 22"],
        ),
        (products, "row_products", lambda result: 1.1 * result, ["indices"]),
        (problem, "row_products", lambda result: 1.1 * result, ["kernel matrix"]),
    ],
)
def test_a_wrong_side_deviates(nr, monkeypatch, module, function, spoil, names):
    right = getattr(module, function)
    monkeypatch.setattr(module, function, lambda *arguments: spoil(right(*arguments)))
    assert measured(nr).loc[names, "deviation"].min() > 1e-3
