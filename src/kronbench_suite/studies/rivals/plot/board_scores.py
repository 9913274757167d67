"""Scores of all methods, a panel for each data set and setting."""

from matplotlib.lines import Line2D

from kronbench.intervals import half_width
from kronbench_suite.report.style import new_figure
from kronbench_suite.studies.rivals.plot.comparisons import (
    TEST_OVER_TRAIN,
    TITLES,
    by_method,
    level_with_best,
)

KERNELS = "C0"
_KINDS = {  # their colours and methods
    "kernel methods": (KERNELS, ()),  # all others
    "trees": ("C4", ("LightGBM", "ExtraTrees")),
    "KronRidge and LightGBM": ("C2", ("KronRidge and LightGBM",)),
    "interaction profiles": ("C1", ("NRLMF", "WNN-GIP", "factors")),
    "other learners on both sides' features": (
        "0.3",
        ("PairKNN", "PairSGD", "KNN regression", "SGD regression", "MLP", "LibSVM"),
    ),
    "margins and control": ("0.65", ("margins", "permuted kernels")),
}
COLOURS = {method: colour for colour, methods in _KINDS.values() for method in methods}


def legend(figure, filled, empty, *more):
    """The kinds of methods by their colours, what filled and empty points say, and ``more``."""
    kinds = [{"color": colour, "label": kind} for kind, (colour, _) in _KINDS.items()]
    points = [{"color": "black", "label": filled}]
    points += [{"color": "black", "mfc": "white", "label": empty}, *more]
    # each sort in columns of its own
    looks = points + kinds if more else kinds + points
    looks = [{"marker": "o", "ms": 4, "ls": "", **look} for look in looks]
    handles = [Line2D([], [], **look) for look in looks]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def measure_of(frame):
    """What ``score`` is in the rows of one data set."""
    return "AUC" if frame["ci"].isna().all() else "C-index"


def draw(frame, item):
    """Means over repetitions with 95 % intervals; filled where tied with the best of the panel."""
    datasets = list(frame["dataset"].unique())
    methods = list(frame["method"].unique())[::-1]
    settings = list(frame["setting"].unique())
    size = len(datasets), len(settings)
    figure, axes = new_figure(*size, height=1.75, sharey=True, sharex="row")
    for (dataset, setting), part in frame.groupby(["dataset", "setting"], sort=False):
        panel = axes[datasets.index(dataset), settings.index(setting)]
        repetitions = by_method(part, "score")
        best = level_with_best(repetitions, TEST_OVER_TRAIN, True)
        for name in repetitions:
            values, colour = repetitions[name].dropna(), COLOURS.get(name, KERNELS)
            panel.errorbar(
                values.mean(),
                methods.index(name),
                xerr=half_width(values, TEST_OVER_TRAIN),
                fmt="o",
                ms=3.5,
                lw=0.9,
                color=colour,
                mfc=colour if name in best else "white",
            )
        panel.axvline(0.5, color="0.7", lw=0.6)
        panel.set_xlim(0.35, 1.0)
        panel.set_gid(dataset)  # of whose surrogates it is stamped
        if dataset == datasets[0]:
            panel.set_title(TITLES[setting])
    for dataset, line in zip(datasets, axes, strict=True):
        line[0].set_yticks(range(len(methods)), methods, fontsize=6)
        line[0].set_ylim(-0.7, len(methods) - 0.3)
        line[0].set_ylabel(dataset)
        for panel in line:
            panel.set_xlabel(measure_of(frame[frame["dataset"] == dataset]))
    legend(figure, "tied with the best", "behind the best")
    return figure
