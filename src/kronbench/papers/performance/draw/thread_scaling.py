"""Strong scaling of the product with threads, in single and double precision."""

import pandas as pd
from matplotlib.figure import Figure

from kronbench.report.style import new_figure, shared_legend
from kronbench.runner.items import Item


def draw(frame: pd.DataFrame, item: Item) -> Figure:
    """A panel for each precision: rate against threads, beside proportional growth."""
    dtypes = list(dict.fromkeys(frame["dtype"]))
    figure, axes = new_figure(1, len(dtypes), width=3.2 * len(dtypes) + 1, height=2.6)
    for panel, dtype in zip(axes[0], dtypes, strict=True):
        for method, curve in frame[frame["dtype"] == dtype].groupby("method", sort=False):
            curve = curve.sort_values("threads")
            (line,) = panel.plot(curve["threads"], curve["gflops"], "o-", ms=3, label=method)
            first = curve.iloc[0]
            panel.plot(
                curve["threads"], first["gflops"] * curve["threads"] / first["threads"],
                ls=":", lw=0.8, color=line.get_color(),
            )  # fmt: skip
        panel.set_title(dtype)
        panel.set_xlabel("threads (dotted: proportional)")
        panel.set_xticks(sorted(frame["threads"].unique()))
        panel.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("GFlop/s")
    shared_legend(figure, axes, loc="outside right center")
    return figure
