"""Kronecker ridge regression whose weights, kernels and vertex effects validation pairs choose."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product
from numbers import Integral
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.base import RegressorMixin
from sklearn.model_selection import KFold, check_cv
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from kronbench.errors import InputError
from kronbench.linalg import KernelColumns, dense, gram
from kronbench.linalg.eigen import check_semidefinite
from kronbench.models._kernel_sums import Fold, combined, profile_kernel, profiles, validation_loss
from kronbench.models._pair_classifier import check_columns, check_pairs, check_targets
from kronbench.models._parameters import (
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_0,
    POSITIVE,
    OfPairs,
    check_regs,
    estimator,
    parameter,
)
from kronbench.models.kron_ridge import KronRidge
from kronbench.pairs import PairData
from kronbench.pairs.data import known_vertices
from kronbench.progress import progress

_REGS = tuple(float(10.0**k) for k in np.arange(-3, 2.5, 0.5))
_OTHER_KERNELS_WEIGHT = 0.1  # start of all kernels but the chosen one, which has 1
_LOG_WEIGHT_RANGE = np.log(1e5)  # largest change of the logarithm of a weight
_KERNEL_NAMES = ("linear", "tanimoto", "precomputed", "constant", "profile")
_KERNELS = [StrOptions(set(_KERNEL_NAMES)), callable, Mapping, np.ndarray, "sparse matrix"]


@estimator
class KronRidgeCV(RegressorMixin, OfPairs):
    """Ridge regression on pairs, chosen by validation pairs: :class:`KronRidge` of their choice.

    Its kernel of a side is a weighted sum of candidates and of a vertex effect, a multiple of the
    identity. First each pair of one row and one column candidate is tried for all of ``regs``,
    from one Krylov space (:meth:`KronRidge.path`). Then the weights of all candidates and both
    effects follow the gradient of the validation error, from the best pair on.

    Parameters
    ----------
    row_kernels, col_kernels : mapping from names to kernels, or one kernel, default "linear"
        Each is "linear", "tanimoto" or a function of the features; "precomputed" where the
        features are the kernel matrix; a kernel matrix (m, m) over all vertices of the pairs,
        those to predict too; "constant", with which sums over one side enter; or "profile", the
        Gaussian kernel of a vertex's training labels beyond row and column effects.
    powers : tuple of int, default (1, 2)
        Elementwise powers of each candidate, which are kernels too.
    regs : tuple of float, default tuple(10.0**k for k in np.arange(-3, 2.5, 0.5))
        Weights of regularization to begin with, for kernels whose diagonals have the mean 1.
    effect : float, default 0.1
        Vertex effect of each side to begin with.
    cv : int, splitter or iterable of (train, test), default 5
        Validation sets: parts of the pairs at random, or others, such as those of
        :class:`kronbench.evaluation.SettingKFold`.
    gradient_steps : int, default 30
        Steps of L-BFGS at most; 0 ends with the grid.
    max_iter : int, default 200
        Iterations of MINRES in each system.
    tol : float, default 1e-6
        MINRES stops earlier when the residual has fallen by this factor.
    random_state : int, RandomState or None, default None
        Of the random parts.
    verbose : bool or int, default False
        Whether ``fit`` shows on standard error how far it is: a bar on a terminal, elsewhere a
        line for each tenth of the most iterations. It changes no number.

    Attributes
    ----------
    best_params_ : dict
        ``reg``, ``row_weights`` and ``col_weights`` (by name, their sum is 1), ``row_effect`` and
        ``col_effect``.
    best_score_ : float
        Its mean squared error on the validation pairs.
    cv_results_ : dict of lists
        ``row_kernel``, ``col_kernel``, ``reg`` and ``error`` of each point of the grid, then of
        each step, named "sum", with its ``reg``.
    on_edge_ : list of str
        Parameters that lie at an end of what was tried: "reg" where no gradient steps were made,
        else the names of weights at an end of their box, a factor of 1e5.
    X_fit_, y_fit_ : PairData and (n,) array
        The training pairs, by reference, and their labels.
    kernels_ : two arrays, (m, m) and (q, q)
        The weighted sums of kernels over all vertices, without the vertex effects.
    best_estimator_ : KronRidge
        Fitted to all pairs over these kernels; it has ``dual_coef_``.
    dual_coef_, intercept_ : (n,) array and float
        Its coefficients, and the mean of the labels, which predictions add.
    """

    row_kernels: Any = parameter("linear", *_KERNELS)
    col_kernels: Any = parameter("linear", *_KERNELS)
    powers: tuple[int, ...] = parameter((1, 2), list, tuple)
    regs: tuple[float, ...] = parameter(_REGS, "array-like")
    effect: float = parameter(0.1, POSITIVE)
    cv: Any = parameter(5, "cv_object")
    gradient_steps: int = parameter(30, COUNT_FROM_0)
    max_iter: int = parameter(200, COUNT)
    tol: float = parameter(1e-6, AT_LEAST_0)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    verbose: bool | int = parameter(False, "verbose")

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Choose by the validation pairs, then fit to all."""
        self._check_parameters()
        # Each validation part has base kernels of its own training pairs.
        y = check_targets(X, y)
        _check_vary(y, "y")
        regs = check_regs(self.regs).tolist()
        cv = self.cv
        if isinstance(cv, Integral):
            if int(cv) > len(X):
                raise InputError(f"cv is {cv} for {len(X)} pairs: give no more parts than pairs")
            cv = KFold(cv, shuffle=True, random_state=self.random_state)
        folds = [self._fold(X, y, *split) for split in check_cv(cv).split(X, y)]
        # The grid takes one row kernel, one column kernel and a weight.
        names = ("row_kernel", "col_kernel", "reg", "error")
        self.cv_results_: dict[str, list] = {name: [] for name in names}
        kernels, reg = self._grid(folds, regs)
        self.best_score_ = min(self.cv_results_["error"])
        steps, bases = self.gradient_steps, (folds[0].rows, folds[0].cols)
        self.on_edge_ = ["reg"] if reg in (min(regs), max(regs)) and not steps else []
        # The descent begins at the best point of the grid, with a little of all other kernels.
        weights = self._begin(kernels, bases, _OTHER_KERNELS_WEIGHT if steps else 0)
        if steps:
            weights = self._descend(folds, weights, reg, kernels)
        return self._finish(X, y, weights, reg)

    def refit(self, X: PairData, y: ArrayLike, params: Mapping) -> Self:
        """Fit what an earlier choice, the ``best_params_`` of a fit, says; nothing is chosen."""
        self._check_parameters()
        y, weights = check_targets(X, y), []
        for side in ("row", "col"):
            chosen, bases = params[f"{side}_weights"], self._bases(X, y, side)
            if strange := chosen.keys() - bases.keys():
                raise InputError(
                    f"params have weights of {', '.join(sorted(strange))}: the {side} kernels are "
                    f"{', '.join(bases)}"
                )
            weights.append({name: chosen.get(name, 0.0) for name in bases})
            weights[-1][None] = params[f"{side}_effect"]
        return self._finish(X, y, weights, params["reg"])

    def _bases(self, X, y, side):
        """Kernel matrices (v, v) over all vertices of a side, whose diagonals have the mean 1."""
        candidates = self._candidates(side)
        if not candidates:
            raise InputError(f"{side}_kernels is empty: give at least one kernel")
        if not (self.powers and all(isinstance(k, Integral) and k >= 1 for k in self.powers)):
            raise InputError(f"powers is {self.powers!r}: give whole numbers from 1")
        # Vertices without pairs have kernel values too, since they may be predicted. The level of
        # a kernel is its mean diagonal over those with pairs.
        features, used = getattr(X, f"{side}_features"), np.unique(getattr(X, f"{side}s"))
        size, bases = features.shape[0], {}
        for name, candidate in candidates.items():
            entry = f"{side}_kernels[{name!r}]"
            if _is_named(candidate, "constant"):
                bases[name] = np.ones((size, size))
                continue
            if _is_named(candidate, "profile"):
                bases[name] = profile_kernel(X, y, side)
                continue
            if isinstance(candidate, str) and candidate not in _KERNEL_NAMES:
                raise InputError(
                    f"{side}_kernels has {candidate!r}: give one of "
                    f"{', '.join(map(repr, _KERNEL_NAMES))}, a kernel function or a kernel matrix"
                )
            # A candidate is a kernel of the features, or the matrix itself.
            named = isinstance(candidate, str) or callable(candidate)
            K = gram(features, kernel=candidate) if named else dense(candidate)
            if K.shape != (size, size):
                raise InputError(
                    f"{entry} has shape {K.shape}: give one row and one column for each of the "
                    f"{size} vertices"
                )
            check_semidefinite(K, entry)
            level = np.mean(K.diagonal()[used])
            if not level > 0:
                raise InputError(
                    f"{entry} is zero for every vertex of the training pairs: leave it out, or "
                    "give other features"
                )
            bases |= self._in_powers(name, K / level)
        return bases

    def _in_powers(self, name, K):
        """The elementwise powers of a kernel by name; the first has the kernel's own name."""
        return {name if power == 1 else f"{name}^{power}": K**power for power in self.powers}

    def _of_new(self, features, side):
        """The weighted sum (u, v) of the base kernels between new vertices and those of a side."""
        X, weights = self.X_fit_, self.best_params_[f"{side}_weights"]
        training, used = getattr(X, f"{side}_features"), np.unique(getattr(X, f"{side}s"))
        total = np.zeros((features.shape[0], training.shape[0]))
        for name, candidate in self._candidates(side).items():
            # A kernel without weight is not evaluated, and may be one that has no new vertices.
            if not any(weights.get(of, 0) for of in (name, *self._in_powers(name, 1.0))):
                continue
            if _is_named(candidate, "constant"):
                total += weights[name]
                continue
            if _is_named(candidate, "profile"):
                # A new vertex has no labels, so that its profile is zero.
                Z, gamma = profiles(X, self.y_fit_, side)
                none = np.zeros((1, Z.shape[1]))
                total += weights[name] * gram(none, Z, kernel="gaussian", gamma=gamma)
                continue
            if not (isinstance(candidate, str) or callable(candidate)):
                raise InputError(
                    f"{side}_kernels[{name!r}] is a kernel matrix, which has no entries for a new "
                    f"{side} vertex: fit to a PairData that also has the vertices to predict, or "
                    "give 'precomputed' and the matrix as features"
                )
            precomputed = _is_named(candidate, "precomputed")
            # The values are divided by the level of the kernel in the fit.
            check_columns(features, training.shape[0 if precomputed else 1], side, precomputed)
            if precomputed:
                diagonal, K = dense(training).diagonal()[used], dense(features)
            else:
                diagonal = KernelColumns(training[used], candidate).diagonal()
                K = gram(features, training, kernel=candidate)
            for of_power, base in self._in_powers(name, K / np.mean(diagonal)).items():
                total += weights[of_power] * base
        return total

    def _candidates(self, side):
        """The candidates of a side by name; a single one has a name of its own."""
        candidates = getattr(self, f"{side}_kernels")
        if isinstance(candidates, Mapping):
            return candidates
        return {candidates if isinstance(candidates, str) else "kernel": candidates}

    def _fold(self, X, y, train, test):
        """A validation part, whose base kernels know the labels of its training pairs alone."""
        if not len(train) or not len(test):
            raise InputError("cv has a part without pairs: give training and validation pairs")
        _check_vary(y[train], "y of the training pairs of a validation part")
        X_train, mean = X[train], y[train].mean()
        bases = [self._bases(X_train, y[train], side) for side in ("row", "col")]
        return Fold(X_train, X[test], y[train] - mean, y[test] - mean, *bases)

    def _grid(self, folds, regs):
        """The best pair of one row and one column kernel, and its weight, by the mean error."""
        ridge = self._ridge(1.0, self.effect, self.effect)

        def errors(fold, row, col):
            """Mean squared errors of a part for all of ``regs``, from one Krylov space."""
            kernels = fold.rows[row], fold.cols[col]
            train, test = (part.with_features(*kernels) for part in (fold.train, fold.test))
            path = ridge.path(train, fold.y_train, regs, test)
            bar.update()
            return [
                np.mean((path.test_scores(j)[-1] - fold.y_test) ** 2) for j in range(len(regs))
            ]

        sides = self._tried_alone("row", folds[0].rows), self._tried_alone("col", folds[0].cols)
        total = len(sides[0]) * len(sides[1]) * len(folds)
        with progress(total, "KronRidgeCV, grid", "path", self.verbose) as bar:
            for row, col in product(*sides):
                mean_errors = np.mean([errors(fold, row, col) for fold in folds], axis=0)
                for reg, error in zip(regs, mean_errors, strict=True):
                    self._note(row, col, reg, error)
        at = int(np.argmin(self.cv_results_["error"]))
        row, col, reg, _ = (values[at] for values in self.cv_results_.values())
        return (row, col), reg

    def _tried_alone(self, side, bases):
        """All but "constant", which has nothing to say alone."""
        candidates = self._candidates(side)
        alone = [name for name in bases if not _is_named(candidates.get(name), "constant")]
        return alone or list(bases)

    def _note(self, row, col, reg, error):
        """Append a point of the grid or of the descent to ``cv_results_``."""
        values = row, col, float(reg), float(error)
        for column, value in zip(self.cv_results_.values(), values, strict=True):
            column.append(value)

    def _begin(self, names, both_bases, share):
        """Weights of a row and a column kernel, beside them ``share`` among the others."""
        weights = []
        for chosen, bases in zip(names, both_bases, strict=True):
            # The weight of the identity, the vertex effect, comes last and has no name.
            others = share / max(len(bases) - 1, 1)
            weights.append({name: 1.0 if name == chosen else others for name in bases})
            weights[-1][None] = self.effect
        return weights

    def _descend(self, folds, weights, reg, names):
        """L-BFGS on the logarithms of all weights; reg stays, as their scale stands for it."""
        # The logarithms are those of the row weights, their effect, the column weights, their
        # effect.
        n_rows = len(weights[0])
        start = np.log(np.concatenate([list(side.values()) for side in weights]))
        tried: list = []

        def loss(logs):
            """The mean validation error of the parts, and its gradient by the logarithms."""
            row_weights, col_weights = np.split(np.exp(logs), [n_rows])
            value, gradient = 0.0, np.zeros_like(logs)
            for fold in folds:
                error, by_rows, by_cols = validation_loss(
                    *(fold, row_weights, col_weights, reg), tol=self.tol, max_iter=self.max_iter
                )
                value += error / len(folds)
                gradient += np.concatenate([by_rows, by_cols]) / len(folds)
            self._note("sum", "sum", reg / (row_weights.sum() * col_weights.sum()), value)
            tried.append((value, logs.copy()))
            return value, gradient

        box = [(x - _LOG_WEIGHT_RANGE, x + _LOG_WEIGHT_RANGE) for x in start]
        options = {"maxiter": self.gradient_steps, "maxfun": 2 * self.gradient_steps}
        how = {"method": "L-BFGS-B", "jac": True, "bounds": box, "options": options}
        with progress(self.gradient_steps, "KronRidgeCV, weights", "step", self.verbose) as bar:
            minimize(loss, start, callback=lambda _: bar.update(), **how)
        # The best point that was tried counts, as the last one of a search need not be the best.
        best_value, logs = min(tried, key=lambda one: one[0])
        # The best point of the grid has none of the other kernels that the search began with.
        if best_value > self.best_score_:
            return self._begin(names, (folds[0].rows, folds[0].cols), 0)
        self.best_score_ = best_value
        # The labels name the weights that the box has stopped.
        labels = [
            f"{side} {name or 'effect'}"
            for side, of_side in zip(("row", "col"), weights, strict=True)
            for name in of_side
        ]
        self.on_edge_ += np.array(labels)[np.abs(logs - start) > _LOG_WEIGHT_RANGE - 1e-6].tolist()
        return [
            dict(zip(side, map(float, values), strict=True))
            for side, values in zip(weights, np.split(np.exp(logs), [n_rows]), strict=True)
        ]

    def _finish(self, X, y, weights, reg):
        """Fit to all pairs with these weights of each side, divided by their sums."""
        # The scale of the kernels goes to reg and the effects: c K + e I is c (K + (e / c) I). The
        # sum is from left to right, as Python's own compensates from 3.12 on.
        scales = [reduce(add, (w for name, w in side.items() if name)) for side in weights]
        effects = [side.pop(None) / scale for side, scale in zip(weights, scales, strict=True)]
        weights = [
            {name: w / scale for name, w in side.items()}
            for side, scale in zip(weights, scales, strict=True)
        ]
        self.best_params_ = {
            "reg": float(reg / (scales[0] * scales[1])),
            "row_weights": weights[0],
            "col_weights": weights[1],
            "row_effect": effects[0],
            "col_effect": effects[1],
        }
        self.X_fit_, self.y_fit_, self.intercept_ = X, y, float(y.mean())
        self.kernels_ = tuple(
            combined(self._bases(X, y, side), np.array([*of_side.values(), 0.0]))
            for side, of_side in zip(("row", "col"), weights, strict=True)
        )
        self.best_estimator_ = self._ridge(self.best_params_["reg"], *effects)
        # The kernel matrices are the features of the fit, and vertices are known by position.
        pairs = X.with_features(*self.kernels_)
        pairs.row_ids, pairs.col_ids = (tuple(map(str, range(len(K)))) for K in self.kernels_)
        self.dual_coef_ = self.best_estimator_.fit(pairs, y - self.intercept_).dual_coef_
        return self

    def _ridge(self, reg, row_effect, col_effect):
        """The ridge regression over summed kernel matrices, which all steps of the choice fit."""
        options: dict[str, Any] = {"row_effect": row_effect, "col_effect": col_effect}
        options |= {"row_kernel": "precomputed", "col_kernel": "precomputed"}
        options |= {"solver": "minres", "max_iter": self.max_iter, "tol": self.tol}
        options |= {"verbose": self.verbose}
        return KronRidge(reg=reg, **options)

    def predict(self, X: PairData) -> np.ndarray:
        """Predictions (t,) for the pairs of X.

        A vertex with the features of one that ``fit`` was given is the same; others are new, and
        have no vertex effect.
        """
        check_is_fitted(self)
        check_pairs(X)
        values, ids = [], []
        for side, K in zip(("row", "col"), self.kernels_, strict=True):
            # Known vertices take their rows of the summed kernel, new ones are evaluated.
            at = known_vertices(X, self.X_fit_, side)
            new = np.flatnonzero(at < 0)
            if not np.array_equal(at, np.arange(len(K))):
                K = K[at]
                if len(new):
                    K[new] = self._of_new(getattr(X, f"{side}_features")[new], side)
            values.append(K)
            # Equal rows of a kernel may be of several vertices.
            ids.append(
                tuple(f"{place}" if place >= 0 else f"new {i}" for i, place in enumerate(at))
            )
        pairs = X.with_features(*values)
        pairs.row_ids, pairs.col_ids = ids
        return self.intercept_ + self.best_estimator_.predict(pairs)


def _is_named(candidate, name):
    return isinstance(candidate, str) and candidate == name  # A candidate may be an array.


def _check_vary(y, name):
    if y.min() == y.max():
        raise InputError(f"{name} is constant, {y[0]:g}, for n_samples={len(y)}: give others")
