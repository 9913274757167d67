"""The result tables of an accepted run: kept in compact form, and put back in place of measuring.

``results/reference/<scale>/<paper>/tables/<item>/`` holds ``<part>.csv.xz`` and its sidecar
``<part>.json``. An accepted part counts as made where nothing that it depends on has changed:
data, sources and settings, of which its sidecar has the sha256.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import check_sum, checked, read_json, replacing_all, write_text
from kronbench.runner.items import Item, Plan, measurements
from kronbench.runner.results import ACCEPTED, read_sidecar, read_table

LARGEST = 1 << 20  # bytes of a file that is worth a place in the repository
ROOM = 12 << 20  # bytes of all files of a scale
UNPACKED = 64 << 20  # bytes of a table, of which the largest is a tenth so far

# Numbers that are result tables one below the other, which are not kept twice: item to tables.
_SAME = "tables.json"

# Why a part is not what the checkout would measure: by what its sidecar has the sum of, if it has.
UNKNOWN = "no record of what it was made from"
_CHANGES = {
    "sources": "code that it can reach changed since",
    "settings": "its settings changed since",
    "data": "the registry entry or the parser of its data changed since",
}


def packed(text: str) -> bytes:
    """A CSV file in compact form: its columns as lines, compressed by xz.

    A column has values of one kind, often all the same; so it takes a fifth less than lines do.

    Raises
    ------
    InputError
        ``unpacked`` would not give the same text.
    """
    turned = _turned(text)
    if _turned(turned) != text:
        raise InputError("a table that is not as pandas writes it cannot be kept in compact form")
    return lzma.compress(turned.encode(), check=lzma.CHECK_SHA256, preset=9)


def unpacked(content: bytes) -> str:
    """The CSV file that ``packed`` was given, byte for byte.

    Raises
    ------
    ValueError
        It was not given any, or one of more than ``UNPACKED`` bytes.
    """
    try:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 27)
        text = decompressor.decompress(content, UNPACKED)
        if not decompressor.eof or decompressor.unused_data:
            raise ValueError(f"cut off, or of more than {UNPACKED} bytes")
        return _turned(text.decode())
    except (lzma.LZMAError, csv.Error) as error:
        raise ValueError(error) from None


def _turned(text):
    lines = csv.reader(io.StringIO(text, newline=""))
    buffer = io.StringIO(newline="")
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
    records = (files_of(plan, item, part)[1] for item, part in measurements(plan))
    return [
        read_json(record, paper=str, skipped=list, data=dict | None, environment=dict)
        for record in records
        if record.exists()
    ]


def surrogates_among(plan: Plan, jobs: Iterable[tuple[Item, str]]) -> list[dict[str, int]]:
    """Surrogate data sets of a run with the number of their parts: the new, and the accepted."""
    found = Counter(), Counter()
    for item, part in jobs:
        if _on_surrogate(item.table(part).with_suffix(".json")):
            found[_on_surrogate(files_of(plan, item, part)[1])][part] += 1
    return list(found)


def _on_surrogate(record):
    return record.exists() and _source(read_json(record)) == "surrogate"


def _source(sidecar):
    return (sidecar.get("data") or {}).get("source")


def keep_parts(plan: Plan, jobs: Iterable[tuple[Item, str]]) -> dict[str, int]:
    """Accept the result tables of a run with their sidecars, the smallest tables first.

    Returns
    -------
    dict of str to int
        The tables for which there is no room, with their bytes. Their sidecars are kept.

    Raises
    ------
    InputError
        A table is not as it was measured, or cannot be packed.
    """
    contents = {}
    for item, part in jobs:
        table, record = files_of(plan, item, part)
        sidecar = read_sidecar(item, part)
        sidecar.pop(ACCEPTED, None)
        write_text(record, json.dumps(sidecar, indent=1))
        table.unlink(missing_ok=True)
        content = checked(item.table(part))
        try:
            contents[table] = packed(content.decode())
        except (ValueError, csv.Error) as error:
            raise InputError(f"{item.table(part)} cannot be kept: {error}") from None
    full = sum(file.stat().st_size for file in plan.accepted.rglob("*") if file.is_file())
    left_out = {}
    for table, content in sorted(contents.items(), key=lambda entry: len(entry[1])):
        if len(content) > LARGEST or full + len(content) > ROOM:
            left_out[table.relative_to(plan.accepted).as_posix()] = len(content)
            continue
        full += len(content)
        table.write_bytes(content)
    return left_out


def keep_numbers(plan: Plan, items: Iterable[Item]) -> dict[str, int]:
    """Accept the numbers that items show, but for those that are their tables and nothing else.

    Returns
    -------
    dict of str to int
        The files that are too large, with their bytes.
    """
    same, left_out = _same(plan.accepted), {}
    for item in items:
        name, text = f"{item.paper}/{item.name}", checked(item.output("csv")).decode()
        file = plan.accepted / f"{name}.csv"
        same.pop(name, None)
        file.unlink(missing_ok=True)
        if item.parts and text == _joined(
            checked(item.table(part)).decode() for part in item.parts
        ):
            tables = (files_of(plan, item, part)[0] for part in item.parts)
            same[name] = [table.relative_to(plan.accepted).as_posix() for table in tables]
        elif len(text.encode()) <= LARGEST:
            write_text(file, text)
        else:
            left_out[f"{name}.csv"] = len(text.encode())
    write_text(plan.accepted / _SAME, json.dumps(same, indent=1) + "\n")
    return left_out


def kept_numbers(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Of an accepted run: the numbers, by ``<paper>/<item>``, that are kept as tables alone."""
    for name, tables in _same(folder).items():
        files = [folder / table for table in tables]
        if all(file.exists() for file in files):
            yield name, read_table(io.StringIO(_joined(map(_accepted_text, files))))


