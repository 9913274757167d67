"""Kernels, weights and vertex effects that validation pairs choose."""

import numpy as np
import pytest
from sklearn.base import clone

from kronbench import InputError, PairData
from kronbench.evaluation import SettingKFold, additive_scores
from kronbench.models import KronRidgeCV
from kronbench.models._kernel_sums import (
    Fold,
    combined,
    profile_kernel,
    validation_loss,
)


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


def test_verbose_tells_of_each_part_and_changes_no_number(capsys):
    rows, cols, X, y = problem()
    options = dict(row_kernels=rows, col_kernels=cols, cv=2, gradient_steps=4, max_iter=10)
    silent = KronRidgeCV(random_state=0, **options).fit(X, y)
    assert capsys.readouterr().err == ""
    told = KronRidgeCV(random_state=0, verbose=True, **options).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[4] == "KronRidgeCV, grid: 16 of 32 paths"
    assert lines[9:11] == [
        "KronRidgeCV, grid: 32 of 32 paths",
        "KronRidgeCV, weights: 1 of 4 steps",
    ]
    assert lines[-1] == f"KronRidge: {told.best_estimator_.n_iter_} of 10 iterations"
    assert told.best_params_ == silent.best_params_
    assert told.cv_results_ == silent.cv_results_
    np.testing.assert_array_equal(told.predict(X), silent.predict(X))


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


@pytest.mark.parametrize("setting", "ABCD")
def test_the_weight_is_chosen_by_folds_of_the_setting_that_is_asked_for(setting):
    rows, cols, X, y = problem(4)
    K, G, regs = rows["good"], cols["good"], (0.03, 1.0, 30.0)
    splitter = SettingKFold(setting, 2, n_repeats=2, random_state=0)
    given = list(splitter.split(X, y)) if setting == "A" else splitter
    model = KronRidgeCV(
        row_kernels=K, col_kernels=G, powers=(1,), regs=regs, cv=given, gradient_steps=0,
        effect=0.1, tol=1e-12, max_iter=400,
    ).fit(X, y)  # fmt: skip
    errors = []
    for train, test in splitter.split(X, y):
        known = np.isin(X.rows[test], X.rows[train]), np.isin(X.cols[test], X.cols[train])
        assert setting not in "BD" or not known[0].any()
        assert setting not in "CD" or not known[1].any()
        sides = zip((K, G), (X.rows, X.cols), strict=True)
        A, B = (
            M / np.diag(M)[np.unique(v[train])].mean() + 0.1 * np.eye(len(M)) for M, v in sides
        )
        Q = A[np.ix_(X.rows, X.rows)] * B[np.ix_(X.cols, X.cols)]
        mean, inner = y[train].mean(), Q[np.ix_(train, train)]
        fits = (np.linalg.solve(inner + reg * np.eye(len(train)), y[train] - mean) for reg in regs)
        errors.append([np.mean((mean + Q[np.ix_(test, train)] @ a - y[test]) ** 2) for a in fits])
    expected = np.mean(errors, axis=0)
    np.testing.assert_allclose(model.cv_results_["error"], expected, rtol=1e-7)
    assert model.best_params_["reg"] == regs[int(np.argmin(expected))]
    assert model.on_edge_ == ([] if np.argmin(expected) == 1 else ["reg"])


def test_steps_that_end_worse_than_the_grid_are_left_out():
    rows, cols, X, y = problem(3, 20, 18, 220, 60)
    rows["bad"] = np.eye(20)
    model = KronRidgeCV(
        row_kernels=rows, col_kernels=cols, powers=(1,), gradient_steps=1, cv=3, random_state=0
    ).fit(X, y)
    errors = dict(zip(("grid", "steps"), np.split(model.cv_results_["error"], [44]), strict=True))
    assert errors["grid"].min() < errors["steps"].min() < 2 * errors["grid"].min()
    assert model.best_score_ == errors["grid"].min()
    for side in ("row_weights", "col_weights"):
        assert model.best_params_[side] == {"good": 1.0, "bad": 0.0}


def of_bits(D, E):
    """The Tanimoto kernel of bits."""
    common = D @ E.T
    return common / (D.sum(axis=1)[:, None] + E.sum(axis=1) - common)


def some_new(seed=1):
    """Pairs of ten rows and nine columns, of which the first eight and seven train."""
    rng = np.random.default_rng(seed)
    D = (rng.random((10, 6)) < 0.5) * 1.0
    D[:, 0] = 1.0
    T = rng.normal(size=(9, 3))
    y = (D @ rng.normal(size=(6, 3)) @ T.T + 3).ravel()
    return D, T, PairData.complete(D, T), y


