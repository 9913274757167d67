"""Compare two runs: which verdicts and numbers moved, and what else differs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from kronbench.errors import InputError
from kronbench.reference.accepted import kept_numbers
from kronbench.reference.reference import columns_of, cut_short_of, moves, surroundings
from kronbench.reference.verdicts import CONTRADICTED, read_verdicts
from kronbench.runner.columns import Columns
from kronbench.runner.results import read_table

# Folders of a run that hold no numbers that are shown.
_NO_NUMBERS = {"tables", "report", "data", "logs"}


@dataclass(frozen=True)
class Difference:
    """One difference between two runs.

    Attributes
    ----------
    kind : {"verdict", "number", "rows", "table", "clock", "surroundings"}
        "clock" is what a machine may change from run to run: another verdict on times;
        and rows that a time cap takes, or a solver would make that is not installed, with claims
        that are not tested without them.
    place : str
        A claim, a table and column, or a part of the surroundings.
    text : str
    weight : float
        Larger means more telling among differences of one kind; for numbers, a relative one.
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
    columns: dict[str, Columns]  # of the tables of which the run says it
    surroundings: dict
    cut_short: frozenset[str] = frozenset()  # tables that say that they lack rows


def read_run(folder: str | Path) -> Run:
    """``results/<scale>`` of a finished run, or ``results/reference/<scale>``.

    Raises
    ------
    InputError
        It is neither.
    """
    folder = Path(folder)
    for name in ("verdicts.csv", "report/claims.csv"):
        if (folder / name).exists():
            verdicts = read_verdicts(folder / name)
            break
    else:
        raise InputError(
            f"{folder} is no folder of results: it has neither report/claims.csv of a finished "
            "run nor verdicts.csv of an accepted one"
        )
    tables = numbers_in(folder)
    columns = columns_of(folder, tables)
    short = cut_short_of(folder, tables)
    return Run(folder, verdicts, tables, columns, surroundings(folder), short)


def numbers_in(folder: Path) -> dict[str, pd.DataFrame]:
    """The numbers that items show, by ``<paper>/<item>``, in the folder of either kind of run."""
    numbers = dict(kept_numbers(folder))
    for path in sorted(folder.glob("*/**/*.csv")):
        place = path.relative_to(folder)
        # What a killed job left behind is hidden.
        if not _NO_NUMBERS.intersection(place.parts) and not path.name.startswith("."):
            numbers[place.with_suffix("").as_posix()] = read_table(path)
    return numbers


def compare(a: Run, b: Run) -> list[Difference]:
    """All differences of two runs, the most telling ones first.

    What a clock has touched is not compared, nor what says how a row was measured. Other numbers
    are equal bit for bit. Tables that only one side keeps are named only where both sides are
    whole runs, since an accepted run keeps small tables alone.

    Raises
    ------
    InputError
        Neither run says what the columns of a table are.
    """
    found = [*_verdicts(a, b)]
    for name in [*a.numbers, *(name for name in b.numbers if name not in a.numbers)]:
        if name in a.numbers and name in b.numbers:
            found += _numbers(name, a, b)
        elif _whole(a) and _whole(b):
            where = a.folder if name in a.numbers else b.folder
            found.append(Difference("table", name, f"only in {where}"))
    found += _around(a.surroundings, b.surroundings)
    order = ["verdict", "table", "rows", "number", "clock", "surroundings"]
    return sorted(found, key=lambda d: (order.index(d.kind), -d.weight, d.place))


def moved(differences: list[Difference]) -> bool:
    """Whether results differ; what a clock has touched and other surroundings do not count."""
    return any(difference.kind not in ("clock", "surroundings") for difference in differences)


def markdown(a: Run, b: Run, differences: list[Difference]) -> str:
    """A summary for a pull request or a terminal."""
    lines = [f"Compared `{a.folder}` with `{b.folder}`."]
    titles = {
        "verdict": "Verdicts that moved",
        "table": "Tables on one side only",
        "rows": "Rows on one side only",
        "number": "Numbers and texts that moved",
        "clock": "Not compared: verdicts on times, rows past a cap or of solvers not installed",
        "surroundings": "What else differs",
    }
    for kind, title in titles.items():
        part = [difference for difference in differences if difference.kind == kind]
        if part:
            lines += ["", f"### {title}: {len(part)}", ""]
            lines += [f"- `{difference.place}`: {difference.text}" for difference in part]
    if not moved(differences):
        lines += ["", "No verdict moved, and no number."]
    return "\n".join(lines)


def _around(a, b):
    """Surroundings that both sides recorded and that differ."""
    order = ["data", "revision", "packages", "blas", "cpu", "threads"]
    for key in (key for key in a if key in b):
        before, now = a[key], b[key]
        if not (isinstance(before, dict) and isinstance(now, dict)):
            before, now = ({"": value} for value in (before, now))
        for part in before:
            if part in now and before[part] != now[part]:
                text = f"{_listed(before[part])} | {_listed(now[part])}"
                weight = 1.0 / (1 + order.index(key)) if key in order else 0.0
                yield Difference("surroundings", f"{key} {part}".strip(), text, weight)


