"""Shared and saved products: seconds of each way beside the first."""

from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("model", "way"),
    clock=("seconds", "low", "high", "cpu seconds", "seconds of the first way"),
    ratios_of_clock=("ratio of seconds", "times faster"),
)
_NAMES = {
    "n": "pairs",
    "seconds_low": "low",
    "seconds_high": "high",
    "cpu_seconds": "cpu seconds",
    "ratio": "ratio of seconds",
}


def tabulate(frame, item, printed):
    """One row for each way, as measured; ``low`` and ``high`` are its extreme repeats.

    ``times faster`` is over the first way of the model. A ratio is as disturbed as the worse of
    its two sides.
    """
    first = frame.groupby(["dataset", "model"])[["seconds", "busy"]].transform("first")
    table = frame.assign(busy=frame["busy"] | first["busy"]).rename(columns=_NAMES)
    table["seconds of the first way"] = first["seconds"]
    table["times faster"] = 1 / frame["ratio"]
    return table[[name for name in table if name in COLUMNS or name in ("pairs", "auc")]]
