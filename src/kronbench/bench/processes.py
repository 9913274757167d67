"""Work in a process of its own, whose memory and threads are those of the work alone."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import contextmanager


@contextmanager
def one_process(module, *, afresh=False, initializer=None, initargs=()):
    """A pool of one new process, which ends with the block.

    It is a copy of a process that has imported ``module`` and called nothing, so that no thread of
    numba or of a BLAS is there: to start and import takes a second and a half, a copy none.

    Parameters
    ----------
    module : str
        Import path of the module that the work is from.
    afresh : bool
        Import it anew instead, in the environment of now.
    initializer, initargs
        Called in the process before anything else.
    """
    context = multiprocessing.get_context("spawn" if afresh else "forkserver")
    if not afresh:
        context.set_forkserver_preload([module])
    with context.Pool(1, _begin, (initializer, initargs)) as pool:
        yield pool


def _begin(initializer, initargs):
    threading.Thread(target=_end_with_job, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _end_with_job():
    # The id of the parent tells nothing: it is that of the server of copies, which waits for its
    # copies to end.
    multiprocessing.parent_process().join()
    os._exit(1)
