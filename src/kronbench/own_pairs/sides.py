"""The vertices of a side: read from a file of any form, and looked up in a model or in a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from kronbench import models
from kronbench.errors import InputError, printable
from kronbench.io import (
    FINGERPRINTS,
    check_readable,
    did_you_mean,
    is_fasta,
    read_fasta,
    read_parts,
)
from kronbench.pairs import PairData
from kronbench.pairs.frames import (
    LARGEST_FEATURE,
    VertexTable,
    read_ids,
    read_vertices,
    texts_alone,
    vertex_ids,
)

# What makes features of a column of texts, by its name in small letters.
TRANSFORMERS = {"smiles": "MorganFingerprints", "sequence": "KmerSpectrum"}
# What a file has, by what its features come from.
_WORDS = {"": "numbers", "smiles": "SMILES", "sequence": "sequences"}
_WORDS |= dict.fromkeys(FINGERPRINTS, "fingerprints")


def read_side(path: str | Path, option: str, like: VertexTable | None = None) -> VertexTable:
    """The vertices of a FASTA file, or of a table of numbers, fingerprints, SMILES or sequences.

    A file ``.npz`` has numbers, in a sparse matrix. ``like`` is the side of a model for which
    these vertices are new: they are refused if they are given in another form, and texts go
    through its transformer.
    """
    if is_npz := Path(path).suffix == ".npz":
        table, text, name = read_sparse(path), "", str(path)
    else:
        parts = iter([read_fasta(path).to_frame()]) if is_fasta(path) else read_parts(path)
        frame = next(parts)
        frame.attrs["file"] = str(path)
        ids, columns, name = vertex_ids(frame, option)
        text, column = _text_column(columns)
    if like and (asked := _WORDS[like.text]) != _WORDS[text]:
        fasta = "a FASTA file or " if like.text == "sequence" else ""
        raise InputError(
            f"{name} has {_WORDS[text]}, but the model was fitted with {asked}: give {fasta}a "
            f"column '{like.text or like.columns[0]}'{'' if like.text else ' and so on'}"
        )
    if is_npz:
        return table
    if text not in TRANSFORMERS:
        first = read_vertices(frame, option, averaged=True)
        return _joined([first, *(read_vertices(part, option) for part in parts)])
    transformer = like.transformer if like else getattr(models, TRANSFORMERS[text])()
    texts = pd.Series(texts_alone(columns, column, name).to_numpy(object), ids)
    texts.attrs["file"] = name
    features = transformer.transform(texts)
    numbers = tuple(map(str, range(features.shape[1])))
    return VertexTable(name, tuple(ids), numbers, features, False, text, transformer)


def read_sparse(path: str | Path) -> VertexTable:
    """The features of a file of ``scipy.sparse.save_npz``, whose ids are in a text beside it.

    Of ``compounds.npz`` that is ``compounds.ids.txt``, one a line. Columns are named by their
    numbers. As in SciPy entries of one place are added; zeros that are stored are left out. Single
    precision stays, other numbers become float64.
    """
    names = Path(path).with_suffix(".ids.txt")
    check_readable(path)
    if not names.exists():
        raise InputError(f"{path} has no ids: write them to {names}, one a line")
    check_readable(names)
    try:
        features = sparse.load_npz(path)
        if features.format in ("csr", "csc", "bsr"):  # others are looked at when they are made
            features.check_format(full_check=True)
        features = sparse.csr_array(features)
        features.check_format(full_check=True)
    except MemoryError:
        raise
    except Exception as error:  # numpy, zipfile and SciPy each have their own
        raise InputError(
            f"{path} is not a sparse matrix of scipy.sparse.save_npz ({error})"
        ) from None
    if features.ndim != 2 or not all(features.shape):
        raise InputError(f"{path} has the shape {features.shape}: give a row for each vertex")
    try:
        ids = names.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{names} is not text in UTF-8: save it in UTF-8") from None
    if len(ids) != features.shape[0]:
        raise InputError(
            f"{names} has {len(ids)} lines and {path} {features.shape[0]} rows: give an id a row"
        )
    if (index := read_ids(pd.Index(ids), str(names))).has_duplicates:
        twice = index[index.duplicated()][0]
        raise InputError(f"{names} has the id '{twice}' twice: give each vertex one row")
    if features.dtype.kind not in "fiub":
        raise InputError(f"{path} has numbers of type {features.dtype}: give real ones")
    features = features.astype(np.float32 if features.dtype == np.float32 else float, copy=False)
    features.sum_duplicates()
    features.eliminate_zeros()
    if max(features.shape[1], features.nnz) <= np.iinfo(np.int32).max:
        for name in ("indices", "indptr"):
            setattr(features, name, getattr(features, name).astype(np.int32, copy=False))
    values = features.data
    ends = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if not -LARGEST_FEATURE < ends[0] <= ends[1] < LARGEST_FEATURE:
        at = np.flatnonzero(~(np.abs(values.astype(float)) < LARGEST_FEATURE))[0]
        row = np.searchsorted(features.indptr, at, "right") - 1
        raise InputError(
            f"{path} has {values[at]} for '{ids[row]}' in column {features.indices[at]}: give a "
            f"number below {LARGEST_FEATURE:g}"
        )
    columns = tuple(map(str, range(features.shape[1])))
    return VertexTable(str(path), tuple(index), columns, features, False)


def _joined(tables):
    """The parts of a table of fingerprints as one."""
    first = tables[0]
    if len(tables) == 1:
        return first
    ids = tuple(name for table in tables for name in table.ids)
    for table in tables:
        if table.columns != first.columns:
            raise InputError(
                f"{first.name}: the fingerprint of '{table.ids[0]}' has {len(table.columns)} "
                f"bits, and that of '{ids[0]}' {len(first.columns)}: give all the same length"
            )
    if (index := pd.Index(ids)).has_duplicates:
        twice = index[index.duplicated()][0]
        raise InputError(f"{first.name} has the id '{twice}' twice: give each vertex one row")
    features = sparse.vstack([table.features for table in tables], format="csr")
    return replace(first, ids=ids, features=features)


def _text_column(columns):
    """What a column of texts holds, and its name; empty ones where all are numbers."""
    for column, values in columns.items():
        kind = column if column in FINGERPRINTS else column.lower()
        # A feature may be called so too.
        if kind in FINGERPRINTS or (kind in TRANSFORMERS and values.dtype.kind not in "biuf"):
            return kind, column
    return "", ""


def has_its_transformer(side: VertexTable) -> bool:
    """Whether a table of texts has what ``read_side`` gives it, and any other none."""
    wanted = getattr(models, TRANSFORMERS[side.text])() if side.text in TRANSFORMERS else None
    # True equals 1, but is not shown so.
    shown = [(type(of), repr(getattr(of, "__dict__", of))) for of in (side.transformer, wanted)]
    return side.text in _WORDS and shown[0] == shown[1]


@dataclass(frozen=True)
class Side:
    """The vertices of one side of pairs to predict: those of a model, and those of a table.

    ``ids`` (v,) has those of the table first, the ``n_asked`` that are given; without a table all
    are the model's. A vertex that ``is_new`` has its ``place`` in the table, and any other in the
    model. ``sources`` are features and ids of the model's vertices, and of the table's. ``where``
    and ``advice`` tell in a sentence where an id is looked for, and how to add one.
    """

    ids: pd.Index
    n_asked: int
    is_new: np.ndarray
    place: np.ndarray
    sources: tuple[tuple[Any, tuple[str, ...]], ...]
    where: str
    advice: str


def side_of(side: VertexTable, own: Any, unit: float, path: Any, option: str) -> Side:
    """The vertices that a model knows by its table and the features ``own``, and those of a file.

    A vertex of the file that the model knows, with the same features, is the model's: a model with
    vertex effects knows its own vertices by their ids and features.
    """
    model = pd.Index(side.ids)
    source, n = (own, side.ids), len(model)
    if path is None:
        advice = f": give its features with {option}"
        return Side(model, n, np.zeros(n, bool), np.arange(n), (source,), "the model", advice)
    table = read_side(path, option, side)
    if table.transformer is not None:
        print(printable(f"{option}: {table}"), file=sys.stderr)
    features = _as_in_model(table, side)
    known = _known(table, features, side)
    # The vertices of the table come first, then those that the model alone has.
    others = np.flatnonzero(~model.isin(table.ids))
    place = np.concatenate([np.where(known < 0, np.arange(len(known)), known), others])
    is_new = np.append(known < 0, np.zeros(len(others), bool))
    new = (features if unit == 1 else features / unit), table.ids
    ids = pd.Index([*table.ids, *model[others]])
    return Side(ids, len(known), is_new, place, (source, new), f"{path}, nor in the model", "")


def groups_of(
    sides: tuple[Side, Side], rows: np.ndarray, cols: np.ndarray
) -> Iterator[tuple[np.ndarray, PairData]]:
    """Positions of pairs, and the pairs there, by what is new in them.

    Neither vertex, one of the two, or both. ``rows`` (t,) and ``cols`` (t,) are positions in the
    ids of the sides.
    """
    row_side, col_side = sides
    new_rows, new_cols = row_side.is_new[rows], col_side.is_new[cols]
    for a, b in product((False, True), repeat=2):
        part = np.flatnonzero((new_rows == a) & (new_cols == b))
        if part.size:
            of_rows, of_cols = row_side.sources[a], col_side.sources[b]
            places = row_side.place[rows[part]], col_side.place[cols[part]]
            data = PairData(of_rows[0], of_cols[0], *places)
            data.row_ids, data.col_ids = of_rows[1], of_cols[1]
            yield part, data


def _known(table, features, side):
    """The place in the model of each vertex of a table, -1 for a new one, (v,).

    One with an id of the model and other features is new, and told.
    """
    known = pd.Index(side.ids).get_indexer(table.ids)
    both = np.flatnonzero(known >= 0)
    ours, theirs = side.features[known[both]], features[both]
    if sparse.issparse(ours) or sparse.issparse(theirs):
        ours, theirs = sparse.csr_array(ours), sparse.csr_array(theirs)
    apart = (ours != theirs).sum(axis=1) > 0
    if apart.any():
        line = (
            f"{table.name} has other features than the model for {apart.sum()} of its ids, the "
            f"first is '{table.ids[both[apart][0]]}': those of {table.name} are used"
        )
        print(printable(line), file=sys.stderr)
    known[both[apart]] = -1
    return known


def _as_in_model(table, side):
    """The features of new vertices, with the columns of the model's table in its order."""
    if side.text:
        bits, wanted = table.features.shape[1], side.features.shape[1]
        if bits != wanted:
            raise InputError(
                f"{table.name} has fingerprints of {bits} bits, but the model was fitted with "
                f"{wanted}: fold them to that length"
            )
        return table.features
    if table.columns == side.columns:
        return table.features
    position = pd.Index(table.columns).get_indexer(side.columns)
    if (missing := np.flatnonzero(position < 0)).size:
        name = side.columns[missing[0]]
        raise InputError(
            f"{table.name} has no column '{name}', which the model was fitted with"
            + did_you_mean(name, table.columns)
        )
    # A similarity of old and new vertices has columns for the new ones too.
    more = set(table.columns) - set(side.columns) - set(table.ids if side.similarity else ())
    if more:
        raise InputError(
            f"{table.name} has a column '{min(more)}', which the model was not fitted with: "
            "give the same columns"
        )
    return table.features[:, position]
