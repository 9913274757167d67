"""How far a command is: a bar on a terminal, and a line for each tenth in a file."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tqdm import tqdm


def progress(
    total: int | None, what: str, unit: str, delay: float = 0
) -> AbstractContextManager[Any]:
    """A context with ``update(n=1)`` on standard error, silent for ``delay`` seconds."""
    if sys.stderr.isatty():
        return tqdm(total=total, desc=what, unit=unit, delay=delay)
    return nullcontext(_Tenths(total or 0, what, unit, delay))


class _Tenths:
    def __init__(self, total: int, what: str, unit: str, delay: float):
        self._total, self._what, self._unit = total, what, unit
        self._done, self._from = 0, time.monotonic() + delay

    def update(self, n: int = 1) -> None:
        before, self._done = self._done, self._done + n
        if self._total and 10 * before // self._total < 10 * self._done // self._total:
            if time.monotonic() >= self._from:
                line = f"{self._what}: {self._done} of {self._total} {self._unit}s"
                print(line, file=sys.stderr, flush=True)
