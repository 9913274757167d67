"""Models of a complete label matrix: checked input, the labels as a matrix, predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import dense
from kronbench.models._pair_labels import check_pairs, check_targets
from kronbench.models._parameters import OfPairs, check_regs
from kronbench.pairs import PairData
from kronbench.pairs.data import Features
from kronbench.pairs.spectral_filters import tikhonov

SETTINGS = ("A", "B", "C", "D")

# Condition number beyond which a solution without regularization has lost half of its digits.
_ILL_CONDITIONED = 1e8


class LabelMatrixModel(RegressorMixin, OfPairs):
    """Base of the models that need the label of every pair of a row and a column vertex.

    A subclass has ``_fit(row_features, row_vertices, col_features, col_vertices, Y)``, where
    vertices are positions in the features or None for all, ``_scores(row_features,
    col_features)``, which returns an array L and a matrix E with the predictions L @ E.T, and
    ``_left_out(setting, regs, folds, symmetric)``, an iterator over left-out predictions.
    """

    _weights: tuple[str, ...] = ("reg",)  # names of the regularization weights
    _sparse_labels = False  # whether a sparse label matrix stays sparse

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Fit to labels y (n,) of X: all pairs of its vertices, once each, in any order."""
        self._check_parameters()
        row_vertices, col_vertices, Y = label_matrix(X, y, type(self).__name__)
        return self._fit(X.row_features, row_vertices, X.col_features, col_vertices, Y)

    def fit_matrix(self, row_features: Features, col_features: Features, Y: Features) -> Self:
        """Fit to a label matrix.

        Parameters
        ----------
        row_features : (m, d) array or sparse matrix
            Instances; or the (m, m) kernel matrix where the row kernel is "precomputed".
        col_features : (q, r) array or sparse matrix
            Tasks; the same.
        Y : (m, q) array or sparse matrix of numbers
        """
        self._check_parameters()
        vertices = checked_vertices(row_features, col_features)
        Y = checked_matrix(Y, vertices.n_rows, vertices.n_cols, allow_sparse=self._sparse_labels)
        return self._fit(vertices.row_features, None, vertices.col_features, None, Y)

    def loo(
        self, setting: str, folds: ArrayLike | None = None, *, symmetric: bool = False
    ) -> np.ndarray:
        """Leave-one-out predictions (m, q) of the training labels, or those of cross-validation.

        Parameters
        ----------
        setting : {"A", "B", "C", "D"}
            What is left out to predict the pair (i, j): its label, row i, column j, or both.
        folds : array, or two of them in setting D, optional
            Equal for entries that are left out together, such as numbers of folds or names of
            groups: (m, q) of the pairs in A, (m,) of the rows in B, (q,) of the columns in C,
            ((m,), (q,)) in D.
        symmetric : bool, default False
            Rows and columns are the same vertices. With the pair (i, j) its label at (j, i) is
            left out; with a vertex, its row and its column.
        """
        check_is_fitted(self)
        weights: Any = ([getattr(self, name)] for name in self._weights)
        grid = self.loo_grid(setting, *weights, folds=folds, symmetric=symmetric)
        return next(iter(grid))[1]

    def loo_grid(
        self,
        setting: str,
        regs: ArrayLike,
        score: Callable[[np.ndarray], float] | None = None,
        *,
        folds: ArrayLike | None = None,
        symmetric: bool = False,
    ) -> np.ndarray | Iterator[tuple[int, np.ndarray]]:
        """Predictions of ``loo`` for a grid of weights, from one eigendecomposition a side.

        Parameters
        ----------
        setting, folds, symmetric : as for ``loo``
        regs : (s,) array of positive numbers
        score : callable((m, q) array) -> float, optional

        Returns
        -------
        (s,) array of scores; without ``score`` an iterator over (index, (m, q) predictions).
        """
        check_is_fitted(self)
        given = checked_folds(setting, folds, symmetric, self.shape_)
        grid = enumerate(self._left_out(setting, check_regs(regs), given, symmetric))
        return grid if score is None else np.array([score(F) for _, F in grid])

    def predict(self, X: PairData) -> np.ndarray:
        """Predictions (n,) for the n pairs of X, in O(n) beyond those of its vertices."""
        check_is_fitted(self)
        check_pairs(X)
        used_rows, rows = np.unique(X.rows, return_inverse=True)
        left, right = self._scores(X.row_features[used_rows], X.col_features)
        if len(X) * 8 > len(used_rows) * X.n_cols:
            return np.asarray(left @ right.T)[rows, X.cols]
        return _gathered(left, right, rows, X.cols)

    def predict_matrix(self, row_features: Features, col_features: Features) -> np.ndarray:
        """Predictions (m', q') for all pairs of new vertices, given by features (m', d), (q', r).

        With a precomputed kernel, by the values (m', m) or (q', q) with the training vertices.
        """
        check_is_fitted(self)
        vertices = checked_vertices(row_features, col_features)
        left, right = self._scores(vertices.row_features, vertices.col_features)
        return np.asarray(left @ right.T)


