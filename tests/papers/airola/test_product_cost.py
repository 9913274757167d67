"""Tables 3 and 4 of Airola & Pahikkala: counted operations against the printed complexities."""

import types

import numpy as np
import pandas as pd
import pytest

from kronbench_suite.papers.airola.plot import complexity
from kronbench_suite.runner.job import run_measurement

COST = {
    "features": 5,
    "explicit_mib": 1,
    "independent": [[30, 30, 30], [60, 60, 60]],
    "dependent": [[40, 12, 10], [80, 12, 10], [120, 12, 10]],
    "complete": [[36, 6, 6], [144, 12, 12], [576, 24, 24]],
    "seed": 3,
}


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_products_agree_and_operations_follow_the_printed_complexity(form):
    frame = run_measurement("airola.product_cost", COST | {"form": form}, None, "all")
    assert frame["deviation"].max() < 1e-12
    if form == "dual":
        (sentence,) = frame.attrs["skipped"]
        assert sentence == "explicit matrices beyond 1 MiB were not made: complete n = 576"
        assert frame.loc[frame["n"] == 576, "method"].tolist() == ["proposed"]
    baseline = frame[frame["method"] == "baseline"]
    np.testing.assert_array_equal(baseline["operations"], 2 * baseline["cost"])
    proposed = frame[frame["method"] == "proposed"].set_index(["setting", "n"])
    in_dual = "double sum" if form == "dual" else "Algorithm 1"
    assert set(proposed.loc["independent", "way"]) == {in_dual}
    assert set(proposed.loc["dependent", "way"]) == {"Algorithm 1"}
    if form == "dual":
        assert proposed.loc[("independent", 60), "operations"] == 4 * 60**2
        assert proposed.loc[("dependent", 120), "operations"] == 2 * 120 * (12 + 10)
        assert proposed.loc[("complete", 576), "operations"] == 2 * 2 * 24**3
    else:
        d = r = 5
        dependent = 2 * min(10 * d * r + d * 120, 12 * d * r + r * 120)
        assert proposed.loc[("dependent", 120), "operations"] == dependent
        assert proposed.loc[("complete", 576), "operations"] == 2 * (24 * d * r + 24 * 24 * r)


def test_exponents_and_speed_up_of_the_complexity_table():
    rows = []
    for n in (10, 20, 40):
        rows.append(("baseline", n, 2 * n**2, n**2, 1e-3 * n**2))
        rows.append(("proposed", n, 6 * n, n, 1e-4 * n))
    rows.append(("proposed", 80, 6 * 80, 80, 1e-4 * 80))
    frame = pd.DataFrame(rows, columns=["method", "n", "operations", "cost", "seconds"])
    way = np.where(frame["method"] == "baseline", "stored matrix", "Algorithm 1")
    frame = frame.assign(setting="dependent", deviation=1e-16, way=way)
    item = types.SimpleNamespace(parameters={"form": "dual"})
    baseline, proposed = complexity.tabulate(frame, item, None).to_dict("records")
    assert baseline["of seconds"] == pytest.approx(2)
    assert proposed["of seconds"] == pytest.approx(1)
    assert proposed["operations / O(), least"] == proposed["most"] == 6
    assert (proposed["n to"], proposed["at n"]) == (80, 40)
    assert proposed["speed-up"] == pytest.approx(10 * 40)
