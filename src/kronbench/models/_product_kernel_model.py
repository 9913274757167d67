"""Linear models in the product of a row and a column kernel: their operators over pairs."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.linalg.eigen import check_semidefinite
from kronbench.models._pair_classifier import check_columns, check_pairs
from kronbench.models._parameters import OfPairs
from kronbench.models._vertex_features import VertexFeatures
from kronbench.pairs import PairData, PairwiseOperator, SampledKroneckerOperator
from kronbench.pairs.data import (
    as_features,
    known_vertices,
    rows_of,
    same_features,
    small_pairs,
    used_vertices,
)
from kronbench.pairs.pairwise import OF_ONE_SET, PAIRWISE, check_pairwise
from kronbench.pairs.sparse_design import SparseDesign, sparse_pays
from kronbench.pairs.vec_trick import METHODS
from kronbench.progress import progress

# Ranges of the parameters that the models share
PAIRWISE_KERNELS = [StrOptions(set(PAIRWISE)), Mapping]
PRODUCTS = [StrOptions(set(METHODS))]

_NO_DESCENT = "give a larger reg, a larger max_inner or solver='cg'"
# Why iterations may end before the tolerance, and what helps.
_STOPS = {
    "max_iter": (
        "its number of iterations",
        "give more iterations, a larger tol, or tol=0 if early stopping is intended",
    ),
    "breakdown": ("a breakdown of the Krylov method", "give a larger reg or scale the features"),
    "rounding": (
        "rounding",
        "give a larger reg, double precision, scaled features or a larger tol",
    ),
    "no_descent": ("a step along which the objective does not fall", _NO_DESCENT),
    "diverged": ("an objective that is not finite", _NO_DESCENT),
}


class ProductKernelModel(OfPairs):
    """Base of the linear models in the product kernel k(d, d') g(t, t') of pairs (d, t).

    It reads parameters that all of them have: ``form``, ``pairwise``, ``fit_intercept``,
    ``max_iter``, ``tol``, ``product``, ``dtype``, ``verbose``, and of each side kernel, gamma and
    effect. A subclass has ``fit``, which ends in ``_set_fitted``.
    """

    _iterations_regularize: ClassVar[Any]  # whether an end by their number is meant

    @classmethod
    def warm_up(cls) -> None:
        """Compile, or load, what fits and predictions need: call it before a clock starts."""
        pairs, y = small_pairs()
        pairs, y = pairs[:20], y[:20]  # They are so few that Algorithm 1 is the cheapest product.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            # With a callback, iterations are made in place of a decomposition.
            cls().fit(pairs, y, callback=lambda _: False).predict(pairs)

    def prediction_operator(
        self, X_fit: PairData, X: PairData | None = None
    ) -> SampledKroneckerOperator | PairwiseOperator:
        """Operator from coefficients of a model fitted to X_fit to its scores for X.

        (t, n) in the dual form, R^ (G^ kron K^) R' of Section 3.1, and (t, d*r) in the primal,
        for n training pairs and t pairs to predict, X_fit itself when None. It leaves out the
        intercept. With it a callback scores each iterate on other pairs for the price of one
        product. It reads the parameters, not an earlier fit; in the primal form it decomposes the
        kernel matrices, O(v k^2), as ``fit`` does.
        """
        self._check_parameters()
        return self._operator(X_fit, X)[0]

    def _operator(self, X_fit, X=None):
        """That operator, and in the primal form the feature maps and the factors of the design."""
        # The dual form multiplies with R (G kron K) R' (Eq. 7), the primal with R (T kron D).
        if not self.is_primal(X_fit):
            return self._gram_operator(X_fit, X), None, None
        maps = self._make_feature_maps(X_fit)
        design = self._design(maps, X_fit if X is None else X)
        return self._design_operator(*design), maps, design

    def is_primal(self, X: PairData) -> bool:
        """Whether a fit to these pairs is one to features of their products, in O(n)."""
        if self.form == "primal" and (
            self.pairwise != "kronecker" or self.row_effect or self.col_effect
        ):
            raise InputError(
                "form='primal' has only features of products: give form='dual' with another "
                "pairwise kernel or with vertex effects"
            )
        return self.form == "primal" or (self.form == "auto" and self._features_are_cheaper(X))

    def _features_are_cheaper(self, X):
        """Whether form="auto" takes the primal form; a subclass with that choice says."""
        return False

    def _thin_design(self, X):
        """What a fit without iterations decomposes, None for a fit with them."""
        return None

    def _gram_operator(self, X_fit, X=None):
        """Operator of the dual form; X_fit with itself when X is None."""
        weights = check_pairwise(self.pairwise)
        if not weights.keys().isdisjoint(OF_ONE_SET):
            # A kernel of pairs of one vertex set compares rows with columns: one kernel matrix
            # holds the values between all of them, so that both sides must be the same.
            alike = all(
                same_features(data.row_features, data.col_features)
                for data in ((X_fit,) if X is None else (X_fit, X))
            )
            of_rows, of_cols = (
                [getattr(self, f"{side}_{name}") for name in ("kernel", "gamma", "effect")]
                for side in ("row", "col")
            )
            # What differs is said: the features, or how they make a kernel.
            if not alike or of_rows != of_cols:
                same = "kernel, gamma and effect" if alike else "features"
                raise InputError(
                    f"pairwise={self.pairwise!r} is a kernel of pairs of one vertex set: give the "
                    f"same {same} for rows and columns"
                )
            # The index holds the row of each pair, and then the column of each.
            matrix, out_ends, in_ends, _ = self._kernel_between_used(
                "row", X_fit, X, lambda pairs: np.concatenate([pairs.rows, pairs.cols])
            )
            parts: Any = (matrix, None), np.split(out_ends, 2), np.split(in_ends, 2), (None, None)
        else:
            # Other kernels of pairs are made of a row and a column kernel matrix.
            parts = zip(
                self._kernel_between_used("row", X_fit, X, lambda pairs: pairs.rows),
                self._kernel_between_used("col", X_fit, X, lambda pairs: pairs.cols),
                strict=True,
            )
        matrices, out_pairs, in_pairs, (row_match, col_match) = parts
        if X is None:  # The pairs are the same on both sides, and the operator sorts them once.
            in_pairs = None, None
        pairs = *matrices, *out_pairs, *in_pairs
        if weights == {"kronecker": 1.0}:
            return SampledKroneckerOperator(*pairs, method=self.product)
        return PairwiseOperator(
            weights, *pairs, row_match=row_match, col_match=col_match, method=self.product
        )

    def _kernel_between_used(self, side, X_fit, X, index_of):
        """Kernel matrix (out, in) of the vertices in use, and the pairs' positions in it.

        Last comes, for each row of the matrix, the column of the same vertex, -1 for a new one.
        All are new unless an effect or "cartesian" asks for them.
        """
        kernel, gamma = getattr(self, f"{side}_kernel"), getattr(self, f"{side}_gamma")
        precomputed = kernel == "precomputed"
        effect = getattr(self, f"{side}_effect")
        # Vertices are known again by their features as given, before a change of precision.
        same = None  # the position in X_fit of each vertex of X
        if X is not None and (effect or "cartesian" in check_pairwise(self.pairwise)):
            same = known_vertices(X, X_fit, side)
        X_fit = self._in_dtype(X_fit)
        features = getattr(X_fit, f"{side}_features")
        others = features if X is None else getattr(self._in_dtype(X), f"{side}_features")
        check_columns(others, features.shape[0 if precomputed else 1], side, precomputed)
        # Only vertices that occur in pairs take part, so that the others cost nothing.
        used, in_index = used_vertices(index_of(X_fit), features.shape[0])
        if X is None:
            selected = features[used][:, used] if precomputed else features[used]
            matrix = gram(selected, kernel=kernel, gamma=gamma)
            if precomputed:
                check_semidefinite(matrix, f"the precomputed kernel {side}_features")
            out_index, match = in_index, np.arange(len(matrix))
        else:
            out_used, out_index = used_vertices(index_of(X), others.shape[0])
            if precomputed:
                matrix = gram(others[out_used][:, used], kernel=kernel)
            else:
                matrix = gram(others[out_used], features[used], kernel=kernel, gamma=gamma)
            # ``column`` leads from positions in X_fit to the matrix; vertices without pairs are
            # new.
            match = np.full(len(matrix), -1)
            if same is not None:
                column, same = np.full(features.shape[0], -1), same[out_used]
                column[used] = np.arange(matrix.shape[1])
                match = np.where(same < 0, -1, column[same])
        matrix = matrix.astype(_precision(X_fit), copy=False)
        if effect:
            # K + effect [d = d'] lets each known vertex deviate from what its features predict.
            matrix, places = np.array(matrix), np.flatnonzero(match >= 0)
            matrix[places, match[places]] += effect
        return matrix, out_index, in_index, match

    def _make_feature_maps(self, X_fit, dtype=None):
        """The maps of a row and of a column vertex to its features in the primal form."""
        X_fit = self._in_dtype(X_fit)
        dtype = dtype or _precision(X_fit)
        names = "kernel", "gamma", "landmarks"  # the last only of some models
        row_options, col_options = (
            [getattr(self, f"{side}_{name}", None) for name in names] for side in ("row", "col")
        )
        return (
            VertexFeatures(X_fit, "row", dtype, *row_options),
            VertexFeatures(X_fit, "col", dtype, *col_options),
        )

    def _design(self, feature_maps, X):
        """Features of rows (u, d) and of columns (v, r) in use, and the places (t,) of the pairs.

        The row of the design of a pair has all products of a feature of its row vertex and one of
        its column vertex; the last index of them is that of the column feature.
        """
        row_map, col_map = feature_maps
        used_rows, rows = used_vertices(X.rows, X.n_rows)
        used_cols, cols = used_vertices(X.cols, X.n_cols)
        row_features, col_features = (
            rows_of(X.row_features, used_rows),
            rows_of(X.col_features, used_cols),
        )
        # Those in use alone are cast: a block of a screen has few of very many vertices.
        if self.dtype is not None:
            row_features = as_features(row_features.astype(self.dtype, copy=False), "row_features")
            col_features = as_features(col_features.astype(self.dtype, copy=False), "col_features")
        return row_map(row_features), col_map(col_features), rows, cols

    def _design_operator(self, row_features, col_features, rows, cols):
        """The design (t, d*r) of :meth:`_design` as an operator."""
        design = row_features, col_features, rows, cols
        if sparse_pays(*design, self.product):
            return SparseDesign(*design)
        d, r = row_features.shape[1], col_features.shape[1]
        in_rows, in_cols = np.repeat(np.arange(d), r), np.tile(np.arange(r), d)
        return SampledKroneckerOperator(*design, in_rows, in_cols, method=self.product)

    def _in_dtype(self, X):
        """The pairs with features of ``dtype``; as they are where it is None."""
        if self.dtype is None:
            return X
        features = (
            side.astype(self.dtype, copy=False) for side in (X.row_features, X.col_features)
        )
        return X.with_features(*features)

    def _centred(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, float]:
        """The labels less their mean, and the mean; without an intercept 0, maybe a warning."""
        # The mean function is constant, and the coefficients fit what it leaves of the labels.
        if self.fit_intercept:
            mean = float(np.average(y, weights=weight))
            return (y - mean if mean else y), mean
        if y.mean() ** 2 > y.var() and len(np.unique(y)) > 2:
            warnings.warn(
                f"the mean of the labels is larger than their standard deviation, and this "
                f"{type(self).__name__} has no intercept for it: give fit_intercept=True, or "
                "subtract the mean",
                UserWarning,
                stacklevel=3,
            )
        return y, 0.0

    @contextmanager
    def _shown(self, callback: Callable[..., bool] | None) -> Iterator[Callable[..., bool]]:
        """The callback, or one that stops nothing, which also shows the iteration."""
        with progress(self.max_iter, type(self).__name__, "iteration", self.verbose) as bar:

            def shown(*state):
                bar.update()
                return callback is not None and callback(*state)

            yield shown

    def _as_fitted(self) -> Self:
        """The model with the parameters that it was fitted with, whatever they are by now."""
        then = copy.copy(self)
        then.__dict__.update(self.__dict__.get("fitted_params_", {}))
        return then

    def _set_fitted(self, X, feature_maps, coef, objective_path, stop, near=False):
        """``feature_maps`` is None in the dual; an end ``near`` the optimum is no failure."""
        self.fitted_params_ = self.get_params(deep=False)
        # An earlier fit may have been in the other form.
        for name in ("dual_coef_", "coef_", "feature_maps_"):
            self.__dict__.pop(name, None)
        self.X_fit_ = X
        if feature_maps is None:
            self.dual_coef_ = coef
        else:
            self.coef_, self.feature_maps_ = coef, feature_maps
        self.objective_path_, self.n_iter_ = objective_path, len(objective_path)
        self.stop_reason_, self.converged_ = stop, stop == "tol"
        # Reaching ``max_iter`` is no failure where the number of iterations regularizes.
        meant = self.tol == 0 or self._iterations_regularize or near
        if stop not in ("tol", "callback", "max_iter" if meant else None):
            reason, remedy = _STOPS[stop]
            warnings.warn(
                f"{type(self).__name__} ended by {reason} after {self.n_iter_} iterations, before "
                f"it reached tol={self.tol:g}: {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X: PairData) -> np.ndarray:
        """Scores (t,) of the t pairs of X, in O(min(v |a| + m t, u |a| + q t)), Eq. 5.

        u, v, m, q count the vertices of X and of the |a| training pairs with a nonzero
        coefficient. The primal form takes O(min(v d r + d t, u d r + r t)).
        """
        check_is_fitted(self)
        check_pairs(X)
        scores = self._as_fitted()._scores(X)
        return scores + self.intercept_ if self.intercept_ else scores

    def _scores(self, X):
        """Scores (t,) without the intercept, by the coefficients of the form that was fitted."""
        if hasattr(self, "coef_"):
            # The scores are R^ (T^ kron D^) w (Section 3.1), in the precision of the coefficients.
            row_features, col_features, *places = self._design(self.feature_maps_, X)
            sides = (
                side.astype(self.coef_.dtype, copy=False) for side in (row_features, col_features)
            )
            scores = self._design_operator(*sides, *places).matvec(self.coef_)
            single = _precision(self._in_dtype(X)) == np.float32
            return scores.astype(np.float32, copy=False) if single else scores
        # The scores are R^ (G^ kron K^) R'a without the pairs whose coefficient is zero (Eq. 5).
        support = self.dual_coef_ != 0
        if not support.any():
            return np.zeros(len(X), self.dual_coef_.dtype)
        if support.all():
            support = slice(None)
        operator = self._gram_operator(self.X_fit_[support], X)
        return operator.matvec(self.dual_coef_[support])


def _precision(X):
    """Single precision where both sides have it, else double."""
    single = X.row_features.dtype == X.col_features.dtype == np.float32
    return np.float32 if single else np.float64
