"""A run is accepted, drawn again and compared with; what is damaged is refused."""

import dataclasses
import json
import lzma
import os
import re
import shutil
from pathlib import Path

import hypothesis
import pandas as pd
import pytest
from hypothesis import strategies as st

from kronbench import files
from kronbench.errors import InputError
from kronbench_suite.accepted.accept import accept
from kronbench_suite.accepted.compare import compare, read_run
from kronbench_suite.cli import main
from kronbench_suite.report import accepted_page, render
from kronbench_suite.report.page import write_report
from kronbench_suite.runner.accepted_tables import (
    accepted_text,
    cost,
    files_of,
    memory_mb,
    minutes,
    numbers_in,
    packed,
    short_items,
    unpacked,
)
from kronbench_suite.runner.items import measurements
from kronbench_suite.runner.plans import load_plan
from kronbench_suite.runner.provenance import made_from
from tests.helpers import ROOT, check_pages, merged
from tests.report.test_report import claim, curves, say, scores, write_results

CLAIM = claim(kind="at_least", value="auc", bound=0.5)


@hypothesis.settings(max_examples=25)
@hypothesis.given(
    st.lists(
        st.tuples(st.floats(), st.integers(-(2**53), 2**53), st.text("aé ,\"'\n;#", max_size=6)),
        max_size=8,
    )
)
def test_a_packed_table_comes_back_byte_for_byte(rows):
    text = pd.DataFrame(rows, columns=["x", "n", "a name, quoted"]).to_csv(index=False)
    assert unpacked(packed(text)).decode() == text


