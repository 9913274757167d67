"""Where the time goes: calls of methods, counted and timed while they run."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass


@dataclass
class Calls:
    """How often a method was called, and the wall seconds spent in it and in no other watched."""

    count: int = 0
    seconds: float = 0.0


@contextlib.contextmanager
def watched_calls(
    methods: Mapping[Hashable, tuple[type, str]],
) -> Iterator[dict[Hashable, Calls]]:
    """Count and time the calls of methods, given as (class, name), while the block runs.

    The seconds of a method that calls another watched one are the other's alone, so that those of
    all methods add up to no more than the block takes. In one thread: that of the block.
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
