"""Labelled pairs of vertices: the input of every pairwise estimator."""

from __future__ import annotations

import warnings
from copy import copy as shallow_copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kronbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Features: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix


class PairData:
    """Pairs (row vertex, column vertex) over two shared sets of vertices.

    Parameters
    ----------
    row_features : (m, d) array or sparse matrix
        One row for each row vertex (a drug, a customer); or a kernel matrix where the
        estimator says ``kernel="precomputed"`` ((m, m) to fit, (m, m_train) to predict).
    col_features : (q, r) array or sparse matrix
        The same for the column vertices.
    rows, cols : (n,) arrays of integers of any type
        One entry a pair: the positions of its two vertices. They are kept as ``np.intp``.

    Attributes
    ----------
    n_rows, n_cols : int
        Numbers of row vertices, m, and of column vertices, q.
    row_ids, col_ids : tuple of str, or None
        Names of the vertices, where the pairs came from data frames.

    Notes
    -----
    A one-dimensional collection of n = ``len(data)`` pairs: ``data[index]`` takes a subset of
    them and shares the features, so that scikit-learn's splitters and searches work.
    """

    def __init__(
        self, row_features: Features, col_features: Features, rows: ArrayLike, cols: ArrayLike
    ):
        self.row_ids: tuple[str, ...] | None = None
        self.col_ids: tuple[str, ...] | None = None
        self.row_features = as_features(row_features, "row_features")
        self.col_features = as_features(col_features, "col_features")
        self.n_rows, self.n_cols = self.row_features.shape[0], self.col_features.shape[0]
        # int32 is half the memory of very many pairs; sums of smaller types overflow
        self.rows, self.cols = (
            index if index.dtype == np.int32 else index.astype(np.intp, copy=False)
            for index in as_positions(rows, cols, (self.n_rows, self.n_cols), ("rows", "cols"))
        )

    @classmethod
    def complete(cls, row_features: Features, col_features: Features) -> PairData:
        """All m*q pairs, row-major: ``y.reshape(data.n_rows, data.n_cols)`` is their matrix."""
        data = cls(row_features, col_features, [], [])
        data.rows = np.repeat(np.arange(data.n_rows), data.n_cols)
        data.cols = np.tile(np.arange(data.n_cols), data.n_rows)
        return data

    @classmethod
    def from_frames(
        cls,
        pairs: pd.DataFrame,
        rows: pd.DataFrame,
        cols: pd.DataFrame,
        row: str = "drug",
        col: str = "target",
        label: str | None = None,
    ) -> Any:
        """Pairs from data frames that name their vertices by ids.

        Parameters
        ----------
        pairs : DataFrame
            One row a pair, with the ids of its vertices and perhaps its label.
        rows, cols : DataFrame
            One row a vertex: its id in the index, or in the first column where the index is
            pandas' own 0, 1, 2 ...; all other columns are numbers. A square table whose columns
            are named by the ids is a similarity, for ``row_kernel="precomputed"``. A single column
            ``fp_hex`` or ``fp_bits`` holds fingerprints, as hexadecimal digits or zeros and ones:
            a sparse matrix for "tanimoto".
        row, col : str
            The columns of ``pairs`` with the ids of the row and of the column vertex.
        label : str, optional
            The column of ``pairs`` with their labels.

        Returns
        -------
        PairData with ``row_ids`` and ``col_ids``; with ``label``, it and the labels (n,)
        """
        from kronbench.pairs.frames import read_pairs, read_vertices

        row_table, col_table = read_vertices(rows, "rows"), read_vertices(cols, "cols")
        positions, y = read_pairs(pairs, (row_table, col_table), (row, col), label)
        data = cls(row_table.features, col_table.features, *positions)
        data.row_ids, data.col_ids = row_table.ids, col_table.ids
        return data if label is None else (data, y)

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``, without which scikit-learn indexes as it does a list."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self.rows)

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        """Refused: numpy would make an array of PairData of one pair each."""
        raise InputError(
            "a PairData is not an array of features: give it to an estimator of "
            "kronbench.models unchanged, and scale its features with kronbench.models.VertexScaler"
        )

    def __getitem__(self, index: ArrayLike | slice) -> PairData:
        if isinstance(index, tuple):
            if len(index) != 2 or index[1] is not Ellipsis:  # as scikit-learn asks for samples
                raise InputError(
                    "a PairData has one dimension: index its pairs, and its features as "
                    "row_features and col_features"
                )
            index = index[0]
        if not isinstance(index, slice):
            index = np.atleast_1d(index)
            if index.ndim > 1:
                raise InputError(
                    f"the index has {index.ndim} dimensions: give positions or a mask of pairs"
                )
            if index.size == 0:
                index = index.astype(np.intp)  # numpy makes an empty list a float array
        # The subset shares features and ids: a position stays the same vertex.
        subset = shallow_copy(self)
        subset.rows, subset.cols = self.rows[index], self.cols[index]
        return subset

    def with_features(self, row_features: Features, col_features: Features) -> PairData:
        """The same pairs, and ids of vertices, over other features of the same vertices."""
        data = PairData(row_features, col_features, self.rows, self.cols)
        data.row_ids, data.col_ids = self.row_ids, self.col_ids
        return data

    def __repr__(self) -> str:
        return f"PairData({len(self)} pairs over {self.n_rows} x {self.n_cols} vertices)"