def test_new_vertices_are_predicted_from_their_features():
    D, T, X, y = some_new()
    old = (X.rows < 8) & (X.cols < 7)
    kernels = {"t": "tanimoto", "x": lambda X, Y: X @ Y.T + 1, "1": "constant", "p": "profile"}
    options = {"col_kernels": {"linear": "linear", "p": "profile"}, "gradient_steps": 5}
    model = KronRidgeCV(row_kernels=kernels, cv=3, random_state=0, tol=1e-10, **options)
    alone = PairData(D[:8], T[:7], X.rows[old], X.cols[old])
    model.fit(alone, y[old])
    expected = model.predict(alone)
    np.testing.assert_array_equal(
        model.predict(PairData(D[:8].copy(), T[:7].copy(), alone.rows, alone.cols)), expected
    )

    # as if all vertices had been known when it was fitted, the new ones without a label
    whole = clone(model).refit(X[old], y[old], model.best_params_)
    np.testing.assert_allclose(whole.predict(X[old]), expected, atol=1e-7)
    known, new = (slice(0, 8), slice(0, 7)), (slice(8, 10), slice(7, 9))
    for rows, cols in ((new[0], known[1]), (known[0], new[1]), new):
        pairs = PairData.complete(D[rows], T[cols])
        among = PairData(D, T, pairs.rows + rows.start, pairs.cols + cols.start)
        np.testing.assert_allclose(model.predict(pairs), whole.predict(among), atol=1e-7)

    # the dense formula, where one side is new
    best = model.best_params_
    # labels less row and column effects, by least squares with the weights of the floor
    Z = (y[old] - additive_scores(alone, y[old], alone)).reshape(8, 7)
    rows = best["row_weights"]
    tanimoto, of_x = of_bits(D[8:], D[:8]), D[8:] @ D[:8].T + 1
    level = np.mean(np.sum(D[:8] ** 2, axis=1) + 1)
    K = rows["t"] * tanimoto + rows["t^2"] * tanimoto**2 + rows["1"]
    K += rows["x"] * of_x / level + rows["x^2"] * (of_x / level) ** 2
    K += rows["p"] * np.exp(-np.sum(Z**2, axis=1) / np.mean(np.sum(Z**2, axis=1)))
    G = model.kernels_[1] + best["col_effect"] * np.eye(7)
    A = model.dual_coef_.reshape(8, 7)
    found = model.predict(PairData.complete(D[8:], T[:7])).reshape(2, 7)
    np.testing.assert_allclose(found, y[old].mean() + K @ A @ G, atol=1e-8)


def test_a_kernel_as_features_takes_the_kernel_values_of_new_vertices():
    D, T, X, y = some_new()
    old = (X.rows < 8) & (X.cols < 7)
    options = {"cv": 3, "random_state": 0, "gradient_steps": 3}
    by_name = KronRidgeCV(row_kernels="tanimoto", **options)
    by_name.fit(PairData(D[:8], T[:7], X.rows[old], X.cols[old]), y[old])
    K = of_bits(D, D)
    given = KronRidgeCV(row_kernels="precomputed", **options)
    given.fit(PairData(K[:8, :8], T[:7], X.rows[old], X.cols[old]), y[old])
    np.testing.assert_allclose(
        given.predict(PairData.complete(K[8:, :8], T)),
        by_name.predict(PairData.complete(D[8:], T)),
        atol=1e-6,
    )
    with pytest.raises(InputError, match="8 training vertices"):
        given.predict(PairData.complete(K[8:], T))


def test_a_profile_knows_the_training_labels_alone():
    rows, cols, X, y = problem(2)
    K = profile_kernel(X[:50], y[:50], "row")
    assert np.linalg.eigvalsh(K).min() > -1e-12
    assert np.all(np.diag(K) == pytest.approx(1))
    fold = KronRidgeCV(
        row_kernels={"p": "profile", "good": rows["good"]}, col_kernels=cols, powers=(1,)
    )._fold(X, y, np.arange(50), np.arange(50, 65))
    np.testing.assert_array_equal(fold.rows["p"], K)


def test_wrong_input():
    rows, cols, X, y = problem()
    indefinite = rows["good"] - 5 * np.eye(9)
    for options, message in (
        ({"row_kernels": {"a": np.eye(4)}}, r"row_kernels\['a'\] has shape \(4, 4\)"),
        ({"row_kernels": {"a": indefinite}}, "indefinite.*psd_part"),
        ({"col_kernels": {"a": "gauss"}}, "col_kernels has 'gauss'"),
        ({"row_kernels": {}}, "empty"),
        ({"regs": (0.0, 1.0)}, "positive"),
        ({"regs": ()}, "at least one weight"),
        ({"powers": (1.5,)}, "powers is .* give whole numbers"),
        ({"powers": ()}, "powers is .* give whole numbers"),
        ({"cv": 66}, "cv is 66 for 65 pairs"),
        ({"cv": [(np.arange(5), [])]}, "without pairs"),
        ({"row_kernels": np.zeros((9, 9))}, "is zero for every vertex"),
    ):
        with pytest.raises(InputError, match=message):
            KronRidgeCV(**{"row_kernels": rows, "col_kernels": cols} | options).fit(X, y)
    model = KronRidgeCV(row_kernels=rows, col_kernels=cols, gradient_steps=0).fit(X, y)
    other = PairData(np.zeros((3, 1)), np.zeros((8, 1)), [0], [0])
    with pytest.raises(InputError, match=r"row_kernels\['good'\] is a kernel matrix"):
        model.predict(other)
    D, T, whole, labels = some_new()
    model = KronRidgeCV(cv=3, random_state=0, gradient_steps=0)
    with pytest.raises(InputError, match="y is constant, 2, for n_samples"):
        model.fit(whole, np.full(90, 2.0))
    with pytest.raises(InputError, match=r"row_kernels\['linear'\] is zero for every vertex"):
        model.fit(PairData.complete(0 * D, T), labels)
    labels[1:] = 0
    with pytest.raises(InputError, match="training pairs of a validation part is constant, 0"):
        model.fit(whole, labels)
