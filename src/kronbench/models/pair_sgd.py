"""Linear model of pairs by stochastic gradient descent."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import SGDClassifier
from sklearn.utils import check_random_state

from kronbench.errors import InputError, check_positive
from kronbench.models._pair_classifier import PairClassifier, concatenated, occurring
from kronbench.pairs import PairData

_LOSSES = {"hinge": "hinge", "logistic": "log_loss"}
# Concatenated features beyond this come in blocks; scikit-learn holds them twice for a moment.
_MOST_BYTES = 9 * 2**27


class PairSGD(PairClassifier):
    """f(d, t) = <w, [d, t]> + b by scikit-learn's stochastic gradient descent.

    Minimizes sum_h loss(y_h, f_h) + reg/2 ||w||^2, so that scikit-learn's ``alpha`` is reg/n.
    Features are first standardized over the training vertices, each vertex counted once, and w
    and reg refer to that scale; on raw similarities in percent the scores run into the millions.
    It is ``SGDClassifier.fit`` on the n x (d + r) concatenated features, as a user would call it;
    where these pass 1.1 GiB, ``partial_fit`` on random blocks of that size. Sparse features are
    made dense.

    Parameters
    ----------
    loss : {"hinge", "logistic"}, default "hinge"
        The hinge max(0, 1 - y f), or log(1 + exp(-y f)).
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    n_updates : int, default 1,000,000
        Number of pairs to visit at least, the paper's; whole passes are made.
    random_state : int, RandomState or None
        Order of the pairs.

    Attributes
    ----------
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    row_coef_ : (d,) array
        Weights of the row features, as given.
    col_coef_ : (r,) array
        Weights of the column features, as given.
    intercept_ : float
        f(d, t) = d'row_coef_ + t'col_coef_ + intercept_ on features as given.
    n_iter_ : int
        Passes over the pairs.
    n_updates_ : int
        Pairs visited, n_iter_ times n.

    References
    ----------
    Airola & Pahikkala 2018, section 5.6.
    """

    def __init__(
        self,
        *,
        loss: str = "hinge",
        reg: float = 1.0,
        n_updates: int = 1_000_000,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.loss = loss
        self.reg = reg
        self.n_updates = n_updates
        self.random_state = random_state

    @classmethod
    def warm_up(cls) -> None:
        """Load what fits and predictions need: call it before a clock starts."""
        super().warm_up(n_updates=1)

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Descend; O(n_updates_ (d + r)).

        Parameters
        ----------
        X : PairData of n pairs
        y : (n,) labels of two values
        """
        signs = self._start_fit(X, y)
        check_positive(self.reg, "reg")
        if self.loss not in _LOSSES:
            raise InputError(f"loss is {self.loss!r}: give 'hinge' or 'logistic'")
        d = self._widths[0]
        row_features, rows = occurring(X.row_features, X.rows)
        col_features, cols = occurring(X.col_features, X.cols)
        row_mean, row_scale = _standardize(row_features)
        col_mean, col_scale = _standardize(col_features)

        n, d_and_r = len(signs), sum(self._widths)
        passes = max(1, -(-self.n_updates // n))
        self.n_iter_, self.n_updates_ = passes, passes * n
        rng = check_random_state(self.random_state)
        sgd = SGDClassifier(
            loss=_LOSSES[self.loss],
            alpha=self.reg / n,
            max_iter=passes,
            tol=None,
            random_state=rng,
        )
        step = max(1, _MOST_BYTES // (8 * d_and_r))
        if step >= n:
            sgd.fit(concatenated(row_features, rows, col_features, cols), signs)
        else:
            for _ in range(passes):
                order = rng.permutation(n)
                for start in range(0, n, step):
                    part = order[start : start + step]
                    block = concatenated(row_features, rows[part], col_features, cols[part])
                    sgd.partial_fit(block, signs[part], classes=[-1.0, 1.0])

        coef = sgd.coef_[0]
        self.row_coef_ = coef[:d] / row_scale
        self.col_coef_ = coef[d:] / col_scale
        shift = row_mean @ self.row_coef_ + col_mean @ self.col_coef_
        self.intercept_ = float(sgd.intercept_[0] - shift)
        return self

    def _decision_function(self, X):
        row_part = X.row_features @ self.row_coef_ + self.intercept_
        col_part = X.col_features @ self.col_coef_
        return row_part[X.rows] + col_part[X.cols]


def _standardize(features):
    """Standardize in place; the mean and the scale taken off."""
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale <= 10 * np.finfo(float).eps * np.abs(mean)] = 1.0  # constant up to rounding
    features -= mean
    features /= scale
    return mean, scale
