"""All numbers of a run in one table, each beside the printed one of its row."""

import numpy as np
import pandas as pd

from kronbench.report import all_results, render
from kronbench.report.all_results import all_results as made
from tests.report.test_report import curves, scores, write_results

MEASURED = scores({"KNN": [0.7], "KronSVM": [0.8]})


def test_each_number_has_its_place_and_the_printed_one(plan, tmp_path, monkeypatch):
    table, figure = items = plan.item("airola", "table-6"), plan.item("airola", "figure-3")
    write_results(table, MEASURED)
    write_results(figure, curves())
    for item in items:
        render.render(item)
    made(items).to_csv(tmp_path / "all.csv", index=False)
    found = pd.read_csv(tmp_path / "all.csv")
    assert list(found) == [
        *("paper", "item", "dataset", "source", "row", "column", "value", "printed")
    ]
    key = ["item", "dataset", "row", "column"]
    assert not found.duplicated(key).any()
    found = found.set_index(key)
    ours = found.loc[("table-6", "GPCR", "method=KronSVM", "ours")]
    assert (ours["value"], ours["printed"], ours["source"]) == (0.8, 0.62, "mirror")
    assert "paper" not in found.index.unique("column"), "it stands beside ours"
    curve = "fold=0; reg=1.0; iteration=20"
    assert found.loc[("figure-3", "Ki", curve, "risk"), "value"] == 0.5
    monkeypatch.setattr(all_results, "MOST_ROWS", 50)
    assert set(made(items)["item"]) == {"table-6"}


def test_a_printed_number_stands_where_nothing_was_measured(plan):
    item = plan.item("airola", "table-6")
    write_results(item, MEASURED.assign(auc=np.nan))
    render.render(item)
    found = made([item]).query("column == 'ours'")
    assert found["value"].isna().all()
    assert found["printed"].notna().all()
