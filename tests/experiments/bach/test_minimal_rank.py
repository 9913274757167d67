"""Figure 2 of Bach & Jordan 2005: smallest ranks, Cholesky against CSI."""

import pandas as pd
import pytest

from kronbench.bench.job import run_experiment
from kronbench.datasets import load
from kronbench.report.drawings.bach import minimal_rank as table

SPEC = {
    "splits": 2,
    "gammas": [0.1, 1],
    "regs": [1e-4, 1e-2],
    "selection_points": 60,
    "max_rank": 40,
    "seed": 5,
    "time_cap": 10,
}


@pytest.mark.parametrize("name", ["liver", "boston", "vowel"])
def test_errors_of_full_rank_factors_reach_that_of_the_full_kernel(name):
    data = load(name, policy="surrogate")
    frame = run_experiment("bach.minimal_rank", SPEC | {"max_rank": 10**6}, data, name)
    for _, part in frame.groupby("split"):
        full = part.loc[part["decomposition"] == "full", "error"].item()
        cholesky = part[part["decomposition"] == "cholesky"].sort_values("rank")
        assert cholesky["error"].iloc[-1] == pytest.approx(full, abs=0.02)
    assert set(frame["agreement"]) == {data.agreement}
    assert (frame["n_points"] == len(data["X"])).all()


def liver_row(full, **errors):
    """The row of the table for errors of the full kernel in two splits, and of ranks 1, 2, ..."""
    parts = [
        pd.DataFrame({"decomposition": name, "rank": range(1, 1 + len(values)), "error": values})
        for name, values in errors.items()
    ]
    frame = pd.concat(
        [part.assign(split=split) for part in parts for split in (0, 1)]
        + [pd.DataFrame({"decomposition": "full", "rank": 0, "error": full, "split": [0, 1]})]
    ).assign(
        dataset="liver",
        n_features=6,
        n_classes=2,
        n_points=345,
        agreement="exact",
        source="mirror",
    )
    printed = pd.DataFrame(
        {
            "key": ["liver"],
            "n_features": [6],
            "n_classes": [3.0],
            "n_points": [345],
            "rank_cholesky": [15],
            "rank_csi": [9],
        }
    )
    return table.tabulate(frame, None, printed).iloc[0]


def test_the_smallest_rank_is_the_first_within_one_deviation():
    row = liver_row([0.28, 0.32], cholesky=[0.9, 0.5, 0.32, 0.3], csi=[0.9, 0.3])
    assert (row["Cholesky"], row["CSI"], row["paper Cholesky"]) == (3, 2, 15)
    assert (row["ratio"], row["at least"]) == (1.5, False)
    assert row["times printed"] == 5  # 15 of 3 and 9 of 2
    assert (row["paper classes"], row["agreement"]) == (3, "exact, 2 classes for 3")


def test_where_cholesky_gets_nowhere_the_ratio_is_a_lower_bound():
    row = liver_row([0.3, 0.3], cholesky=[0.9, 0.8, 0.7], csi=[0.9, 0.3, 0.3])
    assert pd.isna(row["Cholesky"])
    assert (row["CSI"], row["ratio"], row["at least"]) == (2, 2.0, True)
    assert pd.isna(row["times printed"])  # not to be judged
