from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kronbench import PairData
from kronbench.errors import InputError
from kronbench.evaluation import SettingKFold
from kronbench.models import KronRidge, Landmarks
from kronbench.own_pairs.recipe import INNER_FOLDS, Recipe, needed_memory
from kronbench.own_pairs.selection import choose
from tests.models.kron_problems import product_features

KERNELS = {"tanimoto": {}, "gaussian": {"row_gamma": 0.05}}


@pytest.fixture
def problem():
    """Pairs of 90 compounds, the first ten of which have none, and pairs of these to predict."""
    rng = np.random.default_rng(0)
    series = rng.random((6, 40)) < 0.3
    bits = sparse.csr_array((series[np.arange(90) % 6] ^ (rng.random((90, 40)) < 0.1)) * 1.0)
    T = rng.standard_normal((12, 9))
    i, j = np.divmod(rng.permutation(80 * 12)[:600], 12)
    X = PairData(bits, T, i + 10, j)
    smooth = (bits @ rng.standard_normal(40))[X.rows] * T[X.cols, 0]
    new = PairData(bits, T, *np.divmod(np.arange(10 * 12), 12))
    return X, smooth + rng.standard_normal(600), new


def by_hand(X, kernel, row_gamma=None, k=30):
    """The pairs over features from landmarks, which are drawn among the vertices in use."""
    landmarks = Landmarks(n_components=k, kernel=kernel, gamma=row_gamma, random_state=0)
    landmarks.fit(X.row_features[np.unique(X.rows)])
    return lambda other: other.with_features(
        landmarks.transform(other.row_features), other.col_features
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("solver", ["auto", "minres"])
def test_a_model_of_landmarks_is_that_of_their_features(problem, kernel, solver):
    X, y, new = problem
    options = {"form": "primal", "reg": 2.0, "solver": solver, "fit_intercept": True}
    model = KronRidge(row_kernel=kernel, row_landmarks=30, **KERNELS[kernel], **options)
    features = by_hand(X, kernel, **KERNELS[kernel])
    expected = KronRidge(**options).fit(features(X), y).predict(features(new))
    np.testing.assert_allclose(model.fit(X, y).predict(new), expected, atol=1e-9)
    # Standard deviations have what the features leave of k(x, x), too (JMLR 6, 2005, eq. 20b).
    P, R = product_features(features(X)), product_features(features(new))
    prior = (new.col_features**2).sum(axis=1)[new.cols]  # both kernels of rows are one at (d, d)
    posterior = np.linalg.inv(P.T @ P / 2.0 + np.eye(P.shape[1]))
    variance = prior - (R**2).sum(axis=1) + np.einsum("ij,jk,ik->i", R, posterior, R)
    expected_std = np.sqrt(model.noise_variance_ / 2.0 * variance)
    np.testing.assert_allclose(model.predict_std(new), expected_std, rtol=1e-5)
    exact = model.set_params(row_landmarks=None).fit(X, y).predict(new)
    assert np.abs(exact - expected).max() > 1e-3
    # As many landmarks as the kernel has vertices are the kernel.
    all_of_them = model.set_params(row_landmarks=80).fit(X, y)
    if solver == "auto":
        np.testing.assert_allclose(all_of_them.predict(new), exact, atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_choice_with_landmarks_is_that_of_pipelines_by_hand(problem, kernel):
    X, y, _ = problem
    given = {"form": "primal", "row_kernel": kernel, "row_landmarks": 30, **KERNELS[kernel]}
    choice = choose(Recipe("KronRidge", given, setting="B"), X, y)
    folds = list(SettingKFold("B", INNER_FOLDS, random_state=0).split(X, y))
    level = np.mean((X.col_features**2).sum(axis=1))
    errors = []
    for reg in (regs := 10.0 ** np.arange(-5, 3) * level):
        error = []
        for train, test in folds:
            features = by_hand(X[train], kernel, **KERNELS[kernel])
            model = KronRidge(form="primal", reg=reg, fit_intercept=True, max_iter=400)
            fitted = model.fit(features(X[train]), y[train])
            error.append(np.mean((fitted.predict(features(X[test])) - y[test]) ** 2))
        errors.append(np.mean(error))
    assert choice.chosen == pytest.approx({"reg": regs[np.argmin(errors)]})
    assert -choice.score == pytest.approx(min(errors), rel=1e-4)


def test_landmarks_of_many_vertices_are_drawn_among_some_of_them(problem):
    X, y, new = problem
    model = KronRidge(form="primal", row_kernel="tanimoto", row_landmarks=1).fit(X, y)
    (drawn,) = model.feature_maps_[0]._landmarks.positions_
    assert drawn < 50  # of 80 in use
    assert np.isfinite(model.predict(new)).all()


def test_features_of_landmarks_are_counted_in_place_of_kernels():
    n = 4000
    X = PairData(np.ones((n, 2)), np.ones((3, 50)), np.arange(n), np.arange(n) % 3)
    recipe = Recipe("KronRidge", {"form": "primal", "row_kernel": "tanimoto"})
    some = replace(recipe, parameters={**recipe.parameters, "row_landmarks": 20})
    assert needed_memory(recipe, X) == (8 * n**2, 0)
    kernels, weights = needed_memory(some, X)
    assert kernels == 8 * 20 * (n + 1000)
    assert weights >= 8 * 20 * 50


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"form": "dual", "row_landmarks": 9}, "row_landmarks=9 .* give form='primal'"),
        ({"form": "primal", "col_landmarks": 9, "col_kernel": "precomputed"}, "needs features"),
        ({"form": "primal", "row_landmarks": 0}, "row_landmarks"),
    ],
)
def test_landmarks_that_cannot_be_drawn(problem, given, match):
    X, y, _ = problem
    with pytest.raises(InputError, match=match):
        KronRidge(**given).fit(X, y)
