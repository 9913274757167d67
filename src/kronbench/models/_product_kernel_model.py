"""Linear models in the product of a row and a column kernel: their operators over pairs."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.models._pair_labels import check_pairs
from kronbench.models._small_pairs import small_pairs
from kronbench.models._vertex_features import VertexFeatures
from kronbench.models._vertex_kernel import check_precomputed
from kronbench.pairs import SampledKroneckerOperator
from kronbench.pairs.data import used_vertices

_STOPS = {
    "max_iter": "its number of iterations",
    "breakdown": "a breakdown of the Krylov method",
    "rounding": "rounding",
    "no_descent": "a step along which the objective does not fall",
    "diverged": "an objective that is not finite",
}
_ANOTHER = "give a larger reg, more inner iterations or inner_solver='cg'"
_REMEDIES = {
    "max_iter": "give more iterations, a larger tol, or tol=0 where early stopping is meant",
    "breakdown": "give a larger reg or scale the features",
    "rounding": "give a larger reg or tol",
    "no_descent": _ANOTHER,
    "diverged": _ANOTHER,
}


class ProductKernelModel(BaseEstimator):
    """Base of the linear models in the product kernel k(d, d') g(t, t') of pairs (d, t).

    A subclass has the parameters form, reg, row_kernel, col_kernel, row_gamma, col_gamma, tol and
    method, and sets ``X_fit_`` and ``dual_coef_`` or ``coef_``.
    """

    _iterations_regularize = False  # whether an end by the number of iterations is meant

    @classmethod
    def warm_up(cls) -> None:
        """Compile, or load, what fits and predictions need: call it before a clock starts."""
        pairs, y = small_pairs()
        pairs, y = pairs[:20], y[:20]  # so few that Algorithm 1 is the cheapest product
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            cls().fit(pairs, y).predict(pairs)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        return tags

    def prediction_operator(self, X_fit, X=None):
        """Operator from coefficients of a model fitted to X_fit to its scores for X.

        With it a callback scores each iterate on other pairs for the price of one product.

        Parameters
        ----------
        X_fit : PairData
            The n pairs of the training set.
        X : PairData, optional
            The t pairs to predict; X_fit itself when None.

        Returns
        -------
        SampledKroneckerOperator
            (t, n) in the dual form, R^ (G^ kron K^) R' of Section 3.1; (t, d*r) in the primal.
            Vertices that no pair uses are left out. Of single precision where all features of
            X_fit are.
        """
        if self.form == "primal":
            return self._design_operator(*self._design(X_fit, X_fit if X is None else X))
        if self.form != "dual":
            raise InputError(f"form={self.form!r} is unknown: give 'dual' or 'primal'")
        dtype = _precision(X_fit)
        matrices, out_pairs, in_pairs = [], [], []
        for side, index in (("row", "rows"), ("col", "cols")):
            matrix, out_index, in_index = _kernel_between_used(
                getattr(X_fit, f"{side}_features"),
                getattr(X_fit, index),
                None if X is None else (getattr(X, f"{side}_features"), getattr(X, index)),
                side,
                getattr(self, f"{side}_kernel"),
                getattr(self, f"{side}_gamma"),
            )
            matrices.append(matrix.astype(dtype, copy=False))
            out_pairs.append(out_index)
            in_pairs.append(in_index)
        if X is None:  # the same pairs on both sides, which the operator then sorts once
            in_pairs = None, None
        return SampledKroneckerOperator(*matrices, *out_pairs, *in_pairs, method=self.method)

    def _design(self, X_fit, X):
        """T (a, d), D (b, r) and the rows of them (t,) of each pair: X = R (T kron D)."""
        row_map, col_map = self._feature_maps(X_fit)
        used_rows, rows = used_vertices(X.rows, X.n_rows)
        used_cols, cols = used_vertices(X.cols, X.n_cols)
        return row_map(X.row_features[used_rows]), col_map(X.col_features[used_cols]), rows, cols

    def _feature_maps(self, X_fit):
        kernels = {
            "row": (self.row_kernel, self.row_gamma),
            "col": (self.col_kernel, self.col_gamma),
        }
        maps = getattr(self, "feature_maps_", ())
        if not maps or not all(
            known.fits(X_fit, *kernel)
            for known, kernel in zip(maps, kernels.values(), strict=True)
        ):
            dtype = _precision(X_fit)
            maps = tuple(VertexFeatures(X_fit, side, *kernels[side], dtype) for side in kernels)
            self.feature_maps_ = maps
        return maps

    def _design_operator(self, row_features, col_features, rows, cols):
        d, r = row_features.shape[1], col_features.shape[1]
        in_rows, in_cols = np.repeat(np.arange(d), r), np.tile(np.arange(r), d)
        return SampledKroneckerOperator(
            row_features,
            col_features,
            rows,
            cols,
            in_rows,
            in_cols,
            method=self.method,
        )

    def _set_fitted(self, X, coef, objective_path, stop):
        self.X_fit_ = X
        primal = self.form == "primal"
        for other in ("dual_coef_",) if primal else ("coef_", "feature_maps_"):
            self.__dict__.pop(other, None)  # of an earlier fit in the other form
        setattr(self, "coef_" if primal else "dual_coef_", coef)
        self.objective_path_ = objective_path
        self.n_iter_ = len(objective_path)
        self.stop_reason_ = stop
        meant = "tol", "callback"
        if self.tol == 0 or self._iterations_regularize:
            meant += ("max_iter",)
        if stop not in meant:
            warnings.warn(
                f"{type(self).__name__} ended by {_STOPS[stop]} after {self.n_iter_} iterations, "
                f"before it reached tol={self.tol:g}: {_REMEDIES[stop]}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X):
        """Scores (t,) of the t pairs of X, in O(min(v |a| + m t, u |a| + q t)), Eq. 5.

        |a| is the number of nonzero dual coefficients; u, v, m, q count the vertices of X and of
        the training pairs with a nonzero coefficient. The primal form takes
        O(min(v d r + d t, u d r + r t)).
        """
        check_is_fitted(self)
        check_pairs(X)
        if self.form == "primal":
            return self.prediction_operator(self.X_fit_, X).matvec(self.coef_)
        support = self.dual_coef_ != 0
        if not support.any():
            return np.zeros(len(X), self.dual_coef_.dtype)
        if support.all():
            support = slice(None)
        operator = self.prediction_operator(self.X_fit_[support], X)
        return operator.matvec(self.dual_coef_[support])


def _precision(X):
    single = X.row_features.dtype == X.col_features.dtype == np.float32
    return np.float32 if single else np.float64


def _kernel_between_used(features, index, other, side, kernel, gamma):
    """Kernel matrix (out, in) of the vertices in use, and the pairs' positions in it.

    ``other`` holds features and indices of the pairs to predict; None stands for the training
    pairs themselves, with a symmetric matrix.
    """
    used, in_index = used_vertices(index, features.shape[0])
    precomputed = isinstance(kernel, str) and kernel == "precomputed"
    if precomputed:
        source = features if other is None else other[0]
        check_precomputed(source, features.shape[0], side)
    if other is None:
        selected = features[used][:, used] if precomputed else features[used]
        return gram(selected, kernel=kernel, gamma=gamma), in_index, in_index
    out_used, out_index = used_vertices(other[1], other[0].shape[0])
    if precomputed:
        matrix = gram(other[0][out_used][:, used], kernel=kernel)
    else:
        matrix = gram(other[0][out_used], features[used], kernel=kernel, gamma=gamma)
    return matrix, out_index, in_index
