"""Where the time goes: calls of methods, counted and timed while they run."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass


@dataclass
class Calls:
    """How often a function was called, and the wall seconds spent in it and what it calls."""

    count: int = 0
    seconds: float = 0.0


@contextlib.contextmanager
def watched_calls(functions: Mapping[Hashable, tuple[type, str]]):
    """Count the calls of methods, given as (class, name), while the block runs.

    Yields
    ------
    dict
        ``Calls`` by the names of ``functions``. Two tenths of a microsecond a call are added.
    """
    calls = {name: Calls() for name in functions}
    originals = {name: getattr(*place) for name, place in functions.items()}

    def watched(function, record):
        @functools.wraps(function)
        def call(*arguments, **options):
            begun = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                record.count += 1
                record.seconds += time.perf_counter() - begun

        return call

    try:
        for name, (owner, attribute) in functions.items():
            setattr(owner, attribute, watched(originals[name], calls[name]))
        yield calls
    finally:
        for name, (owner, attribute) in functions.items():
            setattr(owner, attribute, originals[name])
