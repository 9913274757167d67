"""The page of ``evaluate --report`` has the numbers of the command, and is whole."""

import base64
import json
import re
import shlex
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from kronbench import PairData
from kronbench.datasets.pair_tables import read_own_pairs
from kronbench.evaluation import concordance_index, roc_auc
from kronbench.models import KronRidge
from kronbench.own_pairs.evaluate import evaluate_pairs, scores_and_notes
from kronbench.own_pairs.recipe import make_recipe
from tests.own_pairs.problem import arguments, run, tables

OPTIONS = ["--solver", "KronRidge", "--set", "reg=0.5", "--repeats", 1]


def cells(page, heading):
    """The lines of the table below a heading."""
    (table,) = re.findall(rf"<h2>{heading}.*?(<table.*?</table>)", page, re.DOTALL)
    found = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", line) for line in table.split("</tr>")]
    return [[unescape(cell).replace("\xa0", " ") for cell in line] for line in found if line]


@pytest.mark.parametrize("real", [True, False])
def test_the_page_has_the_scores_the_pictures_and_the_best_new_pairs(
    tmp_path, capsys, monkeypatch, real
):
    pairs, drugs, targets = (
        frame.replace("D03", "<b>&D03") for frame in tables(tmp_path, 0, real)
    )
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    drugs.to_csv(tmp_path / "rows.csv", index=False)
    figures, savefig = [], Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda f, *a, **k: (figures.append(f), savefig(f, *a, **k))
    )
    command = ["evaluate", *arguments(tmp_path), *OPTIONS, "--report", tmp_path / "new", "--json"]
    status, out, err = run(capsys, *command)
    assert (status, err.splitlines()[-1]) == (0, f"report: {tmp_path / 'new' / 'index.html'}")
    page = (tmp_path / "new" / "index.html").read_text("utf-8")
    assert shlex.join(["kronbench", *map(str, command)]) in unescape(page)

    # The table is that of the command, whose result is the same without a page.
    assert run(capsys, *command[:-3], "--json")[1] == out
    assert cells(page, "Scores") == [
        line + [""] * (6 - len(line)) for line in scores_and_notes(json.loads(out))[0]
    ]

    # The best pairs are those of a fit to all pairs, the labelled ones left out.
    X, y = PairData.from_frames(pairs, drugs, targets, label="active")
    model = KronRidge(reg=0.5, fit_intercept=True).fit(X, y)
    scores = model.predict(PairData.complete(X.row_features, X.col_features)).reshape(14, 11)
    scores[X.rows, X.cols] = -np.inf
    best = np.argsort(-scores, axis=None)[:10]
    i, j = np.unravel_index(best, scores.shape)
    found = pd.DataFrame(cells(page, "The largest predictions")[1:])
    assert found[0].tolist() == drugs["drug"].to_numpy()[i].tolist()
    assert found[1].tolist() == targets["target"].to_numpy()[j].tolist()
    np.testing.assert_allclose(found[2].astype(float), scores.ravel()[best], rtol=1e-3)

    # Nothing is fetched; pictures are images of their own, with labels, and no text is cut off.
    assert not re.search(r"<script|<link|url\(|(?:src|href)=\"(?!data:image)", page)
    pictures = re.findall(r'<img alt="(.+?)" src="data:image/svg\+xml;base64,(.*?)"', page)
    assert len(pictures) == len(figures) == (6 if real else 5)
    for (_, content), figure in zip(pictures, figures, strict=True):
        ElementTree.fromstring(base64.b64decode(content))
        (panel,) = figure.axes
        assert panel.get_xlabel()
        drawn = figure.get_tightbbox()  # in inches
        assert (drawn.min >= 0).all()
        assert (drawn.max <= figure.get_size_inches()).all()


@pytest.mark.parametrize("real", [True, False])
def test_what_is_drawn_are_the_labels_and_predictions_that_are_scored(tmp_path, real):
    tables(tmp_path, 0, real)
    own = read_own_pairs(*(tmp_path / f"{name}.csv" for name in ("pairs", "rows", "cols")))
    recipe, tested = make_recipe("KronRidge", {}, own, False, False), {}
    result = evaluate_pairs(own, recipe, "BD", 2, 1, False, tested=tested)
    metric = concordance_index if real else roc_auc
    for entry in result["settings"]:
        for place, part in enumerate(("model", "additive"), 1):
            scores = [metric(sets[0], sets[place]) for sets in tested[entry["setting"]]]
            assert np.mean(scores) == pytest.approx(entry["scores"][0][part]["mean"])


def test_a_page_that_cannot_be_written_is_refused_before_any_table_is_read(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "page" / "index.html").mkdir(parents=True)
    command = ["evaluate", *arguments(tmp_path), *OPTIONS, "--report"]  # there are no tables
    for place, fault in (
        ("file", "Not a directory"),
        ("file/page", "Not a directory"),
        ("none/page", "No such file"),
        ("page", "index.html is a folder"),
    ):
        status, _, err = run(capsys, *command, tmp_path / place)
        assert status == 2
        assert fault in err
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "none").exists()


def test_where_no_pair_can_be_ranked_the_page_says_why(tmp_path, capsys):
    pairs, drugs, targets = tables(tmp_path, real=True)
    known = pairs.groupby("drug").filter(lambda part: len(part) > 8)
    both = known.pivot(index="drug", columns="target", values="active").dropna(axis=1)
    both.stack().rename("active").reset_index().to_csv(tmp_path / "pairs.csv", index=False)
    drugs[drugs["drug"].isin(both.index)].to_csv(tmp_path / "rows.csv", index=False)
    targets[targets["target"].isin(both.columns)].to_csv(tmp_path / "cols.csv", index=False)
    run(capsys, "evaluate", *arguments(tmp_path), *OPTIONS, "--report", tmp_path)
    assert "All pairs have a label." in (tmp_path / "index.html").read_text("utf-8")
