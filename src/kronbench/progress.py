"""How far work is: a bar on a terminal, and a line for each tenth in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from math import inf
from typing import Any

from tqdm import tqdm

# After how many seconds work is shown that is not asked to be.
_DELAY_SECONDS = ContextVar("delay", default=inf)


@contextmanager
def shown_after(delay: float) -> Iterator[None]:
    """Within it each ``progress`` is shown after ``delay`` seconds, without ``verbose`` too."""
    before = _DELAY_SECONDS.set(delay)
    try:
        yield
    finally:
        _DELAY_SECONDS.reset(before)


def progress(
    total: int, what: str, unit: str, verbose: float = True
) -> AbstractContextManager[Any]:
    """A context with ``update(n=1)`` on standard error, silent where ``verbose`` is not true."""
    delay = 0 if verbose else _DELAY_SECONDS.get()
    if delay < inf and sys.stderr.isatty():
        return _Bar(total=total, desc=what, unit=unit, delay=delay)
    return nullcontext(_Tenths(total, what, unit, delay))


class _Bar(tqdm):
    delay: float

    def display(self, *args: Any, **kwargs: Any) -> Any:
        """Show it. tqdm does so at each warning too, and ends no line that it did not plan."""
        if self.delay and self._time() < self.start_t + self.delay:
            return False
        self.delay = 0
        return super().display(*args, **kwargs)


class _Tenths:
    def __init__(self, total: int, what: str, unit: str, delay: float):
        self._total, self._what, self._unit = total, what, unit
        self._done, self._from = 0, time.monotonic() + delay

    def update(self, n: int = 1) -> None:
        before, self._done = self._done, self._done + n
        if 10 * before // self._total < 10 * self._done // self._total:
            if time.monotonic() >= self._from:
                line = f"{self._what}: {self._done} of {self._total} {self._unit}s"
                print(line, file=sys.stderr, flush=True)
