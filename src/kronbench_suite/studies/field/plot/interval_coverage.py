"""Coverage and width of prediction intervals, means over draws."""

import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.runner.columns import SHOWN, Columns

TEST_OVER_TRAIN = 1 / 3  # a quarter of the vertices is new

COLUMNS = SHOWN | Columns(key=("setting", "errors of"))


def tabulate(frame, item, printed):
    """A row for each setting and source of the radius, with the interval of the coverage."""
    groups = frame.groupby(["dataset", "source", "setting", "errors of"], sort=False)
    coverage = groups["coverage"]
    parts = {"coverage": coverage.mean(), "±": coverage.apply(half_width, TEST_OVER_TRAIN)}
    return pd.DataFrame({**parts, "width": groups["width"].mean()}).reset_index()
