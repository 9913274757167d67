"""Clocks and memory, read inside the process."""

from __future__ import annotations

import resource
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


def peak_mib() -> float:
    """Largest resident set of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
