"""Items rendered and claims judged from result tables that the test writes itself."""

import base64
import dataclasses
import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from kronbench.errors import InputError
from kronbench.resources import schema_path
from kronbench.yaml_files import read_yaml
from kronbench_suite.report import claim_files, render
from kronbench_suite.report.page import CAUSES, write_report
from kronbench_suite.runner.read_results import read_numbers
from tests.helpers import check_pages, seal


def write_results(item, frame, source="mirror", skipped=(), other_data=()):
    for part in item.parts:
        table = item.table(part)
        table.parent.mkdir(parents=True, exist_ok=True)
        frame.assign(dataset=part, source=source, seed=1, peak_mib=1.0).to_csv(table, index=False)
        sidecar = {
            "paper": item.paper,
            "item": item.name,
            "part": part,
            "skipped": list(skipped),
            "seconds": 1.5,
            "cpu_seconds": 1.2,
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
                "other_data": dict(other_data),
            },
        }
        table.with_suffix(".json").write_text(json.dumps(sidecar))
        seal(table)


def curves(auc=0.6):
    iteration = np.arange(1, 21)
    return pd.concat(
        pd.DataFrame(
            {"reg": reg, "fold": 0, "iteration": iteration, "risk": 10.0 / iteration, "auc": auc}
        )
        for reg in (2.0**-10, 1.0)
    )


def scores(auc):
    """Rows of airola's table 6: for each method its AUC on one fold after the other."""
    rows = [
        {"method": method, "auc": x, "scored_by": method, "fold": fold}
        for method, values in auc.items()
        for fold, x in enumerate(values)
    ]
    fixed = {"on_edge": 0.0, "cross_validated": True, "repeat": 0}
    return pd.DataFrame(rows).assign(reg=1.0, n_neighbors=np.nan, **fixed)


def test_what_is_drawn_are_the_numbers_of_the_table_stamped_if_they_are_a_surrogates(
    plan, monkeypatch
):
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *a, **k: (drawn.append(self), save(self, *a, **k))
    )
    item = plan.item("airola", "figure-3")
    write_results(item, curves(), source="surrogate")
    render.render(item)
    np.testing.assert_allclose(
        drawn[0].axes[0].get_lines()[0].get_ydata(), 10.0 / np.arange(1, 21)
    )
    for figure in drawn:
        texts = figure.findobj(lambda artist: hasattr(artist, "get_text"))
        assert any("SURROGATE DATA (E, GPCR, IC, Ki)" in text.get_text() for text in texts)
    assert {path.name for path in item.folder.glob("figure-3.*")} == {
        f"figure-3.{suffix}" for suffix in ("csv", "pdf", "png", "json")
    }
    assert len(read_numbers(item)) == 2 * 20 * len(item.datasets)
    assert json.loads(item.output("json").read_text())["surrogates"] == ["E", "GPCR", "IC", "Ki"]


OTHER = {"airola": "a later release of the labels"}


def test_other_data_than_the_papers_is_said_in_every_text_of_a_table(plan):
    item = plan.item("airola", "table-6")
    measured = scores({"KNN": [0.7]})
    write_results(item, measured, other_data=OTHER)
    render.render(item)
    others = json.loads(item.output("json").read_text())["other_data"]
    assert others == [f"{part}: {OTHER['airola']}" for part in item.parts]
    for kind in ("html", "md"):
        text = item.output(kind).read_text().replace("&#39;", "'")
        assert f"Other data than the paper's: {others[0]}" in text, kind
    write_results(item, measured, other_data={"stock": "for another paper"})
    render.render(item)
    assert "other data" not in item.output("md").read_text().lower()
    assert json.loads(item.output("json").read_text())["other_data"] == []


def claim(**check):
    return {
        "id": "a-claim",
        "paper": "airola",
        "place": "figure 3",
        "sentence": "It is so.",
        "item": "figure-3",
        "whose": "paper",
        "strictness": "strict",
        "check": check,
    }


def say(monkeypatch, *entries, inconsistencies=()):
    """Let the page know these claims and inconsistencies alone."""
    statements = claim_files.Statements(list(entries), list(inconsistencies))
    monkeypatch.setattr("kronbench_suite.report.page.load_statements", lambda plan: statements)


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
    assert written == {f"table-7.{kind}" for kind in ("csv", "html", "json", "md")}
    with pytest.raises(InputError, match=r"paper.yaml: table-7 is a table: give it a layout"):
        render.render(dataclasses.replace(second, layout=()))


