"""Leave-one-out predictions of another library over a grid, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import Pool

import numba
import numpy as np
import threadpoolctl

from kronbench.runner.clock import Stopwatch, Timing, measure
from kronbench.runner.processes import one_process
from kronbench.runner.solvers import import_solver

_PATIENCE = 1.5  # seconds after which a grid is long enough to be timed once

_here: dict = {}  # in the process of the library: its solver, the problem, what it predicted


class PeerGrid:
    """The library at work on one problem; see :func:`peer_grid`."""

    def __init__(self, pool: Pool, n_labels: int):
        self._pool, self._n_labels = pool, n_labels

    def needs(self, setting: str, grids: Sequence[np.ndarray]) -> tuple[float, float]:
        """Processor seconds of the whole grid by one point, and gigabytes of the predictions."""
        n_points = int(np.prod([len(grid) for grid in grids]))
        fit, point = self._pool.apply(_one_point, (setting, grids))
        return fit + n_points * point, 8e-9 * n_points * self._n_labels

    def measured(self, setting: str, grids: Sequence[np.ndarray]) -> Timing:
        """The timing of all predictions of a setting, which the process keeps."""
        return self._pool.apply(_all_points, (setting, grids))

    def predictions(self, index: int | tuple[int, ...]) -> np.ndarray:
        """Those of one point of the grid that was measured last, once."""
        return self._pool.apply(_handed_over, (index,))


@contextmanager
def peer_grid(
    solver: str, problem: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> Iterator[PeerGrid]:
    """Start a process with as many threads as this one has for the solver at an import path.

    Parameters
    ----------
    solver : str
        A class with ``fit_matrix`` and ``loo_grid``, as
        ``kronbench.models.two_step_rlscore.TwoStepRLScore``.
    problem : K (m, m), G (q, q), Y (m, q)
    """
    given = solver, problem, numba.get_num_threads()
    with one_process(__name__, initializer=_begin, initargs=given) as pool:
        yield PeerGrid(pool, problem[2].size)


def _begin(solver, problem, threads):
    # Before the threads are limited, so that those of what it loads are.
    _here.update(solver=import_solver(solver), problem=problem)
    numba.set_num_threads(threads)
    _here["limits"] = threadpoolctl.threadpool_limits(threads)


def _one_point(setting, grids):
    small = (np.eye(4),) * 3  # first, because what is loaded on first use is no part of a point
    for problem in (small, _here["problem"]):
        with Stopwatch() as fit:
            model = _here["solver"]().fit_matrix(*problem)
        with Stopwatch() as point:
            next(iter(model.loo_grid(setting, *(grid[:1] for grid in grids))))
    return fit.cpu_seconds, point.cpu_seconds


def _all_points(setting, grids):
    _here["predictions"] = {}  # those of another setting beside these may not fit
    _here["predictions"], timing = measure(partial(_points, setting, grids), patience=_PATIENCE)
    return timing


def _points(setting, grids):
    return dict(_here["solver"]().fit_matrix(*_here["problem"]).loo_grid(setting, *grids))


def _handed_over(index):
    return _here["predictions"].pop(index)
