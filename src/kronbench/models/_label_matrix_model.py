"""Models of a complete label matrix: checked input, the labels as a matrix, predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import dense
from kronbench.models._pair_classifier import check_pairs, check_targets
from kronbench.models._parameters import OfPairs, check_regs
from kronbench.models._vertex_kernel import FELT_ROUNDING, rounding, stacked, warn_if_rounded
from kronbench.pairs import PairData
from kronbench.pairs.data import Features, as_features
from kronbench.pairs.spectral_filters import FILTERS, tikhonov

FILTER = [StrOptions(set(FILTERS)), callable]  # range of a spectral filter
_CHUNK_PAIRS = 4096  # pairs that are predicted together where few of all are asked for


class LabelMatrixModel(RegressorMixin, OfPairs):
    """Base of the models that need the label of every pair of a row and a column vertex.

    A subclass has ``_fit(row_features, row_vertices, col_features, col_vertices, Y)``, where
    vertices are positions in the features or None for all, ``_scores(row_features,
    col_features)``, L and E with the predictions L @ E.T, and ``_left_out(setting, regs, folds,
    symmetric)``, an iterator over points of the grid of weights and left-out predictions.
    """

    _weights: tuple[str, ...] = ("reg",)  # names of the regularization weights
    _sparse_labels = False  # whether a sparse label matrix stays sparse

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Fit to labels y (n,) of X: all pairs of its vertices, once each, in any order."""
        self._check_parameters()
        y = check_targets(X, y)
        # Each cell of the label matrix must be there once, so cells, entries and pairs are as
        # many.
        row_vertices, rows = np.unique(X.rows, return_inverse=True)
        col_vertices, cols = np.unique(X.cols, return_inverse=True)
        m, q = len(row_vertices), len(col_vertices)
        cells = rows * q + cols
        distinct = len(np.unique(cells))
        if distinct < m * q or len(cells) > distinct:
            raise InputError(
                f"X holds {distinct} of the {m} x {q} pairs of its vertices, "
                f"{len(cells) - distinct} of its {len(cells)} entries repeat one: "
                f"{type(self).__name__} needs every pair exactly once; KronRidge takes incomplete "
                "data"
            )
        Y = np.empty(m * q)
        Y[cells] = y
        some_rows = None if m == X.n_rows else row_vertices
        some_cols = None if q == X.n_cols else col_vertices
        return self._fit(X.row_features, some_rows, X.col_features, some_cols, Y.reshape(m, q))

    def fit_matrix(self, row_features: Features, col_features: Features, Y: Features) -> Self:
        """Fit to a label matrix Y (m, q), dense or sparse, of all pairs of instances and tasks.

        They are given by features (m, d), (q, r), or kernel matrices where "precomputed".
        """
        self._check_parameters()
        vertices = PairData(row_features, col_features, [], [])
        Y = checked_matrix(Y, (vertices.n_rows, vertices.n_cols), self._sparse_labels)
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
        *regs: ArrayLike,
        score: Callable[[np.ndarray], float] | None = None,
        folds: ArrayLike | None = None,
        symmetric: bool = False,
    ) -> np.ndarray | Iterator[tuple[Any, np.ndarray]]:
        """Predictions of ``loo`` for a grid of weights, from one eigendecomposition a side.

        Of ``reg`` (s,), or of ``reg_rows`` (s,) and ``reg_cols`` (t,) for TwoStepRidge: an
        iterator over (index, (m, q) predictions), or ((i, j), predictions), in any order; with
        ``score``, a function of the predictions, an array (s,) or (s, t) of its values.
        """
        check_is_fitted(self)
        folds = self._checked_folds(setting, folds, symmetric)
        if len(regs) != len(self._weights):
            raise InputError(f"{len(regs)} grids: give one of each of {', '.join(self._weights)}")
        names = (name.replace("reg", "regs") for name in self._weights)
        grids = [check_regs(values, name) for values, name in zip(regs, names, strict=True)]
        # Points of the grid come one by one, so that scores need one label matrix at a time.
        points = self._left_out(setting, grids, folds, symmetric)
        if score is None:
            return points
        scores = np.empty([len(values) for values in grids])
        for point, F in points:
            scores[point] = score(F)
        return scores

    def _checked_folds(self, setting, folds, symmetric):
        """The folds as arrays, two in setting D and else one; None one by one."""
        if setting not in ("A", "B", "C", "D"):
            raise InputError(f"setting={setting!r} is unknown: give 'A', 'B', 'C' or 'D'")
        m, q = self.shape_
        if symmetric and (m != q or folds is not None):
            raise InputError(
                f"symmetric=True with {m} rows and {q} columns{', and folds' if m == q else ''}: "
                "it leaves out one pair or vertex of a square label matrix at a time, without "
                "folds"
            )
        if folds is None:
            return None
        wanted = {"A": [(m, q)], "B": [(m,)], "C": [(q,)], "D": [(m,), (q,)]}[setting]
        each = folds if setting == "D" and isinstance(folds, tuple | list) else (folds,)
        arrays = tuple(np.asarray(one) for one in each)
        if (shapes := [fold.shape for fold in arrays]) != wanted:
            raise InputError(
                f"folds of setting {setting!r} have the shapes {shapes}: give the number of a "
                f"fold for each that is left out, {wanted}"
            )
        if min(len(np.unique(fold)) for fold in arrays) < 2:
            raise InputError(
                "folds has one fold, and nothing is left without it: give two or more"
            )
        return arrays

    def predict(self, X: PairData) -> np.ndarray:
        """Predictions (n,) for the n pairs of X, in O(n) beyond those of its vertices."""
        check_is_fitted(self)
        check_pairs(X)
        used_rows, rows = np.unique(X.rows, return_inverse=True)
        left, right = self._scores(X.row_features[used_rows], X.col_features)
        # A product of matrices has all pairs, and makes a number faster than a sum for one pair.
        if len(X) * 8 > len(used_rows) * X.n_cols:
            return np.asarray(left @ right.T)[rows, X.cols]
        right, out = dense(right), np.empty(len(X))
        for start in range(0, len(X), _CHUNK_PAIRS):
            part = slice(start, start + _CHUNK_PAIRS)
            out[part] = np.einsum("ij,ij->i", left[rows[part]], right[X.cols[part]])
        return out

    def predict_matrix(self, row_features: Features, col_features: Features) -> np.ndarray:
        """Predictions (m', q') for all pairs of new vertices, given by features (m', d), (q', r).

        With a precomputed kernel, by the values (m', m) or (q', q) with the training vertices.
        """
        check_is_fitted(self)
        vertices = PairData(row_features, col_features, [], [])
        left, right = self._scores(vertices.row_features, vertices.col_features)
        return np.asarray(left @ right.T)


