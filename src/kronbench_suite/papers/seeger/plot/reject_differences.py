"""How much better a joint model is than one against the rest, by the share of rejects."""

from kronbench_suite.papers.seeger.plot.reject_curves import SCALING
from kronbench_suite.report.style import new_figure


def draw(frame, item):
    """Errors of 1rest minus those of mc-sep (Seeger 2006, figure 4); mean and spread."""
    frame = frame[frame["scaling"] == SCALING]
    figure, axes = new_figure(1, 1, width=4.6, height=2.7)
    panel = axes[0, 0]
    for method, color in (("mc-sep", "C0"), ("mc-tied", "C2")):
        curves = frame[frame["method"] == method].groupby("rejected")["advantage"]
        mean, std = 100 * curves.mean(), 100 * curves.std().fillna(0)
        panel.plot(100 * mean.index, mean, color=color, label=f"1rest − {method}")
        panel.fill_between(100 * mean.index, mean - std, mean + std, color=color, alpha=0.15, lw=0)
    panel.axhline(0, color="0.6", lw=0.8)
    panel.fill_between([], [], color="C0", alpha=0.15, lw=0, label="one standard deviation")
    panel.axvspan(0, 10, color="0.92", zorder=0, label="up to 10 % rejected")
    panel.set_xlabel("rejected test points, %")
    panel.set_ylabel("difference of errors,\n% of all test points")
    panel.legend()
    return figure