def used_vertices(index: np.ndarray, size: int) -> tuple[np.ndarray | slice, np.ndarray]:
    """The vertices (k,) in an index, all of them as ``slice(None)``, and its positions among them.

    By a mask and not by ``np.unique``, whose sort of ten million pairs takes as long as a descent.
    """
    occurs = np.zeros(size, dtype=bool)
    occurs[index] = True
    if occurs.all():
        return slice(None), index
    # The position of a vertex that occurs is the number of those before it.
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[index]


def rows_of(features: Any, used: np.ndarray | slice) -> Any:
    """The features of the vertices in use: the same object for all, which SciPy would copy."""
    return features if isinstance(used, slice) else features[used]


def same_features(
    one: np.ndarray | sparse.csr_array, other: np.ndarray | sparse.csr_array
) -> bool:
    """Whether two features of vertices have the same values."""
    if one is other:
        return True
    if sparse.issparse(one) != sparse.issparse(other) or one.shape != other.shape:
        return False
    return (one != other).nnz == 0 if sparse.issparse(one) else np.array_equal(one, other)


def known_vertices(X: PairData, fitted: PairData, side: str) -> np.ndarray:
    """The position in ``fitted`` of each vertex in use of a side of X, -1 for a new one, (v,).

    In one array, or two that are equal throughout, a vertex is a position. Otherwise it is the row
    with the same values, and with the same id where both have ids. A row that is several vertices
    of ``fitted`` counts as new, and a UserWarning says so. One without pairs is -1 too; of one
    vertex set, whose sides have the same features, one that is in no pair on either side. O(v d).
    """
    one, other = (getattr(data, f"{side}_features") for data in (X, fitted))
    ids = [getattr(data, f"{side}_ids") for data in (X, fitted)]
    named = None not in ids
    # Equal arrays need no search: a vertex is its position.
    if one is other or ((ids[0] == ids[1] or not named) and same_features(one, other)):
        return np.arange(one.shape[0])
    # A vertex is looked up by the bytes of its row, and by its id where both sides have ids.
    index = getattr(X, f"{side}s")
    if same_features(X.row_features, X.col_features):  # one set, used by the pairs of either side
        index = np.append(X.rows, X.cols)
    used = np.arange(one.shape[0])[used_vertices(index, one.shape[0])[0]]
    ids[0] = [ids[0][vertex] for vertex in used] if named else None
    keys = [
        list(zip(names, rows, strict=True)) if named else rows
        for names, rows in zip(ids, _row_values(one[used], other), strict=True)
    ]
    # The mark -2 is for a row that several vertices of ``fitted`` have, -1 for one that none has.
    places: dict = {}
    for position, key in enumerate(keys[1]):
        places[key] = -2 if key in places else position
    match = np.full(one.shape[0], -1)
    match[used] = [places.get(key, -1) for key in keys[0]]
    if several := np.count_nonzero(match == -2):
        warnings.warn(
            f"{several} {side} vertices have the features of several vertices of the fit, and "
            "count as new: give all features that were given to fit, or ids, as "
            "PairData.from_frames does",
            UserWarning,
            stacklevel=2,
        )
    return np.maximum(match, -1)


