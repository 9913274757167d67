"""The page of a run that is not finished, and of one with own data."""

import dataclasses
import html

import pytest

from kronbench.errors import InputError
from kronbench.report import claim_files, render
from kronbench.report.page import write_report
from tests.report.test_report import curves, write_results

INCONSISTENCIES = [
    {"paper": paper, "place": place, "what": what}
    for paper, place, what in [
        ("airola", "sections 5 and 5.1, figure 3", "A figure of the page."),
        ("airola", "figure 33", "Another figure."),
        ("airola", "section 3", "The text."),
        ("stock", "figure 3", "Another paper."),
    ]
]


def claims_are(monkeypatch, *claims):
    """Let the page know these claims, and the inconsistencies, alone."""
    common = {"paper": "airola", "place": "p", "whose": "paper"}
    said = [{**common, "sentence": claim["id"], **claim} for claim in claims]
    statements = claim_files.Statements(said, INCONSISTENCIES)
    monkeypatch.setattr("kronbench.report.page.load_statements", lambda plan: statements)


def on(id_, item, **changes):
    check = {"kind": "at_least", "value": "auc", "bound": 0.5}
    return {"id": id_, "item": item, "check": check, **changes}


def test_the_page_of_a_part_has_what_is_finished_and_names_the_rest(plan, monkeypatch):
    both = on("both", "figure-3", also=["figure-4"])
    claims_are(monkeypatch, on("one", "figure-3"), on("other", "figure-4"), both)
    with pytest.raises(InputError, match="no item of scale 'smoke' is finished; make one with: s"):
        write_report(plan)
    item = plan.item("airola", "figure-3")
    write_results(item, curves())
    render.render(item)
    summary = write_report(plan)
    part = plan.report / "part.html"
    page = html.unescape(part.read_text())
    assert summary.splitlines()[-1] == f"page of what is there: {part}"
    assert "1 item rendered at scale 'smoke'" in summary
    missing = len(plan.items) - 1
    assert f"  missing: {missing} other items\n" in summary
    assert f"{missing} of {len(plan.items)} items are missing" in page
    assert "airola figure-4" in page
    assert "claim-one" in page
    assert not {"claim-other", "claim-both"} & set(page.replace('"', " ").split())
    assert "A figure of the page." in page
    assert not [entry["what"] for entry in INCONSISTENCIES[1:] if entry["what"] in page]
    # What only a finished run has is not there.
    assert [path.name for path in plan.report.iterdir()] == ["part.html"]


def test_no_claim_of_a_paper_speaks_of_own_data(plan, monkeypatch):
    claims_are(monkeypatch, on("theirs", "figure-3"), on("ours", "figure-3", whose="ours"))
    item = plan.item("airola", "figure-3")
    write_results(item, curves())
    own = dataclasses.replace(item, datasets=item.datasets[:1])
    write_results(own, curves(0.1), source="own")
    render.render(item)
    summary = write_report(plan)
    assert "claims of the papers, on these data: 1 holds" in summary
    assert "claims of our own, on these data: 1 contradicted" in summary
    page = (plan.report / "part.html").read_text()
    assert f"Own data, of which no paper speaks: {own.parts[0]}." in page
