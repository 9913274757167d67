"""Scores of predictions of a published test set."""

import numpy as np
import pandas as pd
import pytest

from kronbench import InputError, PairData, datasets
from kronbench.datasets.drug_target import affinities
from kronbench.evaluation import AFFINITY_SCORES, affinity_scores
from kronbench.models import KronRidgeCV
from kronbench_suite.studies.field.measure.stored_best import best_of, candidates
from kronbench_suite.studies.field.score_predictions import as_text, score_file
from tests.docs.pages import DOCS, texts
from tests.docs.run_blocks import run, run_console
from tests.own_pairs.problem import skip_without_mirror


@pytest.fixture(scope="module")
def davis():
    skip_without_mirror()
    data = datasets.load("davis", policy="real")
    return data, datasets.folds("davis", "deepdta-1", policy="real", data=data)


@pytest.fixture
def table(davis):
    """Predictions of the test set: the truth and noise, two trainings."""
    data, fold = davis
    rng = np.random.default_rng(0)
    rows, cols = fold.rows[fold.test], fold.cols[fold.test]
    y = affinities(data)[rows, cols]
    columns = {f"training {k}": y + rng.normal(0, 0.5, len(y)) for k in (1, 2)}
    ids = {"drug": data["row_ids"][rows], "target": data["col_ids"][cols]}
    return pd.DataFrame(ids | columns), y, rows, cols


@pytest.fixture
def scored(tmp_path):
    """The scores of a table that is written to a file."""

    def score(frame, fold="deepdta-1", data="davis", header=True, **options):
        path = tmp_path / "predictions.csv"
        frame.to_csv(path, index=False, header=header)
        return score_file(path, data, fold, **options)

    return score


def test_scores_are_those_of_the_predictions_in_the_published_order(scored, table):
    frame, y, rows, cols = table
    result = scored(frame.sample(frac=1, random_state=0))
    assert (result["pairs"], result["test_pairs"]) == (5010, 5010)
    expected = [affinity_scores(y, frame[f"training {k}"], rows, cols, 7.0) for k in (1, 2)]
    assert [entry["metric"] for entry in result["scores"]] == list(AFFINITY_SCORES)
    for entry in result["scores"]:
        both = [scores[entry["metric"]] for scores in expected]
        assert list(entry["columns"].values()) == pytest.approx(both, rel=1e-9)
        assert entry["mean"] == pytest.approx(np.mean(both))
        assert entry["deviation"] == pytest.approx(np.std(both, ddof=1), abs=1e-12)
    floor = {entry["metric"]: entry["margins"] for entry in result["scores"]}
    assert floor["interaction"] == 0.5
    assert floor["ci"] == pytest.approx(0.792, abs=5e-4)  # printed in the issue of this page
    assert floor["mse"] == pytest.approx(0.558, abs=5e-4)


def test_a_file_without_names_of_columns_is_told_so(scored, table):
    frame, *_ = table
    first = frame.iloc[0]
    message = f"begins with the pair '{first['drug']}', '{first['target']}', but its first line"
    with pytest.raises(InputError, match=message):
        scored(frame, header=False)


def test_other_spellings_and_what_does_not_match(scored, table, davis):
    frame, *_ = table
    own = {name: other for other, name in datasets.aliases("davis")["cols"].items()}
    spelled = frame.assign(target=frame["target"].replace(own))
    result = scored(spelled)
    assert result["pairs"] == 5010
    assert result["by_alias"] == frame["target"].isin(own).sum() > 300
    strange = frame.assign(target=frame["target"].replace({"AAK1": "aak1", "ABL2": "no such"}))
    lost = frame["target"].isin(["AAK1", "ABL2"]).sum()
    message = (
        rf"lacks {lost} of the 5010 test pairs.*; 2 unknown ids in the column 'target' \({lost} p"
    )
    with pytest.raises(InputError, match=message):
        scored(strange)
    result = scored(strange, partial=True)
    assert result["pairs"] == 5010 - lost
    assert sum(result["unknown"]["cols"].values()) == lost
    assert "2 unknown ids in the column 'target'" in as_text(result)
    data, fold = davis
    first = fold.train[0]
    extra = [data["row_ids"][fold.rows[first]], data["col_ids"][fold.cols[first]], 5.0, 5.0]
    frame.loc[len(frame)] = extra
    frame.loc[len(frame)] = [frame.loc[0, "drug"], "\x1b[31m", 5.0, 5.0]
    told = as_text(scored(frame))
    assert "\nleft out, not in the test set: 1 pair\n" in told
    assert "\n1 unknown id in the column 'target' (1 pair): '\\x1b[31m'\n" in told


@pytest.mark.parametrize(
    ("change", "warned"),
    [
        (lambda y: 10 ** (9 - y), True),  # nM
        (lambda y: (y - 5.4) / 0.9, True),
        (lambda y: np.where(y > 0, "9" * 25, ""), True),  # no 64-bit integers
        (lambda y: y - 0.1, False),
        (lambda y: 0.5 * y + 2.5, False),
    ],
)
def test_predictions_in_another_unit_are_told_once(scored, table, change, warned):
    frame, y, *_ = table
    frame = frame.assign(**{f"training {k}": change(y) for k in (1, 2)})
    result = scored(frame)
    told = as_text(result)
    assert told.count("give predictions in the unit of the labels") == warned
    assert (result["warning"] or "").startswith("the median of the column 'training 1'" * warned)


def test_bad_tables(scored, table):
    frame, *_ = table
    for wrong, message in (
        (pd.concat([frame, frame[:1]]), "twice"),
        (frame.iloc[:, :2], "give a column of predictions"),
        (frame.assign(**{"training 2": "x"}), "row 1: the prediction 'x' in the column"),
        (frame.assign(**{"training 2": np.nan}), "not a finite number"),
        (frame.assign(**{"training 2": [10**400, *[1] * 5009]}), "row 1: .* not a finite number"),
        (frame.iloc[:, [1, 0, 2]], "none of the 5010 test pairs"),
    ):
        with pytest.raises(InputError, match=message):
            scored(wrong)
    with pytest.raises(InputError, match="no fold 'deepdta-4'"):
        scored(frame, "deepdta-4")
    with pytest.raises(InputError, match="no data set"):
        scored(frame, data="davys2")
    with pytest.raises(InputError, match="cannot be read"):
        score_file("none.csv", "davis", "deepdta-1")


def test_the_page_shows_what_comes_out(davis, tmp_path):
    """docs/field.md: the programs that it tells to save, and each command, as they stand."""
    page = DOCS / "field.md"
    for program in texts(page, "python"):
        run(tmp_path, program)
    assert len((tmp_path / "test.csv").read_text().splitlines()) == 5010 + 1
    (shown,) = texts(page, "console")
    run_console(tmp_path, shown)


def test_the_best_of_ours_comes_out_again(davis):
    data, fold = davis
    best = best_of("Davis", "deepdta-1")
    model = KronRidgeCV(**candidates(data), **best["model"])
    X = PairData(np.zeros((68, 1)), np.zeros((442, 1)), fold.rows, fold.cols)
    y = affinities(data)[fold.rows, fold.cols]
    model.refit(X[fold.train], y[fold.train], best["parameters"])
    test, limit = fold.test, fold.positive_above
    scores = model.predict(X[test])
    found = affinity_scores(y[test], scores, fold.rows[test], fold.cols[test], limit)
    assert found == pytest.approx(best["scores"], abs=2e-3)
    with pytest.raises(InputError, match="weights of other"):
        model.refit(X, y, best["parameters"] | {"row_weights": {"other": 1.0}})
