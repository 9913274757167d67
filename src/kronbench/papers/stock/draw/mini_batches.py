"""AUC against the number of training documents: over instances and over classes, B and D."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

from kronbench.report.style import new_figure, rests_on, shared_legend
from kronbench.runner.items import Item

TITLES = {"B": "B: known classes", "D": "D: novel classes"}
LOOKS = {"independent-task": {"color": "C0"}, "two-step": {"color": "C4"}}


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """One line for each model; points are open where a chosen weight is an end of its grid."""
    columns = list(frame.groupby(["dataset", "setting"], sort=False))
    figure, axes = new_figure(2, len(columns), width=2.5 * len(columns) + 1.6, height=2.1)
    for col, ((dataset, setting), part) in enumerate(columns):
        for row, measure in enumerate(("instance_auc", "macro_auc")):
            panel = axes[row, col]
            rests_on(panel, dataset)
            for model, curve in part.groupby("model"):
                look = {"ms": 2.5, **LOOKS[model]}
                if (curve["on_edge"] > 0).any():
                    look |= {"mfc": "white", "ms": 4}
                panel.plot(curve["documents"], curve[measure], "o-", **look)
            panel.set_xscale("log")
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.xaxis.set_major_formatter(EngFormatter(sep=""))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.tick_params(axis="x", labelsize=7)
        axes[0, col].set_title(f"{dataset}, {TITLES[setting]}\n{_weights(part)}", fontsize=8)
        axes[1, col].set_xlabel("training documents")
    axes[0, 0].set_ylabel("instance AUC")
    axes[1, 0].set_ylabel("macro AUC")
    for model, look in LOOKS.items():
        axes[0, 0].plot([], [], "o-", ms=2.5, label=model, **look)
    at_end = {"ms": 4, "color": "0.3", "mfc": "white", "label": "a weight at an\nend of its grid"}
    axes[0, 0].plot([], [], "o", **at_end)
    shared_legend(figure, axes, loc="outside right center")
    return figure


def _weights(part):
    lines = []
    for model, row in part.groupby("model")[["reg", "reg_cols"]].first().iterrows():
        of_tasks = rf", $\lambda_t$ {row['reg_cols']:g}" if row["reg_cols"] else ""
        lines.append(rf"$\lambda_d$ {row['reg']:g}{of_tasks} ({model})")
    return "\n".join(lines)
