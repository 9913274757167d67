"""Closed forms on features of any scale: each number is right, or told to be wrong, or refused.

The reference solves least squares of [Phi; root(reg) I] in columns of size one, whose rounding
does not depend on the scales of the features.
"""

import warnings
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning

from kronbench.errors import InputError
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from tests.models.complete_problems import splits

SCALES = 10.0 ** np.arange(-6, 9, 2)
REGS = (1e-9, 1e-4, 1.0, 1e4)
CASES = list(product(SCALES, ("one side", "both sides"), (np.float32, np.float64), REGS))
M, Q = 9, 7  # vertices of training; two more of each side are new
WIDTHS = {"thin": (4, 3), "wide": (12, 10)}
RIGHT = 1e-2


def table(scale, sides, dtype, width):
    """Features of both sides with a column, the last and the first, times ``scale``; labels."""
    rng, (d, r) = np.random.default_rng(5), WIDTHS[width]
    D, T = rng.standard_normal((M + 2, d)), rng.standard_normal((Q + 2, r))
    D[:, -1] *= scale
    T[:, 0] *= scale if sides == "both sides" else 1.0
    return D.astype(dtype), T.astype(dtype), rng.standard_normal((M, Q))


def solution(features, reg):
    """(d, n), the matrix that takes labels to the weights of ridge regression."""
    n, d = features.shape
    stacked = np.vstack([features, np.sqrt(reg) * np.eye(d)])
    sizes = np.linalg.norm(stacked, axis=0)
    basis, triangle = np.linalg.qr(stacked / sizes)
    assert np.linalg.cond(triangle) < 1e9
    return np.linalg.solve(triangle, basis[:n].T) / sizes[:, None]


def reduced(features, new):
    """Both in an orthonormal basis of the rows of ``features``, with the largest column first."""
    if features.shape[1] <= len(features):
        return features, new
    order = np.argsort(-np.linalg.norm(features, axis=0))
    basis, triangle = np.linalg.qr(features.T[order])
    return triangle.T, new[:, order] @ basis


def of_both(D, T, Y, reg, D_new, T_new):
    """Kronecker ridge regression, by the features of pairs."""
    (D, D_new), (T, T_new) = reduced(D, D_new), reduced(T, T_new)
    weights = solution(np.kron(D, T), reg) @ Y.ravel()
    return D_new @ weights.reshape(D.shape[1], -1) @ T_new.T


def of_steps(D, T, Y, reg, D_new, T_new):
    (D, D_new), (T, T_new) = reduced(D, D_new), reduced(T, T_new)
    return D_new @ solution(D, reg) @ Y @ (T_new @ solution(T, reg)).T


def of_rows(D, T, Y, reg, D_new, T_new):
    D, D_new = reduced(D, D_new)
    return D_new @ solution(D, reg) @ Y


def left_out(name, setting, D, T, Y, reg, folds=None):
    """Predictions without a pair, its row, its column or both, each from a fit of its own."""
    F, pairs = np.empty(Y.shape), np.kron(D, T)
    for train, test in splits(setting, folds, Y.shape):
        if setting == "A":  # what is left is no product of rows and columns
            kept, new = reduced(pairs[train.ravel()], pairs[test.ravel()])
            F[test] = new @ solution(kept, reg) @ Y[train]
            continue
        rows, cols = (train.any(axis=axis) for axis in (1, 0))
        new_rows, new_cols = (test.any(axis=axis) for axis in (1, 0))
        kept = D[rows], T[cols], Y[np.ix_(rows, cols)], reg, D[new_rows], T[new_cols]
        F[test] = MODELS[name][2](*kept).ravel()  # the places of ``test``, row by row
    return F


MODELS = {
    "Kronecker": (CompleteKronRidge, ("reg",), of_both),
    "two steps": (TwoStepRidge, ("reg_rows", "reg_cols"), of_steps),
    "independent": (IndependentRidge, ("reg",), of_rows),
}


