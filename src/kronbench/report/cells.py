"""One cell of a table: our number beside the printed one, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from kronbench.report.numbers import format_entry, format_number, is_number

# Beyond these shares of the printed number a difference is marked, and marked more strongly.
APART, FAR = 0.01, 0.1

# Half the 95 % interval of ``ours``; that of another column X is named "X ±".
HALF = "±"


@dataclass(frozen=True)
class Cell:
    """One cell: ours ± spread (printed), as shown."""

    text: str = ""
    spread: str = ""
    printed: str = ""
    by: str = ""  # the signed difference from a printed number in another column
    best: bool = False
    mark: str = ""  # the printed number is "outside" the interval; else "apart" or "far"
    stamps: tuple[str, ...] = ()  # "surrogate" (data), "busy" (machine), "not run"
    numeric: bool = False


def printed_columns(columns: Iterable[str], timed: Iterable[str] = ()) -> dict[str, str]:
    """The printed column that belongs to each of ours, by their names.

    ``paper`` belongs to ``ours``, ``paper X`` to ``X``. Seconds of two machines, which are
    ``timed``, are not compared, nor is ``printed X`` with ``X``, since it also stands beside
    numbers of other data.
    """
    columns, pairs = list(columns), {}
    for ours in columns:
        printed = "paper" if ours == "ours" else f"paper {ours}"
        if printed in columns and ours not in timed:
            pairs[ours] = printed
    return pairs


def distance(
    measured: float,
    printed: float,
    factors: Sequence[float] | None = None,
    rounding: float = 0.0,
    half: object = None,
) -> str:
    """How far a number is from the printed one: "" up to ``APART`` of it, "apart", "far".

    With ``half`` the width of its interval to one side, "outside" where the printed number is
    beyond that. With ``factors``, by the factor between two positive numbers, either way. A number
    that is nearer than ``rounding``, half a unit of the last printed digit, is not apart.
    """
    if is_number(half):
        return "outside" if abs(measured - printed) > max(half, rounding) else ""
    if factors is not None:
        away = max(measured / printed, printed / measured) if min(measured, printed) > 0 else 0
        return "far" if away > factors[1] else "apart" if away > factors[0] else ""
    difference = abs(measured - printed)
    if difference <= max(APART * abs(printed), rounding):
        return ""
    return "apart" if difference <= FAR * abs(printed) else "far"


def long_table(table: pd.DataFrame, timed: Iterable[str] = ()) -> list[list[Cell]]:
    """The rows of a table, with differences from printed numbers marked; ``timed`` are times."""
    pairs = printed_columns(table.columns, timed)
    told = "difference" in table
    numeric = set(table.select_dtypes("number"))
    rows = []
    for record in table.to_dict("records"):
        row = {
            name: Cell(format_entry(value, digits=4), numeric=name in numeric)
            for name, value in record.items()
        }
        for ours, printed in pairs.items():
            measured, expected = record[ours], record[printed]
            if is_number(measured) and is_number(expected):
                by = "" if told else _signed(measured - expected)
                half = record.get(HALF if ours == "ours" else f"{ours} {HALF}")
                mark = distance(measured, expected, half=half)
                row[ours] = Cell(row[ours].text, by=by, mark=mark, numeric=True)
        rows.append(list(row.values()))
    return rows


def _signed(difference):
    if difference == 0:
        return ""
    text = format_number(difference, digits=2)
    return f"+{text}" if difference > 0 else text
