"""scikit-learn's estimator contract for the hierarchical classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV, OneAgainstRest
from tests.models.hierarchical_problems import PARENTS, clouds


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
    np.testing.assert_allclose(seen, model.objective_path_[1:])
    assert model.stop_reason_ == "callback"
    assert not model.converged_


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "tanimoto"])
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
    with pytest.raises(InputError, match="has a tree"):
        OneAgainstRest(HierarchicalNewtonClassifier(tree=[-1, 0, 0])).fit(X, y)
    with pytest.raises(InputError, match="one class"):
        OneAgainstRest(binary).fit(X, np.zeros(60))


def test_machines_of_one_against_rest_learn_each_for_itself_and_go_on_from_earlier_ones():
    X, y = clouds()
    binary = HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.2, variance=3.0)
    search = HierarchicalNewtonCV(binary, max_iter=3)
    folds = np.arange(60) % 3
    learned = OneAgainstRest(search).fit(X, y, folds=folds)
    assert len({float(machine.gamma_[0]) for machine in learned.estimators_}) == 5
    further = OneAgainstRest(search).fit(X, y, folds=folds, start=learned)
    for c, (before, after) in enumerate(
        zip(learned.estimators_, further.estimators_, strict=True)
    ):
        alone = clone(search).fit(X, y == c, folds=folds, start=before)
        np.testing.assert_array_equal(after.gamma_, alone.gamma_)
        first = after.hyperparameter_path_[0]["parameters"]
        np.testing.assert_allclose(np.exp(first), [before.variance_[0], before.gamma_[0]])
    with pytest.raises(InputError, match="start has other classes"):
        OneAgainstRest(search).fit(X, y + 1, folds=folds, start=learned)


def test_a_fit_knows_nothing_of_an_earlier_one_and_leaves_the_parameters():
    X, y = clouds()
    model = HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.3, max_inner=50).fit(X, y)
    model.set_params(kernel="linear").fit(X, y)
    assert set(vars(model)) == set(vars(clone(model).fit(X, y)))

    search, start = HierarchicalNewtonCV(model, cv=3, max_iter=3, random_state=0), np.eye(5)
    search.set_params(learn_coupling=True, estimator__coupling=start).fit(X, y)
    np.testing.assert_array_equal(search.estimator.coupling, start)
    assert (search.coupling_ != start).any()
    search.set_params(learn_coupling=False, estimator__coupling=None).fit(X, y)
    assert not hasattr(search, "coupling_")
