"""Data frames of vertices and of pairs as arrays, checked; errors name the id and the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from kronbench.errors import InputError
from kronbench.io import FINGERPRINTS, check_columns, did_you_mean

# The largest difference of two entries of a similarity that should be the same, relative to the
# largest entry. It is what a file of seven digits leaves.
_LARGEST_ASYMMETRY = 1e-6
# The largest mean of these differences, relative to the mean entry, where the two entries may be
# averaged. SIMCOMP scores of drugs have .002, and single pairs that differ by .19.
_LARGEST_MEAN_ASYMMETRY = 0.05
LARGEST_FEATURE = 1e150  # its square is to be a number
_SHOWN_CHARACTERS = 60  # of a cell in a message
# A longer fingerprint is not folded, and a column for each of its bits is more than a table should
# have.
_MOST_FINGERPRINT_BITS = 1 << 16
_BITS_OF_A_BLOCK = 1 << 23  # of fingerprints that are unpacked at once


@dataclass(frozen=True)
class VertexTable:
    """The vertices of one side; ``name`` is the file, or what the frame is called.

    ``columns`` are names of features. Of a ``similarity`` they are the ids, and ``features`` are
    in the same order. Where features were made of texts, ``columns`` are their numbers, and
    ``text`` is what stands in the file: "fp_hex", "fp_bits", or "smiles" and "sequence", which the
    ``transformer`` made them of.
    """

    name: str
    ids: tuple[str, ...]
    columns: tuple[str, ...]
    features: np.ndarray | sparse.csr_array
    similarity: bool
    text: str = ""
    transformer: Any = None

    @property
    def fingerprint(self) -> bool:
        """Whether the features are bits that were made of texts."""
        return self.text not in ("", "sequence")

    def __str__(self) -> str:
        if self.similarity:
            return f"{self.name}, similarities of {len(self.ids)} vertices"
        kind = "bits" if self.fingerprint else "features"
        text = f"{self.name}, {len(self.ids)} vertices of {len(self.columns)} {kind}"
        if self.transformer is None:
            return text
        # All parameters, where the text of an estimator leaves out the defaults.
        given = ", ".join(f"{name}={value}" for name, value in vars(self.transformer).items())
        return f"{text}, made from '{self.text}' by {type(self.transformer).__name__}({given})"


def read_vertices(frame: pd.DataFrame, name: str, averaged: bool = False) -> VertexTable:
    """The vertices of a frame, ids in its index or its first column.

    ``averaged`` says that the caller takes the mean of the two entries of a pair of vertices, so
    that a similarity may be somewhat asymmetric.
    """
    ids, frame, name = vertex_ids(frame, name)
    # A column of fingerprints stands for a column of numbers for each bit.
    if kinds := [column for column in frame.columns if column in FINGERPRINTS]:
        bits = _fingerprints(texts_alone(frame, kinds[0], name), kinds[0], ids, name)
        columns = tuple(map(str, range(bits.shape[1])))
        return VertexTable(name, tuple(ids), columns, bits, False, kinds[0])
    columns = pd.Index(frame.columns)
    _check_unique(columns, name)
    # A square table is a similarity where most columns are ids: one that is none is then an error.
    similarity = len(columns) == len(ids) and bool(columns.isin(ids).mean() > 0.5)
    if similarity:
        if not ids.isin(columns).all():
            raise InputError(
                f"{name} is a similarity matrix without a column for "
                f"'{ids[~ids.isin(columns)][0]}': "
                f"give one for each id of {name}"
            )
        # Columns come in the order of the rows, so that the matrix is symmetric.
        frame, columns = frame[list(ids)], ids
    features = _feature_values(frame, ids, name)
    # The largest difference between two entries that should be the same is told with its ids.
    if similarity:
        apart = np.abs(features - features.T)
        i, j = np.unravel_index(np.argmax(apart), apart.shape)
        sizes = np.abs(features)
        may_average = averaged and apart.mean() <= _LARGEST_MEAN_ASYMMETRY * sizes.mean()
        if apart[i, j] > _LARGEST_ASYMMETRY * sizes.max() and not may_average:
            raise InputError(
                f"{name} says {features[i, j]:g} for '{ids[i]}' and '{ids[j]}', and "
                f"{features[j, i]:g} the other way round: make the similarities symmetric, or "
                "rename the columns to use them as features"
            )
    return VertexTable(name, tuple(ids), tuple(columns), features, similarity)


def vertex_ids(frame: pd.DataFrame, name: str) -> tuple[pd.Index, pd.DataFrame, str]:
    """The ids (v,) of the vertices of a frame, its other columns, and its file or its name."""
    frame, name = _named_frame(frame, name)
    if not frame.shape[0]:
        raise InputError(f"{name} has no rows: give one for each vertex")
    # The ids are in the index, or in the first column where the index is pandas' own.
    index = frame.index
    default = isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)
    if default and index.name is None:
        ids, frame = read_ids(frame.iloc[:, 0], name), frame.iloc[:, 1:]
    else:
        ids = read_ids(index, name)
    if not frame.shape[1]:
        raise InputError(f"{name} has only ids: give at least one column of numbers")
    if not ids.is_unique:
        twice = ids[ids.duplicated()][0]
        raise InputError(f"{name} has the id '{twice}' twice: give each vertex one row")
    return ids, frame, name


def texts_alone(frame: pd.DataFrame, kind: str, name: str) -> pd.Series:
    """The column ``kind`` of a frame without ids; InputError where there is another one."""
    if frame.shape[1] > 1:
        other = next(entry for entry in frame.columns if entry != kind)
        what = "fingerprints" if kind in FINGERPRINTS else "texts"
        raise InputError(
            f"{name} has {what} in '{kind}' and another column '{other}': give ids and {what} "
            "alone"
        )
    return frame[kind]


def read_pairs(
    frame: pd.DataFrame,
    tables: Sequence[VertexTable],
    names: Sequence[str],
    label: str | None = None,
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Positions of the row and of the column vertices of the pairs, and the labels or None.

    ``names`` are the columns of ``frame`` with the ids, ``label`` that of the labels.
    """
    frame, name = _named_frame(frame, "pairs")
    wanted = [*names, *([] if label is None else [label])]
    check_columns(name, list(frame.columns), wanted)
    _check_unique(frame[list(dict.fromkeys(wanted))].columns, name)
    if not len(frame):
        raise InputError(f"{name} has no pairs: give at least one")
    ids = [read_ids(frame[column], name, "pair") for column in names]
    positions = []
    for table, column, vertices in zip(tables, names, ids, strict=True):
        position = pd.Index(table.ids).get_indexer(vertices)
        if (unknown := np.flatnonzero(position < 0)).size:
            first = vertices[unknown[0]]
            raise InputError(
                f"{name}, pair {unknown[0] + 1}: {column} '{first}' is not in {table.name}"
                + did_you_mean(first, table.ids)
            )
        positions.append(position)
    if label is None:
        return positions, None
    y = _label_values(frame[label], ids, name, label)
    _check_once(positions, len(tables[1].ids), y, ids, name)
    return positions, y


