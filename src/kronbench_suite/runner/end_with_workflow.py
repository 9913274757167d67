"""A job of a workflow ends with it: a killed run of Snakemake leaves no writer behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time

import psutil

_VARIABLE = "KRONBENCH_WORKFLOW"
_PERIOD = 0.5  # seconds between two looks
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def mark_jobs() -> None:
    """Make the processes that this one will start end with it, if they ``exit_with_parent``."""
    os.environ[_VARIABLE] = str(os.getpid())


def exit_with_parent() -> None:
    """End this process, wherever it is, once its workflow or the shell that waits for it is gone.

    Otherwise it would write beside the next run. Nothing happens where no workflow started it.
    """
    workflow = os.environ.get(_VARIABLE)
    if not workflow:
        return
    shell = os.getppid()
    # On Linux at once: Snakemake takes away what a failed job wrote, and no write may follow.
    with contextlib.suppress(AttributeError):  # another system
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    # A shell that was killed while this process started sends no signal any more: the process is
    # then a child of the system.
    leader = next((one for one in psutil.Process().parents() if one.pid == int(workflow)), None)
    if leader is None:
        with contextlib.suppress(OSError):  # nobody may be there to read it
            print(
                f"kronbench: error: the workflow that began this command (process {workflow}) "
                f"has ended; outside a workflow, unset {_VARIABLE}",
                file=sys.stderr,
                flush=True,
            )
        os._exit(1)

    def watch():
        with contextlib.suppress(psutil.NoSuchProcess):
            while os.getppid() == shell and leader.is_running():
                if leader.status() == psutil.STATUS_ZOMBIE:
                    break
                time.sleep(_PERIOD)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
