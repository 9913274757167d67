"""Cholesky with side information: the time of its steps.

Parameters
----------
sizes : numbers of points
features : number of features
gamma : width of the Gaussian kernel
rank : number of pivots
rank_points : points where ranks vary
ranks : numbers of pivots there
kappa : weight of the targets in the criterion
lookahead : number of look-ahead columns
"""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd

from kronbench.linalg import KernelColumns, csi, incomplete_cholesky
from kronbench.linalg.csi_decomposition import CSI_STEPS
from kronbench.linalg.lowrank import CholeskySteps, factor_threads
from kronbench_suite.runner.clock import time_interleaved, watched_calls
from kronbench_suite.runner.columns import TIMING, Columns

_PATIENCE = 2.0  # seconds after which a decomposition is long enough to be timed once
_PERMUTE = "one iteration: permute, exact gain, gains of all"
_REDO = "one iteration: redo Cholesky steps"

COLUMNS = TIMING | Columns(
    key=("step", "n", "columns"),  # the last tells the ranks of "total, by rank" apart
)


def run(spec, data, rng):
    """Rows of three kinds, told apart by ``step`` (Bach & Jordan 2005, figure 1, section 5).

    For n points the seconds of each step of CSI, of the "total" without a profiler, and of
    "incomplete Cholesky"; "total, by rank"; and "one iteration" half way to the rank: a step of
    CSI without its new column (a mean over all), and the look-ahead steps of Cholesky done again.
    """
    _of_points(spec, rng, min(spec["sizes"]))  # to compile
    rows = [row for n in spec["sizes"] for row in _of_points(spec, rng, n)]
    # The time of the whole at one number of points, by rank.
    n, lookahead = spec["rank_points"], spec["lookahead"]
    kernel, targets = _problem(spec, rng, n)
    ways = {
        rank: partial(csi, kernel, targets, rank, spec["kappa"], lookahead, tol=0.0)
        for rank in spec["ranks"]
    }
    # exponents are over rank + look-ahead, the Cholesky steps
    for rank, (_, timing) in time_interleaved(ways, max_seconds=_PATIENCE).items():
        row = {"n": n, "rank": rank, "columns": rank + lookahead, "step": "total, by rank"}
        rows.append(row | timing.columns())
    return pd.DataFrame(rows)


def _problem(spec, rng, n):
    # Points of the unit cube, with targets that are smooth in two of their coordinates.
    X = rng.random((n, spec["features"]))
    targets = np.sin(2 * np.pi * X[:, :1]) + X[:, 1:2] + 0.1 * rng.standard_normal((n, 1))
    return KernelColumns(X, "gaussian", spec["gamma"]), targets


def _of_points(spec, rng, n):
    kernel, targets = _problem(spec, rng, n)
    rank, lookahead = spec["rank"], spec["lookahead"]
    decompose = partial(csi, kernel, targets, rank, spec["kappa"], lookahead, tol=0.0)
    watched = []

    def steps():
        with watched_calls(CSI_STEPS) as calls:
            decompose()
        watched.append(calls)

    # In turn: the whole, Cholesky alone, and the whole with a watch on its steps.
    ways = {
        "total": decompose,
        "incomplete Cholesky": partial(incomplete_cholesky, kernel, rank, 0.0),
        "steps": steps,
    }
    runs = time_interleaved(ways, max_seconds=_PATIENCE)
    (factor, total), (plain, cholesky), (_, of_steps) = runs.values()
    middle = rank // 2
    again = redo_cholesky(kernel, plain.pivots[: middle + lookahead], middle)
    _, redone = time_interleaved({"redo": again})["redo"]
    # seconds of each step, and of one iteration, by the runs that were watched
    seconds = {step: [calls[step].seconds for calls in watched] for step in CSI_STEPS}
    turned = [seconds[step] for step in CSI_STEPS if step.startswith("3")]
    iterations = [sum(of_run) / factor.rank for of_run in zip(*turned, strict=True)]
    asked = watched[-1]["kernel columns"].count
    measured = {"n": n, "rank": factor.rank, "columns": asked}
    one = {"n": n, "rank": middle, "columns": 0}
    rows = [
        measured | of_steps.columns() | {"step": step} | _spread(of_runs)
        for step, of_runs in seconds.items()
    ]
    rows.append(one | of_steps.columns() | {"step": _PERMUTE} | _spread(iterations))
    rows.append(one | redone.columns() | {"step": _REDO})
    rows.append(measured | total.columns() | {"step": "total"})
    alone = {"n": n, "rank": plain.rank, "columns": plain.rank, "step": "incomplete Cholesky"}
    return [*rows, alone | cholesky.columns()]


def _spread(seconds):
    """The columns of seconds that were summed up over calls: their processors are not known."""
    spread = {"seconds_low": min(seconds), "seconds_high": max(seconds)}
    return {"seconds": np.median(seconds), "cpu_seconds": np.nan, "processors": np.nan} | spread


def redo_cholesky(kernel, pivots, rank):
    """What does the steps behind the first ``rank`` pivots again, with columns that are kept."""
    kept = {pivot: np.array(kernel.column(pivot)) for pivot in pivots}
    columns = SimpleNamespace(column=kept.__getitem__)
    steps = CholeskySteps(columns, kernel.diagonal(), len(pivots))
    for pivot in pivots[:rank]:
        steps.add(pivot)
    residual = steps.residual.copy()

    def again():
        steps.t, steps.residual[:] = rank, residual
        with factor_threads(len(residual)):
            for pivot in pivots[rank:]:
                steps.add(pivot)
        return steps

    return again
