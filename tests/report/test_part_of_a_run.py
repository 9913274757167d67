"""The page of a run that is not finished, and of one with own data."""

import html
import json

import pandas as pd
import pytest

from kronbench.errors import InputError
from kronbench.report import claim_files, render
from kronbench.report.page import write_report
from tests.helpers import seal
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


@pytest.fixture
def statements(monkeypatch):
    """Claims on two figures and on both, which are all that is said."""

    def say(*claims):
        common = {"paper": "airola", "place": "p", "whose": "paper"}
        said = claim_files.Statements(
            [{**common, "sentence": c["id"], **c} for c in claims], INCONSISTENCIES
        )
        monkeypatch.setattr("kronbench.report.page.load_statements", lambda plan: said)

    return say


def finish(item, source="mirror", auc=0.6):
    """Result tables of an item, its first data set from ``source`` with ``auc``, and a picture."""
    write_results(item, curves())
    for part in item.parts:
        table = item.table(part)
        record = json.loads(table.with_suffix(".json").read_text()) | {"paper": item.paper}
        if part == item.parts[0]:
            pd.read_csv(table).assign(source=source, auc=auc).to_csv(table, index=False)
            record["data"]["source"] = source
        table.with_suffix(".json").write_text(json.dumps(record))
        seal(table)
    render.render(item)


def on(id_, item, **changes):
    check = {"kind": "at_least", "value": "auc", "bound": 0.5}
    return {"id": id_, "item": item, "check": check, **changes}


def test_the_page_of_a_part_has_what_is_finished_and_names_the_rest(plan, statements):
    statements(
        on("one", "figure-3"), on("other", "figure-4"), on("both", "figure-3", also=["figure-4"])
    )
    with pytest.raises(InputError, match="no item of scale 'smoke' is finished; make one with: s"):
        write_report(plan)
    item = plan.item("airola", "figure-3")
    finish(item)
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


def test_no_claim_of_a_paper_speaks_of_own_data(plan, statements):
    statements(on("theirs", "figure-3"), on("ours", "figure-3", whose="ours"))
    item = plan.item("airola", "figure-3")
    finish(item, source="own", auc=0.1)
    summary = write_report(plan)
    assert "claims of the papers, on these data: 1 holds" in summary
    assert "claims of our own, on these data: 1 contradicted" in summary
    page = (plan.report / "part.html").read_text()
    assert f"Own data, of which no paper speaks: {item.parts[0]}." in page
