"""Clocks and memory, read inside the process: repeats in turn, calls, spread, disturbance."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import resource
import statistics
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path

import numba
import psutil

# Share of the time that a thread stood waiting for a processor, from which on a row is disturbed.
BUSY = 0.1

_HOST = "host of a virtual machine"


@dataclasses.dataclass(frozen=True)
class Timing:
    """What a clock saw of some work; :meth:`columns` makes it the columns of a row.

    - ``seconds``, ``seconds_low``, ``seconds_high``: wall seconds of the ``repeats``: median,
      smallest, largest.
    - ``cpu_seconds``: the median, of all threads of the process together.
    - ``waiting``: share of the time for which the thread that waited longest was ready to run
      while other programs had the processors. One late thread delays all others, so the longest
      wait counts. It is 0 on a calm machine, or where the system does not report it.
    - ``threads``: that the work was allowed.
    - ``busy``: more than a tenth of the time was spent ``waiting``, so the seconds are not those
      of the work. The page stamps such a row, and a claim is judged by it only where the
      verdict is the same without what was waited for.
    """

    seconds: float
    seconds_low: float
    seconds_high: float
    repeats: int
    cpu_seconds: float
    waiting: float
    threads: int

    @property
    def busy(self) -> bool:
        """Other programs took so much that the seconds are not those of the work."""
        return self.waiting > BUSY

    def columns(self) -> dict:
        """The columns of a timed row of a result table."""
        allowed, columns = self.seconds * self.threads, dataclasses.asdict(self)
        del columns["waiting"]  # is rounded
        return columns | {
            "processors": self.cpu_seconds / allowed if allowed > 0 else math.nan,
            "waiting": round(self.waiting, 4),
            "busy": self.busy,
        }

    def __add__(self, other: Timing) -> Timing:
        """Two pieces of work one after the other; the fewer repeats count."""
        return Timing(
            seconds=self.seconds + other.seconds,
            seconds_low=self.seconds_low + other.seconds_low,
            seconds_high=self.seconds_high + other.seconds_high,
            repeats=min(self.repeats, other.repeats),
            cpu_seconds=self.cpu_seconds + other.cpu_seconds,
            waiting=(self.waiting * self.seconds + other.waiting * other.seconds)
            / ((self.seconds + other.seconds) or 1.0),
            threads=max(self.threads, other.threads),
        )


class Stopwatch:
    """Context manager that adds up its blocks: work that is measured in pieces, once."""

    seconds = 0.0
    cpu_seconds = 0.0  # also of programs that were started and ended in a block
    waited_seconds = 0.0  # for which a thread of this process waited for a processor

    def __enter__(self):
        self._waited = _waited()
        self._wall, self._cpu = time.perf_counter(), _processor_seconds()
        return self

    def __exit__(self, *exception):
        self.seconds += time.perf_counter() - self._wall
        self.cpu_seconds += _processor_seconds() - self._cpu
        before = self._waited  # a thread that is new since then has waited for the host at most
        self.waited_seconds += max(
            now - before.get(thread, before[_HOST]) for thread, now in _waited().items()
        )

    def count_as(self, number: int) -> None:
        """Count the work ``number`` times, where its other repeats cost the same."""
        self.seconds *= number
        self.cpu_seconds *= number
        self.waited_seconds *= number

    def timing(self) -> Timing:
        """What was measured so far."""
        return _timing([self])


def measure(function: Callable, **options: float) -> tuple[object, Timing]:
    """Call a function again and again, with the options of :func:`time_interleaved`."""
    return time_interleaved({"": function}, **options)[""]


def time_interleaved(
    functions: Mapping[str, Callable],
    *,
    min_seconds: float = 0.5,
    max_repeats: int = 9,
    max_seconds: float = 4.0,
) -> dict[str, tuple[object, Timing]]:
    """Call functions one after the other, round by round, so that slow times meet all of them.

    Each is called at least three times, and until its calls took ``min_seconds`` together or were
    ``max_repeats``; but not again once they took ``max_seconds``. Callers must warm up functions
    that load or compile on first use. Gives the last result and the ``Timing`` of each.
    """
    watches = {name: [] for name in functions}
    results = {}

    def is_due(name):
        spent, repeats = sum(watch.seconds for watch in watches[name]), len(watches[name])
        is_enough = spent >= max_seconds or repeats >= max_repeats
        return not repeats if is_enough else repeats < 3 or spent < min_seconds

    while due := [name for name in functions if is_due(name)]:
        for name in due:
            results.pop(name, None)  # two results at once may not fit
            with Stopwatch() as watch:
                results[name] = functions[name]()
            watches[name].append(watch)
    return {name: (results[name], _timing(watches[name])) for name in functions}


def _timing(watches):
    seconds = [watch.seconds for watch in watches]
    return Timing(
        seconds=statistics.median(seconds),
        seconds_low=min(seconds),
        seconds_high=max(seconds),
        repeats=len(watches),
        cpu_seconds=statistics.median(watch.cpu_seconds for watch in watches),
        waiting=sum(watch.waited_seconds for watch in watches) / (sum(seconds) or 1.0),
        threads=numba.get_num_threads(),
    )


def _processor_seconds():
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _waited() -> dict[str, float]:
    """Seconds that each thread of this process was ready to run and did not, so far.

    Linux counts how long a thread stood in the queue of a processor; ``steal`` is what the host of
    a virtual machine took from one, on average.
    """
    stolen = getattr(psutil.cpu_times(), "steal", 0.0) / psutil.cpu_count()
    waited = {_HOST: stolen}
    for record in Path("/proc/self/task").glob("*/schedstat"):
        try:
            waited[record.parent.name] = 1e-9 * int(record.read_text().split()[1]) + stolen
        except (OSError, IndexError):  # the thread has ended
            continue
    return waited


class TimeCap:
    """Which points of a growing series to start: those predicted to end within ``seconds``.

    By the law seconds ~ size^p through the last two points of different sizes, with p between 0
    and 3; from a single size with p = ``power``.
    """

    def __init__(self, seconds: float, power: float = 2.0):
        self.seconds = seconds
        self._power = power
        self._points = []

    def record(self, size: float, seconds: float) -> None:
        """Add a measured point; no size is smaller than the one before."""
        self._points.append((size, seconds))

    def predicted(self, size: float) -> float:
        """Seconds that the point will take; 0 where nothing is known."""
        if not self._points:
            return 0.0
        last_size, last_seconds = self._points[-1]
        power = self._power
        # sizes that are capped to what there is may be the same
        if earlier := [point for point in self._points if point[0] != last_size]:
            first_size, first_seconds = earlier[-1]
            power = math.log(last_seconds / first_seconds) / math.log(last_size / first_size)
        return last_seconds * (size / last_size) ** min(max(power, 0.0), 3.0)

    def allows(self, size: float) -> bool:
        """Whether the predicted seconds of a size are within the cap."""
        return self.predicted(size) <= self.seconds


@dataclasses.dataclass
class Calls:
    """How often a method was called, and the wall seconds spent in it and in no other watched."""

    count: int = 0
    seconds: float = 0.0


@contextlib.contextmanager
def watched_calls(
    methods: Mapping[Hashable, tuple[type, str]],
) -> Iterator[dict[Hashable, Calls]]:
    """Count and time the calls of methods, given as (class, name), while the block runs.

    The seconds of a method that calls another watched one are the other's alone. In one thread.
    """
    calls = {key: Calls() for key in methods}
    inner = []  # of each watched call that runs: the seconds of the watched calls inside it

    def watched(method, record):
        @functools.wraps(method)
        def call(*arguments, **options):
            inner.append(0.0)
            begun = time.perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                seconds = time.perf_counter() - begun
                record.count += 1
                record.seconds += seconds - inner.pop()
                if inner:
                    inner[-1] += seconds

        return call

    with contextlib.ExitStack() as restored:
        for key, (owner, name) in methods.items():
            if name in vars(owner):
                restored.callback(setattr, owner, name, vars(owner)[name])
            else:  # of a base class
                restored.callback(delattr, owner, name)
            setattr(owner, name, watched(getattr(owner, name), calls[key]))
        yield calls


def peak_mib() -> float:
    """Largest resident set of this process so far, in MiB."""
    with contextlib.suppress(OSError, StopIteration):
        # getrusage counts what the parent held when it started the process, too.
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
