"""Kernels, weights and vertex effects that validation pairs choose."""

import numpy as np
import pytest
from sklearn.base import clone

from kronbench import InputError, PairData
from kronbench.models import CompleteKronRidge, KronRidge, KronRidgeCV
from kronbench.models._kernel_sums import base_kernels, profile_kernel
from kronbench.models._validation_loss import Fold, combined, validation_loss


def psd(rng, n, d=4):
    F = rng.normal(size=(n, d))
    return F @ F.T + 0.1 * np.eye(n)


def problem(seed=0, m=9, q=8, n=50, t=15):
    """Labels that are smooth in one of two kernels of each side, and pairs to validate on."""
    rng = np.random.default_rng(seed)
    rows = {"good": psd(rng, m), "bad": psd(rng, m)}
    cols = {"good": psd(rng, q), "bad": psd(rng, q)}
    roots = np.linalg.cholesky(rows["good"]), np.linalg.cholesky(cols["good"])
    Y = 3 + roots[0] @ rng.normal(size=(m, q)) @ roots[1].T + 0.1 * rng.normal(size=(m, q))
    order = rng.permutation(m * q)[: n + t]
    X = PairData(np.zeros((m, 1)), np.zeros((q, 1)), *np.divmod(order, q))
    return rows, cols, X, Y[X.rows, X.cols]


def test_the_gradient_is_that_of_finite_differences():
    rows, cols, X, y = problem()
    fold = Fold(X[:50], X[50:], y[:50] - 3, y[50:] - 3, rows, cols)
    options = {"tol": 1e-13, "max_iter": 400}
    logs = np.log([0.7, 0.2, 0.3, 1.1, 0.5, 0.2])

    def loss(at):
        return validation_loss(fold, *np.split(np.exp(at), 2), 0.4, **options)

    value, by_rows, by_cols = loss(logs)
    gram = np.kron(combined(rows, np.exp(logs[:3])), combined(cols, np.exp(logs[3:])))
    places = X.rows * 8 + X.cols
    Q = gram[np.ix_(places, places)]
    a = np.linalg.solve(Q[:50, :50] + 0.4 * np.eye(50), y[:50] - 3)
    assert value == pytest.approx(np.mean((Q[50:, :50] @ a - y[50:] + 3) ** 2), rel=1e-9)
    step = 1e-5
    numeric = [
        (loss(logs + step * e)[0] - loss(logs - step * e)[0]) / (2 * step) for e in np.eye(6)
    ]
    np.testing.assert_allclose(np.concatenate([by_rows, by_cols]), numeric, rtol=2e-6, atol=1e-9)


def test_it_finds_the_kernels_that_made_the_labels():
    rows, cols, X, y = problem(3, 20, 18, 220, 60)
    options = dict(row_kernels=rows, col_kernels=cols, powers=(1,), cv=3, random_state=0)
    model = KronRidgeCV(gradient_steps=15, **options).fit(X[:220], y[:220])
    grid = KronRidgeCV(gradient_steps=0, **options).fit(X[:220], y[:220])
    for side in ("row_weights", "col_weights"):
        assert model.best_params_[side]["good"] > 0.9
        assert grid.best_params_[side] == {"good": 1.0, "bad": 0.0}
    assert model.best_score_ < grid.best_score_ == min(grid.cv_results_["error"])
    assert len(grid.cv_results_["reg"]) == 4 * len(grid.regs)
    assert model.cv_results_["row_kernel"][-1] == "sum"
    error = np.mean((model.predict(X[220:]) - y[220:]) ** 2)
    assert error < 0.5 * np.var(y[220:])


def test_the_best_estimator_is_the_ridge_regression_of_its_parameters():
    rows, cols, X, y = problem(1)
    model = KronRidgeCV(
        row_kernels=rows, col_kernels=cols, cv=[(np.arange(40), np.arange(40, 50))]
    ).fit(X[:50], y[:50])
    best = model.best_params_
    assert sum(best["row_weights"].values()) == pytest.approx(1)
    kernels = []
    for given, side in ((rows, "row"), (cols, "col")):
        bases = base_kernels(given, (1, 2), X[:50], y[:50], side)
        kernels.append(sum(w * bases[name] for name, w in best[f"{side}_weights"].items()))
    again = KronRidge(
        reg=best["reg"],
        row_kernel="precomputed",
        col_kernel="precomputed",
        row_effect=best["row_effect"],
        col_effect=best["col_effect"],
        max_iter=400,
        tol=1e-10,
    )
    pairs = X.with_features(*kernels)
    again.fit(pairs[:50], y[:50] - y[:50].mean())
    expected = y[:50].mean() + again.predict(pairs[50:])
    np.testing.assert_allclose(model.predict(X[50:]), expected, atol=1e-3 * np.ptp(y))


