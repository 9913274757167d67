"""The result tables of a finished job or item, read again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import checked, read_json
from kronbench_suite.runner.items import Item

# In what an experiment says of work that it left out since it would take too long.
OVER_CAP = "over the cap"


def other_data_of(item: Item) -> dict[str, str]:
    """How data sets of an item, by the name of its part, differ from those of its paper."""
    found = {}
    for sidecar in read_sidecars(item):
        differing = (sidecar["data"] or {}).get("other_data", {})
        if sidecar["paper"] in differing:
            found[sidecar["part"]] = differing[sidecar["paper"]]
    return found


def read_results(item: Item) -> pd.DataFrame:
    """All tables of an item; or the numbers of others, in the column ``of`` (paper/item) whose."""
    # An item has either tables of its own or the numbers of others.
    frames = [
        read_numbers(other).assign(of=f"{other.paper}/{other.name}") for other in item.numbers_of
    ]
    for part in item.parts:
        table = item.table(part)
        if not table.exists():
            raise InputError(f"{table} is missing; make it with: {item.command(part)}")
        frames.append(read_table(io.BytesIO(checked(table))))
    return pd.concat(frames, ignore_index=True)


def read_sidecars(item: Item) -> list[dict]:
    """How each part of an item, or of those that it brings together, was measured."""
    own = [read_sidecar(item, part) for part in item.parts]
    return own + [sidecar for other in item.numbers_of for sidecar in read_sidecars(other)]


def read_sidecar(item: Item, part: str) -> dict:
    """How a part was measured; InputError where its sidecar is missing or damaged."""
    return read_json(
        item.table(part).with_suffix(".json"),
        paper=str,
        part=str,
        skipped=list,
        seconds=int | float,
        data=dict | None,
        environment=dict,
    )


def origin(environment: dict) -> str:
    """Revision and machine of a measurement, from the ``environment`` of its sidecar."""
    revision = environment["revision"] or "unknown"
    return f"revision {revision}, {environment['cpu']}, {environment['cores']} cores"


def read_numbers(item: Item) -> pd.DataFrame:
    """The numbers that an item's picture shows, as ``render`` wrote them."""
    return read_table(io.BytesIO(checked(item.output("csv"))))


def read_table(path: str | Path | IO) -> pd.DataFrame:
    """A result table, or the numbers of an item; an item without data has the data set ""."""
    # Only empty fields are missing values: a solver or data set may be called "None" or "NA".
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    except ValueError as error:
        raise InputError(f"{path} is not a table: {' '.join(str(error).split())}") from None
    return frame.fillna({"dataset": ""})
