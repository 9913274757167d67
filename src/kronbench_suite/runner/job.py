"""One job: a measurement on one data set, from its parameters to its table and sidecar."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np
import pandas as pd
import threadpoolctl

from kronbench.datasets import Dataset
from kronbench.errors import InputError
from kronbench.files import replacing_all
from kronbench.linalg._native.switch import SWITCHED_OFF
from kronbench_suite.resources import paper_folder
from kronbench_suite.runner.clock import Stopwatch, peak_mib
from kronbench_suite.runner.columns import RUNNER
from kronbench_suite.runner.items import Item, Plan
from kronbench_suite.runner.provenance import made_from
from kronbench_suite.runner.seeds import generator

_PACKAGES = ("kronbench", "numpy", "scipy", "numba", "scikit-learn", "pandas", "matplotlib")


def run_job(plan: Plan, item: Item, part: str, threads: int) -> Path:
    """Measure one part of an item with the given threads; write its table and its sidecar.

    Of an item that keeps predictions also those, the arrays of ``frame.attrs["predictions"]``.
    """
    # Refuse what has no table of its own: the job would overwrite the table of another item.
    place = f"{item.paper} {item.name}"
    if not item.has_tables:
        raise InputError(f"{place} measures nothing itself; make it with: {item.workflow_command}")
    if part not in item.parts:
        raise InputError(f"{place} has no part '{part}'; it has: {', '.join(item.parts)}")
    # Open the data that the workflow prepared, or prepare them where the job runs alone.
    data = None
    if item.datasets:
        folder = plan.data_folder(part)
        data = Dataset.open(folder if folder.exists() else plan.prepare(part))
    # The digests are taken before the import, since files may be edited while the job runs.
    digests = made_from(plan, item, part)
    # Libraries are loaded before the watch starts, and before their threads are limited.
    measurement = importlib.import_module(item.measure_module)
    if item.timed:  # other jobs have no use for all that it imports
        from kronbench_suite.runner.warm_up import warm_up
    threads = max(1, min(threads, numba.config.NUMBA_NUM_THREADS))
    numba.set_num_threads(threads)
    watch = Stopwatch()
    with threadpoolctl.threadpool_limits(threads):
        if item.timed:  # code that was edited since the run began would be compiled on the clock
            warm_up(item.solvers)
        name = f"{item.paper}.{item.measure}"
        with watch:
            frame = run_measurement(name, dict(item.parameters), data, part)
        surroundings = describe(threads)
    # Record beside the table how it was made: what it rests on, how long it took, and where.
    table = item.table(part)
    sidecar = {
        "paper": item.paper,
        "item": item.name,
        "part": part,
        "measure": item.measure,
        "parameters": dict(item.parameters),
        "made_from": digests,
        "command": item.command(part),
        "columns": (RUNNER | measurement.COLUMNS).record(frame),
        "skipped": frame.attrs.get("skipped", []),
        "seconds": round(watch.seconds, 3),
        "cpu_seconds": round(watch.cpu_seconds, 3),
        "waiting": round(watch.timing().waiting, 4),
        "data": data.provenance if data is not None else None,
        "environment": surroundings,
    }
    # Write all files or none: a killed job leaves no table without its sidecar.
    files = [table, table.with_suffix(".json")]
    if item.keeps_predictions:
        files.append(table.with_suffix(".npz"))
    with replacing_all(files) as (new_table, new_sidecar, *new_predictions):
        frame.to_csv(new_table, index=False)
        for file in new_predictions:
            np.savez_compressed(file, **frame.attrs["predictions"])
        sidecar["sha256"] = {"csv": hashlib.sha256(new_table.read_bytes()).hexdigest()}
        new_sidecar.write_text(json.dumps(sidecar, indent=1), encoding="utf-8")
    return table


def run_measurement(
    measurement: str, spec: dict, data: Dataset | None, dataset: str
) -> pd.DataFrame:
    """Run a measurement, ``<paper>.<name>``, and say in each row where its numbers come from.

    ``dataset`` is spelt as in the paper; ``peak_mib`` is that of the process so far.
    """
    paper, _, name = measurement.partition(".")
    module = importlib.import_module(paper_folder(paper).module("measure", name))
    rng = generator(spec["seed"], name, data.name if data is not None else "")
    frame = module.run(spec, data, rng)
    # A measurement that has several data sets or processes names them, or their memory, itself.
    if "dataset" not in frame:
        frame.insert(0, "dataset", dataset)
    frame["source"] = data.source if data is not None else "generated"
    frame["seed"] = spec["seed"]
    if "peak_mib" not in frame:
        frame["peak_mib"] = round(peak_mib(), 1)
    (RUNNER | module.COLUMNS).check(frame, f"measurement {measurement}")
    return frame


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
        + (", plain loops" if SWITCHED_OFF else "")
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
