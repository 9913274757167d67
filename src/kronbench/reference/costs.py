"""What jobs cost: seconds and memory that runs measured, and what to ask a scheduler for.

``config/costs.csv`` holds what finished runs measured, scale by scale. A job that no run has
measured is taken to cost a fixed amount.
"""

from __future__ import annotations

import functools
import heapq
import io
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import checked, read_json, replacing
from kronbench.resources import config_path
from kronbench.runner.items import RESULTS, Item, Plan, load_plan, measurements

# The cost assumed for a job that was never measured.
UNMEASURED_SECONDS = 3600.0
UNMEASURED_MIB = 2500.0
# Margins over what was measured: another machine may be slower, another BLAS take larger buffers.
SLOWER = 3
LARGER = 1.5
# For starting Python, loading modules, and compiling kernels if the cache fits another processor.
STARTING_MINUTES = 10
# The two Snakemake processes above a job on its node, which count for its memory.
ABOVE_MIB = 400

_KEY = ["scale", "paper", "item", "part"]
_COLUMNS = [*_KEY, "threads", "seconds", "peak_mib"]


@dataclass(frozen=True)
class Cost:
    """Seconds and peak memory (MiB) of one job, and whether a run measured them."""

    seconds: float
    mib: float
    measured: bool


def measured_costs(results: str | Path) -> pd.DataFrame:
    """Seconds, threads and peak memory of each job of a finished run, from its sidecars.

    Seconds of jobs of one thread are those of the processor: such jobs run beside others, and what
    they waited there is not their cost.

    Raises
    ------
    InputError
        The folder holds no sidecar.
    """
    rows = []
    for sidecar in sorted(Path(results).glob("*/tables/**/*.json")):
        record = read_json(sidecar, environment=dict)
        threads = record["environment"]["threads"]
        seconds = record["cpu_seconds" if threads == 1 else "seconds"]
        table = io.BytesIO(checked(sidecar.with_suffix(".csv")))
        peaks = pd.read_csv(table, usecols=["peak_mib"])["peak_mib"]
        rows.append(
            {
                "scale": Path(results).resolve().name,
                **{key: record[key] for key in ("paper", "item", "part")},
                "threads": threads,
                "seconds": round(seconds, 1),
                "peak_mib": round(peaks.max()),
            }
        )
    if not rows:
        raise InputError(f"{results} holds no result tables: give the folder of a finished run")
    return pd.DataFrame(rows, columns=_COLUMNS)


def update_costs(results: str | Path, *, write: bool) -> str:
    """Say what a run would change in ``config/costs.csv``, and with ``write`` put it there.

    What it measured takes the place of all rows of its scale.

    Raises
    ------
    InputError
        Not every job of the run has been measured.
    """
    plan, file = load_plan(Path(results) / "config.yaml"), config_path("costs.csv")
    jobs = measurements(plan)
    missing = [(item, part) for item, part in jobs if not _table(results, item, part).exists()]
    if missing:
        item, part = missing[0]
        raise InputError(
            f"{results} is no finished run: {len(missing)} of {len(jobs)} jobs have no result "
            f"table, such as {item.paper} {item.name} {part}; finish it first"
        )
    new = measured_costs(results).assign(scale=plan.scale)
    old = pd.read_csv(file) if file.exists() else new.iloc[:0]
    same_scale = old["scale"] == plan.scale
    before, now = (set(map(tuple, rows[_KEY].to_numpy())) for rows in (old[same_scale], new))
    if write:
        with replacing(file) as temporary:
            pd.concat([old[~same_scale], new]).sort_values(_KEY).to_csv(temporary, index=False)
    return (
        f"{file}, scale {plan.scale}: {len(now & before)} jobs measured anew, {len(now - before)} "
        f"added, {len(before - now)} removed" + ("" if write else "; --yes writes it")
    )


def _table(results, item, part):
    return Path(results) / item.table(part).relative_to(RESULTS / item.scale)


def cost(item: Item, part: str) -> Cost:
    """What a finished run of its scale measured of one job, or else a fixed cost."""
    at = _measured().get((item.scale, item.paper, item.tables_of, part))
    return Cost(*at, True) if at else Cost(UNMEASURED_SECONDS, UNMEASURED_MIB, False)


def memory_mb(item: Item, part: str, attempt: int) -> int:
    """Memory to ask a scheduler for, in its MB; each attempt asks for twice as much."""
    mib = LARGER * cost(item, part).mib + ABOVE_MIB
    return -(-int(mib) // 100) * 100 * 2 ** (attempt - 1)


def minutes(item: Item, part: str, attempt: int) -> int:
    """Minutes to ask for; each attempt asks for twice as many."""
    needed = SLOWER * cost(item, part).seconds / 60
    return (STARTING_MINUTES + int(needed)) * 2 ** (attempt - 1)


def capacity(plan: Plan, nodes: int, cores: int) -> float:
    """Hours that the measurements of a plan take on ``nodes`` nodes of ``cores`` cores each.

    The longest jobs start first, each on the first free place. A timed job takes a whole node, any
    other job one core. Data, pictures and waiting in a queue are not counted.
    """
    jobs = [(cost(item, part).seconds, item.timed) for item, part in measurements(plan)]
    # Timed jobs come first, while nodes are free as a whole.
    ends = [0.0] * nodes
    heapq.heapify(ends)
    for seconds in sorted((seconds for seconds, timed in jobs if timed), reverse=True):
        heapq.heappush(ends, heapq.heappop(ends) + seconds)
    slots = [end for end in ends for _ in range(cores)]
    heapq.heapify(slots)
    for seconds in sorted((seconds for seconds, timed in jobs if not timed), reverse=True):
        heapq.heappush(slots, heapq.heappop(slots) + seconds)
    return max(slots) / 3600


def capacity_table(plan: Plan, cores: int) -> str:
    """Markdown: hours on 1, 10 and 100 nodes of ``cores`` cores, and the longest jobs."""
    jobs = sorted(
        ((cost(item, part), item, part) for item, part in measurements(plan)),
        key=lambda job: -job[0].seconds,
    )
    alone = sum(job[0].seconds for job in jobs if job[1].timed) / 3600
    beside = sum(job[0].seconds for job in jobs if not job[1].timed) / 3600
    measured = sum(job[0].measured for job in jobs)
    lines = [
        f"{len(jobs)} jobs at scale `{plan.scale}`, {measured} of them measured:"
        f" {alone:.1f} node hours of timed jobs, {beside:.1f} core hours of others.",
        "",
        f"| nodes of {cores} cores | hours |",
        "|---|---|",
        *(f"| {nodes} | {capacity(plan, nodes, cores):.1f} |" for nodes in (1, 10, 100)),
        "",
        "| longest jobs | timed | hours | GiB asked for |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {item.paper} {item.name} {part} | {'yes' if item.timed else 'no'} |"
        f" {spent.seconds / 3600:.1f} | {memory_mb(item, part, 1) / 1024:.1f} |"
        for spent, item, part in jobs[:12]
    ]
    return "\n".join(lines)


@functools.cache
def _measured():
    file = config_path("costs.csv")
    frame = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=_COLUMNS)
    values = zip(frame["seconds"], frame["peak_mib"], strict=True)
    return dict(zip(map(tuple, frame[_KEY].to_numpy()), values, strict=True))
