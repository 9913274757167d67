"""Where the time of Cholesky with side information goes, for growing numbers of points."""

from __future__ import annotations

import cProfile
import pstats
from functools import partial

import numpy as np
import pandas as pd

from kronbench.bench.clock import in_turn
from kronbench.operators import KernelColumns, csi

# Methods of kronbench.operators.lowrank by the step of figure 1 they carry out, and the method
# inside whose time is another step's.
STEPS = {
    "kernel columns": ("column", None),
    "look-ahead: Cholesky": ("_cholesky", "column"),
    "look-ahead: QR": ("add", "_cholesky"),
    "permutation: R, exact gain": ("choose", None),
    "permutation: G and Q, gains of all points": ("_pass", None),
}

_PATIENCE = 5.0  # seconds after which a decomposition is long enough to be timed once


def run(spec, data, rng):
    """Seconds of each step of CSI for n points of uniform features (Bach & Jordan, figure 1).

    One row for each n and step, and one for the whole, step "total", timed without the profiler.
    Runs with and without it take turns; the seconds of a step are medians over the runs that were
    profiled. ``columns`` counts the kernel columns that one run asks for.
    """
    rows = []
    for n in [min(spec["sizes"]), *spec["sizes"]]:  # the first, compiling, does not count
        X = rng.random((n, spec["features"]))
        targets = np.sin(2 * np.pi * X[:, :1]) + X[:, 1:2] + 0.1 * rng.standard_normal((n, 1))
        kernel = _Counted(X, "gaussian", spec["gamma"])
        arguments = {"max_rank": spec["rank"], "lookahead": spec["lookahead"], "tol": 0.0}
        decompose = partial(_decomposed, kernel, targets, arguments)
        profiles = []
        runs = in_turn(
            {"total": decompose, "steps": partial(_profiled, decompose, profiles)},
            patience=_PATIENCE,
        )
        factor, total = runs["total"]
        _, steps = runs["steps"]
        measured = {"n": n, "rank": factor.rank, "columns": kernel.asked}
        counted = [
            measured
            | steps.columns()
            | {"step": step, **_spread([_step_seconds(seconds, *names) for seconds in profiles])}
            | {"cpu_seconds": np.nan, "processors": np.nan}
            for step, names in STEPS.items()
        ]
        counted.append(measured | total.columns() | {"step": "total"})
        rows.append(counted)
    return pd.DataFrame([row for counted in rows[1:] for row in counted])


def _decomposed(kernel, targets, arguments):
    kernel.asked = 0
    return csi(kernel, targets, **arguments)


def _profiled(decompose, profiles):
    profile = cProfile.Profile()
    profile.runcall(decompose)
    profiles.append(_cumulative(profile))


def _step_seconds(seconds, name, inner):
    return seconds[name] - seconds.get(inner, 0.0)


def _spread(seconds):
    return {
        "seconds": np.median(seconds),
        "seconds_low": min(seconds),
        "seconds_high": max(seconds),
    }


class _Counted(KernelColumns):
    """Kernel columns on demand, counted."""

    asked = 0

    def column(self, i):
        self.asked += 1
        return super().column(i)


def _cumulative(profile):
    """Cumulative seconds of the methods of the decomposition, by name."""
    return {
        name: times[3]
        for (file, _, name), times in pstats.Stats(profile).stats.items()
        if file.endswith(("lowrank.py", "csi_steps.py"))
    }