def test_the_pages_are_self_contained_and_say_what_was_not_real(plan, monkeypatch):
    small, table = plan.item("airola", "figure-3"), plan.item("airola", "table-6")
    plan = dataclasses.replace(plan, items=(small, table))
    write_results(small, curves(), source="surrogate", skipped=["rls was skipped: not installed"])
    write_results(table, scores({"KNN": [0.7]}))
    render.render(small)
    render.render(table)
    say(monkeypatch, claim(kind="at_least", value="auc", bound=0, where="reg > 0 and fold == 0"))
    (plan.report / "part").mkdir(parents=True)
    (plan.report / "gone.html").touch()
    summary = write_report(plan)
    page = (plan.report / "index.html").read_text()
    assert "Surrogate data: E, GPCR, IC, Ki" in page
    assert "rls was skipped" in page
    assert "rls was skipped" in summary
    assert "surrogate data: E, GPCR, IC, Ki (in airola figure-3)" in summary
    assert f"--forcerun {plan.data_folder('E') / 'data.npz'} " in summary
    assert "<li>table 1: table-2</li>" in page  # of 2016, which this plan has not
    assert {path.name for path in plan.report.glob("*")} == {
        *("airola-figure-3.html", "airola-table-6.html", "index.html", "claims.html"),
        *("claims.csv", "summary.txt"),
    }
    check_pages(plan.report)
    page = (plan.report / small.page).read_text()
    assert "Surrogate data: E, GPCR, IC, Ki" in page
    assert small.command("Ki") in page
    assert "data:image/png;base64," in page
    # The query stands in the folded technical part alone.
    before, query, _ = html.unescape(page).partition("reg > 0 and fold == 0")
    assert query
    assert before.rpartition("<details")[2].startswith(' class="technical">')
    # The numbers of a page are those of the file.
    page = (plan.report / table.page).read_text()
    (held,) = re.findall(r'download="airola-table-6.csv" href="data:[^,]*,([^"]*)"', page)
    assert base64.b64decode(held) == table.output("csv").read_bytes()
    assert len(pd.read_csv(plan.report / "claims.csv")) == 1
    assert summary.splitlines()[-1] == "page: results/smoke/report/index.html"


def test_the_page_counts_claims_apart_by_who_says_them(plan, monkeypatch):
    item = plan.item("airola", "figure-3")
    plan = dataclasses.replace(plan, items=(item,))
    write_results(item, pd.concat([curves(0.5), curves(0.8).assign(fold=1)]))
    render.render(item)
    at_least = {"kind": "at_least", "value": "auc"}
    spread = {"spread": {"over": ["fold"]}}
    new = {"spread": {"over": ["fold"], "test_over_train": 0.25}}
    because = {
        "cause": "setting", "text": "It stops.",
        "shown_by": {"where": "iteration == 1", "value": "risk"},
    }  # fmt: skip
    entries = {
        "holds": claim(**at_least, bound=0),
        "open": claim(**at_least, bound=0.6, **spread) | {"reads": "measurements"},
        "wrong": claim(**at_least, bound=2),
        "known": claim(**at_least, bound=2) | {"because": because},
        "new": claim(**at_least, bound=0.6, **new) | {"reads": "measurements"},
        "words": claim(test_over_train=0.5) | {"untestable": "no number"},
        "own": claim(**at_least, bound=2) | {"whose": "ours"},
        "others": claim(**at_least, bound=2) | {"whose": "field"},
    }
    say(monkeypatch, *({**entry, "id": name} for name, entry in entries.items()))
    summary = write_report(plan)
    counted = "1 holds, 1 undecided, 2 contradicted"
    assert f"  claims of the papers, on these data: {counted}\n" in summary
    assert "  claims of the papers, for new data: 1 undecided, 1 not tested\n" in summary
    assert "  claims of our own, on these data: 1 contradicted\n" in summary
    check_pages(plan.report)
    page = (plan.report / "index.html").read_text()
    matrix = re.search(r'<table class="matrix">.*?</table>', page, re.DOTALL)[0]
    rows = [re.findall(r"<td.*?</td>", row) for row in matrix.split("<tr>")[3:]]
    rows = [[re.sub("<[^>]*>", "", cell) for cell in row] for row in rows]
    # What a paper or a publication says, then how many of our own hold.
    assert rows == [["these data", *"1130", "0 of 1"], ["new data", *"0101", "0"]]
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    said = "1 holds , 2 are undecided , 2 are contradicted and 1 was not tested ."
    assert f"Of 6 claims of the papers, {said}" in text
    assert "2 claims of the papers rest on intervals, and 0 of them are contradicted" in text
    assert "only just, chance would contradict at most 0.1" in text
    assert "Contradicted here: 2 claims of the papers, 1 of other publications" in text
    # those of one sentence are one line, that of a paper and that of the field
    assert (
        "3 claims such as: It is so. "
        "cause: unknown, a choice that the paper does not state It is so." in text
    )
    assert "It is so. figure 3; cause: a choice that the paper does not state" in text
    assert (
        "  contradicted: 3 claims such as: It is so. (airola figure-3)\npage: results/" in summary
    )
    assert max(map(len, summary.splitlines())) <= 100
    table = pd.read_csv(plan.report / "claims.csv", keep_default_na=False).set_index("id")
    assert table["cause"].to_dict() == {
        name: {**dict.fromkeys(("wrong", "own", "others"), "unknown"), "known": "setting"}.get(
            name, ""
        )
        for name in entries
    }
    on_intervals = table.index[table["chance"] > 0]
    assert list(on_intervals) == ["open", "new"]
    assert np.allclose(table["chance"][on_intervals], 0.025)
    assert table["asks"].to_dict() == {
        name: "new data" if name in ("new", "words") else "these data" for name in entries
    }


