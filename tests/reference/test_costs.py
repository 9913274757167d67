"""What jobs cost, and what is asked of a scheduler for them."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from kronbench.cli import main
from kronbench.errors import InputError
from kronbench.reference import costs
from kronbench.reference.costs import (
    Cost,
    capacity,
    capacity_table,
    cost,
    measured_costs,
    memory_mb,
    minutes,
    update_costs,
)
from kronbench.runner.items import load_plan, measurements
from tests.helpers import merged, seal

ROOT = Path(__file__).parents[2]
PAPER = load_plan(merged("paper"))


def small_run(folder, seconds, peaks, threads=2):
    """A finished run of one job, with these figures, which had the processors for 5 seconds."""
    table = folder / "bach" / "tables" / "figure-1" / "all.csv"
    table.parent.mkdir(parents=True)
    pd.DataFrame({"peak_mib": peaks}).to_csv(table, index=False)
    record = {"paper": "bach", "item": "figure-1", "part": "all", "seconds": seconds}
    record |= {"cpu_seconds": 5.02, "environment": {"threads": threads}}
    table.with_suffix(".json").write_text(json.dumps(record))
    seal(table)
    return folder


def finished_run(folder, seconds):
    """A run of all jobs of one paper, with the configuration it was made by."""
    config = merged() | {"scale": folder.name, "papers": {"bach": {}}}
    (folder / "config.yaml").parent.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    for item, part in measurements(load_plan(config)):
        table = folder / item.table(part).relative_to(f"results/{folder.name}")
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text("peak_mib\n100\n")
        record = {"paper": "bach", "item": item.name, "part": part, "seconds": seconds}
        record["environment"] = {"threads": 2}
        table.with_suffix(".json").write_text(json.dumps(record))
        seal(table)
    return folder


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The file of measured costs, with those of two runs."""
    there = costs.config_path
    monkeypatch.setattr(
        costs,
        "config_path",
        lambda name: tmp_path / name if name == "costs.csv" else there(name),
    )
    for scale in "first", "second":
        update_costs(finished_run(tmp_path / "runs" / scale, 7), write=True)
    return tmp_path / "costs.csv"


def test_a_run_replaces_the_costs_of_its_scale_alone(kept, tmp_path):
    again = finished_run(tmp_path / "again" / "first", 9)
    before = kept.read_bytes()
    told = update_costs(again, write=False)
    n = len(measured_costs(again))
    assert f"scale first: {n} jobs measured anew, 0 added, 0 removed; --yes writes it" in told
    assert kept.read_bytes() == before
    update_costs(again, write=True)
    seconds = pd.read_csv(kept).groupby("scale")["seconds"].unique()
    assert seconds.map(list).to_dict() == {"first": [9], "second": [7]}


def test_costs_of_an_unfinished_run_are_refused(kept, tmp_path):
    again, before = finished_run(tmp_path / "again" / "first", 9), kept.read_bytes()
    next(again.glob("bach/tables/**/*.csv")).unlink()
    with pytest.raises(InputError, match=r"1 of \d+ jobs have no result table, such as bach fig"):
        update_costs(again, write=True)
    assert kept.read_bytes() == before


def test_the_largest_row_of_a_table_is_the_peak(tmp_path):
    found = measured_costs(small_run(tmp_path / "run", 7.04, [300.0, 812.4, None])).iloc[0]
    assert (found["seconds"], found["peak_mib"], found["threads"]) == (7.0, 812, 2)


def test_a_job_of_one_thread_costs_what_it_had_the_processor_for(tmp_path):
    (found,) = measured_costs(small_run(tmp_path / "run", 7.04, [300.0], threads=1))["seconds"]
    assert found == 5.0


def test_a_folder_without_results_is_named(tmp_path):
    with pytest.raises(InputError, match="give the folder of a finished run"):
        measured_costs(tmp_path)


@pytest.mark.parametrize("scale", ["default", "smoke", "paper"])
def test_an_item_is_measured_with_all_its_parts(scale):
    """An item that is newer than the last accepted run costs a fixed amount, none for a part."""
    plan = load_plan(merged(None if scale == "default" else scale))
    table = pd.read_csv(ROOT / "config" / "costs.csv")
    measured = set(map(tuple, table.loc[table["scale"] == scale, ["paper", "item"]].to_numpy()))
    for item, part in measurements(plan):
        known = (item.paper, item.name) in measured
        assert cost(item, part).measured == known, (item.name, part)


def test_a_scale_that_nothing_is_known_of_asks_for_the_default():
    plan = load_plan({**merged("smoke"), "scale": "mine"})
    found = cost(plan.item("airola", "table-2"), "all")
    assert found == Cost(costs.UNMEASURED_SECONDS, costs.UNMEASURED_MIB, measured=False)


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
    monkeypatch.setattr(costs, "cost", lambda item, hours: Cost(3600 * hours, 100, True))
    assert capacity(plan, 2, 2) == 4
    assert capacity(plan, 100, 2) == 3  # the longest job bounds it
    assert capacity(plan, 1, 2) == 4 + 3
    assert capacity(plan, 1, 1) == sum(hours for _, hours in jobs)


def test_a_shipped_scale_has_hours_where_nothing_was_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # where nothing was run
    assert main(["capacity", "--scale", "paper"]) == 0
    assert capsys.readouterr().out.strip() == capacity_table(PAPER, 16)
    assert main(["capacity"]) == 2
    assert "give --scale, of the project, or --config, of a run" in capsys.readouterr().err


def test_the_plan_of_the_docs_is_current():
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert capacity_table(PAPER, 16) in text, "kronbench capacity writes it"
