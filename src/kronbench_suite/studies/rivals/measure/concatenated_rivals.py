"""scikit-learn's learners on both sides' features [d, t], as solvers of pairs.

Two labels are classes, more are numbers. All but the nearest neighbours standardize the features
over the training pairs, and labels that are numbers.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from kronbench.pairs import PairData
from kronbench_suite.studies.rivals.measure.pair_rivals import features


class _OnFeatures(BaseEstimator):
    """A subclass has ``_learner(two, n, width)`` for n pairs with so many features."""

    def fit(self, X: PairData, y: np.ndarray) -> _OnFeatures:
        """Learn from n pairs with labels y (n,)."""
        two, pairs = len(np.unique(y)) == 2, features(X)
        self.offset_, self.scale_ = (0.0, 1.0) if two else (y.mean(), y.std() or 1.0)
        self.model_ = make_pipeline(StandardScaler(), self._learner(two, *pairs.shape))
        with warnings.catch_warnings():  # the number of passes is a parameter, and always used up
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_.fit(pairs, (y - self.offset_) / self.scale_)
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,): numbers, or decision values of the larger label."""
        model = self.model_
        scores = getattr(model, "decision_function", model.predict)(features(X))
        return self.offset_ + self.scale_ * scores


class PairMLP(_OnFeatures):
    """A perceptron with one hidden layer of ``width`` units, weight decay and Adam.

    It makes ``max_iter`` passes over the pairs: a choice among some, by pairs that are held out in
    the setting of the test pairs, stops early by the score and the kind of pair that count.
    scikit-learn's own early stopping goes by the share of right labels among pairs that are drawn
    from all, which hardly moves where one in twenty is positive.
    """

    def __init__(self, width=100, alpha=0.1, max_iter=50, random_state=None):
        self.width = width
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    def _learner(self, two, n, width):
        return (_LogitMLP if two else MLPRegressor)(
            hidden_layer_sizes=(self.width,), alpha=self.alpha, max_iter=self.max_iter, tol=0.0,
            n_iter_no_change=self.max_iter, random_state=self.random_state,
        )  # fmt: skip


class _LogitMLP(MLPClassifier):
    """``MLPClassifier`` with logits as decision values, where probabilities are rounded to 1."""

    def decision_function(self, X):
        self.out_activation_ = "identity"
        return self.predict_proba(X)[:, 1]


class PairSVM(BaseEstimator):
    """LibSVM with a Gaussian kernel on the features: for classes ``SVC``, for numbers ``SVR``.

    ``gamma`` is in units of 1 / (d + r), and the mean squared distance of pairs is 2 (d + r). The
    kernel of [d, t] is that of d times that of t, so that LibSVM gets it from the kernels of the
    vertices, which are few: its own values of 2,340 features a pair took most of KIBA's time.
    """

    def __init__(self, C=1.0, gamma=1.0):
        self.C = C
        self.gamma = gamma

    def fit(self, X: PairData, y: np.ndarray) -> PairSVM:
        """Learn from n pairs with labels y (n,); O(n^2) memory."""
        two, self.X_ = len(np.unique(y)) == 2, X
        self.offset_, self.scale_ = (0.0, 1.0) if two else (y.mean(), y.std() or 1.0)
        # As the others' scaler has them: over the pairs, a constant feature as it is.
        scalers = ((side[index].mean(0), side[index].std(0)) for side, index in _sides(X))
        self.scalers_ = [(mean, np.where(std > 0, std, 1.0)) for mean, std in scalers]
        self.model_ = (SVC if two else SVR)(C=self.C, kernel="precomputed")
        self.model_.fit(self._kernel(X), (y - self.offset_) / self.scale_)
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,): numbers, or decision values of the larger label."""
        model = self.model_
        predict = getattr(model, "decision_function", model.predict)
        blocks = (X[part] for part in np.array_split(np.arange(len(X)), 1 + len(X) // 2000))
        scores = np.concatenate([predict(self._kernel(block)) for block in blocks])
        return self.offset_ + self.scale_ * scores

    def _kernel(self, X):
        """Kernel values (t, n) of pairs with the training pairs."""
        width = sum(side.shape[1] for side, _ in _sides(X))
        values = 1.0
        for (side, index), (train, of_train), (mean, std) in zip(
            _sides(X), _sides(self.X_), self.scalers_, strict=True
        ):
            scaled = (side - mean) / std, (train - mean) / std
            values = values * rbf_kernel(*scaled, self.gamma / width)[np.ix_(index, of_train)]
        return values


def _sides(X):
    sides = (X.row_features, X.rows), (X.col_features, X.cols)
    return [(features.astype(float), index) for features, index in sides]


class PairSGDRegressor(_OnFeatures):
    """Linear scores by stochastic gradient descent on squared errors: ``PairSGD`` for numbers.

    Minimizes sum_h (y_h - f_h)^2 + reg ||w||^2 in ``n_updates`` steps at most, up to a pass. Their
    length is divided by 5 when five passes have not improved the loss (scikit-learn's "adaptive").
    """

    def __init__(self, reg=1.0, n_updates=300_000, random_state=None):
        self.reg = reg
        self.n_updates = n_updates
        self.random_state = random_state

    def _learner(self, two, n, width):
        # Steps beyond 1 / ||x||^2, whose mean is the number of features, overshoot.
        return SGDRegressor(
            alpha=self.reg / n, max_iter=-(-self.n_updates // n), tol=1e-4,
            eta0=0.2 / width, learning_rate="adaptive", random_state=self.random_state,
        )  # fmt: skip


class PairKNNRegressor(BaseEstimator):
    """Mean label of the nearest training pairs in the features [d, t]: ``PairKNN`` for numbers.

    Squared distances of pairs are sums of those of vertices. Ties go to the pair that comes first.
    """

    def __init__(self, n_neighbors=5):
        self.n_neighbors = n_neighbors

    def fit(self, X: PairData, y: np.ndarray) -> PairKNNRegressor:
        """Keep n pairs and their labels y (n,)."""
        self.X_, self.y_ = X, y
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,)."""
        return self.decision_path(X, [self.n_neighbors])[:, 0]

    def decision_path(self, X: PairData, n_neighbors) -> np.ndarray:
        """Scores (t, s) by each number of neighbours, from one search; O(t n)."""
        train, most = self.X_, min(max(n_neighbors), len(self.X_))
        rows = cdist(X.row_features, train.row_features, "sqeuclidean")
        cols = cdist(X.col_features, train.col_features, "sqeuclidean")
        means = np.empty((len(X), most))
        for pair, (i, j) in enumerate(zip(X.rows, X.cols, strict=True)):
            distances = rows[i, train.rows] + cols[j, train.cols]
            # all pairs as near as the last one, in their order, so that ties are settled alike
            near = np.flatnonzero(distances <= np.partition(distances, most - 1)[most - 1])
            near = near[np.argsort(distances[near], kind="stable")[:most]]
            means[pair] = np.cumsum(self.y_[near]) / np.arange(1, most + 1)
        return means[:, np.minimum(n_neighbors, most) - 1]