def test_every_cause_has_words_on_the_page():
    schema = read_yaml(schema_path("claims"))
    entry = schema["properties"]["claims"]["items"]["properties"]["because"]
    assert {*entry["properties"]["cause"]["enum"], "", "unknown"} == set(CAUSES)


def on(id_, item, **changes):
    return claim(kind="at_least", value="auc", bound=0.5) | {"id": id_, "item": item} | changes


def test_the_page_of_a_part_has_what_is_finished_and_names_the_rest(plan, monkeypatch):
    both = on("both", "figure-3", also=["figure-4"])
    entries = on("one", "figure-3"), on("other", "figure-4"), both
    known = {  # a place in a paper for each
        "A figure of the page.": ("airola", "sections 5 and 5.1, figure 3"),
        "Another figure.": ("airola", "figure 33"),
        "The text.": ("airola", "section 3"),
        "Another paper.": ("stock", "figure 3"),
    }
    say(monkeypatch, *entries, inconsistencies=[
        {"paper": paper, "place": place, "what": what} for what, (paper, place) in known.items()
    ])  # fmt: skip
    with pytest.raises(InputError, match="no item of scale 'smoke' is finished; make one with: s"):
        write_report(plan)
    item = plan.item("airola", "figure-3")
    write_results(item, curves())
    render.render(item)
    summary = write_report(plan)
    part = plan.report / "part" / "index.html"
    page = html.unescape(part.read_text())
    check_pages(part.parent)
    assert summary.splitlines()[-1] == f"page of what is there: {part}"
    assert "1 item rendered at scale 'smoke'" in summary
    missing = len(plan.items) - 1
    assert f"  missing: {missing} other items\n" in summary
    assert f"{missing} of {len(plan.items)} items are missing" in page
    assert "airola figure-4" in page
    claims = (part.parent / "claims.html").read_text()
    assert re.findall(r'<tr role="row" id="([^"]*)"', claims) == ["claim-one"]
    assert [what for what in known if what in page] == ["A figure of the page."]
    # What only a finished run has is not there.
    assert [path.name for path in plan.report.iterdir()] == ["part"]
    pages = {path.name for path in part.parent.iterdir()}
    assert pages == {"index.html", "claims.html", "airola-figure-3.html"}


def test_no_claim_of_a_paper_speaks_of_own_data(plan, monkeypatch):
    say(monkeypatch, on("theirs", "figure-3"), on("ours", "figure-3", whose="ours"))
    item = plan.item("airola", "figure-3")
    write_results(item, curves())
    own = dataclasses.replace(item, datasets=item.datasets[:1])
    write_results(own, curves(0.1), source="own")
    render.render(item)
    summary = write_report(plan)
    assert "claims of the papers, on these data: 1 holds" in summary
    assert "claims of our own, on these data: 1 contradicted" in summary
    page = (plan.report / "part" / "index.html").read_text()
    assert f"Own data, of which no paper speaks: {own.parts[0]}." in page
