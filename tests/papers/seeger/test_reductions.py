"""Figure 2: calls by level, and shares of the time."""

import pytest

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, documents, pixels


@pytest.mark.parametrize(("data", "hyperparameters"), [(documents(), 3), (pixels(), 2)])
def test_levels_are_counted_and_shares_add_up(data, hyperparameters):
    spec = COMMON | {
        "start": 5,
        "gamma": 0.5,
        "max_evaluations": {"others": 4},
    }
    frame = run_experiment("seeger.reductions", spec, data, data.name)
    calls = frame[frame["kind"] == "level"].set_index("name")["calls"]
    assert calls["fits of a fold"] == 3 * calls["Psi and its gradient"]
    assert calls["hyperparameters"] == hyperparameters
    # every product with the Hessian makes one with the kernel
    assert calls["kernel products"] > calls["products with the Hessian"] > 0
    times = frame[frame["kind"] == "time"]
    assert times["share of seconds"].sum() == pytest.approx(1)
    assert times.set_index("name")["seconds"]["kernel products"] > 0