def plan_in(patch, folder):
    """A plan of a figure of four parts and a table, with a claim, in this folder."""
    patch.chdir(folder)
    say(patch, CLAIM | {"id": "learns"})
    plan = load_plan(merged("smoke"))
    items = plan.item("airola", "figure-3"), plan.item("airola", "table-6")
    return dataclasses.replace(plan, items=items, papers={"airola": plan.papers["airola"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a run that was accepted."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        plan = plan_in(patch, folder)
        assert "no accepted run of this scale to compare with" in measure(plan)
        assert "add --yes" in accept(plan)
        assert not plan.accepted.exists()
        accept(plan, write=True)
    return folder


@pytest.fixture
def plan(made, tmp_path, monkeypatch):
    """The plan, with that run in the current folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return plan_in(monkeypatch, tmp_path)


def measure(plan, auc=0.6):
    """Result tables with what they were made from, pictures, and the page."""
    for item, frame in zip(plan.items, (curves(auc=auc), scores({"KNN": [auc]})), strict=True):
        write_results(item, frame)
        for part in item.parts:
            file = item.table(part).with_suffix(".json")
            change(file, made_from=made_from(plan, item, part))
        render.render(item)
    return write_report(plan)


def change(file, **entries):
    file.write_text(json.dumps(json.loads(file.read_text()) | entries))


def kept(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_moved_verdict_is_on_the_page_and_in_the_summary(plan):
    assert "moved" not in measure(plan, auc=0.55)
    summary = measure(plan, auc=0.4)
    assert "  moved: learns: holds -> contradicted\n" in summary
    line = (
        "learns: holds -> contradicted (was: smallest 0.6, bound 0.5; "
        "now: smallest 0.4, bound 0.5; cause unknown)"
    )
    assert line in (plan.report / "index.html").read_text().replace("&gt;", ">")
    assert line in accept(plan)
    assert "1 of 1 verdicts move against results/reference/smoke, and 0" in accept(plan)


def test_another_verdict_on_times_is_told_and_is_no_move(plan, monkeypatch):
    entry = claim(kind="ratio", value="risk", between="reg", slow=2.0**-10, fast=2.0**-10, bound=1)
    entry = entry | {"id": "fast", "timing": True}
    say(monkeypatch, entry)
    write_report(plan)
    accept(plan, write=True)
    say(monkeypatch, entry | {"check": entry["check"] | {"bound": 2}})
    summary = write_report(plan)
    assert "moved" not in summary
    assert "other verdicts on times, which are not compared: fast\n" in summary
    assert "0 of 1 verdicts move against results/reference/smoke, and 1 on" in accept(plan)


def test_the_accepted_run_compares_equal_and_makes_its_page_without_it(plan):
    run, accepted = read_run(plan.results), read_run(plan.accepted)
    assert compare(accepted, run) == []
    assert accepted.surroundings == run.surroundings
    assert accepted.surroundings["cpu"] == "a cpu"
    # the numbers of the figure are its tables, and not kept twice
    shown = {file.name for file in (plan.accepted / "airola").glob("*.csv")}
    assert shown == {"table-6.csv"}
    tables = {file.name: file.read_bytes() for file in (plan.results / "airola").glob("*.csv")}
    shutil.rmtree(plan.results)

    summary = accepted_page.draw_accepted(plan)
    assert "nothing was measured here: all is drawn from results/reference/smoke" in summary
    assert "moved" not in summary
    drawn = plan.of_accepted()
    assert not plan.results.exists(), "a measured run is a folder of its own"
    assert tables == {
        file.name: file.read_bytes() for file in (drawn.results / "airola").glob("*.csv")
    }
    page = (drawn.report / "index.html").read_text()
    assert "Nothing was measured here" in page
    page = (drawn.report / drawn.items[0].page).read_text()
    assert "revision unknown, a cpu" in page
    assert "configfile config/smoke.yaml" in page, "there is no merged configuration"


@pytest.mark.workflow
def test_the_accepted_smoke_run_is_drawn_without_data(tmp_path, monkeypatch, capsys):
    """Two papers, since the smoke run draws every item."""
    plan = load_plan(merged("smoke"))
    if not any((ROOT / plan.accepted).glob("*/tables")):
        pytest.skip("no smoke run was accepted with its tables")
    papers = ("bach", "stock")
    (tmp_path / plan.accepted).mkdir(parents=True)
    for name in (*papers, "items.json", "machine.json", "verdicts.csv"):
        (tmp_path / plan.accepted / name).symlink_to(ROOT / plan.accepted / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KRONBENCH_MIRROR", "")
    monkeypatch.setenv("KRONBENCH_CACHE", str(tmp_path / "cache"))
    assert main(["page", "--scale", "smoke"]) == 0
    drawn = [item for item in plan.items if item.paper in papers]
    summary = capsys.readouterr().out
    assert f"{len(drawn)} items rendered at scale 'smoke'" in summary
    assert "nothing was measured here" in summary
    report = plan.of_accepted().report
    check_pages(report)
    # Those of the other papers have no accepted tables here.
    absent = next(item for item in plan.items if item.paper == "airola")
    assert "Not measured at scale smoke" in (report / absent.page).read_text()
    assert not (tmp_path / "cache").exists()


def test_what_else_changed_is_told(plan):
    for item in plan.items:
        for part in item.parts:
            file = item.table(part).with_suffix(".json")
            sidecar = json.loads(file.read_text())
            sidecar["data"]["source"] = "surrogate" if part == "Ki" else "download"
            change(file, data=sidecar["data"], environment=sidecar["environment"] | {"cpu": "b"})
    found = compare(read_run(plan.accepted), read_run(plan.results))
    assert [d.place for d in found] == ["data ki", "cpu"]


def test_rows_that_a_run_says_it_lacks_are_known_of_both(plan):
    item = plan.items[0]
    write_results(item, curves(), skipped=["A ended: 9 s, over the cap of 5 s"])
    render.render(item)
    write_report(plan)
    accept(plan, write=True)
    for run in read_run(plan.results), read_run(plan.accepted):
        assert short_items(run.records) == {"airola/figure-3"}
    assert short_items({"a": {"skipped": ["B was skipped: b is not installed"]}}) == {"a"}


def test_parts_of_other_settings_or_without_a_record_are_drawn_and_named(plan):
    first, second = plan.items
    changed = dataclasses.replace(first, parameters={**first.parameters, "iterations": 7})
    record = files_of(plan, second, second.parts[0])[1]
    record.write_text(record.read_text().replace('"made_from"', '"of"'))
    accepted_page.draw_accepted(dataclasses.replace(plan, items=(changed, second)))
    page = " ".join((plan.of_accepted().report / "index.html").read_text().split())
    parts = ", ".join(f"airola figure-3 {part}" for part in first.parts)
    count = sum(len(item.parts) for item in plan.items)
    assert f"{len(first.parts)} of {count}: its settings changed since: {parts}." in page
    assert f"1 of {count}: no record of what it was made from" in page


def test_a_lost_table_makes_its_item_missing_and_its_claims_untested(plan):
    files_of(plan, plan.items[0], "Ki")[0].unlink()
    summary = accepted_page.draw_accepted(plan)
    assert "missing: airola figure-3\n" in summary
    assert "claims of the papers, on these data: 1 not tested" in summary
    assert main(["page", "--scale", "middle"]) == 2


def test_surrogates_do_not_take_the_place_of_real_data(plan):
    before = kept(plan.accepted)
    file = plan.items[0].table("Ki").with_suffix(".json")
    change(file, data=json.loads(file.read_text())["data"] | {"source": "surrogate"})
    with pytest.raises(
        InputError, match="figure-3 Ki has surrogate data here, but real data in the"
    ):
        accept(plan, write=True)
    assert kept(plan.accepted) == before


def test_a_run_that_is_not_finished_or_of_fewer_papers_is_not_accepted(plan, capsys):
    file = plan.accepted / "verdicts.csv"
    file.write_text(file.read_text().replace("learns,airola", "learns,stock"))
    with pytest.raises(InputError, match="this run has no stock"):
        accept(plan)
    (plan.report / "claims.csv").unlink()
    assert main(["accept", "--config", str(plan.save())]) == 2
    assert "claims.csv is missing" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["sidecar", "table", "record", "numbers"])
def test_a_damaged_file_is_refused_by_name_and_nothing_is_lost(plan, what):
    before, (figure, table) = kept(plan.accepted), plan.items
    path = {
        "sidecar": figure.table("Ki").with_suffix(".json"),
        "table": figure.table("Ki"),
        "record": table.output("json"),
        "numbers": table.output("csv"),
    }[what]
    path.write_bytes(path.read_bytes()[:-9])
    for call in (lambda: accept(plan, write=True), lambda: write_report(plan)):
        with pytest.raises(InputError, match=re.escape(str(path))):
            call()
    assert kept(plan.accepted) == before


@pytest.mark.parametrize("content", [b"", bytes(range(256)), b"no table\n", b'a,"b\n1'])
def test_damaged_verdicts_are_named(plan, content):
    for path in plan.report / "claims.csv", plan.accepted / "verdicts.csv":
        right = path.read_bytes()
        path.write_bytes(content)
        with pytest.raises(InputError, match=re.escape(str(path))):
            accept(plan, write=True)
        path.write_bytes(right)


def test_a_damaged_accepted_table_is_neither_drawn_nor_compared(plan):
    item = plan.items[0]
    table, record = files_of(plan, item, "Ki")
    right = table.read_bytes()
    for content in packed("a,b\n1,2\n"), right[:-9], b"", b"junk", lzma.compress(b"a,b\n1"):
        table.write_bytes(content)
        for call in (lambda: accepted_text(table), lambda: numbers_in(plan.accepted)):
            with pytest.raises(InputError, match=re.escape(str(table))):
                call()
    table.write_bytes(right)
    record.write_text("{}")
    with pytest.raises(InputError, match=re.escape(str(record))):
        accepted_text(table)


@pytest.mark.parametrize("n_renamed", [0, 7])
def test_accepting_that_is_broken_off_loses_no_table(plan, monkeypatch, n_renamed):
    before = kept(plan.accepted)
    measure(plan, auc=0.7)
    rename, renamed = os.replace, []

    def breaking_off(source, target):
        if "reference" in Path(target).parts:
            if len(renamed) == n_renamed:
                raise KeyboardInterrupt
            renamed.append(target)
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", breaking_off)
        with pytest.raises(KeyboardInterrupt):
            accept(plan, write=True)
    now = kept(plan.accepted)
    assert len(renamed) == n_renamed
    assert os.listdir(plan.accepted.parent) == [plan.accepted.name]
    accept(plan, write=True)
    after = kept(plan.accepted)
    assert now.keys() == before.keys() == after.keys()
    assert after != before
    assert all(content in (before[file], after[file]) for file, content in now.items())


def test_costs_are_the_largest_memory_and_the_processors_time_of_a_job_beside_others(plan):
    costs = pd.read_csv(plan.accepted / "costs.csv")
    assert len(costs) == len(measurements(plan))
    row = costs.iloc[0]
    assert tuple(row) == ("airola", "figure-3", "Ki", 1, 1.2, 1)
    item = plan.items[0]
    file = item.table("Ki").with_suffix(".json")
    environment = json.loads(file.read_text())["environment"]
    change(file, environment=environment | {"threads": 2})
    accept(plan, write=True)
    assert pd.read_csv(plan.accepted / "costs.csv")["seconds"][0] == 1.5


@pytest.mark.parametrize("scale", ["default", "smoke", "paper"])
def test_a_job_asks_for_more_than_it_took_and_twice_as_much_again(scale):
    plan = load_plan(merged(None if scale == "default" else scale))
    for item, part in measurements(plan):
        seconds, mib = cost(item, part)
        assert memory_mb(item, part, 1) >= mib + 400
        assert minutes(item, part, 1) * 60 >= seconds + 60
        for ask in (memory_mb, minutes):
            first = ask(item, part, 1)
            assert [ask(item, part, attempt) for attempt in (2, 3)] == [2 * first, 4 * first]
