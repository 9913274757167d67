"""Data frames of vertices and of pairs as arrays, checked; errors name the id and the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from kronbench.errors import InputError
from kronbench.io import FINGERPRINTS, check_columns, did_you_mean
from kronbench.pairs.fingerprints import read_fingerprints

# Largest difference of two entries of a similarity that should be the same, relative to the
# largest entry: what a file of seven digits leaves.
_SYMMETRIC = 1e-6
_SHOWN = 60  # characters of a cell in a message


@dataclass(frozen=True)
class VertexTable:
    """The vertices of one side; ``name`` is the file, or what the frame is called.

    ``columns`` are names of features, or numbers of bits that come of the column ``fingerprint``.
    Of a ``similarity`` they are the ids, and ``features`` are in the same order.
    """

    name: str
    ids: tuple[str, ...]
    columns: tuple[str, ...]
    features: np.ndarray | sparse.csr_array
    similarity: bool
    fingerprint: str = ""


def read_vertices(frame: pd.DataFrame, name: str) -> VertexTable:
    """The vertices of a frame, ids in its index or its first column."""
    _check_frame(frame, name)
    name = frame.attrs.get("file", name)
    if not frame.shape[0]:
        raise InputError(f"{name} has no rows: give one for each vertex")
    frame = frame.rename(columns=str)
    index = frame.index
    default = isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)
    if default and index.name is None:
        ids, frame = _ids(frame.iloc[:, 0], name), frame.iloc[:, 1:]
    else:
        ids = _ids(index, name)
    if not frame.shape[1]:
        raise InputError(f"{name} has only ids: give at least one column of numbers")
    if not ids.is_unique:
        twice = ids[ids.duplicated()][0]
        raise InputError(f"{name} has the id '{twice}' twice: give each vertex one row")
    if written := [column for column in frame.columns if column in FINGERPRINTS]:
        return _fingerprints(frame, written[0], ids, name)
    columns = pd.Index(frame.columns)
    _check_unique(columns, name)
    similarity = bool(columns.isin(ids).mean() > 0.5)
    if similarity and len(columns) == len(ids):
        if not ids.isin(columns).all():
            raise InputError(
                f"{name} is a similarity matrix without a column for "
                f"'{ids[~ids.isin(columns)][0]}': "
                f"give one for each id of {name}"
            )
        frame, columns = frame[list(ids)], ids
    features = _numbers(frame, ids, name)
    similarity = similarity and len(columns) == len(ids)
    if similarity:
        _check_symmetric(features, ids, name)
    return VertexTable(name, tuple(ids), tuple(columns), features, similarity)


def read_pairs(
    frame: pd.DataFrame,
    tables: Sequence[VertexTable],
    names: Sequence[str],
    label: str | None = None,
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Positions of the row and of the column vertices of the pairs, and the labels or None.

    ``names`` are the columns of ``frame`` with the ids, ``label`` that of the labels.
    """
    _check_frame(frame, "pairs")
    name = frame.attrs.get("file", "pairs")
    frame = frame.rename(columns=str)
    wanted = [*names, *([] if label is None else [label])]
    check_columns(name, list(frame.columns), wanted)
    _check_unique(frame[list(dict.fromkeys(wanted))].columns, name)
    if not len(frame):
        raise InputError(f"{name} has no pairs: give at least one")
    ids = [pair_ids(frame, column, name) for column in names]
    positions = []
    for table, column, found in zip(tables, names, ids, strict=True):
        known = pd.Index(table.ids)
        position = known.get_indexer(found)
        if (unknown := np.flatnonzero(position < 0)).size:
            first = found[unknown[0]]
            raise InputError(
                f"{name}, pair {unknown[0] + 1}: {column} '{first}' is not in {table.name}"
                + did_you_mean(first, table.ids)
            )
        positions.append(position)
    if label is None:
        return positions, None
    y = _labels(frame[label], ids, name, label)
    _check_once(positions, len(tables[1].ids), y, ids, name)
    return positions, y


def pair_ids(frame: pd.DataFrame, column: str, name: str) -> pd.Index:
    """The ids of one column of pairs as text, (n,)."""
    return _ids(frame[column], name, "pair")


def _fingerprints(frame, column, ids, name):
    if frame.shape[1] > 1:
        other = next(entry for entry in frame.columns if entry != column)
        raise InputError(
            f"{name} has fingerprints in '{column}' and another column '{other}': give ids and "
            "fingerprints alone"
        )
    features = read_fingerprints(column, frame[column].tolist(), ids, name)
    bits = tuple(map(str, range(features.shape[1])))
    return VertexTable(name, tuple(ids), bits, features, False, column)


