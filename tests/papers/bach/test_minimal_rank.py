"""Figure 2 and section 6.3 of Bach & Jordan 2005: smallest ranks, Cholesky against CSI."""

import numpy as np
import pandas as pd
import pytest

from kronbench.datasets import load
from kronbench.papers.bach.draw import minimal_rank as table, rank_readings
from kronbench.papers.bach.measure import minimal_rank
from kronbench.runner.items import load_scales
from kronbench.runner.job import run_experiment

SPEC = {
    "splits": 3,
    "points": 3000,
    "gammas": [0.1, 1],
    "regs": [1e-4, 1e-2],
    "selection_points": 60,
    "readings_points": 3000,
    "max_rank": 40,
    "max_ranks": {},
    "kappa": 0.99,
    "lookahead": 40,
    "ahead_points": 400,
    "seed": 5,
}
(ITEM,) = (item for item in load_scales()[0].items if item.drawing == "minimal_rank")
PRINTED = pd.DataFrame(
    {
        "key": ["liver", "vowel"],
        "n_features": [6, 10],
        "n_classes": [3.0, 4.0],
        "n_points": [345, 360],
        "rank_cholesky": [15, 70],
        "rank_csi": [9, 73],
    }
)


@pytest.fixture(scope="module")
def frame():
    parts = []
    for name in ("liver", "vowel"):
        data = load(name, policy="surrogate")
        part = run_experiment("bach.minimal_rank", SPEC, data, name)
        parts.append(part.assign(dataset=name, source="surrogate"))
    return pd.concat(parts, ignore_index=True)


def test_a_larger_bound_is_met_by_no_larger_a_rank(frame):
    ranks = frame.dropna(subset=["bound"])
    assert set(ranks["decomposition"]) == {"cholesky", "csi", "csi, all ahead"}
    keys = ["dataset", "selection", "decomposition", "stop"]
    wide, narrow = (
        ranks[ranks["bound"] == bound].set_index(keys)["rank"].fillna(np.inf)
        for bound in ("deviation", "deviation of the mean")
    )
    assert (wide <= narrow.loc[wide.index]).all()


def test_each_row_of_both_tables_is_of_one_reading(frame):
    numbers = table.tabulate(frame, ITEM, PRINTED)
    readings = rank_readings.tabulate(frame, ITEM, PRINTED)
    of_all = readings[readings["dataset"] == "all"]
    assert len(of_all) == 16
    assert (of_all["ranks"] == 4).all()
    assert of_all["squares"].is_monotonic_increasing
    assert of_all["more than nearest"].iloc[0] == 0
    assert of_all["level"].iloc[0] == 1
    shown = readings.set_index([*ITEM.drawing_options, "dataset"])
    reading = (*ITEM.drawing_options.values(), "liver")
    assert shown.loc[reading, "Cholesky"] == numbers.set_index("dataset").loc["liver", "Cholesky"]


def rows_of_ranks(ranks, tried=29, errors=(0.3, 0.3)):
    reading = ITEM.drawing_options
    rows = [
        reading | {"decomposition": name, "rank": rank, "tried": tried}
        for name, rank in ranks.items()
    ]
    for split, error in enumerate(errors):
        row = {"selection": reading["selection"], "decomposition": "full", "split": split}
        rows.append(row | {"error": error, "gamma p": 1.0, "reg": 1e-4, "on_edge": 0})
    return pd.DataFrame(rows).assign(
        dataset="liver",
        n_features=6,
        n_classes=2,
        n_points=345,
        n_splits=len(errors),
        agreement="exact",
        source="mirror",
    )


def test_the_smallest_rank_is_the_first_within_one_deviation():
    full = np.array([0.28, 0.32])
    curve = np.array([0.9, 0.5, 0.32, 0.3])
    assert minimal_rank._smallest(np.array([curve, curve]), full, 1.0) == 3
    assert minimal_rank._smallest(np.array([curve, curve]), full, 2.0) == 4
    assert np.isnan(minimal_rank._smallest(np.array([curve[:2]] * 2), full, 1.0))
    # a stop keeps the last machine
    paths = [(np.array([0.9, 0.5, 0.3]), 2), (np.array([0.8, 0.4]), 2)]
    kept = {"none": [[0.9, 0.5, 0.3], [0.8, 0.4, 0.4]], "gain 1e-4": [[0.9, 0.5], [0.8, 0.4]]}
    for stop, errors in kept.items():
        np.testing.assert_array_equal(minimal_rank._curves(paths, stop), errors)


def test_the_row_of_a_data_set_has_the_factor_to_the_printed_ranks():
    row = table.tabulate(rows_of_ranks({"cholesky": 3, "csi": 2}), ITEM, PRINTED).iloc[0]
    assert (row["Cholesky"], row["CSI"], row["paper Cholesky"]) == (3, 2, 15)
    assert (row["ratio"], row["at least"]) == (1.5, False)
    assert row["times printed"] == 5  # 15 of 3 and 9 of 2
    assert (row["paper classes"], row["agreement"]) == (3, "exact, 2 classes for 3")
    # where Cholesky gets nowhere the ratio is a lower bound
    row = table.tabulate(rows_of_ranks({"cholesky": np.nan, "csi": 15}), ITEM, PRINTED).iloc[0]
    assert pd.isna(row["Cholesky"])
    assert (row["CSI"], row["ratio"], row["at least"]) == (15, 2.0, True)
    assert row["times printed"] == 2  # of the largest tried
    # squares are of logarithms: 30 of 15 and 18 of 9
    frame = rows_of_ranks({"cholesky": np.nan, "csi": 18})
    row = rank_readings.tabulate(frame, ITEM, PRINTED.iloc[:1]).iloc[0]
    assert row["squares"] == pytest.approx(2 * np.log(2) ** 2)
    assert (row["within two"], row["not reached"]) == (2, 1)


@pytest.mark.parametrize("name", ["liver", "boston", "vowel"])
def test_errors_of_full_rank_factors_reach_that_of_the_full_kernel(name):
    data = load(name, policy="surrogate")
    spec = SPEC | {"max_rank": 10**6, "ahead_points": 0}
    frame = run_experiment("bach.minimal_rank", spec, data, name)
    ranks = frame[(frame["decomposition"] == "cholesky") & (frame["stop"] == "none")]
    assert ranks.loc[ranks["bound"] == "deviation", "rank"].notna().all()
    assert set(frame["agreement"]) == {data.agreement}
    assert (frame["n_points"] == len(data["X"])).all()