def fitted(name, reg, given, **parameters):
    make, weights, _ = MODELS[name]
    return make(**dict.fromkeys(weights, reg), **parameters).fit_matrix(*given)


def counts(found_of, expected_of, width, cases):
    """How many of the cases are right, told to be wrong, or refused; and each that is wrong."""
    found = Counter()
    for scale, sides, dtype, reg in cases:
        D, T, Y = table(scale, sides, dtype, width)
        with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                given = found_of(D, T, Y, reg)
            except InputError:
                found["refused"] += 1
                continue
        expected = expected_of(D.astype(float), T.astype(float), Y, reg)
        error = np.abs(given - expected).max() / np.abs(Y).max()
        told = any(issubclass(one.category, LinAlgWarning) for one in said)
        found["told, but right"] += told and error <= RIGHT
        wrong = f"wrong by {error:.1g}: {scale:g}, {sides}, {dtype.__name__}, {reg:g}"
        found["right" if error <= RIGHT else "told" if told else wrong] += 1
    return +found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MODELS)
def test_predictions(name, width):
    def predicted(D, T, Y, reg):
        return fitted(name, reg, (D[:M], T[:Q], Y)).predict_matrix(D, T)

    def expected(D, T, Y, reg):
        return MODELS[name][2](D[:M], T[:Q], Y, reg, D, T)

    assert counts(predicted, expected, width, CASES) == {"right": len(CASES)}


FOLDS = [0, 1, 2, 3, 0, 1, 2, 3, 3], [0, 1, 2, 1, 2, 3, 3]
SETTINGS = [("Kronecker", "ABCD"), ("two steps", "BCD"), ("independent", "B")]
LEFT_OUT = [(name, setting, None) for name, them in SETTINGS for setting in them]
LEFT_OUT += [(name, "D", FOLDS) for name in ("Kronecker", "two steps")]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("name", "setting", "folds"), LEFT_OUT)
def test_left_out_predictions(name, setting, folds, width):
    def predicted(D, T, Y, reg):
        return fitted(name, reg, (D[:M], T[:Q], Y)).loo(setting, folds)

    def expected(D, T, Y, reg):
        return left_out(name, setting, D[:M], T[:Q], Y, reg, folds)

    some = CASES[:: 3 if folds else 11]  # of every scale, precision and weight
    assert counts(predicted, expected, width, some) == {"right": len(some)}


def test_features_that_leave_with_a_fold_are_told():
    """Neither form of setting D has digits where what is left spans less than the features."""
    D, T, Y = table(1e8, "both sides", np.float64, "thin")
    model = fitted("Kronecker", 1.0, (D[:M], T[:Q], Y))
    with pytest.warns(LinAlgWarning, match="setting 'D' lose digits .* scale the features"):
        model.loo("D", ([0] * 6 + [1] * 3, [0, 1, 2, 1, 2, 3, 3]))


