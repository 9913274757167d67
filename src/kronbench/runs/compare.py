"""Two runs beside each other: which verdicts and numbers moved, and what else is not the same."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from kronbench.bench.results import TIMED, read_table
from kronbench.errors import InputError
from kronbench.runs.reference import surroundings
from kronbench.runs.verdicts import FAILS, read_verdicts
from kronbench.settings import read_yaml, validate

# Columns that say how a row was measured, beside those that depend on a clock.
_ABOUT = (
    *("busy", "*waiting", "processors", "repeats", "threads", "peak*", "rate", "*gflop*"),
    *("ms", "*, ms", "*, s", "low", "high"),  # the last two of repeats, in tables of speed
    *("* is", "the same, auc included"),  # measured or extrapolated; a ratio of seconds
)

# Folders of a run that hold no numbers that are shown.
_NO_NUMBERS = {"tables", "report", "data", "logs"}


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same in both runs.

    Attributes
    ----------
    kind : {"verdict", "number", "rows", "table", "surroundings"}
    place : str
        A claim, a table and column, or a part of the surroundings.
    text : str
    weight : float
        Of two of a kind the more telling one is larger; for numbers, how many times the tolerance.
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
    surroundings: dict


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
    tables = {}
    for path in sorted(folder.glob("*/**/*.csv")):
        place = path.relative_to(folder)
        # What a killed job left behind is hidden.
        if not _NO_NUMBERS.intersection(place.parts) and not path.name.startswith("."):
            tables[place.with_suffix("").as_posix()] = read_table(path)
    return Run(folder, verdicts, tables, surroundings(folder))


def compare(a: Run, b: Run, tolerances: list[dict] | None = None) -> list[Difference]:
    """All differences of two runs, the most telling ones first.

    Numbers of the clock are not compared. Others are equal bit for bit, unless an entry of
    ``tolerances`` allows more: ``table`` and ``column`` are patterns, ``absolute`` and
    ``relative`` what is added up. Tables that only one side keeps are named only where both sides
    are whole runs, since an accepted run keeps small tables alone.
    """
    found = [*_verdicts(a.verdicts, b.verdicts)]
    for name in [*a.numbers, *(name for name in b.numbers if name not in a.numbers)]:
        if name in a.numbers and name in b.numbers:
            found += _numbers(name, a.numbers[name], b.numbers[name], tolerances or [])
        elif _whole(a) and _whole(b):
            where = a.folder if name in a.numbers else b.folder
            found.append(Difference("table", name, f"only in {where}"))
    found += _around(a.surroundings, b.surroundings)
    order = ["verdict", "table", "rows", "number", "surroundings"]
    return sorted(found, key=lambda d: (order.index(d.kind), -d.weight, d.place))


def read_tolerances(path: str | Path | None) -> list[dict]:
    """The entries of a file of tolerances; none without a file."""
    if path is None:
        return []
    content = read_yaml(path)
    validate(content, "tolerances", path)
    return content["tolerances"]


def moved(differences: list[Difference]) -> bool:
    """Whether results differ; other surroundings alone are no difference of results."""
    return any(difference.kind != "surroundings" for difference in differences)


def markdown(a: Run, b: Run, differences: list[Difference]) -> str:
    """A summary for a pull request or a terminal."""
    lines = [f"Compared `{a.folder}` with `{b.folder}`."]
    titles = {
        "verdict": "Verdicts that moved",
        "table": "Tables on one side only",
        "rows": "Rows on one side only",
        "number": "Numbers that moved beyond their tolerance",
        "surroundings": "What else is not the same",
    }
    for kind, title in titles.items():
        part = [difference for difference in differences if difference.kind == kind]
        if part:
            lines += ["", f"### {title}: {len(part)}", ""]
            lines += [f"- `{difference.place}`: {difference.text}" for difference in part]
    if not moved(differences):
        lines += ["", "No verdict moved, and no number beyond its tolerance."]
    return "\n".join(lines)


def _around(a, b):
    """What both sides tell of their surroundings and is not the same."""
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
    for name in [*a.index, *b.index.difference(a.index, sort=False)]:
        before, now = (
            frame.loc[name, "verdict"] if name in frame.index else "no such claim"
            for frame in (a, b)
        )
        if before != now:
            text = f"{before} -> {now}"
            if name in b.index:
                text += f" ({b.loc[name, 'measured']})"
            yield Difference("verdict", name, text, 2.0 if now == FAILS else 1.0)


def rows_of_both(
    a: pd.DataFrame, b: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, list[tuple]]:
    """The untimed numbers of the rows that two tables share, and the rows that only one has.

    Rows are told apart by their texts, and by as few columns of whole numbers as are needed.

    Returns
    -------
    left, right : DataFrame
        Equal index and columns.
    lost : list of (side, rows, of, place)
        At most one entry for each side that has more: "A" or "B", how many rows of how many, and
        where the first is.
    """
    untimed = [column for column in a if column in b and not _of_the_clock(column)]
    keys = [c for c in untimed if not _numeric(a[c]) or not _numeric(b[c])]
    whole = [c for c in untimed if c not in keys and _integers(a[c]) and _integers(b[c])]
    for column in whole:  # as few of them as tell the rows apart
        if keys and not a.duplicated(keys).any():
            break
        keys.append(column)
    sides = []
    for frame in (a, b):
        frame = frame[untimed].copy()
        for key in keys:
            # not astype: a missing text stays missing, and is equal to nothing
            frame[key] = [str(value) for value in frame[key]]
        frame["_again"] = frame.groupby(keys).cumcount() if keys else range(len(frame))
        sides.append(frame.set_index([*keys, "_again"]))
    both = sides[0].index.intersection(sides[1].index)
    lost = [
        (side, len(frame) - len(both), len(frame), _place(frame.index.difference(both)[0]))
        for side, frame in zip("AB", sides, strict=True)
        if len(frame) > len(both)
    ]
    return sides[0].loc[both], sides[1].loc[both], lost


def deviations(a: pd.Series, b: pd.Series) -> pd.Series:
    """Absolute differences: 0 where both are equal or missing, infinite where one is missing."""
    a, b = a.astype(float), b.astype(float)
    return (a - b).abs().mask((a == b) | (a.isna() & b.isna()), 0.0).fillna(np.inf)


def _numbers(name, a, b, tolerances):
    left, right, lost = rows_of_both(a, b)
    for side, rows, of, place in lost:
        text = f"{rows} of {of} rows only in {side} ({place})"
        yield Difference("rows", name, text, rows / of)
    for column in left:
        found = _moved_numbers(name, column, left[column], right[column], tolerances)
        if found is not None:
            yield found


def _moved_numbers(name, column, a, b, tolerances):
    a, b = a.astype(float), b.astype(float)
    allowed = {"absolute": 0.0, "relative": 0.0}
    for entry in tolerances:
        if fnmatch.fnmatch(name, entry["table"]) and fnmatch.fnmatch(column, entry["column"]):
            allowed |= {key: entry[key] for key in allowed if key in entry}
            break
    difference = deviations(a, b)
    bound = allowed["absolute"] + allowed["relative"] * a.abs().fillna(0)
    beyond = difference > bound
    if not beyond.any():
        return None
    rounding = np.finfo(float).eps * np.maximum(a.abs(), np.finfo(float).tiny)
    times = (difference / np.maximum(bound, rounding))[beyond]
    worst = times.idxmax() if np.isfinite(times).any() else times.index[0]
    text = (
        f"{beyond.sum()} of {len(a)} moved, most: {a[worst]:.6g} -> {b[worst]:.6g} "
        f"({_place(worst)})"
    )
    return Difference("number", f"{name}, {column}", text, float(times.max()))


def _of_the_clock(column):
    known = any(fnmatch.fnmatch(column.lower(), pattern) for pattern in _ABOUT)
    return known or TIMED.search(column) is not None


def _numeric(column):
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _integers(column):
    return pd.api.types.is_integer_dtype(column)


def _place(index):
    return ", ".join(str(part) for part in index[:-1] if str(part) not in ("", "nan"))


def _whole(run):
    return (run.folder / "report" / "claims.csv").exists()