def _row_values(*features):
    """A list of rows for each of the features, as bytes that are equal where the values are."""
    dtype = np.result_type(*(one_side.dtype for one_side in features))
    any_sparse = any(map(sparse.issparse, features))
    for one_side in features:
        if not any_sparse:
            Z = np.ascontiguousarray(one_side, dtype) + dtype.type(0)  # -0.0 becomes 0.0
            yield [row.tobytes() for row in Z]
            continue
        # The columns of a row are unique, sorted and not zero, so that equal rows are equal bytes.
        Z = sparse.csr_array(one_side, dtype=dtype, copy=True)
        Z.sum_duplicates()
        Z.eliminate_zeros()
        places, ends = Z.indices.astype(np.int64), Z.indptr
        yield [
            places[first:end].tobytes() + Z.data[first:end].tobytes()
            for first, end in pairwise(ends.tolist())
        ]


def as_features(features: Any, name: str) -> np.ndarray | sparse.csr_array:
    """An array or CSR matrix of finite numbers, one row for each vertex."""
    if sparse.issparse(features):
        if not isinstance(features, sparse.csr_array):  # the same object is the same vertices
            features = sparse.csr_array(features)
        if not features.has_canonical_format:  # what counts the entries of a row may count on it
            features = features.copy()
            features.sum_duplicates()
        values = features.data
    else:
        if not isinstance(features, np.memmap):  # the same object, as above
            features = np.asarray(features)
        values = features
        if features.ndim != 2:
            raise InputError(
                f"{name} has {features.ndim} dimension(s): give a two-dimensional array, "
                "one row for each vertex"
            )
    if values.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {values.dtype}: give numbers")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"{name} holds NaN or infinite values: give finite numbers")
    return features


def as_positions(
    rows: ArrayLike, cols: ArrayLike, shape: tuple[int, int], names: tuple[str, str]
) -> list[np.ndarray]:
    """Positions (n,) of row and of column vertices, checked, in the integer types they have."""
    checked = []
    for positions, size, name in zip((rows, cols), shape, names, strict=True):
        index = np.asarray(positions)
        if index.ndim != 1:
            raise InputError(f"{name} has {index.ndim} dimension(s): give a one-dimensional array")
        if index.size == 0:
            index = index.astype(np.intp)
        elif index.dtype.kind not in "iu":
            raise InputError(f"{name} has dtype {index.dtype}: give integers")
        elif (low := int(index.min())) < 0 or int(index.max()) >= size:
            wrong = low if low < 0 else int(index.max())
            raise InputError(f"{name} holds the index {wrong}, out of range for {size} vertices")
        checked.append(index)
    if len(checked[0]) != len(checked[1]):
        raise InputError(
            f"{names[0]} has {len(checked[0])} entries and {names[1]} has {len(checked[1])}: give "
            "one of each for every pair"
        )
    return checked


def small_pairs() -> tuple[PairData, np.ndarray]:
    """All 144 pairs of 12 vertices with three features, and labels -1 and 1: to warm up with."""
    rng = np.random.default_rng(0)
    features = rng.random((12, 3))
    return PairData.complete(features, features), np.where(rng.random(144) < 0.5, -1.0, 1.0)
