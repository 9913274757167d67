"""As many threads of numba as the work is worth."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numba

from kronbench.linalg._native.switch import SWITCHED_OFF

if not SWITCHED_OFF:
    with contextlib.suppress(ImportError):  # an optional file
        from kronbench.linalg._native import passive_threads

        passive_threads.load_openmp()

# Operations for which it pays to wake another thread (about a third of a millisecond).
WORTH_A_THREAD = 1e7

# Numbers of a block for which it pays where each is read a few times at most.
PASS_WORTH_A_THREAD = 2e5


def processors(quota: str | os.PathLike = "/sys/fs/cgroup/cpu.max") -> int:
    """How many processors this process may keep busy: those it may run on, within its quota.

    ``quota`` is where Linux says what a container may use (cgroup v2). numba does not look there,
    and starts a thread for each processor of the host.
    """
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with contextlib.suppress(OSError, ValueError):  # another system, no quota
        used, period = map(int, Path(quota).read_text().split())
        allowed = min(allowed, max(1, used // period))
    return allowed


# Processors of this process, as they were on import.
_PROCESSORS = processors()


@contextmanager
def at_most_threads(n: float) -> Iterator[None]:
    """No more than n threads of numba in here, nor than processors, and at least one."""
    before = numba.get_num_threads()
    fewer = max(1, min(int(n), _PROCESSORS))
    if fewer >= before:  # each call to set them costs as much as a pass over 10^5 numbers
        yield
        return
    numba.set_num_threads(fewer)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def in_threads(work: Callable[[int], object], n_tasks: int) -> None:
    """``work(k)`` for each k < n_tasks, side by side: work that does not hold the GIL.

    Loops for this compile in a third of the time that numba takes for its own threads.
    """
    # The calling thread has the first task; the pool, which sleeps between products, the others.
    others = [_pool().submit(work, k) for k in range(1, n_tasks)]
    work(0)
    for other in others:
        other.result()


@functools.cache
def _pool():
    return ThreadPoolExecutor(_PROCESSORS, thread_name_prefix="kronbench")


if hasattr(os, "register_at_fork"):  # a child has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
