"""Items rendered and claims judged from result tables that the test writes itself."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from kronbench.bench.items import load_plan
from kronbench.bench.results import read_numbers
from kronbench.errors import InputError
from kronbench.report import claim_files, claims, render
from kronbench.report.page import write_report
from tests.helpers import merged


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load_plan(merged("smoke"))


def write_results(item, frame, source="mirror", skipped=()):
    for part in item.parts:
        table = item.table(part)
        table.parent.mkdir(parents=True, exist_ok=True)
        frame.assign(dataset=part, source=source, seed=1, peak_mib=1.0).to_csv(table, index=False)
        sidecar = {
            "part": part,
            "skipped": list(skipped),
            "seconds": 1.5,
            "command": item.command(part),
            "parameters": dict(item.parameters),
            "environment": {
                "threads": 1,
                "cpu": "a cpu",
                "cores": 2,
                "python": "3",
                "packages": {},
                "blas": [],
                "revision": None,
                "time": "now",
            },
            "data": {
                "name": part,
                "source": source,
                "title": f"data {part}",
                "citation": "C.",
                "licence": "L.",
                "files": [],
                "notes": [],
            },
        }
        table.with_suffix(".json").write_text(json.dumps(sidecar))


def curves(auc=0.6):
    iteration = np.arange(1, 21)
    return pd.concat(
        pd.DataFrame(
            {"reg": reg, "fold": 0, "iteration": iteration, "risk": 10.0 / iteration, "auc": auc}
        )
        for reg in (2.0**-10, 1.0)
    )


def texts(figure: Figure):
    return " ".join(
        text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    )


def test_numbers_that_are_drawn_are_the_numbers_of_the_table(plan):
    item = plan.item("airola", "figure-3")
    write_results(item, curves())
    drawn = []
    original = Figure.savefig
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Figure, "savefig", lambda self, *a, **k: (drawn.append(self), original(self, *a, **k))
        )
        render.render(item)
    lines = drawn[0].axes[0].get_lines()
    np.testing.assert_allclose(lines[0].get_ydata(), 10.0 / np.arange(1, 21))
    assert {path.name for path in item.folder.glob("figure-3.*")} == {
        f"figure-3.{suffix}" for suffix in ("csv", "pdf", "png", "json")
    }
    assert len(read_numbers(item)) == 2 * 20 * len(item.datasets)


def test_surrogate_data_is_stamped_in_the_picture_and_the_record(plan, monkeypatch):
    item = plan.item("airola", "figure-3")
    write_results(item, curves(), source="surrogate")
    stamped = []
    original = Figure.savefig
    monkeypatch.setattr(
        Figure,
        "savefig",
        lambda self, *a, **k: (stamped.append(texts(self)), original(self, *a, **k)),
    )
    render.render(item)
    assert all("SURROGATE DATA (E, GPCR, IC, Ki)" in text for text in stamped)
    assert json.loads(item.output("json").read_text())["surrogates"] == ["E", "GPCR", "IC", "Ki"]


def claim(**check):
    return {
        "id": "a-claim",
        "paper": "airola",
        "place": "figure 3",
        "sentence": "It is so.",
        "item": "figure-3",
        "strictness": "strict",
        "check": check,
    }


def say(monkeypatch, *entries):
    """Let the page know these claims alone."""
    statements = claim_files.Statements(list(entries), [], [])
    monkeypatch.setattr("kronbench.report.page.load_statements", lambda plan: statements)


def verdict(plan, entry, **results):
    item = plan.item("airola", "figure-3")
    write_results(item, curves(), **results)
    render.render(item)
    (result,) = claims.evaluate([entry], plan)
    return result


def test_a_claim_holds_or_fails_by_its_numbers(plan):
    within = {"kind": "within", "value": "auc", "tolerance": 0.01}
    assert verdict(plan, claim(**within, target=0.6)).verdict == "holds"
    assert verdict(plan, claim(**within, target=0.7)).verdict == "fails"


def test_a_known_difference_is_bounded(plan):
    entry = claim(kind="within", value="auc", tolerance=0.01, target=0.7)
    bound = {"kind": "at_least", "value": "auc", "bound": 0.55}
    known = entry | {"differs": {"because": "other folds", "check": bound}}
    result = verdict(plan, known)
    assert result.verdict == "differs"
    assert result.measured == "0.6 against 0.7 ± 0.01; other folds (smallest 0.6, bound 0.55)"
    bound["bound"] = 0.65
    result = verdict(plan, known)
    assert result.verdict == "fails"
    assert "the known reason does not explain this (smallest 0.6, bound 0.65)" in result.measured
    # a second check that finds nothing to read bounds nothing
    bound["where"] = "reg == 1024"
    assert verdict(plan, known).verdict == "fails"


@pytest.mark.parametrize("column", ["auc", "seconds"])
@pytest.mark.parametrize("timing", [True, False])
def test_a_claim_on_time_is_not_tested_on_a_busy_machine(plan, column, timing):
    entry = claim(kind="at_least", value=column, bound=0, where="reg == 1") | {"timing": timing}
    frame = curves().assign(seconds=1.0)
    judged = [
        claims.judge(entry, frame.assign(source="mirror", dataset="Ki", busy=busy), "smoke")
        for busy in (False, frame["reg"] == 1, frame["reg"] < 1)
    ]
    assert judged[0][0] == judged[2][0] == "holds"
    expected = ("not tested here", "the machine was busy") if timing else judged[0]
    assert judged[1] == expected


def test_a_column_that_is_not_there_is_not_tested(plan):
    for entry in (
        claim(kind="at_least", value="deviation", bound=0),
        claim(kind="at_least", value="auc", bound=0, where="deviation > 0"),
    ):
        assert verdict(plan, entry).verdict == "not tested here"


def test_a_claim_may_read_the_measurements_behind_a_table(plan):
    source = plan.item("airola", "table-6")
    frame = pd.DataFrame({"method": ["KNN", "KronSVM"] * 2, "fold": [0, 0, 1, 1]})
    write_results(source, frame.assign(auc=[0.6, 0.7, 0.6, 0.75]))
    entry = claim(
        kind="leads", value="auc", among="method", leader="KronSVM", by=["dataset"],
        spread={"over": ["fold"], "test_over_train": 0.25},
    ) | {"item": "table-6", "reads": "measurements"}  # fmt: skip
    holds, measured = claims.judge(entry, claims.rows_of(entry, plan), plan.scale)
    assert holds == "holds"
    assert measured.startswith("smallest lead 0.125 (95 % interval ")


def test_a_claim_on_missing_rows_or_surrogates_is_not_tested(plan):
    entry = claim(kind="within", value="auc", target=0.6, tolerance=0.01, where="reg == 1024")
    assert verdict(plan, entry).verdict == "not tested here"
    entry = claim(kind="within", value="auc", target=0.7, tolerance=0.01)
    result = verdict(plan, entry | {"not_at": [plan.scale]})
    assert (result.verdict, result.measured) == (
        "not tested here",
        f"the sizes of scale '{plan.scale}' are too small for it",
    )
    entry = claim(kind="within", value="auc", target=0.6, tolerance=0.01)
    result = verdict(plan, entry, source="surrogate")
    assert (result.verdict, result.measured) == (
        "not tested here",
        "surrogate data: E, GPCR, IC, Ki",
    )


def test_a_check_that_finds_too_little_is_not_tested(plan):
    entry = claim(kind="gain", value="auc", between="reg", low=1, high=9, by=["dataset"], bound=0)
    result = verdict(plan, entry)
    assert (result.verdict, result.measured) == (
        "not tested here",
        "no group has both 1 and 9",
    )


def test_a_claim_may_compare_items(plan):
    second = plan.item("airola", "figure-4")
    write_results(second, curves(auc=0.7))
    render.render(second)
    entry = claim(
        kind="gain", value="auc", between="item", low="figure-3", high="figure-4",
        by=["dataset", "reg"], bound=0.09,
    ) | {"also": ["figure-4"]}  # fmt: skip
    result = verdict(plan, entry)
    assert result.verdict == "holds"
    assert result.measured.startswith("smallest gain 0.1 ")


def test_a_headline_says_what_stands_against_quoting_it(plan):
    item = plan.item("airola", "table-7")
    table = pd.DataFrame(
        {
            "method": ["A", "B"],
            "took": [298.0, None],
            "seconds": [27.82, 1.0],
            "times": [10.7117, None],
            "busy": [True, False],
            "dataset": "Ki",
            "source": ["mirror", "surrogate"],
        }
    )
    entry = {"paper": "airola", "item": "table-7", "sentence": "S", "where": "seconds > 0"}
    entry |= {"of": ["method", "dataset"], "theirs": "took", "ours": "seconds", "times": "times"}
    item.folder.mkdir(parents=True)
    table.to_csv(item.output("csv"), index=False)
    (line,) = claims.headlines([entry], plan)
    assert line.rows == [claims.HeadlineRow("A, Ki", "298 s", "27.8 s", "10.7", "busy machine")]
    table.assign(took=">3d").to_csv(item.output("csv"), index=False)
    ((first, second),) = (line.rows for line in claims.headlines([entry], plan))
    assert (first.theirs, first.times, second.doubts) == (">3d", "> 10.7", "surrogate data")


def test_an_item_draws_the_tables_of_another(plan):
    source, second = plan.item("airola", "table-6"), plan.item("airola", "table-7")
    measured = pd.DataFrame({"method": ["KNN"], "auc": 0.7, "chosen": 3.0, "n": 10})
    measured = measured.assign(
        cpu_seconds=2.0, seconds=1.0, selection_cpu=0.5, fit_cpu=0.5, prediction_cpu=1.0,
        cross_validated=True,
    )  # fmt: skip
    write_results(source, measured)
    render.render(second)
    assert read_numbers(second)["our seconds"].tolist() == [18.0] * len(source.parts)
    assert second.command("GPCR") == source.command("GPCR")
    written = {path.name for path in second.folder.glob("table-7.*")}
    assert written == {f"table-7.{kind}" for kind in ("csv", "html", "json", "md", "tex")}
    with pytest.raises(InputError, match=r"airola.yaml: table-7 is a table: give it a layout"):
        render.render(dataclasses.replace(second, layout=()))


def test_the_page_is_self_contained_and_says_what_was_not_real(plan, monkeypatch):
    small = plan.item("airola", "figure-3")
    plan = dataclasses.replace(plan, items=(small,))
    write_results(small, curves(), source="surrogate", skipped=["rls was skipped: not installed"])
    render.render(small)
    say(monkeypatch, claim(kind="at_least", value="auc", bound=0))
    summary = write_report(plan)
    page = (plan.report / "index.html").read_text()
    assert "Surrogate data: E, GPCR, IC, Ki" in page
    assert "rls was skipped" in page
    assert "rls was skipped" in summary
    assert "surrogate data: E, GPCR, IC, Ki (in airola figure-3)" in summary
    assert f"--forcerun {plan.data_folder('E') / 'data.npz'} " in summary
    assert small.command("Ki") in page
    assert '<li>table 1: <a href="#airola-table-2">table-2</a></li>' in page  # of 2016
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert "data:image/png;base64," in page
    assert len(pd.read_csv(plan.report / "claims.csv")) == 1


def test_mixed_revisions_and_machines_are_named_at_each_item(plan, monkeypatch):
    items = (plan.item("airola", "figure-4"), plan.item("airola", "figure-3"))
    plan = dataclasses.replace(plan, items=items)
    for item in items:
        write_results(item, curves())
        render.render(item)
    say(monkeypatch)
    write_report(plan)
    assert "Measured at" not in (plan.report / "index.html").read_text()

    sidecar = items[1].table(items[1].parts[0]).with_suffix(".json")
    record = json.loads(sidecar.read_text())
    record["environment"].update(revision="abc123", cpu="another cpu")
    sidecar.write_text(json.dumps(record))
    write_report(plan)
    page = (plan.report / "index.html").read_text()
    assert page.count("Measured at revision unknown, a cpu, 2 cores") == 1
    assert (
        "Measured at revision abc123, another cpu, 2 cores; revision unknown, a cpu, 2 cores."
        in page
    )
    assert "Other items have other revisions or machines" in page
