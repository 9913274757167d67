"""Ways to the same end, alone on the machine and beside other programs."""

import pandas as pd

from kronbench.runner.columns import SHOWN, Columns, Parameter
from kronbench.runner.items import Item

COLUMNS = SHOWN | Columns(
    key=("line", "way"),
    clock=(
        *("seconds", "half range", "cpu seconds"),
        *("beside seconds", "beside half range", "beside cpu seconds"),
    ),
    ratios_of_clock=("times faster", "beside times faster", "slow-down"),
    texts=("work",),
    # A rounding error: the BLAS of this machine orders its sums.
    conditions=("threads", "programs", "deviation"),
    values={
        "line": (Parameter(("lines",)),),
        "work": (Parameter(("lines", "*", "work")),),
        "way": (Parameter(("lines", "*", "ways")),),
    },
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each line and way, as measured; half ranges are of all its repeats."""
    frame = frame.assign(
        half=(frame["seconds_high"] - frame["seconds_low"]) / 2,
        beside_half=(frame["beside_high"] - frame["beside_low"]) / 2,
    )
    columns = {
        "dataset": "dataset", "line": "line", "work": "work", "way": "way", "threads": "threads",
        "seconds": "seconds", "half": "half range",
        "cpu_seconds": "cpu seconds", "times_faster": "times faster", "programs": "programs",
        "beside_seconds": "beside seconds", "beside_half": "beside half range",
        "beside_cpu_seconds": "beside cpu seconds",
        "beside_times_faster": "beside times faster", "slow_down": "slow-down",
        "deviation": "deviation", "busy": "busy", "source": "source",
    }  # fmt: skip
    return frame[[name for name in columns if name in frame]].rename(columns=columns)
