"""Compare two runs: which verdicts and numbers moved, and what else differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from kronbench.errors import InputError
from kronbench_suite.report.verdicts import CONTRADICTED, moves, read_verdicts
from kronbench_suite.runner.accepted_tables import (
    numbers_in,
    records_of,
    short_items,
    surroundings,
)
from kronbench_suite.runner.columns import recorded

# The kinds of differences in their order, with the title of each; the last two are no moves.
_TITLES = {
    "verdict": "Verdicts that moved",
    "table": "Tables on one side only",
    "rows": "Rows on one side only",
    "number": "Numbers and texts that moved",
    "rounding": "Moved by rounding, since the instructions differ",
    "clock": "Not compared: verdicts on times, rows past a cap or of solvers not installed",
    "surroundings": "What else differs",
}
_NO_MOVES = ("rounding", "clock", "surroundings")

# What runs with the same arithmetic have in common.
_ARITHMETIC = ("blas", "instructions")
# The part of a number up to which other arithmetic may move it; where the table says that rounding
# decides, more.
_MOVED_BY_ROUNDING = 1e-6
# The size of a number of which only rounding is left, such as the deviation of two exact ways.
_ROUNDING_ALONE = 1e-12

# The order in which other causes are told, by the first word.
_CAUSES = ["data", "revision", "packages", "blas", "cpu", "threads"]


@dataclass(frozen=True)
class Difference:
    """One difference between two runs: its kind, where it is, and what it is.

    Of two of one kind that with the larger ``weight`` is told first; of a number it is relative.
    """

    kind: str
    place: str
    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class Run:
    """What is compared of a folder of results, or of an accepted run."""

    folder: Path
    verdicts: pd.DataFrame
    numbers: dict[str, pd.DataFrame]
    records: dict[str, dict]  # by the names of numbers: their columns, and what was skipped
    surroundings: dict = field(default_factory=dict)


def read_run(folder: str | Path) -> Run:
    """``results/<scale>`` of a finished run, or ``results/reference/<scale>``."""
    folder = Path(folder)
    for name in ("verdicts.csv", "report/claims.csv"):
        if (folder / name).exists():
            numbers = numbers_in(folder)
            records = records_of(folder, numbers)
            verdicts = read_verdicts(folder / name)
            return Run(folder, verdicts, numbers, records, surroundings(folder))
    raise InputError(
        f"{folder} is not a folder of results: it has neither report/claims.csv of a finished "
        "run nor verdicts.csv of an accepted one"
    )


def compare(a: Run, b: Run) -> list[Difference]:
    """All differences of two runs, the most telling ones first.

    What a clock has touched is not compared, nor what says how a row was measured. All else is
    equal bit for bit with the same instructions; with others rounding differs, and what it may
    move is told apart. A table that one side lacks is named where both are whole runs, since an
    accepted run may be older than an item.
    """
    # Verdicts, of which those on times or on rows that one side lacks are no moves.
    differences = []
    short = short_items(a.records, b.records)
    for move in moves(a.verdicts, b.verdicts, short):
        text = f"{move.before or 'no such claim'} -> {move.now or 'no such claim'}"
        text += f" ({move.measured_now})" if move.now else ""
        kind, weight = "clock" if move.timed else "verdict", 1.0 + (move.now == CONTRADICTED)
        differences.append(Difference(kind, move.id, text, weight))
    # Numbers, table by table.
    rounds = any(
        a.surroundings[key] != b.surroundings[key]
        for key in _ARITHMETIC
        if key in a.surroundings and key in b.surroundings
    )
    are_whole = all((run.folder / "report" / "claims.csv").exists() for run in (a, b))
    for name in dict.fromkeys([*a.numbers, *b.numbers]):
        if name in a.numbers and name in b.numbers:
            differences += _table_differences(name, a, b, name in short, rounds)
        elif are_whole:
            where = a.folder if name in a.numbers else b.folder
            differences.append(Difference("table", name, f"only in {where}"))
    # Data, packages and machines, the likeliest causes first.
    for key in a.surroundings.keys() & b.surroundings.keys() - {"first", "last"}:
        sides = [
            ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for value in (a.surroundings[key], b.surroundings[key])
        ]
        if sides[0] != sides[1]:
            cause = key.partition(" ")[0]
            weight = 1 / (1 + _CAUSES.index(cause)) if cause in _CAUSES else 0
            differences.append(Difference("surroundings", key, " | ".join(sides), weight))
    order = list(_TITLES)
    return sorted(differences, key=lambda d: (order.index(d.kind), -d.weight, d.place))


def moved(differences: list[Difference]) -> bool:
    """Whether results differ; what a clock has touched and other surroundings do not count."""
    return any(difference.kind not in _NO_MOVES for difference in differences)


def markdown(a: Run, b: Run, differences: list[Difference]) -> str:
    """A summary for a pull request or a terminal."""
    lines = [f"Compared `{a.folder}` with `{b.folder}`."]
    for kind, title in _TITLES.items():
        part = [difference for difference in differences if difference.kind == kind]
        if part:
            lines += ["", f"### {title}: {len(part)}", ""]
            lines += [f"- `{difference.place}`: {difference.text}" for difference in part]
    if not moved(differences):
        lines += ["", "No verdict moved, and no number."]
    return "\n".join(lines)


def _table_differences(
    name: str, a: Run, b: Run, is_short: bool, rounds: bool
) -> Iterator[Difference]:
    """What differs in one table: rows without a counterpart, then column by column.

    A time cap ends the rows of a short table sooner on a slower machine, and not all machines have
    each solver. Where the two runs round differently (``rounds``), what rounding may have moved
    is a difference of its own.
    """
    # What the columns are: the declaration of the second run, if it has one.
    declared = [run.records.get(name, {}).get("columns") for run in (b, a)]
    if not any(declared):
        raise InputError(
            f"neither {a.folder} nor {b.folder} says what the columns of {name} are; "
            "make one of them with this version"
        )
    columns = recorded(declared[0] or declared[1])
    sides = [a.numbers[name], b.numbers[name]]
    key = [column for column in columns.key if all(column in frame for frame in sides)]
    for side, frame in enumerate(sides):
        # The rows by the texts of their key; "" for a table of one row, which may have none.
        names = {column: [_text(value) for value in frame[column]] for column in key}
        index = pd.DataFrame(names, frame.index).assign(_="")
        sides[side] = frame.set_axis(pd.MultiIndex.from_frame(index))
    left, right = sides
    # Rows that the key does not tell apart have no counterpart: none is made up by their order.
    single = [frame.index[~frame.index.duplicated(keep=False)] for frame in (left, right)]
    both = single[0].intersection(single[1])
    for side, frame in (("A", left), ("B", right)):
        alone = ~frame.index.isin(both)
        of_rounding = rounds & columns.decided_by_rounding(frame)
        for kind, rows in (
            ("clock" if is_short else "rows", alone & ~of_rounding),
            ("rounding", alone & of_rounding),
        ):
            if lost := rows.sum():
                first = _place(frame.index[rows].sort_values()[0])
                text = f"{lost} of {len(frame)} rows of {side} have no counterpart ({first})"
                yield Difference(kind, name, text, lost / len(frame))
    # Rows of both sides, column by column: what moved, and what rounding may have moved.
    left, right = left.loc[both], right.loc[both]
    for column in columns.compared(left):
        if column in right:
            old, new, size, shown = _sizes(left[column], right[column])
            may_move = (size <= _MOVED_BY_ROUNDING) | (column in columns.rounding)
            if is_numeric_dtype(old):
                may_move |= np.maximum(old.abs(), new.abs()) <= _ROUNDING_ALONE
            for frame in (left, right):
                may_move |= columns.decided_by_rounding(frame, column)
            may_move &= rounds
            for kind, rows in (("number", ~may_move), ("rounding", may_move)):
                here = size[rows & (size > 0)]
                if len(here):
                    finite = here[np.isfinite(here)]
                    worst = (finite if len(finite) else here).idxmax()
                    most = shown.format(old[worst], new[worst])
                    text = f"{len(here)} of {len(both)} moved, most: {most} ({_place(worst)})"
                    yield Difference(kind, f"{name}, {column}", text, float(here.max()))


def _text(value):
    """A value as text: whole numbers of either type, and missing values, are the same."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.15g}"
    return str(value)


def _sizes(a, b):
    """Values of two runs as they are shown, by how much each moved, and how two are shown."""
    if not all(map(is_numeric_dtype, (a, b))):
        a, b = a.map(_text), b.map(_text)
        return a, b, (a != b).astype(float), "'{}' -> '{}'"
    a, b = a.astype(float), b.astype(float)
    size = (a - b).abs() / np.maximum(a.abs(), np.finfo(float).tiny)
    # The size of a move is infinite where one of the two numbers is missing.
    size = size.mask((a == b) | (a.isna() & b.isna()), 0.0).fillna(np.inf)
    return a, b, size, "{:.6g} -> {:.6g}"


def _place(index):
    """The key of a row in words, without the column that no key leaves empty."""
    return ", ".join(part for part in index[:-1] if part)