def _ids(values, name, entry="row"):
    """Ids as an Index of text; whole numbers become their digits."""
    if pd.api.types.is_integer_dtype(values.dtype):
        return pd.Index(values.astype(str))
    found = pd.Index(values.astype(object))
    missing = np.flatnonzero(pd.isna(found) | (found == ""))
    if missing.size:
        raise InputError(f"{name} has no id in {entry} {missing[0] + 1}: give every {entry} an id")
    for value in found:
        if not isinstance(value, str | int | np.integer):
            raise InputError(
                f"{name} has {value!r} where an id should be: give text or whole numbers, "
                "in the index or the first column"
            )
    return found.map(str)


def _check_frame(frame, name):
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{name} is of type {type(frame).__name__}: give a pandas DataFrame")


def _check_unique(columns, name):
    if not columns.is_unique:
        raise InputError(
            f"{name} has two columns '{columns[columns.duplicated()][0]}': give each its own name"
        )


def _numbers(frame, ids, name):
    """The cells as a float array."""
    arrays = []
    for column, values in frame.items():
        arrays.append(real_numbers(values))
        bad = np.flatnonzero(~np.isfinite(arrays[-1]))
        if bad.size:
            raise InputError(
                f"{name} has {_what(values.iloc[bad[0]])} for '{ids[bad[0]]}' in '{column}': "
                "give a number, with a decimal point"
            )
    single = all(dtype == np.float32 for dtype in frame.dtypes)
    return np.column_stack(arrays).astype(np.float32 if single else np.float64, copy=False)


def real_numbers(values: pd.Series) -> np.ndarray:
    """The cells of a column as float64, (n,): not finite where one is no finite number."""
    if pd.api.types.is_numeric_dtype(values.dtype):  # bool too
        return values.to_numpy(np.float64, na_value=np.nan)
    # as objects: pandas takes dates for the numbers of their units, and NaT for -2^63
    cells = [
        np.inf if isinstance(cell, int) and cell.bit_length() > 1023 else cell for cell in values
    ]
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)


def _what(value):
    if value is None or value is pd.NA or value == "" or value != value:
        return "no number"
    text = str(value)
    return f"'{text if len(text) <= _SHOWN else text[:_SHOWN] + ' ...'}'"


def _check_symmetric(matrix, ids, name):
    apart = np.abs(matrix - matrix.T)
    i, j = np.unravel_index(np.argmax(apart), apart.shape)
    if apart[i, j] > _SYMMETRIC * np.abs(matrix).max():
        raise InputError(
            f"{name} says {matrix[i, j]:g} for '{ids[i]}' and '{ids[j]}', and {matrix[j, i]:g} "
            "the other way round: make the similarities symmetric, or rename the columns to "
            "use them as features"
        )


def _labels(values, ids, name, label):
    if pd.api.types.is_bool_dtype(values.dtype) and not values.hasnans:
        return values.to_numpy(bool)
    numbers = real_numbers(values)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if not bad.size:
        return numbers
    text = values.astype(object)
    nameless = [at for at in bad if not (isinstance(text.iloc[at], str) and text.iloc[at])]
    if bad.size == len(text) and not nameless:
        return text.to_numpy(str)  # names of classes
    at = (nameless or bad)[0]
    where = f"({ids[0][at]}, {ids[1][at]})"
    raise InputError(
        f"{name} has {_what(text.iloc[at])} for the pair {where} in '{label}': give every "
        "pair a label, with a decimal point"
    )


def _check_once(positions, n_cols, y, ids, name):
    """InputError where a pair is there twice; one with two labels is told first."""
    cells = pd.Series(positions[0] * n_cols + positions[1])
    if cells.is_unique:
        return
    again = np.flatnonzero(cells.duplicated())
    first = cells.drop_duplicates()
    before = pd.Series(first.index, index=first.to_numpy())[cells.iloc[again]].to_numpy()
    differ = np.flatnonzero(y[again] != y[before])
    at = differ[0] if differ.size else 0
    i, j = before[at], again[at]
    pair = f"{name} has the pair ({ids[0][j]}, {ids[1][j]}) twice, as pairs {i + 1} and {j + 1}"
    if differ.size:
        raise InputError(
            f"{pair}, with the labels {y[i]} and {y[j]}: keep the right one, or the median of "
            "replicates (groupby(...).median() in pandas)"
        )
    raise InputError(f"{pair}: keep one of them")
