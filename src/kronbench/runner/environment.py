"""What a number was measured on: machine, versions, threads, revision."""

from __future__ import annotations

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
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "revision": _revision(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "instructions": _instructions(),
        "cores": os.cpu_count(),
        "threads": threads,
        "blas": [
            {
                key: pool[key]
                for key in ("internal_api", "version", "architecture", "num_threads")
                if key in pool
            }
            for pool in threadpoolctl.threadpool_info()
            if pool["user_api"] == "blas"
        ],
    }


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _revision():
    """Git revision of the checkout, with ``+changes`` where it is not clean."""
    folder = Path(__file__).parent
    try:
        revision = subprocess.run(
            ["git", "-C", folder, "describe", "--always", "--dirty=+changes", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
    return revision or None


def _instructions():
    """The processor that numba compiles for, and what numpy was told to leave out."""
    name = numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    without = os.environ.get("NPY_DISABLE_CPU_FEATURES")
    return f"numba {name}" + (f", numpy without {without}" if without else "")


def _cpu():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
