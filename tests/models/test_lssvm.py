"""The LS-SVM on the full kernel, against its eigendecomposition."""

import numpy as np
import pytest
from sklearn.base import clone

from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.linalg.lssvm_paths import LSSVMPath
from kronbench.models import LSSVM


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return rng.random((30, 3)), rng.random((30, 2)), rng.random((7, 3))


def test_responses_are_those_of_the_eigendecomposition(problem):
    X, Y, X_test = problem
    K = gram(X, kernel="gaussian", gamma=2.0)
    K_test = gram(X_test, X, kernel="gaussian", gamma=2.0)
    expected = LSSVMPath(K, Y).responses(K_test, [1e-3])[0]
    given = LSSVM(reg=1e-3, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(given.predict(K_test), expected, rtol=1e-8)
    own = clone(LSSVM(reg=1e-3, kernel="gaussian", gamma=2.0)).fit(X, Y)
    np.testing.assert_allclose(own.predict(X_test), expected, rtol=1e-8)
    by_coef = K_test @ given.dual_coef_ + given.intercept_
    np.testing.assert_allclose(by_coef, expected, rtol=1e-8)
    single = LSSVM(reg=1e-3, kernel="precomputed").fit(K, Y[:, 0])
    np.testing.assert_allclose(single.predict(K_test), expected[:, 0], rtol=1e-8)


def test_bad_input_is_refused(problem):
    X, Y, X_test = problem
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LSSVM().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        LSSVM().fit(X, Y * np.nan)
    with pytest.raises(InputError, match=r"shape \(30, 3\): give a square one"):
        LSSVM(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="expecting 30 features"):
        LSSVM(kernel="precomputed").fit(X @ X.T, Y).predict(X_test)
