"""Linear model of pairs by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from sklearn.linear_model import SGDClassifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from kronbench.models._pair_classifier import PairClassifier, concatenated, occurring, with_weight
from kronbench.models._parameters import COUNT, POSITIVE, estimator, parameter
from kronbench.pairs import PairData

_LOSSES = {"hinge": "hinge", "logistic": "log_loss"}
_FORMS = ("primal", "dual")
# Concatenated features beyond this come in blocks, as scikit-learn holds them twice for a moment.
_MOST_BYTES = 9 * 2**27


@estimator
class PairSGD(PairClassifier):
    """Linear scores <w, [d, t]> + b by scikit-learn's stochastic gradient descent.

    Minimizes sum_h loss(y_h, f_h) + reg/2 ||w||^2, so that scikit-learn's ``alpha`` is reg/n.
    Features are made dense and standardized over the training vertices, each counted once, and w
    and reg refer to that scale. It is ``SGDClassifier.fit`` on the n x (d + r) concatenated
    features; where these pass 1.1 GiB, ``partial_fit`` on random blocks of that size.

    Parameters
    ----------
    loss : {"hinge", "logistic"}, default "hinge"
        The hinge max(0, 1 - y f), or log(1 + exp(-y f)).
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    n_updates : int, default 1_000_000
        Number of pairs to visit at least, the paper's; whole passes are made.
    random_state : int, RandomState or None, default None
        Order of the pairs.
    form : {"primal", "dual"}, default "primal"
        "dual" makes the same steps with (m, m) and (q, q) inner products of the training vertices:
        faster where features are many, and the same up to rounding (which a small ``reg`` with
        long logistic steps multiplies from pass to pass).

    Attributes
    ----------
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    row_coef_, col_coef_ : (d,) and (r,) arrays
        Weights of the features as given.
    intercept_ : float
        f(d, t) = d'row_coef_ + t'col_coef_ + intercept_.
    n_iter_ : int
        Passes over the n pairs.
    """

    loss: str = parameter("hinge", StrOptions(set(_LOSSES)))
    reg: float = parameter(1.0, POSITIVE)
    n_updates: int = parameter(1_000_000, COUNT)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    form: str = parameter("primal", StrOptions(set(_FORMS)))

    @classmethod
    def warm_up(cls, **parameters: Any) -> None:
        """Load what fits and predictions need: call it before a clock starts."""
        for form in _FORMS:
            super().warm_up(n_updates=1, form=form, **parameters)

    def fit(self, X: PairData, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Descend by the n pairs of X with labels y (n,) of two values.

        ``sample_weight`` (n,) >= 0 multiplies the loss of each pair. O(n_updates (d + r)), in the
        dual form O(n_updates (m + q)).
        """
        X, y, weight = with_weight(X, y, sample_weight)
        signs = self._start_fit(X, y)
        weight = np.ones(len(signs)) if weight is None else weight
        row_features, rows, col_features, cols = occurring(X)
        # Each vertex counts once in the mean and the scale, however many pairs it has.
        row_mean, row_scale = _standardize(row_features)
        col_mean, col_scale = _standardize(col_features)
        # The number of passes is the least with so many updates.
        self.n_iter_ = max(1, -(-self.n_updates // len(signs)))
        steps = self._dual_steps if self.form == "dual" else self._primal_steps
        pairs = row_features, rows, col_features, cols
        row_coef, col_coef, intercept = steps(*pairs, signs, weight)
        # w'(d - mean) / scale + b is the score of the features as given.
        self.row_coef_ = row_coef / row_scale
        self.col_coef_ = col_coef / col_scale
        shift = row_mean @ self.row_coef_ + col_mean @ self.col_coef_
        self.intercept_ = float(intercept - shift)
        return self

    def _primal_steps(self, row_features, rows, col_features, cols, signs, weight):
        """Weights and intercept by ``SGDClassifier`` on concatenated features."""
        n, d = len(signs), row_features.shape[1]
        rng = check_random_state(self.random_state)
        settings = {"alpha": self.reg / n, "max_iter": self.n_iter_, "random_state": rng}
        sgd = SGDClassifier(loss=_LOSSES[self.loss], tol=None, **settings)
        step = max(1, _MOST_BYTES // (8 * sum(self._widths)))
        # All pairs at once where memory allows; else blocks of pairs in a random order of each
        # pass, as ``fit`` shuffles them.
        if step >= n:
            whole = concatenated(row_features, rows, col_features, cols)
            sgd.fit(whole, signs, sample_weight=weight)
        else:
            for _ in range(self.n_iter_):
                order = rng.permutation(n)
                for start in range(0, n, step):
                    part = order[start : start + step]
                    block = concatenated(row_features, rows[part], col_features, cols[part])
                    sgd.partial_fit(block, signs[part], [-1.0, 1.0], weight[part])
        return sgd.coef_[0, :d], sgd.coef_[0, d:], sgd.intercept_[0]

    def _dual_steps(self, row_features, rows, col_features, cols, signs, weight):
        """Weights and intercept of the same steps, by inner products of the vertices."""
        # SGDClassifier.fit draws twice, and the second number is the seed of its order.
        rng = check_random_state(self.random_state)
        most = np.iinfo(np.int32).max
        _, seed = rng.randint(1, most), rng.randint(most)
        grams = row_features @ row_features.T, col_features @ col_features.T
        pairs = rows.astype(np.int64), cols.astype(np.int64), signs, weight
        settings = self.loss == "logistic", self.reg / len(signs), self.n_iter_, np.uint32(seed)
        row_coef, col_coef, intercept = _descend(*grams, *pairs, *settings)
        return row_coef @ row_features, col_coef @ col_features, intercept

    def _decision_function(self, X):
        row_part = X.row_features @ self.row_coef_ + self.intercept_
        col_part = X.col_features @ self.col_coef_
        return row_part[X.rows] + col_part[X.cols]


def _standardize(features):
    """Standardize in place; the mean and the scale taken off."""
    mean, scale = features.mean(axis=0), features.std(axis=0)
    # A feature that is constant up to rounding has no scale.
    scale[scale <= 10 * np.finfo(float).eps * np.abs(mean)] = 1.0
    features -= mean
    features /= scale
    return mean, scale


@njit(cache=True, nogil=True)
def _descend(row_gram, col_gram, rows, cols, signs, weight, logistic, alpha, passes, seed):
    """The iterates of scikit-learn's ``SGDClassifier`` by inner products of the vertices.

    All steps move the weights along features of training vertices. The length of a step is
    1 / (alpha (t0 + t)) ("optimal" there), t0 such that the first one is alpha^(-1/4).
    """
    n, m, q = len(signs), len(row_gram), len(col_gram)
    row_coef, col_coef = np.zeros(m), np.zeros(q)
    row_scores, col_scores = np.zeros(m), np.zeros(q)
    # Weights and scores are kept beside a common factor, so that the decay of a step costs O(1).
    factor, intercept = 1.0, 0.0
    # t0 is such that the first step has the length 1 / (alpha t0) = alpha^(-1/4).
    first = 1.0 / (alpha**-0.25 * alpha)
    order = np.arange(n)
    t = 0
    for _ in range(passes):
        # scikit-learn shuffles by Fisher and Yates with a xorshift generator, each pass from the
        # same seed but from the order of the last one.
        state = np.uint32(seed) if seed != 0 else np.uint32(1)
        for i in range(n - 1):
            state ^= np.uint32(state << np.uint32(13))
            state ^= np.uint32(state >> np.uint32(17))
            state ^= np.uint32(state << np.uint32(5))
            j = i + np.int64(state & np.uint32(0x7FFFFFFF)) % (n - i)
            order[i], order[j] = order[j], order[i]
        for h in order:
            i, j, y = rows[h], cols[h], signs[h]
            # The pair has the score p, and the step the length eta.
            p = factor * (row_scores[i] + col_scores[j]) + intercept
            eta = 1.0 / (alpha * (first + t))
            t += 1
            # The step is minus the derivative of the loss, times the length and the weight of the
            # pair.
            if logistic:
                step = eta * y / (1.0 + np.exp(y * p))
            else:
                step = eta * y if y * p <= 1.0 else 0.0
            step *= weight[h]
            # The regularization shrinks the weights; a small factor goes into the vectors in time.
            factor *= max(0.0, 1.0 - eta * alpha)
            if factor < 1e-9:
                row_scores *= factor
                col_scores *= factor
                row_coef *= factor
                col_coef *= factor
                factor = 1.0
            # A step along [d_i, t_j] adds to two coefficients, and to scores by two rows of inner
            # products. The intercept is not regularized.
            if step != 0.0:
                scaled = step / factor
                row_coef[i] += scaled
                col_coef[j] += scaled
                for k in range(m):
                    row_scores[k] += scaled * row_gram[i, k]
                for k in range(q):
                    col_scores[k] += scaled * col_gram[j, k]
                intercept += step
    return factor * row_coef, factor * col_coef, intercept
