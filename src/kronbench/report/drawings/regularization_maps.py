"""AUC over both weights of two-step ridge regression: data sets in rows, settings in columns."""

import numpy as np

from kronbench.report.style import new_figure


def draw(frame, item):
    """Contours of AUC with their own levels in each panel, and a cross at the best weights.

    The weight of targets (instances) goes across, that of drugs (tasks) up (Stock et al. 2016,
    figure 5).
    """
    frame = frame[frame["method"] == "TS"]
    datasets, settings = list(frame["dataset"].unique()), sorted(frame["setting"].unique())
    figure, axes = new_figure(
        len(datasets), len(settings), width=7.4, height=1.75, sharex=True, sharey=True
    )
    for row, dataset in enumerate(datasets):
        for col, setting in enumerate(settings):
            panel = axes[row, col]
            part = frame[(frame["dataset"] == dataset) & (frame["setting"] == setting)]
            auc = part.pivot(index="reg_cols", columns="reg", values="auc")
            across, up = np.log10(auc.columns), np.log10(auc.index)
            contours = panel.contourf(across, up, auc, levels=12, cmap="viridis")
            best = part.loc[part["auc"].idxmax()]
            panel.plot(
                np.log10(best["reg"]), np.log10(best["reg_cols"]), "x", color="white", mew=1.6
            )
            panel.set_title(f"{dataset}, {setting}: best {best['auc']:.3f}", fontsize=8)
            panel.grid(False)
            bar = figure.colorbar(contours, ax=panel, aspect=12, pad=0.03)
            bar.ax.tick_params(labelsize=6)
            bar.ax.locator_params(nbins=4)
    for panel in axes[-1]:
        panel.set_xlabel(r"$\log_{10}\lambda_d$ (targets)")
    for panel in axes[:, 0]:
        panel.set_ylabel(r"$\log_{10}\lambda_t$ (drugs)")
    return figure
