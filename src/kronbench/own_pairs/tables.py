"""Pairs to predict, and their vertices in the form of those of a model."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from kronbench.errors import InputError
from kronbench.io import did_you_mean, read_table
from kronbench.pairs import PairData
from kronbench.pairs.frames import VertexTable, pair_ids, read_vertices


def read_new_pairs(
    pairs: str | Path,
    sides: tuple[VertexTable, VertexTable],
    names: tuple[str, str],
    rows: str | Path | None = None,
    cols: str | Path | None = None,
) -> tuple[pd.DataFrame, list[tuple[np.ndarray, PairData]]]:
    """The ids of pairs to predict, and groups of their positions with the pairs there.

    Features are as those of a model's vertices, which are ``sides``. A group has each side from
    the model, or from a table of new vertices: a model with vertex effects knows its own vertices
    by their array of features.

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
    return frame[list(names)], groups


def _as_in_model(table, side):
    """The features of a table in the order of those of the model."""
    if side.fingerprint:
        if not table.fingerprint:
            raise InputError(
                f"{table.name} has no fingerprints, but the model was fitted with some: give them "
                f"in a column '{side.fingerprint}'"
            )
        bits, wanted = table.features.shape[1], side.features.shape[1]
        if bits != wanted:
            raise InputError(
                f"{table.name} has fingerprints of {bits} bits, but the model was fitted with "
                f"{wanted}: fold them to that length"
            )
        return table.features
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
