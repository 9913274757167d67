"""Strong scaling of the product with threads, in single and double precision."""

from kronbench_suite.report.style import new_figure, shared_legend


def draw(frame, item):
    """A panel for each precision: rate against threads, beside proportional growth."""
    dtypes = frame["dtype"].unique()
    figure, axes = new_figure(1, len(dtypes), height=2.5)
    for panel, dtype in zip(axes[0], dtypes, strict=True):
        for method, curve in frame[frame["dtype"] == dtype].groupby("method", sort=False):
            curve = curve.sort_values("threads")
            threads, rate = curve["threads"], curve["gflops"]
            name = "matrix product (BLAS)" if method == "matrix product" else method
            (line,) = panel.plot(threads, rate, "o-", ms=3, label=name)
            proportional = rate.iloc[0] * threads / threads.iloc[0]
            panel.plot(threads, proportional, ls=":", lw=0.8, color=line.get_color())
        panel.set_title(f"{'Single' if dtype == 'float32' else 'Double'} precision")
        ticks = sorted(frame["threads"].unique())
        panel.set(xlabel="threads", xticks=ticks, ylim=(0, None))
    axes[0, 0].set_ylabel("GFlop/s")
    axes[0, 0].plot([], [], ls=":", lw=0.8, color="0.3", label="in proportion")
    shared_legend(figure, axes, loc="outside right center")
    return figure
