"""Standard deviations of KronRidge from draws, against the exact ones."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kronbench import InputError, PairData
from kronbench.linalg import gram
from kronbench.models import KronRidge
from tests.models.kron_problems import random_pairs

GAUSSIAN = {"row_kernel": "gaussian", "row_gamma": 0.3, "col_kernel": "tanimoto", "reg": 0.2}
EFFECTS = {"row_effect": 0.5, "col_effect": 0.2}
MODELS = {
    "dual": {},
    "with effects": EFFECTS,
    "single precision": {"dtype": "float32", **EFFECTS},
    "weighted primal": {"form": "primal", "solver": "minres", "max_iter": 500, "weighted": True},
}


def precomputed(X):
    return X.with_features(
        gram(X.row_features, kernel="gaussian", gamma=0.3), gram(X.col_features, kernel="tanimoto")
    )


def fitted(weighted=False, given=lambda X: X, **parameters):
    """A model of 90 pairs, and 60 pairs of which 20 have a new row and 20 another column."""
    X, rng = given(random_pairs(24, 16, 240, seed=0)), np.random.default_rng(0)
    known = np.flatnonzero((X.rows < 18) & (X.cols < 12))[:90]
    asked = np.concatenate([
        np.flatnonzero((X.rows >= 18) & (X.cols < 12))[:20],
        np.flatnonzero((X.rows < 18) & (X.cols >= 12))[:20],
        known[:20],
    ])  # fmt: skip
    weight = rng.integers(1, 4, len(known)).astype(float) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KronRidge(**GAUSSIAN | parameters)
        model.fit(X[known], rng.normal(size=len(known)), sample_weight=weight)
    return model, X[asked]


@pytest.mark.parametrize("name", MODELS)
def test_draws_have_the_exact_variance_and_no_more_than_the_error_of_their_number(name):
    model, X = fitted(**MODELS[name])
    exact, errors = model.predict_std(X), {}
    for samples in (16, 256):
        std = np.array([model.predict_std(X, samples, seed) for seed in range(6)])
        errors[samples] = np.sqrt(np.mean(np.log(std / exact) ** 2))
        # 60 pairs share the draws, so that the mean of the seeds is less sure than their number.
        largest = 1.15 / np.sqrt(2 * samples)
        assert errors[samples] < largest, samples
    # The mean of the last estimates, of 1,536 draws in all, is the exact variance.
    assert np.mean(std**2 / exact**2) == pytest.approx(1, abs=0.025)
    np.testing.assert_allclose(np.mean(std**2, axis=0), exact**2, rtol=0.2)
    assert errors[16] / errors[256] == pytest.approx(4, rel=0.4)


def test_precomputed_kernels_have_the_same_deviations():
    by_name, asked = fitted(**EFFECTS)
    model, X = fitted(
        given=precomputed, row_kernel="precomputed", col_kernel="precomputed", **EFFECTS
    )
    found = model.predict_std(X, 1024, random_state=0)
    np.testing.assert_allclose(found, by_name.predict_std(asked), rtol=0.1)
    new = PairData(X.row_features[:3] / 2, X.col_features, [0, 2], [1, 1])
    with pytest.raises(InputError, match="row_features is a precomputed kernel of new vertices"):
        model.predict_std(new, 16)


def test_pairs_far_from_the_fit_are_surer_than_the_draws_alone():
    """Far from all pairs the variance is that of the prior, whatever the draws are."""
    model, _ = fitted(col_kernel="gaussian", col_gamma=0.1)
    rng = np.random.default_rng(1)
    far = PairData(100 + rng.normal(size=(4, model.X_fit_.row_features.shape[1])),
                   model.X_fit_.col_features, [0, 1, 2, 3], [0, 1, 2, 3])  # fmt: skip
    np.testing.assert_allclose(model.predict_std(far, 2, 0), model.predict_std(far), rtol=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [{"pairwise": "linear"}, {"row_kernel": "linear", "col_kernel": "linear", "row_gamma": None}],
)
def test_other_kernels_of_pairs_and_few_features_are_exact_as_before(parameters):
    model, X = fitted(**parameters)
    np.testing.assert_array_equal(model.predict_std(X, 4), model.predict_std(X))


@pytest.mark.parametrize("samples", [0, 2.5, "64"])
def test_samples_are_a_number(samples):
    model, X = fitted()
    with pytest.raises(InputError, match="'samples' parameter of predict_std must be an int"):
        model.predict_std(X, samples)
    np.testing.assert_array_equal(model.predict_std(X, 8, 3), model.predict_std(X, 8, 3))
