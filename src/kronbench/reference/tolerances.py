"""Tolerances from evidence: how far numbers differ between runs that ought to agree.

The runs share revision and configuration. They differ in processor, BLAS core and threads, as far
as one machine can stand in for others (``make tolerances``).
"""

from __future__ import annotations

import glob
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from kronbench.errors import InputError
from kronbench.files import write_text
from kronbench.reference.compare import columns_of_both, deviations, read_run, rows_of_both
from kronbench.settings import read_yaml

# A tolerance is this many times the largest deviation that was seen.
FACTOR = 3.0

# A number with a larger relative deviation is itself a rounding error.
_RELATIVE_AT_MOST = 0.1


@dataclass
class Seen:
    """The deviations of one column between all pairs of runs.

    Attributes
    ----------
    absolute, relative : float
        The largest, and the largest share of the smaller of two numbers.
    moved, numbers : int
        Pairs of numbers that are not equal, and all pairs.
    size : float
        Mean absolute value of the column.
    where : str
        The runs between which the largest was seen.
    """

    absolute: float = 0.0
    relative: float = 0.0
    moved: int = 0
    numbers: int = 0
    size: float = 0.0
    where: str = ""

    def entry(self, table: str, column: str) -> dict:
        """The entry of a file of tolerances: relative where that allows less than half as much."""
        relative = (
            self.relative <= _RELATIVE_AT_MOST and 2 * self.relative * self.size <= self.absolute
        )
        kind, largest = ("relative", self.relative) if relative else ("absolute", self.absolute)
        return {
            "table": glob.escape(table),
            "column": glob.escape(column),
            kind: rounded_up(FACTOR * largest),
            "because": f"{largest:.2g} at most, {self.where}; "
            f"{self.moved} of {self.numbers} pairs of numbers moved",
        }


def derive(folders: Sequence[str | Path]) -> tuple[str, list[str]]:
    """The content of a file of tolerances, and what no tolerance can cover.

    Parameters
    ----------
    folders : sequence of path
        ``results/<scale>`` of at least two finished runs of one configuration. All pairs of them
        are compared.

    Returns
    -------
    str
        YAML: an entry for each column that moved, below a comment on the runs. A column that was
        equal to the bit in all runs has none.
    list of str
        Rows and numbers that only some of the runs have, and numbers that moved between two runs
        with the same surroundings.

    Raises
    ------
    InputError
        Fewer than two runs, or runs whose configurations differ.
    """
    if len(folders) < 2:
        raise InputError("tolerances come from two finished runs or more: give their folders")
    configurations = [read_yaml(Path(folder) / "config.yaml") for folder in folders]
    for folder, configuration in zip(folders, configurations, strict=True):
        if configuration != configurations[0]:
            raise InputError(
                f"{folder} and {folders[0]} have different configurations; "
                "give runs that differ only in machine and threads"
            )
    runs = [read_run(folder) for folder in folders]
    seen, complaints = {}, []
    for a, b in itertools.combinations(runs, 2):
        for table in a.numbers:
            if table in b.numbers:
                complaints += _see(seen, table, a, b)
    entries = [seen[key].entry(*key) for key in sorted(seen) if seen[key].moved]
    text = _comment(configurations[0]["scale"], runs)
    return text + yaml.safe_dump({"tolerances": entries}, sort_keys=False, width=99), complaints


def write_tolerances(folders: Sequence[str | Path], target: str | Path) -> list[str]:
    """Write what :func:`derive` finds into a file, and return what no tolerance can cover."""
    text, complaints = derive(folders)
    write_text(target, text)
    return complaints


def rounded_up(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    exponent = math.floor(math.log10(value))
    steps = (float(f"{digit}e{exponent}") for digit in (1, 2, 5, 10))
    return next(step for step in steps if step >= value)


def _see(seen, table, a, b):
    """Add the deviations of a table between two runs; yield what no tolerance can cover."""
    columns = columns_of_both(table, a, b)
    left, right, lost = rows_of_both(a.numbers[table], b.numbers[table], columns)
    if lost:
        yield f"{table}: {a.folder} and {b.folder} have different rows"
    # runs that did not record what they were compiled for may differ in that
    alike = a.surroundings == b.surroundings and "instructions" in a.surroundings
    for column in left.columns.difference(columns.texts, sort=False):
        found = deviations(left[column], right[column])
        if alike and found.any():
            yield (
                f"{table}, {column}: differs between {a.folder} and {b.folder}, "
                "though machine, versions, data and threads are the same"
            )
        if not np.isfinite(found).all():
            yield f"{table}, {column}: {a.folder} or {b.folder} lacks a number that the other has"
            found = found[np.isfinite(found)]
        column_seen = seen.setdefault((table, column), Seen())
        column_seen.numbers += len(found)
        column_seen.moved += int((found > 0).sum())
        sizes = np.minimum(left[column].abs(), right[column].abs())[found.index]
        if len(found):
            column_seen.size = max(column_seen.size, float(sizes.mean()))
        if found.any():
            moved = found[found > 0]
            with np.errstate(divide="ignore"):
                shares = moved / sizes[moved.index].astype(float)
            column_seen.relative = max(column_seen.relative, float(shares.max()))
            if moved.max() > column_seen.absolute:
                column_seen.absolute = float(moved.max())
                column_seen.where = f"{a.folder} and {b.folder}"


def _comment(scale, runs):
    lines = [
        f"How far numbers of two runs of scale {scale} may be apart: {FACTOR:g} times the largest",
        "deviation between any two of the runs below, rounded up to 1, 2 or 5 times a power of",
        "ten. A column without an entry was equal to the bit. Written by `make tolerances`.",
        "",
    ]
    for run in runs:
        about = run.surroundings
        told = (f"{key} {about[key]}" for key in ("revision", "blas", "threads") if key in about)
        lines.append(f"{run.folder}: {', '.join(told)}")
    cpus = sorted({str(run.surroundings.get("cpu")) for run in runs})
    lines.append(f"on {', '.join(cpus)}")
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
