"""Work in a process of its own, whose memory and threads are those of the work alone."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.pool import Pool
from unittest import mock


@contextmanager
def fresh_process(
    module: str,
    *,
    environment: Mapping[str, str] | None = None,
    initializer: Callable | None = None,
    initargs: tuple = (),
) -> Iterator[Pool]:
    """A pool of one new process, which ends with the block.

    It is a copy of a process that has imported ``module`` and called nothing, so that no thread of
    numba or of a BLAS is there: to start and import takes a second and a half, a copy none.
    """
    context = multiprocessing.get_context("spawn" if environment else "forkserver")
    if not environment:
        context.set_forkserver_preload([module])
    with mock.patch.dict(os.environ, environment or {}):
        pool = context.Pool(1, _begin, (initializer, initargs))
    with pool:
        yield pool
        # Not killed, as the end of its context does: it gives back the locks of numba's threads.
        pool.close()
        pool.join()


def _begin(initializer, initargs):
    threading.Thread(target=_end_with_job, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _end_with_job():
    # The id of the parent tells nothing: it is that of the server of copies, which waits for its
    # copies to end.
    multiprocessing.parent_process().join()
    os._exit(1)
