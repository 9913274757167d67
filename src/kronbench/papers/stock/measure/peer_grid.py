"""Leave-one-out predictions of another library over a grid: what its own process does.

The functions are called in a process of :func:`kronbench.runner.processes.fresh_process` that has
begun with :func:`begin`.
"""

import numba
import numpy as np
import threadpoolctl

from kronbench.runner.clock import Stopwatch, measure
from kronbench.runner.solvers import import_solver

_PATIENCE = 1.5  # seconds after which a grid is long enough to be timed once

_here = {}  # the solver, the problem, what was predicted


def begin(solver, problem, threads):
    """Load a solver with ``fit_matrix`` and ``loo_grid`` for a problem (K, G, Y)."""
    # Before the threads are limited, so that those of what it loads are.
    _here.update(solver=import_solver(solver), problem=problem)
    numba.set_num_threads(threads)
    _here["limits"] = threadpoolctl.threadpool_limits(threads)


def needs(setting, grids):
    """Processor seconds of the whole grid by one point, and gigabytes of the predictions."""
    small = (np.eye(4),) * 3  # first, because what is loaded on first use is no part of a point
    for problem in (small, _here["problem"]):
        with Stopwatch() as fit:
            model = _here["solver"]().fit_matrix(*problem)
        with Stopwatch() as point:
            next(iter(model.loo_grid(setting, *(grid[:1] for grid in grids))))
    n_points = int(np.prod([len(grid) for grid in grids]))
    gigabytes = 8e-9 * n_points * problem[2].size
    return fit.cpu_seconds + n_points * point.cpu_seconds, gigabytes


def measure_grid(setting, grids):
    """The timing of all predictions of a setting, which the process keeps."""
    _here["predictions"] = {}  # those of another setting beside these may not fit

    def predictions():
        return dict(_here["solver"]().fit_matrix(*_here["problem"]).loo_grid(setting, *grids))

    _here["predictions"], timing = measure(predictions, max_seconds=_PATIENCE)
    return timing


def take(index):
    """The predictions at one point of the grid that was measured last, once."""
    return _here["predictions"].pop(index)
