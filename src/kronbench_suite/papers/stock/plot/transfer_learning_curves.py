"""Learning curves of transfer learning: a row for each data set, labels and criterion."""

import numpy as np
from matplotlib.lines import Line2D

from kronbench_suite.report.style import new_figure, shared_legend

# Curves keep their look in all panels: (approach, method, selection) -> label and style.
LOOKS = {
    ("independent-task", "IT", "A"): ("independent-task", {"color": "C0"}),
    ("independent-task, one weight", "IT", "A"): (
        "independent-task, one weight",
        {"color": "C0", "ls": "--"},
    ),
    ("almost zero-shot", "TS", "A"): ("almost zero-shot, two-step (A)", {"color": "C4"}),
    ("multi-task", "KK", "A"): ("multi-task, Kronecker (A)", {"color": "C1"}),
    ("multi-task", "TS", "A"): ("multi-task, two-step (A)", {"color": "C2"}),
    ("multi-task", "TS", "B"): ("multi-task, two-step (B)", {"color": "C3"}),
    **{
        (approach, method, selection): (label, {"color": color, "ls": style})
        for approach in ("zero-shot", "full zero-shot")
        for method, selection, label, color, style in (
            ("KK", "A", "zero-shot, Kronecker (A)", "C1", "--"),
            ("KK", "D", "zero-shot, Kronecker (D), ours", "C5", "--"),
            ("TS", "A", "zero-shot, two-step (A)", "C2", (0, (5, 3))),
            ("TS", "D", "zero-shot, two-step (D)", "C6", (4, (5, 3))),
        )
    },
}
_MIDDLE = ("independent-task", "independent-task, one weight", "multi-task")
GROUPS = {
    "Target data\nincreased": ("independent-task", "almost zero-shot", "full zero-shot"),
    "Target and auxiliary\ndata increased": _MIDDLE,
    "Auxiliary data\nincreased": ("zero-shot",),
}
TITLES = {
    "e": "(a) Enzymes (E)",
    "davis": "(b) Drug-target affinities (Davis)",
    "davis-ecfp4": "(c) Drug-target affinities (Davis), ours with ECFP4 similarities",
}
BESIDE = "1 and 0"
APART = "tasks apart"
SIGNS = (
    {"marker": "o", "ls": "", "ms": 4, "mfc": "none", "label": "a weight at an end of its grid"},
    {"ls": ":", "lw": 0.8, "label": "chance"},
    {"lw": 6, "alpha": 0.2, "label": "one standard deviation"},
)


def draw(frame, item):
    """Means over repetitions with a band of one standard deviation; ours in the last rows."""
    # A row for each data set, labels and criterion, ours last; a column for each approach.
    rows = [
        (key, [(part, approaches) for approaches in GROUPS.values()])
        for key, part in frame.groupby(["dataset", "labels", "criterion"], sort=False)
    ]
    rows += _apart(frame)
    rows.sort(
        key=lambda row: (row[0][1] == BESIDE, row[0][0] == "davis-ecfp4", row[0][1] == APART)
    )
    figure, axes = new_figure(len(rows), len(GROUPS), height=1.6, sharex="row")
    for panels, ((dataset, labels, criterion), shown) in zip(axes, rows, strict=True):
        for panel, (part, approaches) in zip(panels, shown, strict=True):
            if part.empty:
                panel.set_axis_off()
                continue
            curves = part.groupby(["approach", "method", "selection"])
            known = [key for key in LOOKS if key[0] in approaches and key in curves.groups]
            for place, key in enumerate(known):
                label, look = LOOKS[key]
                label = f"_{label}" if labels == APART else label  # not in the column's legend
                curve = curves.get_group(key).groupby("size")
                scores = curve["score"].agg(["mean", "std"]).fillna(0)
                mean, std, sizes = scores["mean"], scores["std"], scores.index
                if len(sizes) > 2:
                    panel.plot(sizes, mean, label=label, **look)
                    band = mean - std, mean + std
                    panel.fill_between(sizes, *band, color=look["color"], alpha=0.12, lw=0)
                else:  # no curve: points beside each other, with bars
                    sizes = sizes + (place - (len(known) - 1) / 2) * 0.025 * part["size"].max()
                    bars = {"fmt": ".", "ms": 5, "lw": 0.8, "color": look["color"]}
                    panel.errorbar(sizes, mean, std, label=label, **bars)
                # rings where most repetitions chose an end of the grid
                ringed = (curve["on_edge"].mean() >= 0.5).to_numpy()
                ring = {
                    "ms": 4 if len(sizes) > 2 else 6,
                    "mfc": "none",
                    "mec": look["color"],
                    "mew": 0.8,
                }
                panel.plot(sizes[ringed], mean[ringed], "o", **ring)
            panel.axhline(0.5, color="0.6", lw=0.8, ls=":")
        part = shown[0][0]
        title = TITLES[dataset] + (", ours with labels 1 and 0" if labels == BESIDE else "")
        title += ", ours, with (left) and without a positive label" if labels == APART else ""
        count = part["repetition"].nunique()
        title += f": weights chosen by {criterion}; {count} repetition{'s' if count > 1 else ''}"
        panels[1].set_title(title, loc="center")  # it is wider than one panel
        panels[0].set_ylabel(part["measure"].iloc[0])
    # Panels of one data set have one scale.
    for dataset in frame["dataset"].unique():
        own = axes[[key[0] == dataset for key, _ in rows]]
        limits = np.array([panel.get_ylim() for panel in own.flat if panel.axison])
        for panel in own.flat:
            panel.set_ylim(limits[:, 0].min(), limits[:, 1].max())
    for column, title in zip(axes.T, GROUPS, strict=True):
        above = {"xytext": (0, 22), "textcoords": "offset points", "ha": "center"}
        column[0].annotate(title, (0.5, 1), xycoords="axes fraction", weight="bold", **above)
        column[-1].set_xlabel("training proteins")
        shared_legend(column[-1], column, loc="upper left", bbox_to_anchor=(-0.1, -0.42))
    signs = [Line2D([], [], color="0.3", **look) for look in SIGNS]
    figure.legend(handles=signs, loc="outside lower center", ncols=3)
    return figure


def _apart(frame):
    """Two panels for each criterion: tasks with a positive label in training, tasks without."""
    if "score_with_positive" not in frame:
        return
    known = frame[frame["score_with_positive"].notna() & (frame["labels"] != BESIDE)]
    for (dataset, criterion), part in known.groupby(["dataset", "criterion"], sort=False):
        # The mean over all tasks is that of both kinds, each with its share.
        scored, share = part["score_with_positive"], part["share_with_positive"]
        others = ((part["score"] - share * scored) / (1 - share)).where(share < 1)
        shown = (part.assign(score=scored), part.assign(score=others))
        yield (dataset, APART, criterion), [*((one, _MIDDLE) for one in shown), (part[:0], ())]