def read_ids(values: pd.Series | pd.Index, name: str, entry: str = "row") -> pd.Index:
    """Ids as text (n,); whole numbers become their digits. ``entry`` is what each is the id of."""
    if isinstance(values, pd.Series) and isinstance(values.dtype, pd.CategoricalDtype):
        texts = values.cat.categories  # of very many pairs, in which an id is a number
        if {*map(type, texts)} == {str} and "" not in texts and values.cat.codes.min() >= 0:
            return pd.CategoricalIndex(values)
    if pd.api.types.is_integer_dtype(values.dtype):
        return pd.Index(values.astype(str))
    ids = pd.Index(values.astype(object))
    missing = np.flatnonzero(pd.isna(ids) | (ids == ""))
    if missing.size:
        raise InputError(f"{name} has no id in {entry} {missing[0] + 1}: give every {entry} an id")
    for value in ids:
        if not isinstance(value, str | int | np.integer):
            raise InputError(
                f"{name} has {value!r} where an id should be: give text or whole numbers, "
                "in the index or the first column"
            )
    return ids.map(str)


def _named_frame(frame, name):
    """A frame whose columns are named by text, and its file, or what it is called."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"{name} is of type {type(frame).__name__}: give a pandas DataFrame")
    return frame.rename(columns=str), frame.attrs.get("file", name)


def _check_unique(columns, name):
    """InputError where two columns have one name."""
    if not columns.is_unique:
        raise InputError(
            f"{name} has two columns '{columns[columns.duplicated()][0]}': give each its own name"
        )


def _fingerprints(cells, kind, ids, name):
    """The bits (v, d) of v fingerprints of d bits: 1.0 where one is set, stored alone.

    "fp_hex" has hexadecimal digits as in the FPS format of chemfp: bytes in the order of the bits,
    the lowest bit of a byte first. "fp_bits" has zeros and ones.
    """
    # The first cell says how long all of them are.
    cells = cells.tolist()
    length = len(str(cells[0]).strip())
    width = length * (4 if kind == "fp_hex" else 1)
    blocks, n = [], max(1, _BITS_OF_A_BLOCK // max(1, width))
    for start in range(0, len(cells), n):
        some = cells[start : start + n]
        try:
            bits = _bits(some, kind, width)
        except (TypeError, ValueError):  # look for the cell, or blanks at its ends
            some = zip(some, ids[start : start + n], strict=True)
            checked = [_checked_fingerprint(*one, kind, ids[0], length, name) for one in some]
            bits = _bits(checked, kind, width)
        if width > (most := _MOST_FINGERPRINT_BITS):
            what = f"{name} has fingerprints of {width} bits"
            raise InputError(f"{what}: fold them to at most {most}")
        blocks.append(sparse.csr_array(bits))
    stacked = sparse.vstack(blocks, format="csr")
    parts = np.ones(stacked.nnz), stacked.indices, stacked.indptr
    return sparse.csr_array(parts, shape=stacked.shape)


def _bits(texts, kind, width):
    """Zeros and ones (v, width) of v texts; ValueError or TypeError where one has others."""
    text = "".join(texts)
    if kind == "fp_hex":
        packed = np.frombuffer(bytes.fromhex(text), np.uint8)
        bits = np.unpackbits(packed, bitorder="little")
    else:
        bits = np.frombuffer(text.encode("ascii"), np.uint8) - ord("0")
    # Blanks, which fromhex skips, leave too few bits; half a byte would run into the next text.
    whole = bits.size == width * len(texts) and not (kind == "fp_hex" and width % 8)
    if not whole or len({*map(len, texts)}) > 1 or bits.max() > 1:
        raise ValueError(text)
    return bits.reshape(-1, width)


def _checked_fingerprint(cell, entry, kind, first, length, name):
    """A cell without blanks at its ends, InputError unless it is a fingerprint of that length."""
    text = "" if pd.isna(cell) else str(cell).strip()
    if not text:
        raise InputError(f"{name} has no fingerprint for '{entry}' in '{kind}': give one")
    if len(text) != length:
        raise InputError(
            f"{name}: the fingerprint of '{entry}' has {len(text)} characters, and that "
            f"of '{first}' {length}: give all the same length"
        )
    try:
        if not isinstance(cell, str):  # a number has lost its zeros at the left
            raise ValueError(cell)
        _bits([text], kind, length * (4 if kind == "fp_hex" else 1))
    except ValueError:
        raise InputError(
            f"{name}: the fingerprint of '{entry}' in '{kind}' is not of "
            f"{FINGERPRINTS[kind]}: '{text if len(text) <= 20 else text[:20] + '...'}'"
        ) from None
    return text


def _feature_values(frame, ids, name):
    """The cells as a float array (v, d), in single precision where all columns are."""
    arrays = []
    for column, values in frame.items():
        arrays.append(real_numbers(values))
        bad = np.flatnonzero(~(np.abs(arrays[-1]) < LARGEST_FEATURE))
        if bad.size:
            # A column of texts, such as SMILES, is another mistake than one wrong cell.
            texts = bad.size == len(values) and values.map(lambda x: isinstance(x, str)).all()
            finite = np.isfinite(arrays[-1][bad[0]])
            wanted = f"below {LARGEST_FEATURE:g}" if finite else "with a decimal point"
            advice = f"give a number, {wanted}"
            if texts and not values.str.contains(r"^[\d.,eE+-]*$").any():
                advice = (
                    "give numbers; the commands read texts alone in a column 'smiles', "
                    "'sequence', 'fp_hex' or 'fp_bits' (docs/molecules.md)"
                )
            raise InputError(
                f"{name} has {_what(values.iloc[bad[0]])} for '{ids[bad[0]]}' in '{column}': "
                f"{advice}"
            )
    single = all(dtype == np.float32 for dtype in frame.dtypes)
    return np.column_stack(arrays).astype(np.float32 if single else np.float64, copy=False)


def real_numbers(values: pd.Series) -> np.ndarray:
    """The cells of a column as float64, (n,): not finite where one is no finite number."""
    if pd.api.types.is_numeric_dtype(values.dtype):  # bool too
        return values.to_numpy(np.float64, na_value=np.nan)
    # The cells go as objects: pandas takes dates for the numbers of their units, NaT for -2^63.
    cells = [
        np.inf if isinstance(cell, int) and cell.bit_length() > 1023 else cell for cell in values
    ]
    return pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(np.float64)


def _what(value):
    """A cell as a message shows it."""
    if value is None or value is pd.NA or value == "" or value != value:
        return "no number"
    text = str(value)
    most = _SHOWN_CHARACTERS
    return f"'{text if len(text) <= most else text[:most] + ' ...'}'"


def _label_values(values, ids, name, label):
    """The labels (n,): numbers, booleans, or names of classes where all are text."""
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
    # A pair is known by its cell in the matrix of all pairs, the first of equal ones by ``first``.
    cells = positions[0] * n_cols + positions[1]
    _, first, place = np.unique(cells, return_index=True, return_inverse=True)
    before = first[place]
    again = np.flatnonzero(before < np.arange(len(cells)))
    if not again.size:
        return
    differ = again[y[again] != y[before[again]]]
    j = differ[0] if differ.size else again[0]
    i = before[j]
    pair = f"{name} has the pair ({ids[0][j]}, {ids[1][j]}) twice, as pairs {i + 1} and {j + 1}"
    if differ.size:
        raise InputError(
            f"{pair}, with the labels {y[i]} and {y[j]}: keep the right one, or the median of "
            "replicates (groupby(...).median() in pandas)"
        )
    raise InputError(f"{pair}: keep one of them")
