"""AUC against the weight of Kronecker ridge regression, a panel for each data set."""

from kronbench.report.style import new_figure


def draw(frame, item):
    """One line for each setting; a dot at the best weight (Stock et al. 2016, figure 4)."""
    frame = frame[frame["method"] == "KK"]
    datasets = list(frame["dataset"].unique())
    figure, axes = new_figure(
        1, len(datasets), width=1.9 * len(datasets) + 0.6, height=2.3, sharey=True
    )
    for panel, dataset in zip(axes[0], datasets, strict=True):
        for setting, curve in frame[frame["dataset"] == dataset].groupby("setting"):
            (line,) = panel.plot(curve["reg"], curve["auc"], label=f"setting {setting}")
            best = curve.loc[curve["auc"].idxmax()]
            panel.plot(best["reg"], best["auc"], "o", ms=4, color=line.get_color())
        panel.set_xscale("log")
        panel.set_title(dataset)
        panel.set_xlabel(r"$\lambda$")
    axes[0, 0].set_ylabel("AUC")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center")
    return figure
