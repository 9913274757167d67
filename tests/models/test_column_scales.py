"""Features of any scale: each fit is right, or says that it is not."""

import warnings
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.models import (
    KronNewton,
    KronRidge,
    KronRidgeCV,
    KronSVM,
    _vertex_features,
)

SCALES = 10.0 ** np.arange(-6, 9, 2)
REGS = (1e-9, 1e-4, 1.0, 1e4)
CASES = list(product(SCALES, ("one side", "both sides"), (np.float32, np.float64), REGS))
GAUSSIAN = dict(row_kernel="gaussian", col_kernel="gaussian", row_gamma=0.1, col_gamma=0.1)
RIGHT = 1e-2


def table(scale, sides, dtype, width):
    """Pairs of vertices with the last column of one side, or of both, times ``scale``."""
    rng, m, q, n = np.random.default_rng(0), 8 * width, 6 * width, 24 * width + width**2
    rows, cols = rng.standard_normal((m, width)), rng.standard_normal((q, width))
    rows[:, -1] *= scale
    cols[:, -1] *= scale if sides == "both sides" else 1.0
    chosen = rng.permutation(m * q)[:n]
    X = PairData(rows.astype(dtype), cols.astype(dtype), chosen // q, chosen % q)
    y = rows[X.rows, 0] * cols[X.cols, 0] + 0.5 * rng.standard_normal(n)
    return X, y - y.mean()


def products(X):
    """Product features (n, p) in double."""
    rows, cols = (side.astype(float) for side in (X.row_features, X.col_features))
    return np.einsum("na,nb->nab", rows[X.rows], cols[X.cols]).reshape(len(X), -1)


def basis(features, reg):
    """Orthonormal columns that span [X; root(reg) I], by columns of size one."""
    stacked = np.vstack([features, np.sqrt(reg) * np.eye(features.shape[1])])
    U, s, _ = np.linalg.svd(stacked / np.linalg.norm(stacked, axis=0), full_matrices=False)
    assert s[-1] > 1e-6 * s[0]
    return U


def best_ridge(X, y, reg):
    """Scores of the optimum."""
    U = basis(products(X), reg)[: len(y)]
    return U @ (U.T @ y)


def best_svm(X, y, reg):
    """The same of the L2-SVM: the margins that are nearest to 1 plus a slack of at least 0."""
    n, y = len(y), np.sign(y)
    U = basis(y[:, None] * products(X), reg)
    missed = np.eye(len(U), n) - U @ U[:n].T
    slack, _ = nnls(missed, -missed.sum(axis=1))
    return y * (U[:n] @ (U[:n].T @ (1 + slack)))


def best_gaussian(X, y, reg):
    K, G = (
        np.exp(-0.1 * ((side[:, None] - side[None]) ** 2).sum(axis=2))
        for side in (X.row_features.astype(float), X.col_features.astype(float))
    )
    return best_of_kernels(X, y, reg, K, G)


def best_of_kernels(X, y, reg, K, G):
    return best_of_pairs(K[np.ix_(X.rows, X.rows)] * G[np.ix_(X.cols, X.cols)], y, reg)


def best_poly2d(X, y, reg):
    both = np.hstack([X.row_features[X.rows], X.col_features[X.cols]]).astype(float)
    return best_of_pairs((both @ both.T) ** 2, y, reg)


def best_of_pairs(K, y, reg):
    values, U = np.linalg.eigh(K)
    values = np.maximum(values, 0)
    return U @ (values / (values + reg) * (U.T @ y))


def path_scores(X, y, reg, **parameters):
    path = KronRidge(**parameters).path(X, y, [reg, 2 * reg], X)
    return path.final_test_scores(1e-8)[0]


def fit_scores(X, y, reg, **parameters):
    return KronRidge(reg=reg, **parameters).fit(X, y).predict(X)


def counts(scores, best, width, cases=CASES):
    """How many fits are right, told to be far from the optimum, or refused; none is wrong."""
    found = Counter()
    for case in cases:
        *of_table, reg = case
        X, y = table(*of_table, width)
        with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                given = scores(X, y, reg)
            except InputError:
                found["refused"] += 1
                continue
        expected = best(X, y, reg)
        error = np.linalg.norm(given - expected) / np.linalg.norm(expected)
        told = any(issubclass(one.category, ConvergenceWarning) for one in said)
        found[
            "right" if error <= RIGHT else "told" if told else f"wrong: {case}, {error:.2g}"
        ] += 1
        found["right, but told"] += error <= RIGHT and told
    return found


def svm_scores(X, y, reg, kind=KronSVM, **parameters):
    model = kind(reg=reg, **parameters).fit(X, np.sign(y))
    if model.stop_reason_ == "max_iter":  # early stopping claims nothing
        warnings.warn("early", ConvergenceWarning, stacklevel=1)
    return model.decision_function(X)


PRIMAL = dict(form="primal")
WIDE = CASES[::11]  # these fits take a hundred iterations


@pytest.mark.parametrize(
    ("scores", "parameters", "width", "best"),
    [
        (fit_scores, {}, 3, best_ridge),
        (fit_scores, PRIMAL, 3, best_ridge),
        (path_scores, {}, 3, best_ridge),
        (fit_scores, {"form": "dual"}, 17, best_ridge),
        (fit_scores, PRIMAL, 17, best_ridge),
        (path_scores, {}, 17, best_ridge),
        (fit_scores, GAUSSIAN, 3, best_gaussian),
        (fit_scores, PRIMAL | GAUSSIAN, 3, best_gaussian),
        (path_scores, GAUSSIAN, 3, best_gaussian),
        (fit_scores, {"pairwise": "poly2d"}, 3, best_poly2d),
        (path_scores, {"pairwise": "poly2d"}, 3, best_poly2d),
    ],
)
def test_no_ridge_is_wrong_and_silent_whatever_the_scale(scores, parameters, width, best):
    cases = CASES if width == 3 and best is best_ridge else WIDE
    found = counts(lambda X, y, reg: scores(X, y, reg, **parameters), best, width, cases)
    assert found.keys() <= {"right", "told", "refused", "right, but told"}, found
    if cases is CASES:  # solved, whatever the scale
        assert found == {"right": len(CASES), "right, but told": 0}
    else:
        assert found["right"] >= len(cases) / 4


SOME = CASES[::3]


@pytest.mark.parametrize(
    ("parameters", "cases", "right"),
    [
        (PRIMAL, CASES, 100),
        ({}, CASES, 64),
        (PRIMAL | {"solver": "cg"}, SOME, 33),
        (PRIMAL | {"solver": "pcg"}, SOME, 40),
        ({"solver": "cg"}, CASES, 70),
        (PRIMAL | {"kind": KronNewton}, CASES, 110),
    ],
)
def test_no_svm_is_wrong_and_silent_whatever_the_scale(parameters, cases, right):
    found = counts(lambda X, y, reg: svm_scores(X, y, reg, **parameters), best_svm, 3, cases)
    assert found.keys() <= {"right", "told", "right, but told"}, found
    assert found["right"] >= right


@pytest.mark.parametrize("effect", [0.1, 1e-6])
def test_no_chosen_ridge_is_wrong_and_silent_whatever_the_scale(effect):
    def scores(X, y, reg):
        options = dict(regs=[reg], effect=effect, powers=(1,), gradient_steps=0)
        return KronRidgeCV(**options, cv=3, random_state=0).fit(X, y).predict(X)

    def best(X, y, reg):
        kernels = []
        for features, index in ((X.row_features, X.rows), (X.col_features, X.cols)):
            K = features.astype(float) @ features.T.astype(float)
            kernels.append(K / K.diagonal()[np.unique(index)].mean() + effect * np.eye(len(K)))
        return best_of_kernels(X, y, reg, *kernels)

    found = counts(scores, best, 3, SOME)
    assert found.keys() <= {"right", "told", "right, but told"}, found
    assert found["right"] == len(SOME) if effect == 0.1 else found["right"] >= len(SOME) / 2


@pytest.mark.parametrize("scale", [1e4, 1e6, 1e7])
@pytest.mark.parametrize("n", [300, 3000])
def test_a_small_column_counts_beside_a_large_one_however_many_pairs(scale, n, rng):
    sides = (np.c_[rng.standard_normal((60, 2)), rng.uniform(0, scale, 60)] for _ in "ab")
    i, j = np.divmod(rng.permutation(3600)[:n], 60)
    X = PairData(*sides, i, j)
    y = X.row_features[i, 0] * X.col_features[j, 0] + 0.1 * rng.standard_normal(n)
    for parameters in ({}, PRIMAL):
        model = KronRidge(**parameters).fit(X, y)
        np.testing.assert_allclose(model.predict(X), best_ridge(X, y, 1.0), atol=1e-4)
        assert model.converged_
    path = KronRidge().path(X, y, [1e-3, 1.0], X)
    for position, reg in enumerate((1e-3, 1.0)):
        np.testing.assert_allclose(
            path.test_scores(position)[-1], best_ridge(X, y, reg), atol=1e-4
        )
        a = path.solutions.iterate(position)
        np.testing.assert_allclose(a, (y - best_ridge(X, y, reg)) / reg, atol=1e-4 / reg)


@pytest.mark.parametrize("way", ["fit", "path"])
def test_features_that_depend_on_each_other_to_rounding_are_told_unless_reg_tells_them(way, rng):
    rows = rng.standard_normal((20, 2)) * 1e5
    X = PairData.complete(np.c_[rows, rows @ [1.0, 3.0]], rng.standard_normal((10, 2)))
    y = rng.standard_normal(200)

    def fitted(reg):
        if way == "fit":
            model = KronRidge(reg=reg).fit(X, y)
            return model.predict(X), model.stop_reason_, model.converged_
        path = KronRidge().path(X, y, [reg], X)
        return path.test_scores(0)[0], path.stop_reasons[0], path.stop_reasons[0] == "tol"

    with pytest.warns(ConvergenceWarning, match=r"ended by rounding .* scaled features"):
        assert fitted(1e-20)[1:] == ("rounding", False)
    with warnings.catch_warnings(action="error"):
        for reg in (1e-10, 1.0, 1e12):
            scores, *ended = fitted(reg)
            assert ended == ["tol", True]
            F = products(X)[:, :4]  # the same kernel with two columns for three
            K = products(X) @ products(X).T
            if reg == 1e12:
                best = K @ np.linalg.solve(K + reg * np.eye(200), y)
            else:  # so small beside features of 1e5 that it does nothing
                best = F @ np.linalg.lstsq(F / 1e5, y, rcond=None)[0] / 1e5
            np.testing.assert_allclose(scores, best, atol=1e-6)


def test_single_precision_factors_are_not_taken_for_the_kernel(rng):
    """Cholesky factors have 1e-6 of a kernel matrix, which is nothing to reg=1, all to 1e-10."""
    i, j = np.divmod(rng.permutation(24 * 18)[:340], 18)
    y = rng.standard_normal(340)
    rows, cols = (rng.standard_normal((m, 3)).astype(np.float32) for m in (24, 18))
    rows[:, 2] *= 1e6
    X = PairData(rows, cols, i, j)
    parameters = GAUSSIAN | PRIMAL | {"row_gamma": 1e-12}
    with pytest.warns(ConvergenceWarning, match="ended by rounding .* double precision"):
        assert not KronRidge(reg=1e-10, **parameters).fit(X, y).converged_
    for options in ({"reg": 1.0}, {"reg": 1.0, "solver": "minres"}, {"reg": 1e-2}):
        with warnings.catch_warnings(action="error"):
            assert KronRidge(**parameters | options).fit(X, y).converged_


def test_poor_factors_are_found_out_by_iterations_too(monkeypatch):
    X, y = table(1.0, "one side", np.float64, 3)
    model = KronRidge(reg=1e-2, max_iter=1000, **GAUSSIAN | PRIMAL)
    assert model.fit(X, y, callback=lambda state: False).converged_
    poor = dict.fromkeys(_vertex_features.TOLERANCE, 0.1)
    monkeypatch.setattr(_vertex_features, "TOLERANCE", poor)
    for callback in (None, lambda state: False):
        with pytest.warns(ConvergenceWarning, match="ended by rounding"):
            assert not model.fit(X, y, callback=callback).converged_


def iterated(reg, **parameters):
    """A primal fit by iterations to 697 pairs of 289 products, and its error."""
    X, y = table(1.0, "one side", np.float64, 17)
    with warnings.catch_warnings(record=True, action="always") as said:
        model = KronRidge(form="primal", reg=reg, **parameters).fit(X, y)
    best = best_ridge(X, y, reg)
    error = np.linalg.norm(model.predict(X) - best) / np.linalg.norm(best)
    return model, error, [one.category for one in said]


def test_iterations_of_the_primal_form_doubt_what_its_residual_leaves_open():
    # a residual of 1e-3 of X'y is no solution where the root of reg is less
    model, _, said = iterated(1e-8, solver="minres", tol=1e-3)
    assert (model.stop_reason_, model.converged_, said) == (
        "rounding",
        False,
        [ConvergenceWarning],
    )
    model, error, said = iterated(1e-12, max_iter=1000)
    assert (model.converged_, said) == (True, [])
    assert error < 1e-4
    # ended by their number: the bound says whether that is near
    for max_iter, far in ((12, True), (60, False)):
        model, error, said = iterated(1.0, max_iter=max_iter, tol=1e-12)
        assert model.stop_reason_ == "max_iter"
        assert (error > 3e-3) == far
        assert said == [ConvergenceWarning] * far
