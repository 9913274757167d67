"""What all baselines keep of scikit-learn's estimator contract, with pairs as samples."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks as checks
from threadpoolctl import threadpool_limits

from kronbench import InputError, PairData
from kronbench.evaluation import VertexDisjointKFold
from kronbench.models.pair_knn import PairKNN
from kronbench.models.pair_libsvm import PairLibSVM
from kronbench.models.pair_sgd import PairSGD
from kronbench.models.pair_sklearn_knn import PairSklearnKNN

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
@pytest.mark.parametrize(
    "check",
    [
        checks.check_do_not_raise_errors_in_init_or_set_params,
        checks.check_estimator_cloneable,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_get_params_invariance,
        checks.check_mixin_order,
        checks.check_no_attributes_set_in_init,
        checks.check_parameters_default_constructible,
        checks.check_set_params,
        checks.check_valid_tag_types,
    ],
)
def test_scikit_learn_checks_that_need_no_array(estimator, check):
    check(type(estimator).__name__, clone(estimator))


@every
def test_fit_returns_self_and_leaves_parameters_and_data(estimator):
    X, y = problem()
    before = pickle.dumps((X, y))
    model = clone(estimator)
    assert model.fit(X, y) is model
    assert model.get_params() == estimator.get_params()
    assert pickle.dumps((X, y)) == before
    assert is_classifier(model)
    assert model.n_features_in_ == 7
    np.testing.assert_array_equal(model.classes_, [-1, 1])


@every
def test_fitting_again_forgets(estimator):
    X, y = problem()
    once = clone(estimator).fit(X, y).decision_function(X)
    again = clone(estimator).fit(*problem(1, 200)).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(once, again)


@every
def test_copies_predict_the_same(estimator):
    X, y = problem()
    model = clone(estimator).fit(X, y)
    scores = model.decision_function(X)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.decision_function(X), scores)


@every
def test_predictions_know_no_other_test_pair(estimator):
    X, y = problem()
    test, _ = problem(2)
    model = clone(estimator).fit(X, y)
    scores = model.decision_function(test)
    backwards = np.arange(len(test))[::-1]
    np.testing.assert_allclose(model.decision_function(test[backwards]), scores[backwards])
    np.testing.assert_allclose(model.decision_function(test[[4]]), scores[[4]])


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


@every
def test_sparse_features_equal_dense_ones(estimator):
    X, y = problem()
    row_features = np.where(X.row_features > 0.3, X.row_features, 0)
    col_features = np.where(X.col_features > 0.3, X.col_features, 0)
    dense = PairData(row_features, col_features, X.rows, X.cols)
    sparse_rows = PairData(sparse.csr_array(row_features), col_features, X.rows, X.cols)
    np.testing.assert_allclose(
        clone(estimator).fit(sparse_rows, y).decision_function(dense),
        clone(estimator).fit(dense, y).decision_function(sparse_rows),
        rtol=1e-10,
        atol=1e-12,
    )


@every
def test_searches_over_vertex_disjoint_folds(estimator):
    X, y = problem(n=400)
    name = "n_neighbors" if hasattr(estimator, "n_neighbors") else "reg"
    splitter = VertexDisjointKFold(3, 3, random_state=0)
    search = GridSearchCV(estimator, {name: [1, 9]}, cv=splitter, scoring="roc_auc").fit(X, y)
    scores = cross_val_score(search.best_estimator_, X, y, cv=splitter, scoring="roc_auc")
    assert search.best_score_ == pytest.approx(scores.mean())
    assert search.best_score_ > 0.7
    assert search.predict(X).shape == y.shape


@every
def test_wrong_input_is_one_sentence(estimator):
    X, y = problem()
    model = clone(estimator)
    with pytest.raises(NotFittedError):
        model.decision_function(X)
    with pytest.raises(InputError, match="PairData"):
        model.fit(np.zeros((4, 2)), [0, 1, 0, 1])
    with pytest.raises(InputError, match="1 class"):
        model.fit(X, np.ones(len(X)))
    with pytest.raises(InputError, match="shape"):
        model.fit(X, y[:-1])
    model.fit(X, y)
    narrow = PairData(X.row_features[:, 1:], X.col_features, X.rows, X.cols)
    with pytest.raises(InputError, match="3 row and 3 column features"):
        model.predict(narrow)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PairKNN(n_neighbors=301), "n_neighbors is 301 with 300"),
        (PairSklearnKNN(n_neighbors=301), "n_neighbors is 301 with 300"),
    ],
    ids=repr,
)
def test_wrong_parameters_are_one_sentence(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(*problem())


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


def test_numbers_of_neighbours_are_whole():
    X, y = problem()
    model = PairKNN().fit(X, y)
    with pytest.raises(InputError, match=r"n_neighbors is 2\.5 .* give a whole number"):
        model.decision_path(X, [2.5])
