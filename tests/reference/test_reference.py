"""A run against the last accepted one."""

import dataclasses
import json

import pandas as pd
import pytest

from kronbench.cli import main
from kronbench.errors import InputError
from kronbench.reference.accepted import files_of
from kronbench.reference.compare import compare, read_run
from kronbench.reference.reference import BEGIN, END, accept, update_readme
from kronbench.report import render
from kronbench.report.page import write_report
from kronbench.runner.items import load_plan
from tests.helpers import merged
from tests.report.test_report import claim, curves, say, write_results


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A plan of one item and two claims on it, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    plan = load_plan(merged("smoke"))
    plan = dataclasses.replace(
        plan,
        items=(plan.item("airola", "figure-3"),),
        papers={"airola": plan.papers["airola"]},
    )
    entries = [
        claim(kind="at_least", value="auc", bound=0.5) | {"id": "learns"},
        claim(kind="peaks_within", value="risk", over="iteration", by=["dataset", "reg"], limit=1),
    ]
    say(monkeypatch, *entries)
    return plan


REG = 2.0**-10  # of the curves that are measured


def measured(plan, auc):
    (item,) = plan.items
    write_results(item, curves(auc=auc).head(20))
    render.render(item)
    return write_report(plan)


def test_a_moved_verdict_is_on_the_page_and_in_the_summary(plan):
    summary = measured(plan, auc=0.6)
    assert "no accepted run of this scale to compare with" in summary
    assert "add --yes" in accept(plan)
    assert not plan.accepted.exists()
    accept(plan, write=True)

    assert "moved" not in measured(plan, auc=0.55)
    summary = measured(plan, auc=0.4)
    line = (
        "learns: holds -> contradicted (was: smallest 0.6, bound 0.5; "
        "now: smallest 0.4, bound 0.5; cause unknown)"
    )
    assert "  moved: learns: holds -> contradicted\n" in summary
    assert line in (plan.report / "index.html").read_text().replace("&gt;", ">")
    text = accept(plan)
    assert line in text
    assert "1 of 2 verdicts move against results/reference/smoke, beside 0 on times" in text
    # what was accepted stands until someone says yes
    assert pd.read_csv(plan.accepted / "verdicts.csv")["verdict"].tolist() == ["holds", "holds"]


def test_what_is_accepted_is_small_and_says_its_machine(plan):
    measured(plan, auc=0.6)
    accept(plan, write=True)
    machine = json.loads((plan.accepted / "machine.json").read_text())
    assert (machine["cpu"], machine["cores"], machine["first"]) == ("a cpu", 2, "now")
    files = sorted(path.relative_to(plan.accepted) for path in plan.accepted.rglob("*.csv"))
    # its numbers are its tables
    assert [path.as_posix() for path in files] == ["verdicts.csv"]
    (item,) = plan.items
    assert all(file.exists() for part in item.parts for file in files_of(plan, item, part))


def test_tables_that_lack_rows_are_named_by_a_run_and_once_it_is_accepted(plan):
    (item,) = plan.items
    for reason in ("ended at 9 s, over the cap of 5 s", "A was skipped: a is not installed"):
        write_results(item, curves(auc=0.6).head(20), skipped=[reason])
        render.render(item)
        write_report(plan)
        accept(plan, write=True)
        runs = read_run(plan.report.parent), read_run(plan.accepted)
        assert [run.cut_short for run in runs] == [{"airola/figure-3"}] * 2


def test_a_run_beside_the_accepted_one_tells_what_else_changed(plan):
    measured(plan, auc=0.6)
    accept(plan, write=True)
    (item,) = plan.items
    accepted, run = read_run(plan.accepted), read_run(plan.report.parent)
    assert compare(accepted, run) == []
    assert accepted.surroundings == run.surroundings
    for part in item.parts:
        file = item.table(part).with_suffix(".json")
        sidecar = json.loads(file.read_text())
        sidecar["environment"] |= {"cpu": "another cpu", "revision": "abc"}
        sidecar["data"]["source"] = "surrogate" if part == "Ki" else "download"
        file.write_text(json.dumps(sidecar))
    found = compare(accepted, read_run(plan.report.parent))
    assert [(d.kind, d.place) for d in found] == [
        ("surroundings", place) for place in ("data ki", "revision", "cpu")
    ]


