"""The last accepted run of a scale, as committed files: how they are kept, and what they say.

docs/accepted.md lists the files of ``results/reference/<scale>/``. Programs that write or compare
such runs are in :mod:`kronbench_suite.accepted`.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import lzma
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import checked, read_json
from kronbench_suite.resources import checkout_path
from kronbench_suite.runner.items import Item, Plan, measurements
from kronbench_suite.runner.read_results import OVER_CAP, read_table

# Folders of a run that hold no numbers of items.
_NO_NUMBERS = {"tables", "report", "data", "logs"}

# What is recorded of a machine and its programs, beside data and packages.
_MACHINE = ("revision", "cpu", "instructions", "threads", "cores", "python", "system")

# What a job says of rows that another run may have: the second as runner.solvers has it.
_SHORT = (OVER_CAP, "is not installed")

# Why a part is not what the checkout would measure.
UNKNOWN = "no record of what it was made from"
_CHANGES = {
    "sources": "code that it can reach changed since",
    "settings": "its settings changed since",
    "data": "the registry entry or the parser of its data changed since",
}

# To ask a scheduler for resources: the cost of a job that was never measured, and margins for a
# slower machine, for larger buffers of another BLAS, for starting Python and compiling, and
# for the two Snakemake processes above a job on its node.
_UNMEASURED = (3600.0, 2500.0)  # seconds, MiB
_SLOWER, _LARGER, _STARTING_MINUTES, _ABOVE_MIB = 3, 1.5, 10, 400


def packed(text: str) -> bytes:
    """A table in compact form: its columns as lines, of like values each, compressed by xz."""
    return lzma.compress(_turned(text).encode(), check=lzma.CHECK_SHA256, preset=9)


def unpacked(content: bytes) -> bytes:
    """The table that ``packed`` was given, byte for byte."""
    return _turned(lzma.decompress(content, lzma.FORMAT_XZ).decode()).encode()


def _turned(text):
    buffer = io.StringIO(newline="")
    lines = csv.reader(io.StringIO(text, newline=""))
    csv.writer(buffer, lineterminator="\n").writerows(zip(*lines, strict=True))
    return buffer.getvalue()


def accepted_text(table: Path) -> str:
    """An accepted table as it was measured, byte for byte; InputError where it is damaged."""
    try:
        return checked(table, unpacked).decode()
    except InputError:
        raise
    except (EOFError, ValueError, lzma.LZMAError, csv.Error) as error:
        raise InputError(f"{table} is damaged: {error}") from None


def files_of(plan: Plan, item: Item, part: str) -> tuple[Path, Path]:
    """Where an accepted table and its sidecar lie, or would."""
    folder = plan.accepted / item.paper / "tables" / item.tables_of
    return folder / f"{part}.csv.xz", folder / f"{part}.json"


def accepted_jobs(plan: Plan) -> list[tuple[Item, str]]:
    """The measurements of a plan whose accepted table and sidecar are both there."""
    return [
        job for job in measurements(plan) if all(file.exists() for file in files_of(plan, *job))
    ]


def joined(texts):
    """Tables one below the other, as ``render`` writes the numbers of a figure of them."""
    frames = [read_table(io.StringIO(text)) for text in texts]
    return pd.concat(frames, ignore_index=True).to_csv(index=False)


def numbers_in(folder: Path) -> dict[str, pd.DataFrame]:
    """The numbers that items show, by ``<paper>/<item>``, in the folder of either kind of run."""
    numbers = {}
    for path in sorted(folder.glob("*/**/*.csv")):
        place = path.relative_to(folder)
        # What a killed job left behind is hidden.
        if not _NO_NUMBERS.intersection(place.parts) and not path.name.startswith("."):
            numbers[place.with_suffix("").as_posix()] = read_table(path)
    if (folder / "items.json").exists():
        for name, record in read_json(folder / "items.json").items():
            tables = [folder / table for table in record.get("tables", ())]
            if tables and all(table.exists() for table in tables):
                numbers[name] = read_table(io.StringIO(joined(map(accepted_text, tables))))
    return numbers


def records_of(folder: Path, names: Iterable[str]) -> dict[str, dict]:
    """What a run says of the numbers of its items: their columns, and what was skipped."""
    if (folder / "items.json").exists():
        return read_json(folder / "items.json")
    files = {name: folder / f"{name}.json" for name in names}
    return {name: read_json(file) for name, file in files.items() if file.exists()}


def short_items(*records: Mapping[str, dict]) -> frozenset[str]:
    """Items that lack rows in a run: a time cap took them, or a solver is not installed."""
    return frozenset(
        name
        for run in records
        for name, record in run.items()
        if any(words in line for line in record.get("skipped", ()) for words in _SHORT)
    )


def surroundings(folder: Path) -> dict:
    """What the numbers of a run rest on beside its seed: data, packages and machine.

    Where parts of the run differ a value is the list of all; ``first`` and ``last`` are times.
    """
    if (folder / "machine.json").exists():
        return read_json(folder / "machine.json")
    found, times = defaultdict(list), []
    for path in sorted(folder.glob("*/tables/**/[!.]*.json")):
        sidecar = read_json(path, data=dict | None, environment=dict)
        environment = sidecar["environment"]
        if data := sidecar["data"]:
            # They are identified by 12 digits of a sha256 over those of its files, if it has any.
            sums = "".join(sorted(file["sha256"] for file in data["files"])).encode()
            digits = hashlib.sha256(sums).hexdigest()[:12] if sums else ""
            drawn = data["source"] if data["source"] in ("surrogate", "generated") else ""
            found[f"data {data['name'].lower()}"].append(f"{drawn} {digits}".strip())
        for name, version in environment.get("packages", {}).items():
            found[f"packages {name}"].append(version)
        # One for each copy of the library (numpy and scipy bring their own), without its threads.
        for pool in environment.get("blas", ()):
            known = [pool[key] for key in ("internal_api", "version", "architecture")]
            found["blas"].append(" ".join(known))
        for key in _MACHINE:
            if key in environment:
                found[key].append(environment[key])
        times.append(str(environment.get("time")))
    described = {}
    for key, values in sorted(found.items()):
        distinct = list(dict.fromkeys(values))
        described[key] = distinct[0] if len(distinct) == 1 else sorted(distinct, key=str)
    return described | {"first": min(times, default=""), "last": max(times, default="")}


def changed_since(plan: Plan, item: Item, part: str, sidecar: dict) -> str:
    """What of code, settings and data changed since a table was made, in words; "" if none."""
    if "made_from" not in sidecar:
        return UNKNOWN
    # Here, because it loads all that data sets need, which pages and comparisons do not.
    from kronbench_suite.runner.provenance import made_from

    now = made_from(plan, item, part)
    return "; ".join(
        _CHANGES[key] for key, digest in now.items() if sidecar["made_from"].get(key) != digest
    )


def cost(item: Item, part: str) -> tuple[float, float]:
    """Seconds and peak memory (MiB) of a job in the accepted run, or else fixed ones."""
    return _costs(item.scale).get((item.paper, item.tables_of, part), _UNMEASURED)


def memory_mb(item: Item, part: str, attempt: int) -> int:
    """Memory to ask a scheduler for, in its MB; each attempt asks for twice as much."""
    mib = _LARGER * cost(item, part)[1] + _ABOVE_MIB
    return -(-int(mib) // 100) * 100 * 2 ** (attempt - 1)


def minutes(item: Item, part: str, attempt: int) -> int:
    """Minutes to ask for; each attempt asks for twice as many."""
    return (_STARTING_MINUTES + int(_SLOWER * cost(item, part)[0] / 60)) * 2 ** (attempt - 1)


@functools.cache
def _costs(scale):
    file = checkout_path("results", "reference", scale, "costs.csv")
    if not file.exists():
        return {}
    rows = pd.read_csv(file).itertuples()
    return {(row.paper, row.item, row.part): (row.seconds, row.peak_mib) for row in rows}
