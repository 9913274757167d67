"""LibSVM on pairs: its objective, its optimum, and the same model through the vec trick."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kronbench import PairData
from kronbench.models.pair_libsvm import PairLibSVM
from tests.models.kron_problems import concatenated, dense_gram, gaussian


@pytest.fixture(autouse=True, scope="module")
def one_openmp_thread():
    """LibSVM starts its threads for each kernel row, milliseconds apiece on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


def problem(seed=0, n=120, m=20, q=15, features=(4, 3)):
    rng = np.random.default_rng(seed)
    X = PairData(rng.normal(size=(m, features[0])), rng.normal(size=(q, features[1])),
                 rng.integers(0, m, n), rng.integers(0, q, n))  # fmt: skip
    f = X.row_features[X.rows, 0] * X.col_features[X.cols, 0] + 0.3 * rng.normal(size=n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    return X, y


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 12),
    q=st.integers(1, 12),
    n=st.integers(2, 60),
    features=st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_vec_trick_gives_the_same_decision_values(seed, m, q, n, features):
    X, y = problem(seed, n, m, q, features)
    rng = np.random.default_rng(seed)
    y[:2] = rng.permutation([1, -1])
    test = PairData(rng.normal(size=(9, features[0])), rng.normal(size=(7, features[1])),
                    rng.integers(0, 9, 30), rng.integers(0, 7, 30))  # fmt: skip
    model = PairLibSVM(reg=0.1, gamma=0.5).fit(X, y)
    scores = model.decision_function(test)
    fast = model.to_vec_trick()
    np.testing.assert_allclose(fast.decision_function(test), scores, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(fast.classes_, model.classes_)
    kernel = dense_gram(test, model.support_pairs_, gaussian(0.5), gaussian(0.5))
    expansion = kernel @ model.dual_coef_
    np.testing.assert_allclose(expansion + model.intercept_, scores, rtol=0, atol=1e-8)


@pytest.mark.parametrize("first", [1.0, -1.0])
@pytest.mark.parametrize("thin", [False, True])  # nodes hold nonzeros only, by their columns
def test_it_is_scikit_learns_machine_whichever_label_comes_first(first, thin):
    X, y = problem()
    if thin:
        X = X.with_features(np.maximum(X.row_features, 0), np.maximum(X.col_features, 0))
    order = np.argsort(y != first, kind="stable")
    model = PairLibSVM(reg=0.1, gamma=0.3, tol=1e-6).fit(X[order], y[order])
    assert y[order][0] == first
    reference = SVC(C=10, gamma=0.3, tol=1e-6).fit(concatenated(X), y)
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(concatenated(X)), atol=1e-4
    )
    assert (np.sign(model.dual_coef_) == y[order][model.support_]).all()


def test_training_is_silent(capfd):
    PairLibSVM().fit(*problem())
    assert capfd.readouterr() == ("", "")
