"""Means with intervals, the power law of timed points, and a machine that was busy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kronbench_suite.report.estimates import disturbed, exponent, means


def test_means_have_the_interval_of_students_distribution_over_the_other_rows(rng):
    frame = pd.DataFrame(
        [
            {"method": method, "fold": fold, "auc": rng.random(), "error": rng.random()}
            for method, folds in (("B", 5), ("A", 3), ("once", 1))
            for fold in range(folds)
        ]
    )
    shown = means(frame, by=["method"], values=["auc", "error"]).set_index("method")
    assert shown.index.tolist() == ["B", "A", "once"]  # as they come, not by the alphabet
    assert shown["repeats"].tolist() == [5, 3, 1]
    for (method, value), half in shown.loc[["B", "A"], ["auc ±", "error ±"]].stack().items():
        numbers = frame.loc[frame["method"] == method, value.removesuffix(" ±")]
        low, high = stats.t.interval(0.95, len(numbers) - 1, numbers.mean(), stats.sem(numbers))
        assert shown.loc[method, value.removesuffix(" ±")] == pytest.approx((low + high) / 2)
        assert half == pytest.approx((high - low) / 2)
    assert np.isnan(shown.loc["once", "auc ±"])


def test_folds_that_share_points_have_wider_intervals_and_a_missing_number_no_mean():
    frame = pd.DataFrame({"method": ["A"] * 3 + ["B"] * 2, "auc": [0.1, 0.4, 0.2, 0.5, np.nan]})
    plain, folds = (
        means(frame, ["method"], ["auc"], test_over_train=share) for share in (0.0, 0.25)
    )
    wider = folds["auc ±"][0] / plain["auc ±"][0]
    assert wider == pytest.approx(np.sqrt((1 / 3 + 0.25) / (1 / 3)))
    assert np.isnan(folds["auc"][1])


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0, 0.0], [1.0, -1.0], [1.0, np.inf]])
def test_no_exponent_of_what_has_no_logarithm(values):
    assert exponent([1, 3], [3.0, 3.0 * 3**1.5]) == pytest.approx(1.5)
    assert np.isnan(exponent([1, 2], values))
    assert np.isnan(exponent([2, 2], [1.0, 2.0]))


def test_disturbance_is_read_from_a_file_too():
    assert disturbed(pd.DataFrame({"busy": [np.nan, True]}))  # empty for rows without a clock
    assert not disturbed(pd.DataFrame({"busy": ["False", np.nan]}))