def _listed(value):
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _verdicts(a, b):
    for move in moves(a.verdicts, b.verdicts, a.cut_short | b.cut_short):
        text = f"{move.before or 'no such claim'} -> {move.now or 'no such claim'}"
        if move.now:
            text += f" ({move.measured_now})"
        if move.timed:
            yield Difference("clock", move.id, text)
        else:
            weight = 2.0 if move.now == CONTRADICTED else 1.0
            yield Difference("verdict", move.id, text, weight)


def columns_of_both(name: str, a: Run, b: Run) -> Columns:
    """What the columns of a table are; of two declarations that of the second run.

    Raises
    ------
    InputError
        Neither run says it.
    """
    for run in (b, a):
        if name in run.columns:
            return run.columns[name]
    raise InputError(
        f"neither {a.folder} nor {b.folder} says what the columns of {name} are; "
        "make one of them with this version"
    )


def rows_of_both(
    a: pd.DataFrame, b: pd.DataFrame, columns: Columns
) -> tuple[pd.DataFrame, pd.DataFrame, list[tuple]]:
    """What is compared of the rows that two tables share, and the rows without a counterpart.

    Rows are paired by the key of the columns.

    Returns
    -------
    left, right : DataFrame
        Counts, numbers and texts, with equal index and columns.
    lost : list of (side, rows, of, place)
        At most one entry for each side that has more: "A" or "B", how many rows of how many, and
        where the first is.
    """
    key = [column for column in columns.key if column in a and column in b]
    kinds = (*columns.counts, *columns.numbers, *columns.texts)
    compared = [column for column in kinds if column in a and column in b]
    sides = []
    for frame in (a, b):
        names = pd.DataFrame({column: [_name(v) for v in frame[column]] for column in key})
        # "": a table of one row may do without a key
        index = pd.MultiIndex.from_frame(names.assign(_="") if key else frame.assign(_="")[["_"]])
        sides.append(frame[compared].set_axis(index))
    # rows that the key does not tell apart have no counterpart: none is made up by their order
    single = [side.index[~side.index.duplicated(keep=False)] for side in sides]
    both = single[0].intersection(single[1])
    lost = [
        (side, len(frame) - len(both), len(frame), _place(frame.index.difference(both)[0]))
        for side, frame in zip("AB", sides, strict=True)
        if len(frame) > len(both)
    ]
    return sides[0].loc[both], sides[1].loc[both], lost


def _name(value):
    """A value of a key as text: whole numbers of either type, and missing values, are the same."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.15g}"
    return str(value)


def deviations(a: pd.Series, b: pd.Series) -> pd.Series:
    """Absolute differences: 0 where both are equal or missing, infinite where one is missing."""
    a, b = a.astype(float), b.astype(float)
    return (a - b).abs().mask((a == b) | (a.isna() & b.isna()), 0.0).fillna(np.inf)


def _numbers(name, a, b):
    columns = columns_of_both(name, a, b)
    left, right, lost = rows_of_both(a.numbers[name], b.numbers[name], columns)
    for side, rows, of, place in lost:
        text = f"{rows} of {of} rows of {side} have no counterpart ({place})"
        # a time cap ends the rows sooner on a slower machine, and not all have each solver
        short = name in a.cut_short | b.cut_short
        yield Difference("clock" if short else "rows", name, text, rows / of)
    for column in left:
        if column in columns.texts:
            found = _moved_texts(name, column, left[column], right[column])
        else:
            found = _moved_numbers(name, column, left[column], right[column])
        if found is not None:
            yield found


def _moved_texts(name, column, a, b):
    before, now = a.map(_name), b.map(_name)
    moved = before != now
    if not moved.any():
        return None
    first = moved.index[moved][0]
    text = (
        f"{moved.sum()} of {len(a)} moved, the first: '{before[first]}' -> '{now[first]}' "
        f"({_place(first)})"
    )
    return Difference("number", f"{name}, {column}", text, float("inf"))


def _moved_numbers(name, column, a, b):
    a, b = a.astype(float), b.astype(float)
    difference = deviations(a, b)
    moved = difference > 0
    if not moved.any():
        return None
    times = (difference / np.maximum(a.abs(), np.finfo(float).tiny))[moved]
    worst = times.idxmax() if np.isfinite(times).any() else times.index[0]
    text = (
        f"{moved.sum()} of {len(a)} moved, most: {a[worst]:.6g} -> {b[worst]:.6g} "
        f"({_place(worst)})"
    )
    return Difference("number", f"{name}, {column}", text, float(times.max()))


def _place(index):
    return ", ".join(str(part) for part in index[:-1] if part)


def _whole(run):
    return (run.folder / "report" / "claims.csv").exists()
