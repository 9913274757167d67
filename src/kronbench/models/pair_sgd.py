"""Linear model of pairs by stochastic gradient descent."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import SGDClassifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from kronbench.models._pair_classifier import PairClassifier, concatenated, occurring
from kronbench.models._parameters import COUNT, POSITIVE
from kronbench.models._vertex_sgd import descend
from kronbench.pairs import PairData

_LOSSES = {"hinge": "hinge", "logistic": "log_loss"}
_FORMS = ("primal", "dual")
# Concatenated features beyond this come in blocks; scikit-learn holds them twice for a moment.
_MOST_BYTES = 9 * 2**27


class PairSGD(PairClassifier):
    """Linear scores <w, [d, t]> + b by scikit-learn's stochastic gradient descent.

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
    form : {"primal", "dual"}, default "primal"
        "dual" makes the same steps with inner products of the training vertices' features, of
        which it holds (m, m) and (q, q) arrays, and not with the features of pairs. It is the
        faster where features are many, and gives the same model up to rounding (which a small
        ``reg`` with long logistic steps multiplies from pass to pass).

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

    # scikit-learn's steps are the bottleneck of table 7. On a fold of Ki (41,000 pairs, 1577
    # features) a million of them take 4.0 s, those of the dual form 0.2 s.

    _parameter_constraints: ClassVar = {
        "loss": [StrOptions(set(_LOSSES))],
        "reg": [POSITIVE],
        "n_updates": [COUNT],
        "random_state": ["random_state"],
        "form": [StrOptions(set(_FORMS))],
    }

    def __init__(
        self,
        *,
        loss: str = "hinge",
        reg: float = 1.0,
        n_updates: int = 1_000_000,
        random_state: int | np.random.RandomState | None = None,
        form: str = "primal",
    ):
        self.loss = loss
        self.reg = reg
        self.n_updates = n_updates
        self.random_state = random_state
        self.form = form

    @classmethod
    def warm_up(cls) -> None:
        """Load what fits and predictions need: call it before a clock starts."""
        for form in _FORMS:
            super().warm_up(n_updates=1, form=form)

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Descend; O(n_updates_ (d + r)), in the dual form O(n_updates_ (m + q)).

        Parameters
        ----------
        X : PairData of n pairs
        y : (n,) labels of two values
        """
        signs = self._start_fit(X, y)
        row_features, rows = occurring(X.row_features, X.rows)
        col_features, cols = occurring(X.col_features, X.cols)
        row_mean, row_scale = _standardize(row_features)
        col_mean, col_scale = _standardize(col_features)
        n = len(signs)
        passes = max(1, -(-self.n_updates // n))
        self.n_iter_, self.n_updates_ = passes, passes * n
        steps = self._dual_steps if self.form == "dual" else self._primal_steps
        row_coef, col_coef, intercept = steps(row_features, rows, col_features, cols, signs)
        self.row_coef_ = row_coef / row_scale
        self.col_coef_ = col_coef / col_scale
        shift = row_mean @ self.row_coef_ + col_mean @ self.col_coef_
        self.intercept_ = float(intercept - shift)
        return self

    def _primal_steps(self, row_features, rows, col_features, cols, signs):
        n, d = len(signs), row_features.shape[1]
        rng = check_random_state(self.random_state)
        sgd = SGDClassifier(
            loss=_LOSSES[self.loss],
            alpha=self.reg / n,
            max_iter=self.n_iter_,
            tol=None,
            random_state=rng,
        )
        step = max(1, _MOST_BYTES // (8 * sum(self._widths)))
        if step >= n:
            sgd.fit(concatenated(row_features, rows, col_features, cols), signs)
        else:
            for _ in range(self.n_iter_):
                order = rng.permutation(n)
                for start in range(0, n, step):
                    part = order[start : start + step]
                    block = concatenated(row_features, rows[part], col_features, cols[part])
                    sgd.partial_fit(block, signs[part], classes=[-1.0, 1.0])
        return sgd.coef_[0, :d], sgd.coef_[0, d:], sgd.intercept_[0]

    def _dual_steps(self, row_features, rows, col_features, cols, signs):
        # the draws of SGDClassifier.fit: the second is the seed of its order
        rng = check_random_state(self.random_state)
        most = np.iinfo(np.int32).max
        _, seed = rng.randint(1, most), rng.randint(most)
        row_coef, col_coef, intercept = descend(
            row_features @ row_features.T,
            col_features @ col_features.T,
            rows,
            cols,
            signs,
            logistic=self.loss == "logistic",
            alpha=self.reg / len(signs),
            passes=self.n_iter_,
            seed=seed,
        )
        return row_coef @ row_features, col_coef @ col_features, intercept

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
