"""Curves of the test error by rank and by kernel columns that were read."""

import numpy as np

from kronbench.intervals import half_width
from kronbench_suite.report.style import log_ticks, new_figure, shared_legend
from kronbench_suite.studies.rivals.plot.low_rank_table import TEST_OVER_TRAIN

_LOOKS = {
    "CSI": {"color": "C0", "marker": "o"},
    "RPCholesky": {"color": "C1", "marker": "s"},
    "greedy": {"color": "C2", "marker": "^", "ls": "--"},
    "uniform": {"color": "C3", "marker": "v", "ls": ":"},
}
_NAMES = {"rank": "rank", "budget": "kernel columns read"}


def draw(frame, item):
    """Left by rank, right by columns read: the mean over all data sets, then some of them."""
    shown = [name for name in item.plot_options["shown"] if name in set(frame["dataset"])]
    figure, axes = new_figure(1 + len(shown), 2, height=1.6)
    full = frame[frame["pivots"] == "full kernel"].groupby("dataset")["error"].mean()
    for panels, column in zip(axes.T, _NAMES, strict=True):
        # means over data sets, each of which counts once
        for pivots, look in _LOOKS.items():
            rows = frame[frame["pivots"] == pivots]
            errors = rows.groupby([column, "dataset"])["error"].mean().unstack("dataset")
            curve = (errors - full).mean(axis=1)
            panels[0].plot(curve.index, curve, label=pivots, ms=3, **look)
        panels[0].axhline(0, color="0.5", lw=0.8, label="full kernel")
        panels[0].set_title(f"Mean (data sets: {frame['dataset'].nunique()})")
        for panel, dataset in zip(panels[1:], shown, strict=True):
            panel.set_gid(dataset)  # of whose surrogates it is stamped
            own, highest = frame[frame["dataset"] == dataset], 0.0
            for pivots, look in _LOOKS.items():
                rows = own[own["pivots"] == pivots]
                errors = rows.groupby([column, "split"])["error"].mean().unstack("split")
                half = errors.apply(half_width, axis=1, args=(TEST_OVER_TRAIN,)).fillna(0)
                mean = errors.mean(axis=1)
                panel.plot(mean.index, mean, label=pivots, ms=3, **look)
                highest = max(highest, mean.max())
                band = np.maximum(mean - half, 0), mean + half
                panel.fill_between(mean.index, *band, color=look["color"], alpha=0.1, lw=0)
            panel.axhline(full[dataset], color="0.5", lw=0.8, label="full kernel")
            panel.set_ylim(0, 1.3 * max(highest, full[dataset]))
            panel.set_title(dataset)
        for panel in panels:
            panel.set_xscale("log")
            log_ticks(panel.xaxis)
        panels[-1].set_xlabel(_NAMES[column])
    axes[0, 0].set_ylabel("error − full kernel's")
    for panel in axes[1:, 0]:
        panel.set_ylabel("test error")
    axes[0, 0].fill_between([], [], color="0.5", alpha=0.3, lw=0, label="95 % interval")
    shared_legend(figure, axes, loc="outside lower center", ncols=6)
    return figure