def test_leave_one_out_is_exact():
    rng = np.random.default_rng(5)
    K, G = psd(rng, 7), psd(rng, 6)
    X = PairData.complete(K, G)
    y = rng.normal(2, 1, 42)
    model = KronRidgeCV(
        row_kernels={"K": K}, col_kernels={"G": G}, powers=(1,), cv="loo", regs=(0.1, 1.0)
    ).fit(X, y)
    K, G = (M / np.mean(np.diag(M)) + 0.1 * np.eye(len(M)) for M in (K, G))
    Y = (y - y.mean()).reshape(7, 6)
    whole = CompleteKronRidge(row_kernel="precomputed", col_kernel="precomputed")
    errors = [
        np.mean((whole.set_params(reg=reg).fit_matrix(K, G, Y).loo("A") - Y) ** 2)
        for reg in (0.1, 1.0)
    ]
    np.testing.assert_allclose(model.cv_results_["error"], errors, rtol=1e-9)
    assert model.best_params_["reg"] == (0.1, 1.0)[int(np.argmin(errors))]
    assert model.on_edge_ == ["reg"]


def test_a_profile_knows_the_training_labels_alone():
    rows, cols, X, y = problem(2)
    K = profile_kernel(X[:50], y[:50], "row")
    assert np.linalg.eigvalsh(K).min() > -1e-12
    assert np.all(np.diag(K) == pytest.approx(1))
    fold = KronRidgeCV(
        row_kernels={"p": "profile", "good": rows["good"]}, col_kernels=cols, powers=(1,)
    )._fold(X, y, np.arange(50), np.arange(50, 65))
    np.testing.assert_array_equal(fold.rows["p"], K)
    with pytest.raises(InputError, match="'profile' is made of the labels"):
        whole = PairData.complete(rows["good"], cols["good"])
        KronRidgeCV(row_kernels={"p": "profile"}, cv="loo").fit(whole, np.arange(72.0))


def test_kernels_of_features_and_the_contract_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = PairData(rng.normal(size=(9, 3)), rng.normal(size=(8, 3)), *np.divmod(np.arange(72), 8))
    y = (X.row_features @ X.col_features.T + 1)[X.rows, X.cols]
    model = KronRidgeCV(row_kernels={"x": "linear", "1": "constant"}, powers=(1,), random_state=1)
    twin = clone(model)
    model.fit(X[:60], y[:60])
    assert twin.get_params() == clone(model).get_params()
    assert np.mean((model.predict(X[60:]) - y[60:]) ** 2) < 0.05 * np.var(y)
    np.testing.assert_array_equal(twin.fit(X[:60], y[:60]).predict(X[60:]), model.predict(X[60:]))


def test_wrong_input():
    rows, cols, X, y = problem()
    indefinite = rows["good"] - 5 * np.eye(9)
    for options, message in (
        ({"row_kernels": {"a": np.eye(4)}}, r"row_kernels\['a'\] has shape \(4, 4\)"),
        ({"row_kernels": {"a": indefinite}}, "indefinite.*psd_part"),
        ({"col_kernels": {"a": "gauss"}}, "col_kernels has 'gauss'"),
        ({"row_kernels": {}}, "empty"),
        ({"regs": (0.0, 1.0)}, "positive"),
        ({"effect": 0.0}, "positive"),
        ({"cv": "all"}, "cv is 'all'"),
        ({"cv": "loo"}, "complete data"),
        ({"cv": 2.5}, r"cv is 2\.5"),
    ):
        with pytest.raises(InputError, match=message):
            KronRidgeCV(**{"row_kernels": rows, "col_kernels": cols} | options).fit(X, y)
    model = KronRidgeCV(row_kernels=rows, col_kernels=cols, gradient_steps=0).fit(X, y)
    other = PairData(np.zeros((3, 1)), np.zeros((8, 1)), [0], [0])
    with pytest.raises(InputError, match="3 x 8 vertices"):
        model.predict(other)
