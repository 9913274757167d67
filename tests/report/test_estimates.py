import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kronbench_suite.report.estimates import means


def test_means_have_the_interval_of_students_distribution_over_the_other_rows():
    rng = np.random.default_rng(0)
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
