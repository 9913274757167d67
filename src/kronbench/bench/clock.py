"""Clocks and memory, read inside the process."""

from __future__ import annotations

import math
import resource
import statistics
import sys
import time


class Stopwatch:
    """Context manager: wall and processor seconds of its block, all threads together.

    Attributes
    ----------
    seconds, cpu_seconds : float
        Set when the block ends.
    """

    def __enter__(self):
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exception):
        self.seconds = time.perf_counter() - self._wall
        self.cpu_seconds = time.process_time() - self._cpu


def repeated(function, *, enough=0.5, most=9):
    """Call until ``enough`` seconds have passed or ``most`` calls were made, at least once.

    Returns
    -------
    result
        Of the last call.
    seconds, cpu_seconds : float
        Medians over the calls.
    """
    watches = []
    while not watches or (
        len(watches) < most and sum(watch.seconds for watch in watches) < enough
    ):
        with Stopwatch() as watch:
            result = function()
        watches.append(watch)
    return (
        result,
        statistics.median(watch.seconds for watch in watches),
        statistics.median(watch.cpu_seconds for watch in watches),
    )


class TimeCap:
    """Which points of a growing series to start: those predicted to end within ``seconds``.

    The prediction extrapolates the law seconds ~ size^p through the last two points, with p
    between 0 and 3; from a single point with p = ``power``. Without a point there is none.
    """

    def __init__(self, seconds: float, power: float = 2.0):
        self.seconds = seconds
        self._power = power
        self._points = []

    def record(self, size: float, seconds: float) -> None:
        """Add a measured point; sizes increase."""
        self._points.append((size, seconds))

    def predicted(self, size: float) -> float:
        """Seconds that the point will take; 0 where nothing is known."""
        if not self._points:
            return 0.0
        last_size, last_seconds = self._points[-1]
        power = self._power
        if len(self._points) > 1:
            first_size, first_seconds = self._points[-2]
            power = math.log(last_seconds / first_seconds) / math.log(last_size / first_size)
        return last_seconds * (size / last_size) ** min(max(power, 0.0), 3.0)

    def allows(self, size: float) -> bool:
        return self.predicted(size) <= self.seconds


def peak_mib() -> float:
    """Largest resident set of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
