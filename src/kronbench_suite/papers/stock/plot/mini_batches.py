"""AUC against the number of training documents: over instances and over classes, B and D."""

from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

from kronbench_suite.report.numbers import name_of
from kronbench_suite.report.style import new_figure, shared_legend

TITLES = {"B": "known classes", "D": "novel classes"}
LOOKS = {"independent-task": {"color": "C0"}, "two-step": {"color": "C4"}}
MEASURES = {"instance_auc": "AUC over instances", "macro_auc": "AUC over classes"}


def draw(frame, item):
    """One line for each model; points are open where a chosen weight is an end of its grid."""
    problems = list(frame.groupby(["dataset", "setting"], sort=False))
    figure, axes = new_figure(len(problems), 2, height=1.6)
    for panels, ((dataset, setting), part) in zip(axes, problems, strict=True):
        for panel, (measure, label) in zip(panels, MEASURES.items(), strict=True):
            panel.set_gid(dataset)  # of whose surrogates it is stamped
            for model, curve in part.groupby("model"):
                look = {"ms": 2.5, **LOOKS[model]}
                if (curve["on_edge"] > 0).any():
                    look |= {"mfc": "white", "ms": 4}
                panel.plot(curve["documents"], curve[measure], "o-", **look)
            panel.set_xscale("log")
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.xaxis.set_major_formatter(EngFormatter(sep=""))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.set_ylabel(label)
        weights = []
        for model, row in part.groupby("model")[["reg", "reg_cols"]].first().iterrows():
            of_tasks = rf", $\lambda_t$ = {row['reg_cols']:g}" if row["reg_cols"] else ""
            weights.append(rf"{model}: $\lambda_d$ = {row['reg']:g}{of_tasks}")
        title = f"{name_of(dataset)}, setting {setting}: {TITLES[setting]}"
        panels[0].set_title(f"{title} ({'; '.join(weights)})")
    for panel in axes[-1]:
        panel.set_xlabel("training documents")
    for model, look in LOOKS.items():
        axes[0, 0].plot([], [], "o-", ms=2.5, label=model, **look)
    at_end = {"ms": 4, "color": "0.3", "mfc": "white", "label": "a weight at an end of its grid"}
    axes[0, 0].plot([], [], "o", **at_end)
    shared_legend(figure, axes, loc="outside lower center", ncols=3)
    return figure
