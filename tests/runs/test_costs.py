"""What jobs cost, and what is asked of a scheduler for them."""

import itertools
import json
from pathlib import Path

import pandas as pd
import pytest

from kronbench.bench.items import load_plan
from kronbench.errors import InputError
from kronbench.runs import costs
from kronbench.runs.costs import (
    Cost,
    capacity,
    capacity_table,
    cost,
    measured_costs,
    measurements,
    memory_mb,
    minutes,
    write_costs,
)
from tests.helpers import merged

ROOT = Path(__file__).parents[2]
PAPER = load_plan(merged("paper"))


def small_run(folder, seconds, peaks):
    """A finished run of one job, with these figures."""
    table = folder / "bach" / "tables" / "figure-1" / "all.csv"
    table.parent.mkdir(parents=True)
    pd.DataFrame({"peak_mib": peaks}).to_csv(table, index=False)
    record = {"paper": "bach", "item": "figure-1", "part": "all", "seconds": seconds}
    record["environment"] = {"threads": 2}
    table.with_suffix(".json").write_text(json.dumps(record))
    return folder


def test_a_run_replaces_the_costs_of_its_scale_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(costs, "config_path", lambda name: tmp_path / name)
    write_costs(small_run(tmp_path / "first", 7.04, [300.0, 812.4, None]))
    write_costs(small_run(tmp_path / "second", 1, [100]))
    (tmp_path / "again").mkdir()
    file = write_costs(small_run(tmp_path / "again" / "first", 9, [500]))
    table = pd.read_csv(file).set_index("scale")
    assert list(table.index) == ["first", "second"]
    assert table.loc["first", ["seconds", "peak_mib"]].tolist() == [9, 500]
    assert table.loc["second", ["seconds", "peak_mib"]].tolist() == [1, 100]


def test_the_largest_row_of_a_table_is_the_peak(tmp_path):
    found = measured_costs(small_run(tmp_path / "run", 7.04, [300.0, 812.4, None])).iloc[0]
    assert (found["seconds"], found["peak_mib"], found["threads"]) == (7.0, 812, 2)


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(InputError, match="give the folder of a finished run"):
        measured_costs(tmp_path)


@pytest.mark.parametrize("scale", ["default", "smoke"])
def test_an_item_is_measured_with_all_its_parts(scale):
    """An item that is newer than the last accepted run asks for the default, none for a part."""
    plan = load_plan(merged(None if scale == "default" else scale))
    table = pd.read_csv(ROOT / "config" / "costs.csv")
    measured = set(map(tuple, table.loc[table["scale"] == scale, ["paper", "item"]].to_numpy()))
    for item, part in measurements(plan):
        known = (item.paper, item.name) in measured
        assert cost(item, part).basis == ("measured" if known else "unmeasured"), (item.name, part)
        if scale == "default":
            follows = cost(PAPER.item(item.paper, item.name), part).basis
            assert follows == ("extrapolated" if known else "unmeasured"), (item.name, part)


def test_items_with_other_work_at_the_paper_scale_are_listed():
    """Those whose parameters or data sets are others; the cap alone makes none."""
    default = load_plan(merged())
    listed = costs._extrapolations()["paper"]
    for item, _ in measurements(PAPER):
        here, there = (
            {**plan_item.parameters, "time_cap": None, "datasets": plan_item.datasets}
            for plan_item in (item, default.item(item.paper, item.name))
        )
        assert (here != there) == (item.name in listed.get(item.paper, {})), item.name
    names = {(item.paper, item.name) for item in PAPER.items}
    assert {(paper, name) for paper in listed for name in listed[paper]} <= names
    for entries in itertools.chain(*(listed[paper].values() for paper in listed)):
        for entry in entries:
            assert set(entry.get("parts", [])) <= {part for i in PAPER.items for part in i.parts}


def test_a_factor_multiplies_what_the_default_scale_measured():
    paper = PAPER.item("airola", "figure-3")
    default = load_plan(merged()).item("airola", "figure-3")
    (entry,) = costs._extrapolations()["paper"]["airola"]["figure-3"]
    base = cost(default, "Ki")
    assert cost(paper, "Ki") == Cost(base.seconds * entry["seconds"], base.mib, "extrapolated")


def test_a_scale_that_nothing_is_known_of_asks_for_the_default():
    plan = load_plan({**merged("smoke"), "scale": "mine"})
    found = cost(plan.item("airola", "table-2"), "all")
    assert found == Cost(costs.UNMEASURED_SECONDS, costs.UNMEASURED_MIB, "unmeasured")


def test_each_attempt_asks_for_twice_as_much_and_the_first_for_more_than_was_measured():
    for item, part in measurements(PAPER):
        known = cost(item, part)
        assert memory_mb(item, part, 1) >= known.mib + costs.ABOVE_MIB
        assert minutes(item, part, 1) * 60 >= known.seconds + 60
        for ask in (memory_mb, minutes):
            first = ask(item, part, 1)
            assert [ask(item, part, attempt) for attempt in (1, 2, 3)] == [
                first,
                2 * first,
                4 * first,
            ]


def test_hours_are_those_of_the_best_order_where_it_is_plain(monkeypatch):
    """Two nodes of two cores: timed jobs of 3 and 1 hours alone, others of 2, 2, 1 and 1."""
    plan = load_plan(merged())
    timed = plan.item("airola", "table-3")
    other = plan.item("airola", "table-2")
    jobs = [(timed, 3), (timed, 1), (other, 2), (other, 2), (other, 1), (other, 1)]
    monkeypatch.setattr(costs, "measurements", lambda plan: jobs)
    monkeypatch.setattr(costs, "cost", lambda item, hours: Cost(3600 * hours, 100, "measured"))
    assert capacity(plan, 2, 2) == 4
    assert capacity(plan, 100, 2) == 3  # the longest job bounds it
    assert capacity(plan, 1, 2) == 4 + 3
    assert capacity(plan, 1, 1) == sum(hours for _, hours in jobs)


def test_the_plan_of_the_docs_is_current():
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert capacity_table(PAPER, 16) in text, "kronbench capacity writes it"
