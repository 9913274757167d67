"""The last accepted run of a scale, as committed files: read, compared with, and put back.

``results/reference/<scale>/`` holds ``verdicts.csv``; the result tables in compact form with their
sidecars, ``<paper>/tables/<item>/<part>.csv.xz`` and ``.json``; the numbers that items make of
them, ``<paper>/<item>.csv``; what is known of these numbers, ``items.json``; what the jobs cost,
``costs.csv``; and the machine, ``machine.json``. Only ``accept`` writes it.

An accepted part counts as made where data, code and settings, of which its sidecar has the
sha256, are the same as in the checkout.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import lzma
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import check_sum, read_json, replacing_all
from kronbench.reference.verdicts import Move, moves, read_verdicts
from kronbench.resources import checkout_path
from kronbench.runner.items import Item, Plan, measurements
from kronbench.runner.read_results import ACCEPTED, OVER_CAP, read_table

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


def unpacked(content: bytes) -> str:
    """The table that ``packed`` was given, byte for byte."""
    return _turned(lzma.decompress(content, lzma.FORMAT_XZ).decode())


def _turned(text):
    buffer = io.StringIO(newline="")
    lines = csv.reader(io.StringIO(text, newline=""))
    csv.writer(buffer, lineterminator="\n").writerows(zip(*lines, strict=True))
    return buffer.getvalue()


def files_of(plan: Plan, item: Item, part: str) -> tuple[Path, Path]:
    """Where an accepted table and its sidecar lie, or would."""
    folder = plan.accepted / item.paper / "tables" / item.tables_of
    return folder / f"{part}.csv.xz", folder / f"{part}.json"


def accepted_jobs(plan: Plan) -> list[tuple[Item, str]]:
    """The measurements of a plan whose accepted table and sidecar are both there."""
    return [
        job for job in measurements(plan) if all(file.exists() for file in files_of(plan, *job))
    ]


def sidecars_of(plan: Plan) -> list[dict]:
    """The sidecars of all accepted parts, in the order of the plan."""
    return [read_json(files_of(plan, *job)[1], skipped=list) for job in accepted_jobs(plan)]


def joined(texts: Iterable[str]) -> str:
    """Tables one below the other, as ``render`` writes the numbers of a figure of them."""
    frames = [read_table(io.StringIO(text)) for text in texts]
    return pd.concat(frames, ignore_index=True).to_csv(index=False)


def _accepted_text(table):
    """An accepted table as it was measured."""
    try:
        text = unpacked(table.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{table} is missing: this part is not accepted") from None
    except (EOFError, ValueError, lzma.LZMAError, csv.Error) as error:
        raise InputError(f"{table} is damaged: {error}") from None
    check_sum(table, text.encode(), table.with_name(table.name.removesuffix(".csv.xz") + ".json"))
    return text


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
                numbers[name] = read_table(io.StringIO(joined(map(_accepted_text, tables))))
    return numbers


def records_of(folder: Path, names: Iterable[str]) -> dict[str, dict]:
    """What a run says of the numbers of its items: their columns, and what was skipped."""
    if (folder / "items.json").exists():
        return read_json(folder / "items.json")
    files = {name: folder / f"{name}.json" for name in names}
    return {name: read_json(file) for name, file in files.items() if file.exists()}


def short_items(records: Mapping[str, dict]) -> frozenset[str]:
    """Items that lack rows: a time cap took them, or a solver is not installed."""
    return frozenset(
        name
        for name, record in records.items()
        if any(words in line for line in record.get("skipped", ()) for words in _SHORT)
    )


def moved_since_accepted(plan: Plan, verdicts: pd.DataFrame) -> list[Move] | None:
    """The moves of this run against the accepted one; None where none was ever accepted.

    Only claims on the papers of the plan are compared.
    """
    path = plan.accepted / "verdicts.csv"
    if not path.exists():
        return None
    accepted = read_verdicts(path)
    accepted = accepted[accepted["paper"].isin(list(plan.papers))]
    names = [f"{item.paper}/{item.name}" for item in plan.items]
    folders = (plan.accepted, plan.results)
    short = [short_items(records_of(folder, names)) for folder in folders]
    return moves(accepted, verdicts, short[0] | short[1])


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
        if sidecar["data"]:
            found[f"data {sidecar['data']['name'].lower()}"].append(_content(sidecar["data"]))
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
    described = {key: _distinct(values) for key, values in sorted(found.items())}
    return described | {"first": min(times, default=""), "last": max(times, default="")}


def _content(data):
    """What identifies the data: 12 digits of a sha256 over those of its files, if it has any."""
    sums = sorted(file["sha256"] for file in data["files"])
    digits = hashlib.sha256("".join(sums).encode()).hexdigest()[:12] if sums else ""
    drawn = data["source"] if data["source"] in ("surrogate", "generated") else ""
    return f"{drawn} {digits}".strip()


def _distinct(values):
    """The one value that all share, or the list of those that there are."""
    seen = [value for place, value in enumerate(values) if value not in values[:place]]
    return seen[0] if len(seen) == 1 else sorted(seen, key=str)


def changed_since(plan: Plan, item: Item, part: str, sidecar: dict) -> str:
    """What of code, settings and data changed since a table was made, in words; "" if none."""
    if "made_from" not in sidecar:
        return UNKNOWN
    # Here, because it loads all that data sets need, which pages and comparisons do not.
    from kronbench.runner.provenance import data_digest, table_digests

    now = table_digests(item)
    now["data"] = data_digest(part, plan.config["mirror"]) if item.datasets else ""
    return "; ".join(
        _CHANGES[key] for key, digest in now.items() if sidecar["made_from"].get(key) != digest
    )


def restorable(plan: Plan) -> list[tuple[Item, str]]:
    """Accepted parts that count as made; what was measured in the folder of the run stays.

    Surrogates count for runs that ask for surrogates, and no other data does for these.
    """
    return [job for job in accepted_jobs(plan) if _counts(plan, *job)]


def _counts(plan, item, part):
    own = item.table(part).with_suffix(".json")
    if own.exists() and ACCEPTED not in read_json(own):
        return False
    sidecar = read_json(files_of(plan, item, part)[1])
    source = source_of(sidecar)
    asked = plan.config["data"] == "surrogate"
    if item.datasets and source != "generated" and asked != (source == "surrogate"):
        return False
    return not changed_since(plan, item, part, sidecar)


def source_of(sidecar: Mapping) -> str | None:
    """Where the data of a part came from; None where it needs none."""
    return (sidecar.get("data") or {}).get("source")


def restore(plan: Plan, item: Item, part: str) -> None:
    """Put an accepted part where it would have been measured; its sidecar says so."""
    table, record = files_of(plan, item, part)
    text, sidecar = _accepted_text(table), read_json(record)
    sidecar[ACCEPTED] = plan.accepted.as_posix()
    made = item.table(part)
    with replacing_all([made, made.with_suffix(".json")]) as (new_table, new_sidecar):
        new_table.write_text(text, encoding="utf-8", newline="")
        new_sidecar.write_text(json.dumps(sidecar, indent=1), encoding="utf-8")


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
