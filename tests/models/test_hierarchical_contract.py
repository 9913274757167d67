"""scikit-learn's estimator contract for the hierarchical classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from kronbench.linalg import gram
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
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