def label_matrix(
    X: PairData, y: ArrayLike, model: str
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray]:
    """Positions of the row and the column vertices in use, and the labels as a (m, q) matrix."""
    y = check_targets(X, y)
    row_vertices, rows = np.unique(X.rows, return_inverse=True)
    col_vertices, cols = np.unique(X.cols, return_inverse=True)
    m, q = len(row_vertices), len(col_vertices)
    cells = rows * q + cols
    distinct = len(np.unique(cells))
    if distinct < m * q or len(cells) > distinct:
        raise InputError(
            f"X holds {distinct} of the {m} x {q} pairs of its vertices, "
            f"{len(cells) - distinct} of its {len(cells)} entries repeat one: {model} needs every "
            "pair exactly once; KronRidge takes incomplete data"
        )
    Y = np.empty(m * q)
    Y[cells] = y
    every_row, every_col = m == X.n_rows, q == X.n_cols
    return (
        None if every_row else row_vertices,
        None if every_col else col_vertices,
        Y.reshape(m, q),
    )


def checked_features(features: Features) -> np.ndarray | sparse.csr_array:
    """The features as PairData takes them."""
    return checked_vertices(features, np.empty((0, 1))).row_features


def checked_vertices(row_features: Features, col_features: Features) -> PairData:
    """The features as a PairData without pairs."""
    return PairData(row_features, col_features, [], [])


def checked_matrix(
    Y: Any,
    m: int,
    q: int,
    *,
    allow_sparse: bool = False,
) -> np.ndarray | sparse.csr_array:
    """Y as finite float64 (m, q)."""
    if sparse.issparse(Y):
        Y = sparse.csr_array(Y).astype(np.float64) if allow_sparse else Y.toarray()
    Y = Y if sparse.issparse(Y) else np.asarray(Y)
    if Y.shape != (m, q):
        raise InputError(f"Y has shape {Y.shape}: give one label a pair, shape {(m, q)}")
    if Y.dtype.kind not in "fiub":
        raise InputError(f"Y has dtype {Y.dtype}: give numbers")
    values = Y.data if sparse.issparse(Y) else Y
    if not np.isfinite(values).all():
        raise InputError(
            "Y holds NaN or infinite values: give finite numbers; KronRidge takes incomplete data"
        )
    return Y.astype(np.float64, copy=False)


def checked_folds(
    setting: str, folds: ArrayLike | None, symmetric: bool, shape: tuple[int, int]
) -> tuple[np.ndarray, ...] | None:
    """The folds of a setting as a tuple of arrays; InputError where they do not fit labels."""
    if setting not in SETTINGS:
        raise InputError(f"setting={setting!r} is unknown: give 'A', 'B', 'C' or 'D'")
    m, q = shape
    if symmetric and (m != q or folds is not None):
        raise InputError(
            f"symmetric=True with {m} rows and {q} columns{', and folds' if m == q else ''}: it "
            "leaves out one pair or vertex of a square label matrix at a time, without folds"
        )
    if folds is None:
        return None
    wanted = {"A": [(m, q)], "B": [(m,)], "C": [(q,)], "D": [(m,), (q,)]}[setting]
    each = folds if setting == "D" and isinstance(folds, tuple | list) else (folds,)
    given = tuple(np.asarray(one) for one in each)
    if (shapes := [fold.shape for fold in given]) != wanted:
        raise InputError(
            f"folds of setting {setting!r} have the shapes {shapes}: give the number of a fold "
            f"for each that is left out, {wanted}"
        )
    if min(len(np.unique(fold)) for fold in given) < 2:
        raise InputError("folds has one fold, and nothing is left without it: give two or more")
    return given


def warn_if_ill_conditioned(values: np.ndarray, name: str) -> None:
    """LinAlgWarning where the eigenvalues ``values``, zeros apart, spread over half the digits."""
    kept = values[values > 0]
    if len(kept) and kept.max() > _ILL_CONDITIONED * kept.min():
        warnings.warn(
            f"{name} has condition number {kept.max() / kept.min():.1e}: without regularization "
            "the solution has few correct digits; give a positive reg",
            LinAlgWarning,
            stacklevel=4,
        )


def check_exact(filter: Callable) -> None:
    """InputError for a filter whose leave-one-out predictions need retraining."""
    if filter is not tikhonov:
        raise InputError(
            "leave-one-out shortcuts are exact for filter='tikhonov' only: without a row, "
            "other filters of a kernel matrix are not a rank-one update"
        )


def stacked(
    labels: np.ndarray | sparse.csr_array, new: np.ndarray | sparse.csr_array
) -> np.ndarray | sparse.csr_array:
    """New rows of labels under the old ones; sparse where both are."""
    if sparse.issparse(labels) and sparse.issparse(new):
        return sparse.csr_array(sparse.vstack([labels, new]))
    return np.vstack([dense(labels), dense(new)])


def _gathered(left, right, rows, cols, chunk=4096):
    """Entries (rows, cols) of left @ right.T, without the rest of it."""
    right = dense(right)
    out = np.empty(len(rows))
    for start in range(0, len(rows), chunk):
        part = slice(start, start + chunk)
        out[part] = np.einsum("ij,ij->i", left[rows[part]], right[cols[part]])
    return out
