"""scikit-learn's estimator contract for the hierarchical classifier."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.models import HierarchicalNewtonClassifier, OneAgainstRest
from tests.models.hierarchical_problems import PARENTS, clouds

MODELS = [
    HierarchicalNewtonClassifier(),
    HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.5),
    OneAgainstRest(HierarchicalNewtonClassifier()),
]


@parametrize_with_checks(MODELS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_grid_search_clone_and_pickle():
    X, y = clouds()
    model = HierarchicalNewtonClassifier(tree=PARENTS)
    assert is_classifier(model)
    search = GridSearchCV(model, {"variance": [0.1, 10.0], "kernel": ["linear", "gaussian"]}, cv=3)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    fitted = clone(model).fit(X, y)
    np.testing.assert_equal(fitted.get_params(), model.get_params())
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))


def test_cross_validation_of_a_precomputed_kernel_and_of_sparse_features():
    X, y = clouds()
    expected = cross_val_predict(
        HierarchicalNewtonClassifier(tol=1e-12), X, y, cv=3, method="predict_proba"
    )
    for rows, kernel in ((X @ X.T, "precomputed"), (sparse.csr_array(X), "linear")):
        model = HierarchicalNewtonClassifier(kernel=kernel, tol=1e-12)
        proba = cross_val_predict(model, rows, y, cv=3, method="predict_proba")
        np.testing.assert_allclose(proba, expected, atol=1e-5)


def test_callback_stops_a_fit():
    X, y = clouds()
    seen = []
    model = HierarchicalNewtonClassifier(tree=PARENTS, variance=50.0)
    model.fit(X, y, callback=lambda mode: seen.append(mode.value) or len(seen) == 2)
    assert model.n_iter_ == 2
    np.testing.assert_allclose(seen, -model.log_posterior_path_[1:])


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_a_kernel_function_is_the_named_kernel(kernel):
    X, y = clouds()

    def function(A, B):
        return gram(A, B, kernel=kernel, gamma=0.3)

    named = HierarchicalNewtonClassifier(kernel=kernel, gamma=0.3, tol=1e-12).fit(X, y)
    called = HierarchicalNewtonClassifier(kernel=function, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(called.predict_proba(X), named.predict_proba(X), atol=1e-6)


def test_one_against_rest_is_a_binary_model_for_each_class():
    X, y = clouds()
    names = np.array(list("abcde"))[y]
    binary = HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.2, variance=3.0)
    joint = OneAgainstRest(binary).fit(X, names)
    for c, name in enumerate("abcde"):
        alone = clone(binary).fit(X, names == name)
        expected = alone.predict_log_proba(X)[:, list(alone.classes_).index(True)]
        np.testing.assert_allclose(joint.predict_log_proba(X)[:, c], expected, atol=1e-6)
    best = joint.predict_log_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(joint.predict(X), np.array(list("abcde"))[best])
    folds = np.arange(60) % 3
    learned = OneAgainstRest(binary).fit_hyperparameters(X, names, folds, max_evaluations=4)
    assert len({float(machine.gamma[0]) for machine in learned.estimators_}) == 5
    with pytest.raises(InputError, match="has a tree"):
        OneAgainstRest(HierarchicalNewtonClassifier(tree=[-1, 0, 0])).fit(X, y)
    with pytest.raises(InputError, match="one class"):
        OneAgainstRest(binary).fit(X, np.zeros(60))
