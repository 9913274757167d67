"""Where the time of Cholesky with side information goes, for growing numbers of points."""

from __future__ import annotations

import cProfile
import pstats

import numpy as np
import pandas as pd

from kronbench.bench.clock import Stopwatch
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


def run(spec, data, rng):
    """Seconds of each step of CSI for n points of uniform features (Bach & Jordan, figure 1).

    One row for each n and step, and one for the whole, step "total", timed without the profiler.
    ``columns`` counts the kernel columns that were asked for.
    """
    rows = []
    for n in [min(spec["sizes"]), *spec["sizes"]]:  # the first, compiling, does not count
        X = rng.random((n, spec["features"]))
        targets = np.sin(2 * np.pi * X[:, :1]) + X[:, 1:2] + 0.1 * rng.standard_normal((n, 1))
        kernel = _Counted(X, "gaussian", spec["gamma"])
        arguments = {"max_rank": spec["rank"], "lookahead": spec["lookahead"], "tol": 0.0}
        with Stopwatch() as clock:
            factor = csi(kernel, targets, **arguments)
        measured = {"n": n, "rank": factor.rank, "columns": kernel.asked}
        profile = cProfile.Profile()
        profile.runcall(csi, kernel, targets, **arguments)
        seconds = _cumulative(profile)
        counted = [
            measured | {"step": step, "seconds": seconds[name] - seconds.get(inner, 0.0)}
            for step, (name, inner) in STEPS.items()
        ]
        counted.append(
            measured
            | {"step": "total", "seconds": clock.seconds, "cpu_seconds": clock.cpu_seconds}
        )
        rows.append(counted)
    return pd.DataFrame([row for counted in rows[1:] for row in counted])


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
