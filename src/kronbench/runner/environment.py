"""What a number was measured on: machine, versions, threads, revision."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

import llvmlite.binding
import numba
import threadpoolctl

_PACKAGES = ("kronbench", "numpy", "scipy", "numba", "scikit-learn", "pandas", "matplotlib")


def describe(threads: int) -> dict:
    """A JSON-able record of this process's surroundings."""
    # The processor that numba compiles for, and what numpy was told to leave out.
    compiled_for = numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    without = os.environ.get("NPY_DISABLE_CPU_FEATURES")
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    told = ("internal_api", "version", "architecture", "num_threads")
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "revision": _revision(),
        "python": platform.python_version(),
        "packages": {name: _installed(name) for name in _PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "instructions": f"numba {compiled_for}"
        + (f", numpy without {without}" if without else ""),
        "cores": os.cpu_count(),
        "threads": threads,
        "blas": [{key: pool[key] for key in told if key in pool} for pool in pools],
    }


def _installed(package):
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)
    return None


def _revision():
    """Git revision of the checkout, with ``+changes`` where it is not clean."""
    describe = ["git", "describe", "--always", "--dirty=+changes", "--abbrev=12"]
    folder = Path(__file__).parent
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(describe, cwd=folder, capture_output=True, text=True, timeout=10)
        return told.stdout.strip() or None
    return None


def _cpu():
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return platform.processor()
