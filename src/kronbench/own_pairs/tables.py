"""The three tables of a user, and the vertices of new pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from kronbench.errors import InputError
from kronbench.io import check_columns, did_you_mean, read_table
from kronbench.pairs import PairData
from kronbench.pairs.frames import VertexTable, pair_ids, read_pairs, read_vertices


@dataclass(frozen=True)
class OwnPairs:
    """Labelled pairs from files; ``names`` are the columns of row ids, column ids and labels."""

    data: PairData
    y: np.ndarray
    sides: tuple[VertexTable, VertexTable]
    names: tuple[str, str, str]

    @property
    def labels(self) -> np.ndarray:
        """The different labels, sorted."""
        return np.unique(self.y)

    @property
    def two_classes(self) -> bool:
        """Whether there are two labels, so that predictions are ranked and not measured."""
        return len(self.labels) == 2


def read_own_pairs(
    pairs: str | Path,
    rows: str | Path,
    cols: str | Path,
    row: str | None = None,
    col: str | None = None,
    label: str | None = None,
) -> OwnPairs:
    """Labelled pairs and the features of their vertices, from tables of `kronbench.io.read_table`.

    ``row``, ``col`` and ``label`` are columns of ``pairs``, by default the first three.
    """
    sides = read_vertices(read_table(rows), "rows"), read_vertices(read_table(cols), "cols")
    for side in sides:
        _ask_whether_similarity(side)
    frame, row, col = _read_ids(pairs, row, col)
    if all(name in side.ids for name, side in zip((row, col), sides, strict=True)):
        raise InputError(
            f"{pairs} has no header: its first line, '{row}' and '{col}', is a pair; write the "
            "names of the columns above it"
        )
    label = _label_column(frame, pairs, row, col, label)
    positions, y = read_pairs(frame, sides, (row, col), label)
    if y.dtype.kind == "U":
        raise InputError(
            f"{pairs} has '{y[0]}' for a label: give numbers, such as 1 and 0, or 7.329 with a "
            "point and no comma"
        )
    y = y.astype(np.float64)
    if (y == y[0]).all():
        raise InputError(
            f"{pairs} has the label {y[0]:g} for every pair: there is nothing to learn"
        )
    data = PairData(sides[0].features, sides[1].features, *positions)
    return OwnPairs(data, y, sides, (row, col, label))


@dataclass(frozen=True)
class NewPairs:
    """Pairs to predict: their columns of ids, and groups of positions with the pairs there.

    A group has each side from the model, or from a table of new vertices: a model with vertex
    effects knows its own vertices by their array of features.
    """

    ids: pd.DataFrame
    groups: list[tuple[np.ndarray, PairData]]


def read_new_pairs(
    pairs: str | Path,
    sides: tuple[VertexTable, VertexTable],
    names: tuple[str, str],
    rows: str | Path | None = None,
    cols: str | Path | None = None,
) -> NewPairs:
    """Pairs to predict, over features as those of a model's vertices, which are ``sides``.

    ``names`` are the columns of ids. ``rows`` and ``cols`` are tables of vertices that the model
    does not know, or with other features than it knows: the same columns, in any order; of a
    similarity, one for each vertex of the model.
    """
    frame = read_table(pairs, ids=list(names))
    found = []
    options = zip(sides, (rows, cols), ("--rows", "--cols"), names, strict=True)
    for side, path, option, name in options:
        ids = pair_ids(frame, name, str(pairs))
        known = pd.Index(side.ids).get_indexer(ids)
        new, features = np.full(len(ids), -1), None
        if path is not None:
            table = read_vertices(read_table(path), option)
            new, features = pd.Index(table.ids).get_indexer(ids), _as_in_model(table, side)
        if (unknown := np.flatnonzero((known < 0) & (new < 0))).size:
            where = f"{path}, nor in the model" if path else "the model"
            raise InputError(
                f"{pairs}, pair {unknown[0] + 1}: {name} '{ids[unknown[0]]}' is not in {where}"
                + ("" if path else f": give its features with {option}")
            )
        found.append((new >= 0, np.where(new >= 0, new, known), (side.features, features)))
    (new_row, row, row_features), (new_col, col, col_features) = found
    groups = []
    for a, b in product((False, True), repeat=2):
        part = np.flatnonzero((new_row == a) & (new_col == b))
        if part.size:
            data = PairData(row_features[a], col_features[b], row[part], col[part])
            groups.append((part, data))
    return NewPairs(frame[list(names)], groups)


def _read_ids(path, row, col):
    if (row is None) != (col is None):
        raise InputError("one column of ids is named and one is not: give both row and col")
    if row is None:
        frame = read_table(path, ids=2)
        return frame, frame.columns[0], frame.columns[1]
    if row == col:
        raise InputError(f"row and col are both '{row}': give a column of ids for each")
    return read_table(path, ids=[row, col]), row, col


def _label_column(frame, path, row, col, label):
    if label is not None:
        check_columns(path, list(frame.columns), [label])
        if label in (row, col):
            raise InputError(f"label is '{label}', a column of ids: give the column of labels")
        return label
    others = [name for name in frame.columns if name not in (row, col)]
    if len(others) != 1:
        which = "no column of labels" if not others else f"the columns {', '.join(others)}"
        raise InputError(f"{path} has {which} beside the ids: say which one is the label")
    return others[0]


def _ask_whether_similarity(side):
    """InputError where features have nearly the names, and the number, of the vertices."""
    n, columns = len(side.ids), [_plain(name) for name in side.columns]
    if side.similarity or side.fingerprint or abs(len(columns) - n) > max(1, n // 10):
        return
    ids = set(map(_plain, side.ids))
    if 2 * sum(name in ids for name in columns) > max(n, len(columns)):
        other = next((name for name in side.ids if name not in set(side.columns)), side.ids[0])
        raise InputError(
            f"{side.name} has {len(columns)} columns named nearly as its {n} ids, and none is "
            f"'{other}': is it a similarity? Name a column by each id, as the ids are written; or "
            "name the columns otherwise to have them as features"
        )


def _plain(name):
    return name.strip().casefold()


def _as_in_model(table, side):
    """The features of a table in the order of those of the model."""
    if side.fingerprint:
        return _bits_as_in_model(table, side)
    position = pd.Index(table.columns).get_indexer(side.columns)
    if (missing := np.flatnonzero(position < 0)).size:
        name = side.columns[missing[0]]
        raise InputError(
            f"{table.name} has no column '{name}', which the model was fitted with"
            + did_you_mean(name, table.columns)
        )
    # a similarity of old and new vertices has columns for the new ones too
    more = set(table.columns) - set(side.columns) - set(table.ids if side.similarity else ())
    if more:
        raise InputError(
            f"{table.name} has a column '{min(more)}', which the model was not fitted with: "
            "give the same columns"
        )
    return table.features[:, position]


def _bits_as_in_model(table, side):
    """Fingerprints of a table with as many bits as those of the model."""
    if not table.fingerprint:
        raise InputError(
            f"{table.name} has no fingerprints, and the model was fitted with some: give them in "
            f"a column '{side.fingerprint}'"
        )
    bits, wanted = table.features.shape[1], side.features.shape[1]
    if table.fingerprint == "fp_on" and bits < wanted:  # no vertex has the last ones
        padded = table.features.copy()
        padded.resize(len(table.ids), wanted)
        return padded
    if bits != wanted:
        raise InputError(
            f"{table.name} has fingerprints of {bits} bits, and the model was fitted with "
            f"{wanted}: fold them alike"
        )
    return table.features
