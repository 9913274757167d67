"""Ways to the same end, alone on the machine and beside other programs."""

from kronbench.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("line", "way"),
    clock=(
        *("seconds", "half range", "cpu seconds"),
        *("beside seconds", "beside half range", "beside cpu seconds"),
    ),
    ratios_of_clock=("times faster", "beside times faster", "slow-down"),
    # A rounding error: the BLAS of this machine orders its sums.
    conditions=("threads", "programs", "deviation"),
)
_MEASURED = ("work",)


def tabulate(frame, item, printed):
    """One row for each line and way, as measured; half ranges are of all its repeats."""
    frame = frame.assign(
        half_range=(frame["seconds_high"] - frame["seconds_low"]) / 2,
        beside_half_range=(frame["beside_high"] - frame["beside_low"]) / 2,
    ).rename(columns={"slow_down": "slow-down"})
    frame = frame.rename(columns=lambda name: name.replace("_", " "))
    return frame[[name for name in frame if name in COLUMNS or name in _MEASURED]]
