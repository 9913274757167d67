"""Probabilities of the classifiers of pairs by scikit-learn's calibration."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from kronbench import PairData
from kronbench.evaluation import SettingKFold, VertexDisjointKFold, VertexKFold
from kronbench.models import KronNewton, KronSVM, PairKNN, PairLibSVM, PairSGD

CLASSIFIERS = [
    KronSVM(reg=0.1),
    KronNewton(loss="logistic", reg=0.1, max_iter=20, tol=0),
    PairSGD(random_state=0),
    PairLibSVM(),
    PairKNN(),
]
SPLITTERS = [
    3,
    VertexKFold(3, "cols", random_state=0),
    VertexDisjointKFold(2, 2, random_state=0),
    SettingKFold("D", 2, random_state=0),
]


@pytest.fixture(scope="module")
def problem():
    """Complete pairs whose label 1 has a known probability, and others of the same vertices."""
    rng = np.random.default_rng(0)
    X = PairData.complete(rng.normal(size=(30, 3)), rng.normal(size=(20, 2)))
    weights = rng.normal(size=(3, 2))
    margin = 2 * (X.row_features @ weights @ X.col_features.T).ravel()
    probability = 1 / (1 + np.exp(-margin))
    order = rng.permutation(len(X))
    return X[order], (rng.random(600) < probability[order]).astype(int), probability[order]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=str)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_every_classifier_and_every_splitter(problem, model, splitter):
    X, y, _ = problem
    calibrated = CalibratedClassifierCV(model, cv=splitter).fit(X[:400], y[:400])
    found = calibrated.predict_proba(X[400:])
    assert found.shape == (200, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert ((found > 0) & (found < 1)).all()
    n_splits = splitter if isinstance(splitter, int) else splitter.get_n_splits()
    assert len(calibrated.calibrated_classifiers_) == n_splits


def test_a_model_fitted_before_is_calibrated_by_pairs_of_its_own(problem):
    X, y, _ = problem
    model = KronSVM(reg=1.0).fit(X[:300], y[:300])
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X[300:], y[300:])
    scores = model.decision_function(X)[:, None]
    probabilities = calibrated.predict_proba(X)[:, 1]
    order = np.argsort(scores[:, 0])
    assert (np.diff(probabilities[order]) >= -1e-12).all()
    platt = LogisticRegression(C=1e10).fit(scores[300:], y[300:])
    np.testing.assert_allclose(probabilities, platt.predict_proba(scores)[:, 1], atol=0.02)
