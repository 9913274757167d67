"""Seconds of an iteration and memory against the number of compounds."""

from kronbench_suite.report.style import log_ticks, new_figure, shared_legend

_NAMES = {
    "bits": "KronRidge, sparse bits",
    "dense": "KronRidge, dense bits",
    "SMURFF": "SMURFF, a step",
}


def draw(frame, item):
    """Two panels with a line for each method; whiskers span the repeats."""
    figure, axes = new_figure(1, 2, height=2.8)
    seconds, memory = axes[0]
    for method, curve in frame.groupby("method", sort=False):
        n = curve["compounds"]
        (line,) = seconds.loglog(n, curve["seconds"], "o-", ms=3, label=_NAMES[method])
        look = {"color": line.get_color(), "lw": 0.8}
        seconds.vlines(n, curve["seconds_low"], curve["seconds_high"], **look)
        memory.loglog(n, curve["peak_mib"], "o-", ms=3, label=_NAMES[method])
        if method == "bits":
            seconds.loglog(n, curve["additions_seconds"], "k--", lw=0.8, label="additions alone")
    seconds.set(title="Seconds of an iteration", xlabel="compounds", ylabel="seconds")
    memory.set(title="Largest memory of the process", xlabel="compounds", ylabel="MiB")
    for axis in (seconds.xaxis, seconds.yaxis, memory.xaxis, memory.yaxis):
        log_ticks(axis)
    shared_legend(figure, axes, loc="outside right center")
    return figure
