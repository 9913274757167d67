"""Seconds of the steps of CSI, stacked, and of the whole against the number of points."""

import numpy as np

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
    exponent = np.polyfit(np.log(total["n"]), np.log(total["seconds"]), 1)[0]
    axes[0, 1].set_title(f"whole decomposition: $n^{{{exponent:.2f}}}$")
    axes[0, 1].set_xlabel("points n")
    axes[0, 1].set_ylabel("seconds")
    return figure
