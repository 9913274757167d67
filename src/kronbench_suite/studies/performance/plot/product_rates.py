"""Seconds and rate of the product against the number of pairs, with the machine's own rate."""

from kronbench_suite.report.estimates import disturbed
from kronbench_suite.report.style import log_ticks, new_figure, shared_legend


def draw(frame, item):
    """One line for each method (largest number of threads, first precision that was measured).

    Whiskers go from the smallest to the largest repeat.
    """
    threads, dtype = frame["threads"].max(), frame["dtype"].iloc[0]
    chosen = frame[(frame["threads"] == threads) & (frame["dtype"] == dtype)]
    figure, axes = new_figure(1, 2, height=2.8)
    seconds, rates = axes[0]
    for method, curve in chosen.groupby("method", sort=False):
        if method == "matrix product":
            look = {"color": "black", "lw": 0.8, "ls": "--"}
            rates.axhline(curve["gflops"].iloc[0], label="matrix product (BLAS)", **look)
            continue
        n, rate, middle = curve["n"], curve["gflops"], curve["seconds"]
        low, high = curve["seconds_low"], curve["seconds_high"]
        (line,) = seconds.loglog(n, middle, "o-", ms=3, label=method)
        look = {"color": line.get_color(), "lw": 0.8}
        seconds.vlines(n, low, high, **look)
        rates.loglog(n, rate, "o-", ms=3, label=method)
        rates.vlines(n, rate * middle / high, rate * middle / low, **look)
    for panel, title, unit in (
        (seconds, "Seconds of a product", "seconds"),
        (rates, "Rate, by the operations of Algorithm 1", "GFlop/s"),
    ):
        panel.set(title=title, xlabel="pairs n", ylabel=unit)
        log_ticks(panel.xaxis)
        log_ticks(panel.yaxis)
    seconds.plot([], [], "|", ms=8, color="0.4", label="range of the repeats")
    remark = ",\npartly busy machine" if disturbed(chosen) else ""
    title = f"{dtype}, {threads} threads{remark}"
    shared_legend(figure, axes, loc="outside right center", title=title, alignment="left")
    return figure
