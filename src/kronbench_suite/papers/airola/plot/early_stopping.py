"""Regularized risk and test AUC against iterations, a row of panels for each data set."""

import numpy as np

from kronbench_suite.report.numbers import read_printed
from kronbench_suite.report.style import SMALL, coinciding, log_ticks, new_figure, shared_legend

LOOKS = {"dual": "-", "primal": "--"}


def draw(frame, item):
    """Means over folds, a line for each of ``regs``: the risk left, the AUC right of it.

    A pair of columns for each method where there are several. ``printed_at`` says of which method
    and iteration the printed AUC, drawn as a star, is.
    """
    for name, default in (("method", ""), ("form", "dual")):
        frame = frame.assign(**{name: frame.get(name, default)})
    datasets = [name for name in item.datasets if name in set(frame["dataset"])]
    methods = list(frame["method"].unique())
    regs = sorted(set(frame["reg"]) & set(item.plot_options["regs"]))
    pad = 6 if len(methods) == 1 else 13  # narrow titles stand above the remark on curves
    figure, axes = new_figure(len(datasets), 2 * len(methods), height=1.65)
    # A row for each data set, and two panels for each method.
    for row, dataset in enumerate(datasets):
        for column, method in enumerate(methods):
            part = frame[(frame["dataset"] == dataset) & (frame["method"] == method)]
            pair = axes[row, 2 * column : 2 * column + 2]
            _draw_pair(pair, part, regs)
            for panel in pair:
                panel.set_title(", ".join(filter(None, [method, dataset])), pad=pad)
                if row == len(datasets) - 1:
                    entry = item.parameters["methods"][method] if method else item.parameters
                    outer = "outer " if "max_inner" in entry["solver_parameters"] else ""
                    panel.set_xlabel(f"{outer}iterations")
            if place := item.plot_options.get("printed_at"):
                printed = read_printed(item)[0].set_index("method").loc[place["method"], dataset]
                look = {"ms": 10, "mfc": "white", "mec": "black", "mew": 0.9, "zorder": 5}
                look |= {"ls": "", "marker": "*", "label": "printed in table 6"}
                pair[1].plot(place["iteration"], printed, **look)
    # Signs that the legend explains, on the last panel.
    forms = frame["form"].unique()
    last = axes[-1, -1]
    for name in forms if len(forms) > 1 else []:
        last.plot([], [], color="0.3", ls=LOOKS[name], lw=1.2, label=name)
    if any(name.endswith("_reversed") and frame[name].notna().any() for name in frame):
        last.plot([], [], color="0.3", ls=":", lw=0.8, label="sums in another order")
    if (n_folds := frame["fold"].nunique()) > 1:
        label = f"range of {n_folds} folds"
        last.plot([], [], "|", color="0.3", ms=10, mew=2.2, label=label)
    shared_legend(figure, axes, loc="outside lower center", ncols=7, columnspacing=1.5)
    return figure


def _draw_pair(pair, part, regs):
    length = part["iteration"].max()
    widest = 2.6 if part["form"].nunique() == 1 else 2.0  # dashes show only where lines are thin
    for panel, value in zip(pair, ("risk", "auc"), strict=True):
        curves = {}
        for order, reg in enumerate(regs):
            name = f"2^{{{np.log2(reg):g}}}"
            for form, of_form in part[part["reg"] == reg].groupby("form"):
                by_fold = of_form.pivot_table(index="iteration", columns="fold", values=value)
                mean = by_fold.mean(axis=1)
                curves[name, form] = mean
                # Thinner lines on top: curves that coincide still show
                look = {"color": f"C{order}", "ls": LOOKS[form], "lw": widest - 0.4 * order}
                label = f"$\\lambda={name}$" if form == "dual" else None
                panel.plot(mean.index, mean, label=label, **look)
                # What rounding decides shows as a second curve, of another order of sums.
                other = of_form.get(f"{value}_reversed")
                if other is not None and other.notna().any():
                    again = other.fillna(of_form[value]).groupby(of_form["iteration"]).mean()
                    panel.plot(again.index, again, **look | {"ls": ":", "lw": 0.8})
                end = by_fold.iloc[-1]
                if len(end) > 1 and form == "dual":
                    place = length * (1.04 + 0.03 * order)
                    panel.plot([place, place], [end.min(), end.max()], color=f"C{order}", lw=2.2)
                    panel.plot(place, end.mean(), "_", color="black", ms=3.5, mew=0.8)
        panel.set_xticks(np.linspace(0, length, 6))
        panel.set_ylabel("regularized risk" if value == "risk" else "test AUC")
        if value == "risk":
            panel.set_yscale("log")
            log_ticks(panel.yaxis)
        # Which weights have the same curve, and of which weights both forms have.
        names = list(dict.fromkeys(name for name, _ in curves))
        groups = coinciding(panel, {name: curves[name, "dual"] for name in names})
        joints = [" to " if len(group) > 2 else ", " for group in groups]
        spans = [f"${g[0]}${joint}${g[-1]}$" for g, joint in zip(groups, joints, strict=True)]
        alike = [
            f"${name}$"
            for name in names
            if (name, "primal") in curves
            and coinciding(panel, {form: curves[name, form] for form in LOOKS})
        ]
        said = {"coincide": "; ".join(spans), "both forms coincide": ", ".join(alike)}
        if text := "; ".join(f"{what}: {where}" for what, where in said.items() if where):
            panel.annotate(text, (1, 1.03), xycoords="axes fraction", ha="right", **SMALL)