def test_another_verdict_on_times_is_told_and_is_no_move(plan, monkeypatch):
    entry = claim(kind="ratio", value="risk", between="reg", slow=REG, fast=REG, bound=1)
    entry = entry | {"id": "fast", "timing": True}
    say(monkeypatch, entry)
    measured(plan, auc=0.6)
    accept(plan, write=True)
    say(monkeypatch, entry | {"check": entry["check"] | {"bound": 2}})
    summary = measured(plan, auc=0.6)
    assert "moved" not in summary
    assert "other verdicts on times, which are not compared: fast\n" in summary
    page = (plan.report / "index.html").read_text()
    assert "No verdict moved since the accepted run." in page
    assert "which are not compared: 1</summary>" in page
    assert "0 of 1 verdicts move against results/reference/smoke, beside 1 on times" in (
        accept(plan)
    )


def test_new_and_lost_claims_are_moves(plan, monkeypatch):
    measured(plan, auc=0.6)
    accept(plan, write=True)
    entry = claim(kind="at_least", value="auc", bound=0.5) | {"id": "other"}
    say(monkeypatch, entry)
    summary = measured(plan, auc=0.6)
    assert "moved: other: new -> holds\n" in summary
    assert "moved: learns: holds -> gone\n" in summary


def test_a_run_of_fewer_papers_is_not_accepted(plan):
    measured(plan, auc=0.6)
    accept(plan, write=True)
    file = plan.accepted / "verdicts.csv"
    file.write_text(file.read_text().replace("learns,airola", "learns,stock"))
    with pytest.raises(InputError, match="this run has no stock"):
        accept(plan)


@pytest.mark.parametrize("lost", ["table", "sidecar", "numbers"])
def test_a_run_that_lost_a_file_leaves_what_was_accepted(plan, lost):
    measured(plan, auc=0.6)
    accept(plan, write=True)
    before = {file: file.read_bytes() for file in plan.accepted.rglob("*") if file.is_file()}
    (item,) = plan.items
    table = item.table(item.parts[0])
    file = {"table": table, "sidecar": table.with_suffix(".json"), "numbers": item.output("csv")}
    file[lost].unlink()
    with pytest.raises(InputError, match=f"{file[lost]} of this run is lost"):
        accept(plan, write=True)
    assert before == {
        file: file.read_bytes() for file in plan.accepted.rglob("*") if file.is_file()
    }


def test_the_command_needs_a_finished_run(plan, capsys):
    config = plan.save()
    assert main(["accept", "--config", str(config)]) == 2
    assert "claims.csv is missing" in capsys.readouterr().err


def test_the_readme_gets_the_matrix_of_the_accepted_verdicts(plan):
    plan = dataclasses.replace(plan, config={**plan.config, "scale": "default"}, items=())
    target = plan.accepted
    target.mkdir(parents=True)
    rows = [
        ("a", "airola", "paper", "holds"),
        ("b", "airola", "paper", "contradicted"),
        ("e", "airola", "ours", "holds"),
        ("f", "performance", "ours", "undecided"),
        ("g", "field", "field", "contradicted"),
    ]
    verdicts = pd.DataFrame(rows, columns=["id", "paper", "whose", "verdict"])
    verdicts = verdicts.assign(item="figure-1", timing=False, cause="", measured="1")
    verdicts.to_csv(target / "verdicts.csv", index=False)
    machine = {"cpu": "a cpu", "cores": 2, "last": "2026-11-21T20:00:00"}
    (target / "machine.json").write_text(json.dumps(machine))
    readme = target / "README.md"
    readme.write_text(f"before\n{BEGIN}\nprevious\n{END}\nafter\n")
    update_readme(readme, target)
    text = readme.read_text()
    assert "| paper | holds | undecided | contradicted | not tested | our own |" in text
    assert "| `airola` | 1 | 0 | 1 | 0 | 1 of 1 |" in text
    assert "| `performance` | 0 | 0 | 0 | 0 | 0 of 1 |" in text
    assert "| `field` | 0 | 0 | 1 | 0 | 0 |" in text
    assert "2026-11-21, a cpu, 2 cores" in text
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "previous" not in text
    update_readme(readme, target)
    assert readme.read_text() == text
