"""Strong scaling of the product with threads, in single and double precision."""

from kronbench.report.style import new_figure, shared_legend


def draw(frame, item):
    """A panel for each precision: rate against threads, beside proportional growth."""
    dtypes = frame["dtype"].unique()
    figure, axes = new_figure(1, len(dtypes), width=3.2 * len(dtypes) + 1, height=2.6)
    for panel, dtype in zip(axes[0], dtypes, strict=True):
        for method, curve in frame[frame["dtype"] == dtype].groupby("method", sort=False):
            curve = curve.sort_values("threads")
            threads, rate = curve["threads"], curve["gflops"]
            (line,) = panel.plot(threads, rate, "o-", ms=3, label=method)
            proportional = rate.iloc[0] * threads / threads.iloc[0]
            panel.plot(threads, proportional, ls=":", lw=0.8, color=line.get_color())
        panel.set_title(dtype)
        panel.set_xlabel("threads (dotted: proportional)")
        panel.set_xticks(sorted(frame["threads"].unique()))
        panel.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("GFlop/s")
    shared_legend(figure, axes, loc="outside right center")
    return figure
