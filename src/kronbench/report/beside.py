"""Printed numbers beside ours: which columns belong together, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from kronbench.bench.results import TIMED
from kronbench.report.style import format_cell

# Beyond these shares of the printed number a difference is marked, and marked more strongly.
APART, FAR = 0.01, 0.1


@dataclass(frozen=True)
class Cell:
    """One cell of a table on the page.

    Attributes
    ----------
    text : str
    numeric : bool
    mark : {"", "apart", "far"}
        How far the number is from the printed one; empty up to ``APART``.
    by : str
        The difference with its sign, where no column of the table says it.
    """

    text: str
    numeric: bool
    mark: str = ""
    by: str = ""


def printed_columns(columns: Iterable[str]) -> dict[str, str]:
    """The printed column that belongs to each of ours, by their names.

    ``paper`` belongs to ``ours``, ``paper X`` to ``X``. Seconds of two machines do not belong
    together, nor does ``printed X`` to ``X``: it stands beside numbers of other data too.
    """
    columns = list(columns)
    pairs = {}
    for column in columns:
        first, _, rest = column.partition(" ")
        ours = rest if rest else "ours"
        if first == "paper" and ours in columns and not TIMED.search(ours):
            pairs[ours] = column
    return pairs


def cells(table: pd.DataFrame) -> list[list[Cell]]:
    """The rows of a table as the page shows them, differences from printed numbers marked."""
    pairs = printed_columns(table.columns)
    told = "difference" in table
    numeric = set(table.select_dtypes("number"))
    rows = []
    for record in table.to_dict("records"):
        row = {name: Cell(format_cell(value), name in numeric) for name, value in record.items()}
        for ours, printed in pairs.items():
            measured, expected = record[ours], record[printed]
            if not (_number(measured) and _number(expected)):
                continue
            mark, by = distance(measured, expected), _signed(measured - expected)
            row[ours] = Cell(row[ours].text, True, mark, "" if told else by)
        rows.append(list(row.values()))
    return rows


def _number(value):
    return isinstance(value, int | float) and math.isfinite(value)


def distance(measured: float, printed: float) -> str:
    """How far a number is from the printed one: "" up to ``APART`` of it, "apart", "far"."""
    difference = abs(measured - printed)
    if difference <= APART * abs(printed):
        return ""
    return "apart" if difference <= FAR * abs(printed) else "far"


def _signed(difference):
    if difference == 0:
        return ""
    size = abs(difference)
    text = format_cell(size if size == int(size) else float(f"{size:.2g}"))
    return f"{'+' if difference > 0 else '-'}{text}"
