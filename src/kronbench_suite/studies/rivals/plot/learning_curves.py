"""Scores by the number of training pairs, a panel for each data set and setting."""

from kronbench.intervals import half_width
from kronbench_suite.report.style import log_ticks, new_figure, shared_legend
from kronbench_suite.studies.rivals.plot.board_scores import COLOURS, KERNELS, measure_of
from kronbench_suite.studies.rivals.plot.comparisons import TEST_OVER_TRAIN, TITLES


def draw(frame, item):
    """Means over repetitions with 95 % intervals; the last point of a line has all pairs."""
    datasets, settings = list(frame["dataset"].unique()), list(frame["setting"].unique())
    figure, axes = new_figure(len(datasets), len(settings), height=1.7, sharex="row")
    for (dataset, setting), part in frame.groupby(["dataset", "setting"], sort=False):
        panel = axes[datasets.index(dataset), settings.index(setting)]
        for method, of_method in part.groupby("method", sort=False):
            by_size = of_method.groupby("size")
            means = by_size[["n_train", "score"]].mean().sort_values("n_train")
            half = by_size["score"].apply(half_width, TEST_OVER_TRAIN)[means.index]
            look = {"color": COLOURS.get(method, KERNELS), "label": method}
            panel.errorbar(means["n_train"], means["score"], half, marker="o", ms=3, lw=1, **look)
        panel.set_xscale("log")
        log_ticks(panel.xaxis)
        panel.set_gid(dataset)  # of whose surrogates it is stamped
        panel.set_ylabel(f"{dataset}: {measure_of(part)}" if setting == settings[0] else "")
        if dataset == datasets[0]:
            panel.set_title(TITLES[setting])
    for panel in axes[-1]:
        panel.set_xlabel("training pairs")
    axes.flat[0].plot([], [], "|", ms=8, color="0.4", label="95 % interval")
    shared_legend(figure, axes, loc="outside lower center", ncols=3)
    return figure
