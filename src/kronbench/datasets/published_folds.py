"""Splits that others published: positions of pairs in files.

A position counts the known pairs of the label matrix in row-major order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kronbench.datasets.dataset import Dataset, FileRecord
from kronbench.datasets.fetch import Files
from kronbench.errors import InputError

_STAND_IN_PARTS = 6  # of a stand-in, as DeepDTA's: five to train and one to test


@dataclass(frozen=True)
class PublishedFold:
    """Training and test pairs as published.

    ``rows`` and ``cols`` (n,) are the vertices of all known pairs, in row-major order; ``parts``
    and ``test`` are positions among them, in the published order: of the training pairs in five
    parts for DeepDTA. ``setting`` says what is new in a test pair, A: nothing, B: its row, C: its
    column. ``source`` is as of a data set; "surrogate" for a random split of surrogate data in the
    same setting. An affinity above ``positive_above`` is a positive.
    """

    dataset: str
    name: str
    title: str
    setting: str
    rows: np.ndarray
    cols: np.ndarray
    parts: tuple[np.ndarray, ...]
    test: np.ndarray
    source: str
    positive_above: float | None
    files: tuple[FileRecord, ...] = ()

    @cached_property
    def train(self) -> np.ndarray:
        """Positions of all training pairs."""
        return np.concatenate(self.parts)

    @property
    def new_rows(self) -> np.ndarray:
        """Row vertices of test pairs that no training pair has, in increasing order."""
        return np.setdiff1d(self.rows[self.test], self.rows[self.train])

    @property
    def new_cols(self) -> np.ndarray:
        """The same of column vertices."""
        return np.setdiff1d(self.cols[self.test], self.cols[self.train])

    def leak(self, row_similarity: np.ndarray, col_similarity: np.ndarray) -> Leak:
        """Which test vertices and pairs have a twin in training.

        Vertices are twins if their rows of the square similarity matrix are equal: no kernel made
        from it can tell them apart.
        """
        row_kind, col_kind = (
            np.unique(similarity, axis=0, return_inverse=True)[1].ravel()
            for similarity in (row_similarity, col_similarity)
        )
        if len(row_kind) <= self.rows.max() or len(col_kind) <= self.cols.max():
            raise InputError(
                f"the similarities are of {len(row_kind)} rows and {len(col_kind)} columns: give "
                f"those of the vertices of {self.dataset}"
            )
        # Two pairs are twins if their vertices are on both sides.
        pair_kind = row_kind[self.rows] * (col_kind.max() + 1) + col_kind[self.cols]
        return Leak(
            np.isin(row_kind[self.new_rows], row_kind[self.rows[self.train]]),
            np.isin(col_kind[self.new_cols], col_kind[self.cols[self.train]]),
            np.isin(pair_kind[self.test], pair_kind[self.train]),
        )


class Leak(NamedTuple):
    """Which parts of a test set have a twin in training.

    ``rows`` and ``cols`` say for the new vertices of the fold whether a training vertex has the
    same row of similarities, ``pairs`` (t,) whether a training pair has twins, or the same vertex,
    on both sides.
    """

    rows: np.ndarray
    cols: np.ndarray
    pairs: np.ndarray

    @property
    def shares(self) -> dict[str, float]:
        """Leak scores: share of the new vertices of each side that has some, and of the pairs."""
        return {name: float(part.mean()) for name, part in self._asdict().items() if len(part)}


def published_fold(
    name: str, entry: Mapping, data: Dataset, files: Files, source: str, rng: np.random.Generator
) -> PublishedFold:
    """The fold of its files: JSON lists of positions, a list of lists to train on.

    Without files it is a random split of the same setting in six parts, the last of which is the
    test set.
    """
    if data.kind != "label matrix":
        raise InputError(f"{data.name} holds {data.kind}: folds are of a label matrix")
    rows, cols = np.nonzero(np.isfinite(data["values"]))
    if files:
        parts, test = (json.loads(files[key].text()) for key in ("train", "test"))
    else:
        # What is left out as one: a pair, all pairs of a row, or of a column.
        units = {"A": np.arange(len(rows)), "B": rows, "C": cols}[entry["setting"]]
        occurring, unit = np.unique(units, return_inverse=True)
        part = rng.permutation(np.arange(len(occurring)) % _STAND_IN_PARTS)[unit]
        *parts, test = (np.flatnonzero(part == k) for k in range(_STAND_IN_PARTS))
    return PublishedFold(
        *(data.name, name, entry["title"], entry["setting"], rows, cols),
        *(tuple(map(np.array, parts)), np.array(test), source, entry.get("positive_above")),
        tuple(file.record for file in files.values()),
    )
