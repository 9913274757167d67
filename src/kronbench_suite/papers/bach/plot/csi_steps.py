"""Seconds of the steps of CSI, and of the whole against the number of points, beside Cholesky."""

from matplotlib.ticker import NullFormatter

from kronbench_suite.report.estimates import disturbed, exponent
from kronbench_suite.report.style import new_figure

_WHOLES = {"total": "CSI", "incomplete Cholesky": "incomplete Cholesky"}
_OTHER_ROWS = ("total, by rank", "one iteration")


def draw(frame, item):
    """Left, seconds of each step at the largest n; right, the whole against n."""
    figure, axes = new_figure(1, 2, width=7.2, height=2.7)
    timed = frame[~frame["step"].str.startswith(_OTHER_ROWS)]
    largest = timed[timed["n"] == timed["n"].max()].set_index("step")
    steps = largest[~largest.index.isin(_WHOLES)]
    bars = [axes[0, 0].barh(steps.index, steps["seconds"], color="C0", alpha=0.6)]
    for (step, name), color in zip(_WHOLES.items(), ("C0", "C1"), strict=True):
        bars.append(axes[0, 0].barh(f"{name}, in all", largest.loc[step, "seconds"], color=color))
    for bar in bars:
        axes[0, 0].bar_label(bar, fmt="{:.3g}", padding=2, fontsize=7)
    axes[0, 0].margins(x=0.12)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(xlabel="seconds", title=f"Steps at n = {largest['n'].iloc[0]:,.0f}")
    for (step, name), marker in zip(_WHOLES.items(), "os", strict=True):
        whole = timed[timed["step"] == step].sort_values("n")
        power = exponent(whole["n"], whole["seconds"])
        label = f"{name}, $n^{{{power:.2f}}}$"
        (line,) = axes[0, 1].loglog(whole["n"], whole["seconds"], marker + "-", label=label)
        low, high = whole["seconds_low"], whole["seconds_high"]
        axes[0, 1].vlines(whole["n"], low, high, lw=0.8, color=line.get_color())
    remark = ", busy machine" if disturbed(timed) else ""
    axes[0, 1].set_title(f"In all, rank {largest['rank'].iloc[0]:.0f}{remark}")
    axes[0, 1].xaxis.set_minor_formatter(NullFormatter())  # small ranges: labels would overlap
    axes[0, 1].set(xlabel="points n", ylabel="seconds")
    # Below the axes, since curves run through every corner.
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower right", ncols=2)
    return figure
