"""Independent-task ridge regression against scikit-learn's, and against retraining."""

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge

from kronbench.errors import InputError
from kronbench.models.independent_ridge import IndependentRidge
from kronbench.pairs import PairData
from tests.models.complete_problems import make_problem


@pytest.mark.parametrize("reg", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize(("kernel", "gamma"), [("linear", None), ("gaussian", 0.2)])
def test_equals_scikit_learn(kernel, gamma, reg):
    rng = np.random.default_rng(1)
    D, Y, new = rng.normal(size=(12, 4)), rng.normal(size=(12, 5)), rng.normal(size=(6, 4))
    theirs = KernelRidge(
        alpha=reg, kernel={"gaussian": "rbf"}.get(kernel, kernel), gamma=gamma
    ).fit(D, Y)
    ours = IndependentRidge(reg=reg, row_kernel=kernel, row_gamma=gamma).fit_matrix(D, None, Y)
    np.testing.assert_allclose(ours.predict_matrix(new), theirs.predict(new), atol=1e-9)
    np.testing.assert_allclose(
        ours.dual_coef_, theirs.dual_coef_, atol=1e-8 * np.abs(theirs.dual_coef_).max()
    )


def test_pairs_of_known_columns():
    rng = np.random.default_rng(4)
    D, T, Y = rng.normal(size=(7, 2)), rng.normal(size=(5, 1)), rng.normal(size=(7, 5))
    X = PairData(D, T, np.repeat(np.arange(7), 3), np.tile([4, 0, 2], 7))
    model = IndependentRidge(reg=0.5, row_kernel="gaussian", row_gamma=0.4)
    assert model.fit(X, Y[X.rows, X.cols]) is model
    assert clone(model).get_params() == model.get_params()
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.4).fit(D, Y)
    new = PairData(rng.normal(size=(3, 2)), T, [0, 2, 1, 2], [4, 0, 2, 2])
    expected = theirs.predict(new.row_features)[new.rows, new.cols]
    np.testing.assert_allclose(model.predict(new), expected, atol=1e-10)
    with pytest.raises(InputError, match="column 3, which has no training labels"):
        model.predict(PairData(D, T, [0, 1], [0, 3]))
    with pytest.raises(InputError, match="6 column vertices and the training set 5"):
        model.predict(PairData(D, rng.normal(size=(6, 1)), [0], [0]))


def test_least_squares_by_the_pseudo_inverse():
    K, _, Y = make_problem(5, 6, 3, "deficient", "full")
    model = IndependentRidge(reg=0, row_kernel="precomputed").fit_matrix(K, None, Y)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.pinv(K, rcond=1e-12) @ Y, atol=1e-9)
    with pytest.warns(LinAlgWarning, match="row kernel has condition number"):
        model.fit_matrix(np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 1e-10]), None, Y)
