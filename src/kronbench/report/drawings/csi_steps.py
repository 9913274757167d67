"""Seconds of the steps of CSI, stacked, and of the whole against the number of points."""

from kronbench.report.fits import disturbed, exponent
from kronbench.report.style import new_figure


def draw(frame, item):
    """Left: shares at the largest n; right: the whole on logarithmic axes with its exponent."""
    figure, axes = new_figure(1, 2, width=7.2, height=2.5)
    total = frame[frame["step"] == "total"].sort_values("n")
    steps = frame[frame["step"] != "total"]
    largest = steps[steps["n"] == steps["n"].max()]
    shares = 100 * largest["seconds"] / largest["seconds"].sum()
    axes[0, 0].barh(largest["step"], shares)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set_xlabel("share of the time (%)")
    axes[0, 0].set_title(f"n = {largest['n'].iloc[0]:,}, rank {largest['rank'].iloc[0]}")
    axes[0, 1].loglog(total["n"], total["seconds"], "o-")
    if "seconds_low" in total:
        axes[0, 1].vlines(total["n"], total["seconds_low"], total["seconds_high"], lw=0.8)
    power = exponent(total["n"], total["seconds"])
    remark = ", busy machine" if disturbed(total) else ""
    axes[0, 1].set_title(f"whole decomposition: $n^{{{power:.2f}}}${remark}")
    axes[0, 1].set_xlabel("points n")
    axes[0, 1].set_ylabel("seconds")
    return figure
