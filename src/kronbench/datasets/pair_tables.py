"""A data set of one's own: tables of labelled pairs and of the features of their vertices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files
from kronbench.datasets.generators import arrays_of_pairs
from kronbench.errors import InputError
from kronbench.io import check_columns, read_parts, read_table
from kronbench.pairs import PairData

if TYPE_CHECKING:
    from kronbench.pairs.frames import VertexTable


@dataclass(frozen=True)
class OwnPairs:
    """Labelled pairs from files; ``names`` are the columns of row ids, column ids and labels."""

    data: PairData
    y: np.ndarray
    sides: tuple[VertexTable, VertexTable]
    names: tuple[str, str, str]

    @cached_property
    def labels(self) -> np.ndarray:
        """The different labels, sorted."""
        return np.unique(self.y)

    @property
    def two_classes(self) -> bool:
        """Whether there are two labels, so that predictions are ranked and not measured."""
        return len(self.labels) == 2


def read_own_pairs(
    pairs: str | Path,
    rows: str | Path | VertexTable,
    cols: str | Path | VertexTable,
    row: str | None = None,
    col: str | None = None,
    label: str | None = None,
) -> OwnPairs:
    """Labelled pairs and the features of their vertices, from tables of `kronbench.io.read_table`.

    Vertices that were read before, of a form that is not a table of numbers, are taken as well.
    ``row``, ``col`` and ``label`` are columns of ``pairs``, by default the first two and the one
    that is left.
    """
    from kronbench.pairs.frames import VertexTable, read_pairs, read_vertices  # imports pandas

    # Read the vertices of both sides.
    files = {"rows": rows, "cols": cols}
    row_side, col_side = sides = tuple(
        file
        if isinstance(file, VertexTable)
        else read_vertices(read_table(file), name, averaged=True)
        for name, file in files.items()
    )
    for side in sides:
        _ask_whether_similarity(side)
    # Find the columns of the pairs: two of ids, and one of labels.
    if (row is None) != (col is None):
        raise InputError("only one column of ids is named: give both row and col")
    if row is not None and row == col:
        raise InputError(f"row and col are both '{row}': give a different column of ids for each")
    frame = next(read_parts(pairs, 2 if row is None else [row, col], categories=True))
    row, col = frame.columns[:2] if row is None else (row, col)
    if all(name in side.ids for name, side in zip((row, col), sides, strict=True)):
        raise InputError(
            f"{pairs} has no header: its first line, '{row}' and '{col}', is a pair; add a "
            "line with the names of the columns above it"
        )
    label = _label_column(frame, pairs, row, col, label)
    # Find the vertices of each pair by their ids, and check the labels.
    positions, y = read_pairs(frame, sides, (row, col), label)
    if y.dtype.kind == "U":
        raise InputError(
            f"{pairs} has '{y[0]}' for a label: give numbers, such as 1 and 0, or 7.329 with "
            "a decimal point, not a comma"
        )
    y = y.astype(np.float64)
    if (y == y[0]).all():
        raise InputError(
            f"{pairs} has the label {y[0]:g} for every pair, so there is nothing to learn"
        )
    data = PairData(row_side.features, col_side.features, *positions)
    data.row_ids, data.col_ids = row_side.ids, col_side.ids
    return OwnPairs(data, y, (row_side, col_side), (row, col, label))


def parse_tables(
    files: Files,
    *,
    row: str | None = None,
    col: str | None = None,
    label: str | None = None,
    at_least: float | None = None,
) -> Arrays:
    """Read pairs with labels, and the features of both sides, by their ids.

    ``files`` are "pairs", "rows" and "cols", the columns those of :func:`read_own_pairs`. The
    label is +1 from ``at_least`` on, else -1; without it there must be two different labels.
    """
    if set(files) != {"pairs", "rows", "cols"}:
        raise InputError(
            "a data set of pairs has the files pairs, rows, cols; these are registered: "
            f"{', '.join(files)}"
        )
    paths = {key: file.name for key, file in files.items()}
    own = read_own_pairs(**paths, row=row, col=col, label=label)
    if at_least is None and not own.two_classes:
        raise InputError(
            f"{paths['pairs']} has {len(own.labels)} different labels in '{own.names[2]}': give "
            "two, or the option at_least, the smallest label that counts as positive"
        )
    positive = own.y >= (own.labels[1] if at_least is None else at_least)
    if positive.all() or not positive.any():
        raise InputError(f"{paths['pairs']} has no label on one side of at_least={at_least:g}")
    labels = np.where(positive, 1, -1).astype(np.int8)
    return arrays_of_pairs(own.data) | {"values": own.y, "labels": labels}


def _label_column(frame, path, row, col, label):
    """The column of labels: the one that is named, or else the only one beside the ids."""
    if label is not None:
        check_columns(path, list(frame.columns), [label])
        if label in (row, col):
            raise InputError(f"label is '{label}', a column of ids: give the column of labels")
        return label
    others = [name for name in frame.columns if name not in (row, col)]
    if not others:
        raise InputError(f"{path} has no column of labels: add one")
    if len(others) > 1:
        which = ", ".join(others)
        raise InputError(
            f"{path} has the columns {which} besides the ids: name that of the labels with "
            "--label, or in a registry with the option label"
        )
    return others[0]


def _ask_whether_similarity(side):
    """InputError where features are named by vertices: nearly all of them, or some."""
    n, columns = len(side.ids), [name.strip().casefold() for name in side.columns]
    ids = {name.strip().casefold() for name in side.ids}
    common = sum(name in ids for name in columns)
    if side.similarity or side.text or 2 * common <= len(columns):
        return
    exact = set(side.columns)
    other = next((name for name in side.ids if name not in exact), side.ids[0])
    if abs(len(columns) - n) <= max(1, n // 10):
        raise InputError(
            f"{side.name} has {len(columns)} columns named almost like its {n} ids, but none "
            f"is '{other}': for similarities, name the columns exactly by the ids; for "
            "features, rename the columns"
        )
    # Numbers in order are what pandas calls columns, and ids, that have no names.
    if columns == [str(k) for k in range(len(columns))]:
        return
    raise InputError(
        f"{side.name} has {n} rows and {len(columns)} columns, and {common} columns are named by "
        f"its ids, as in similarities that lack rows or columns, such as a column '{other}': give "
        "one of each for every id, or rename the columns to use them as features"
    )
