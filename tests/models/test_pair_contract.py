"""What all baselines keep of scikit-learn's estimator contract, with pairs as samples."""

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from kronbench import InputError, PairData
from kronbench.models.pair_knn import PairKNN, PairSklearnKNN
from kronbench.models.pair_libsvm import PairLibSVM
from kronbench.models.pair_sgd import PairSGD

ESTIMATORS = [
    PairKNN(n_neighbors=7),
    PairSklearnKNN(n_neighbors=7),
    PairLibSVM(reg=0.5, gamma=0.2),
    PairSGD(loss="hinge", n_updates=2000, random_state=0),
    PairSGD(loss="logistic", n_updates=2000, random_state=0),
]
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@pytest.fixture(autouse=True, scope="module")
def one_openmp_thread():
    """LibSVM starts its threads for each kernel row, milliseconds apiece on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


def problem(seed=0, n=300):
    """Pairs whose label is the sign of a linear function, one label in ten flipped."""
    rng = np.random.default_rng(seed)
    row_features, col_features = rng.normal(size=(24, 4)), rng.normal(size=(21, 3))
    X = PairData.complete(row_features, col_features)[rng.permutation(24 * 21)[:n]]
    f = row_features[X.rows] @ [1.0, -1, 0.5, 0] + col_features[X.cols] @ [1.0, 0, -1]
    return X, np.where((f > 0) == (rng.random(n) < 0.9), 1, -1)


@every
def test_labels_may_be_any_two_values(estimator):
    X, y = problem()
    model = clone(estimator).fit(X, y)
    names = np.where(y > 0, "yes", "no")
    named = clone(estimator).fit(X, names)
    np.testing.assert_array_equal(named.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(named.predict(X), np.where(model.predict(X) > 0, "yes", "no"))
    assert named.score(X, names) == np.mean(model.predict(X) == y)
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize("estimator", [PairKNN(), PairSklearnKNN()], ids=repr)
@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_distances_beyond_double_precision_are_refused(estimator, scale):
    X, y = problem()
    X = X.with_features(X.row_features, scale * X.col_features)
    with pytest.raises(InputError, match=r"col_features has .* scale the features"):
        clone(estimator).fit(X, y)


@every
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda y: y + 1j, "complex"),
        (lambda y: np.where(y > 0, "2020-01-01", "NaT").astype("datetime64[D]"), "NaN"),
        (lambda y: np.where(y > 0, 1.0, np.nan).astype(object), "NaN"),
    ],
)
def test_labels_without_an_order_are_refused(estimator, labels, message):
    X, y = problem()
    with pytest.raises(InputError, match=message):
        clone(estimator).fit(X, labels(y))