@pytest.mark.parametrize("kernel", ["precomputed", "gaussian"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["Kronecker", "two steps"])
def test_kernels_that_have_lost_digits_are_told(name, width, kernel):
    """Where there are no features to take in place of the kernel, as many are told."""
    parameters = {"row_kernel": kernel, "col_kernel": kernel}
    if kernel == "gaussian":
        parameters |= {"row_gamma": 0.1, "col_gamma": 0.1}

    def predicted(D, T, Y, reg):
        D, T = D.astype(float), T.astype(float)
        given = (
            (D[:M], T[:Q], Y) if kernel == "gaussian" else (D[:M] @ D[:M].T, T[:Q] @ T[:Q].T, Y)
        )
        at = (D, T) if kernel == "gaussian" else (D @ D[:M].T, T @ T[:Q].T)
        return fitted(name, reg, given, **parameters).predict_matrix(*at)

    def expected(D, T, Y, reg):
        if kernel == "gaussian":  # features of all vertices whose products are the kernel
            D, T = (np.linalg.cholesky(gaussian(side)) for side in (D, T))
        return MODELS[name][2](D[:M], T[:Q], Y, reg, D, T)

    found = counts(predicted, expected, width, CASES)
    assert not any(kind.startswith("wrong") for kind in found), found
    assert found["right"] >= len(CASES) / 4
    assert found["told, but right"] <= len(CASES) / 4
    if kernel == "precomputed":
        assert found["told"] > 0


def gaussian(features):
    return np.exp(-0.1 * ((features[:, None] - features[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("parameter", ["no weight", "cutoff"])
def test_least_squares_without_a_weight(name, width, parameter):
    """The pseudo-inverse, and the filter that cuts off nothing that is not rounding."""

    def predicted(D, T, Y, reg):
        of = "row_filter", "col_filter"
        filters = dict.fromkeys(of if name == "two steps" else ["filter"], "cutoff")
        model = (0.0, {}) if parameter == "no weight" else (1e-30, filters)
        return fitted(name, model[0], (D[:M], T[:Q], Y), **model[1]).predict_matrix(D, T)

    def expected(D, T, Y, reg):
        return MODELS[name][2](D[:M], T[:Q], Y, 0.0, D, T)

    some = CASES[:: len(REGS)]
    found = counts(predicted, expected, width, some)
    found.pop("told, but right", None)
    assert found == {"right": len(some)}


@pytest.mark.parametrize("width", WIDTHS)
def test_ranking(width):
    """Scores of a row are known up to a constant."""

    def centred(F):
        return F - F.mean(axis=1, keepdims=True)

    def predicted(D, T, Y, reg):
        model = fitted("Kronecker", reg, (D[:M], T[:Q], Y), loss="ranking")
        return centred(model.predict_matrix(D, T))

    def expected(D, T, Y, reg):
        middle = T - T[:Q].mean(axis=0)
        return centred(of_both(D[:M], middle[:Q], centred(Y), reg, D, middle))

    some = CASES[::11]
    assert counts(predicted, expected, width, some) == {"right": len(some)}


@pytest.mark.parametrize("start", [3, 7], ids=["wide at first", "thin"])
@pytest.mark.parametrize("width", WIDTHS)
def test_new_rows_and_columns(width, start):
    """Updates, in the features and in the kernel, and on the way from it to the features."""

    def predicted(D, T, Y, reg):
        model = fitted("two steps", reg, (D[:start], T[: Q - 2], Y[:start, : Q - 2]))
        model.partial_fit_rows(D[start : M - 1], Y[start : M - 1, : Q - 2])
        assert np.isfinite(model.coef_).all()
        model.partial_fit_cols(T[Q - 2 : Q], Y[: M - 1, Q - 2 :])
        model.partial_fit_rows(D[M - 1 : M], Y[M - 1 :])
        return model.predict_matrix(D, T)

    def expected(D, T, Y, reg):
        return of_steps(D[:M], T[:Q], Y, reg, D, T)

    some = CASES[::3]
    assert counts(predicted, expected, width, some) == {"right": len(some)}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MODELS)
def test_dual_coefficients_are_what_is_left_of_the_labels(name, width):
    some = CASES[1 :: len(REGS)]

    def predicted(D, T, Y, reg):
        return reg ** len(MODELS[name][1]) * fitted(name, reg, (D[:M], T[:Q], Y)).dual_coef_

    def expected(D, T, Y, reg):
        D, T = D[:M], T[:Q]
        fitted_rows = of_rows(D, T, Y, reg, D, T)
        if name == "two steps":
            return Y - fitted_rows - of_rows(T, D, (Y - fitted_rows).T, reg, T, D).T
        return Y - (fitted_rows if name == "independent" else of_both(D, T, Y, reg, D, T))

    assert counts(predicted, expected, width, some) == {"right": len(some)}