class RidgeOfSides(LabelMatrixModel):
    """Base of the models with a ridge system of a side; ``_fit`` ends in ``_fit_sides``."""

    _sparse_labels = True

    def _fit_sides(self, Y, rows, cols=None):
        """Keep the sides and the labels, project these, and solve."""
        self._rows, self._cols, self._labels, self.shape_ = rows, cols, Y, Y.shape
        self._projected = self._of_columns("project", rows.project(Y))
        self._coef: Any = None
        self._weights_of_axes: Any = None
        self._solve()
        return self

    def _of_columns(self, method, values):
        """A method of the columns' system, where there is one, for what has columns as columns."""
        return values if self._cols is None else getattr(self._cols, method)(values.T).T

    def _solve(self):
        """The coefficients, and what predictions take in their place, when first asked for.

        They are the same unless the kernel's rounding would be felt: then linear sides are
        folded, and what embedded vertices are multiplied with are weights of features' axes.
        """
        if self._coef is not None:
            return self._coef, self._weights_of_axes
        sides = [self._rows] if self._cols is None else [self._rows, self._cols]
        # The kernels come first; if their rounding is felt, features take the place of linear
        # ones.
        for fold in (False, True):
            for side in sides:
                side.fold(fold)
            # A is (K + reg_rows I)^-1 Y (G + reg_cols I)^-1 (Eq. 13), or that of Eq. 2 without
            # columns.
            self._coef = self._of_columns("solve", self._rows.solve(self._projected))
            self._weights_of_axes = self._coef
            if any(side.folded for side in sides):
                weights = self._rows.weigh(self._projected)
                self._weights_of_axes = self._of_columns("weigh", weights)
            # Predictions are sums of weights times embedded vertices, whose terms may cancel.
            felt = self._rows.sizes[:, None] * self._weights_of_axes
            felt = felt if self._cols is None else felt * self._cols.sizes
            lost = rounding(felt, self._projected if self._labels is None else self._labels)
            if lost <= FELT_ROUNDING:
                break
        warn_if_rounded(lost, stacklevel=6)
        return self._coef, self._weights_of_axes

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients, solved for when first asked for."""
        return self._solve()[0]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Dual coefficients (m, q), solved for from the labels at each call."""
        return self._of_columns("dual_solve", self._rows.dual_solve(self._kept_labels()))

    def _kept_labels(self):
        """The training labels; InputError where a stream has freed them."""
        if self._labels is None:
            raise InputError("the training data was not kept: fit with keep_data=True")
        return self._labels

    def partial_fit_rows(self, features: Features, Y: Features) -> Self:
        """Take in l new instances with labels Y (l, q), exactly (Stock et al. 2016, Algorithm 1).

        By features (l, d), or with a precomputed kernel (l, m + l) values with the m old rows,
        then the l new. Primal rows: O(l^3 + d^2 l) for l < d features, O(d^3 + d^2 l) otherwise.
        Dual rows are factorized with the old ones, O(m^3); linear ones that come to be more than
        their features change to the primal. The coefficients are recomputed at the next access.
        """
        check_is_fitted(self)
        # The new labels pass through the system of the columns before that of the rows takes them.
        features, (m, q) = as_features(features, "row_features"), self.shape_
        Y, keep = checked_matrix(Y, (features.shape[0], q), True), self._labels is not None
        new = self._of_columns("project", Y)
        self._projected = self._rows.extend(features, self._projected, new, keep)
        if keep:
            self._labels = stacked(self._labels, Y)
        else:
            self._rows.forget_features()
        self.shape_, self._coef = (m + features.shape[0], q), None
        return self


def checked_matrix(
    Y: Any, shape: tuple[int, int], allow_sparse: bool
) -> np.ndarray | sparse.csr_array:
    """Y as finite float64 (m, q)."""
    if sparse.issparse(Y):
        Y = sparse.csr_array(Y).astype(np.float64) if allow_sparse else Y.toarray()
    Y = Y if sparse.issparse(Y) else np.asarray(Y)
    if Y.shape != shape:
        raise InputError(f"Y has shape {Y.shape}: give one label a pair, shape {shape}")
    if Y.dtype.kind not in "fiub":
        raise InputError(f"Y has dtype {Y.dtype}: give numbers")
    if not np.isfinite(Y.data if sparse.issparse(Y) else Y).all():
        raise InputError(
            "Y holds NaN or infinite values: give finite numbers; KronRidge takes incomplete data"
        )
    return Y.astype(np.float64, copy=False)


def check_exact(filter: Callable) -> None:
    """InputError for a filter whose leave-one-out predictions need retraining."""
    if filter is not tikhonov:
        raise InputError(
            "leave-one-out shortcuts are exact for filter='tikhonov' only: without a row, "
            "other filters of a kernel matrix are not a rank-one update"
        )
