"""Seconds and rate of the product against the number of pairs, with the machine's own rate."""

import pandas as pd
from matplotlib.figure import Figure

from kronbench.report.estimates import disturbed
from kronbench.report.style import new_figure, shared_legend
from kronbench.runner.items import Item

_EXTREMES = ("seconds_low", "seconds_high")


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """One line for each method (largest number of threads, first precision that was measured).

    Whiskers go from the smallest to the largest repeat.
    """
    threads, dtype = frame["threads"].max(), frame["dtype"].iloc[0]
    chosen = frame[(frame["threads"] == threads) & (frame["dtype"] == dtype)]
    figure, axes = new_figure(1, 2, width=7.4, height=2.8)
    for method, curve in chosen.groupby("method", sort=False):
        if method == "matrix product":
            axes[0, 1].axhline(
                curve["gflops"].iloc[0], color="black", lw=0.8, ls="--",
                label=f"BLAS, order {curve['m'].iloc[0]}",
            )  # fmt: skip
            continue
        for panel, value in zip(axes[0], ("seconds", "gflops"), strict=True):
            (line,) = panel.loglog(curve["n"], curve[value], "o-", ms=3, label=method)
            if "seconds_low" in curve:
                fast, slow = (curve[name] / curve["seconds"] for name in _EXTREMES)
                ends = (fast, slow) if value == "seconds" else (1 / slow, 1 / fast)
                ends = [curve[value] * factor for factor in ends]
                panel.vlines(curve["n"], *ends, color=line.get_color(), lw=0.8)
    axes[0, 0].set_ylabel("seconds a product")
    axes[0, 1].set_ylabel("GFlop/s (operations of Algorithm 1)")
    for side in axes[0]:
        side.set_xlabel("pairs n")
    remark = ", some of it on a busy machine" if disturbed(chosen) else ""
    for side in axes[0]:
        side.set_title(f"{dtype}, {threads} threads{remark}", fontsize=8)
    shared_legend(figure, axes, loc="outside right center")
    return figure