def _accepted_text(table):
    """An accepted table as it was measured; InputError where it or its sidecar is damaged."""
    try:
        text = unpacked(table.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{table} is missing: this part is not accepted") from None
    except ValueError as error:
        raise InputError(f"{table} is damaged: {error}") from None
    check_sum(table, text.encode(), table.with_name(table.name.removesuffix(".csv.xz") + ".json"))
    return text


def _same(folder):
    return read_json(folder / _SAME) if (folder / _SAME).exists() else {}


def _joined(texts):
    """Tables one below the other, as ``render`` writes the numbers of a figure of them."""
    frames = [read_table(io.StringIO(text)) for text in texts]
    return pd.concat(frames, ignore_index=True).to_csv(index=False)


def why_due(plan: Plan, item: Item, part: str) -> str:
    """Why an accepted part does not count as made; empty where it does.

    Surrogates count for runs that ask for surrogates, and no other data does for these: whether
    real data would be found elsewhere, nobody knows before.
    """
    table, record = files_of(plan, item, part)
    if not (table.exists() and record.exists()):
        return "not accepted"
    sidecar = read_json(record)
    if item.datasets and _source(sidecar) != "generated":
        surrogate = _source(sidecar) == "surrogate"
        if surrogate != (plan.config["data"] == "surrogate"):
            return "surrogate data" if surrogate else "no surrogate data"
    return changed_since(plan, item, part, sidecar)


def changed_since(plan: Plan, item: Item, part: str, sidecar: dict) -> str:
    """What of sources, settings and data changed since a table was made, in words; "" if none."""
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
    """Parts that count as made: those that a run takes from the accepted one.

    What was measured in its own folder stays.
    """
    return [
        (item, part)
        for item, part in measurements(plan)
        if not _measured_here(item, part) and not why_due(plan, item, part)
    ]


def _measured_here(item, part):
    record = item.table(part).with_suffix(".json")
    return record.exists() and ACCEPTED not in read_json(record)


def restore(plan: Plan, item: Item, part: str) -> Path:
    """Put an accepted part where it would have been measured; its sidecar says so.

    Raises
    ------
    InputError
        It is not among the accepted ones, damaged, or not as it was accepted.
    """
    table, record = files_of(plan, item, part)
    text, sidecar = _accepted_text(table), read_json(record)
    sidecar[ACCEPTED] = plan.accepted.as_posix()
    made = item.table(part)
    with replacing_all([made, made.with_suffix(".json")]) as (new_table, new_sidecar):
        new_table.write_text(text, encoding="utf-8", newline="")
        new_sidecar.write_text(json.dumps(sidecar, indent=1), encoding="utf-8")
    return made
