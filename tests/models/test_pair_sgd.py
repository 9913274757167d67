"""The linear baseline against its objective and an independent solver."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kronbench import PairData
from kronbench.models.pair_sgd import PairSGD


def problem(seed=0, n=400):
    rng = np.random.default_rng(seed)
    row_features = 20 + 5 * rng.normal(size=(40, 5))
    col_features = -3 + 0.01 * rng.normal(size=(30, 4))
    X = PairData(row_features, col_features, rng.integers(0, 40, n), rng.integers(0, 30, n))
    f = (row_features[X.rows, 0] - 20) / 5 + (col_features[X.cols, 1] + 3) / 0.01
    return X, np.where(f + 0.5 * rng.normal(size=n) > 0, 1, -1)


def scaled(X):
    """[d, t], standardized over the vertices that occur."""
    parts = [
        StandardScaler().fit(features[np.unique(index)]).transform(features)[index]
        for features, index in ((X.row_features, X.rows), (X.col_features, X.cols))
    ]
    return np.hstack(parts)


def test_hinge_objective_is_near_its_minimum():
    X, y = problem()
    Z, reg = scaled(X), 2.0

    def risk(f, norm):
        return np.maximum(0, 1 - y * f).sum() + reg / 2 * norm

    svm = SVC(kernel="linear", C=1 / reg, tol=1e-8).fit(Z, y)
    best = risk(svm.decision_function(Z), (svm.coef_**2).sum())
    model = PairSGD(loss="hinge", reg=reg, n_updates=400_000, random_state=0).fit(X, y)
    row_scale = X.row_features[np.unique(X.rows)].std(axis=0)
    col_scale = X.col_features[np.unique(X.cols)].std(axis=0)
    coef = np.concatenate([model.row_coef_ * row_scale, model.col_coef_ * col_scale])
    assert best <= risk(model.decision_function(X), (coef**2).sum()) <= 1.01 * best


def test_constant_features_do_no_harm():
    X, y = problem()
    constant = np.full((40, 1), 0.1)
    wide = PairData(np.hstack([X.row_features, constant]), X.col_features, X.rows, X.cols)
    model = PairSGD(random_state=0, n_updates=3000).fit(wide, y)
    assert np.isfinite(model.decision_function(wide)).all()
    assert abs(model.row_coef_[-1]) < 1e-10


@pytest.mark.parametrize(("loss", "theirs"), [("hinge", "hinge"), ("logistic", "log_loss")])
def test_it_is_scikit_learns_descent_on_concatenated_features(loss, theirs):
    X, y = problem()
    Z = scaled(X)
    sgd = SGDClassifier(loss=theirs, alpha=2.0 / 400, max_iter=5, tol=None, random_state=3)
    expected = sgd.fit(Z, y).decision_function(Z)
    model = PairSGD(loss=loss, reg=2.0, n_updates=2000, random_state=3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-8)


def test_blocks_descend_to_the_same_place(monkeypatch):
    X, y = problem()
    options = dict(loss="logistic", reg=5.0, n_updates=200_000, random_state=0)
    whole = PairSGD(**options).fit(X, y).decision_function(X)
    monkeypatch.setattr("kronbench.models.pair_sgd._MOST_BYTES", 8 * 9 * 130)
    model = PairSGD(**options).fit(X, y)
    assert model.n_updates_ == 200_000
    np.testing.assert_allclose(model.decision_function(X), whole, atol=0.05)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("reg", [1e-3, 2.0, 3e4])
def test_the_dual_form_makes_the_steps_of_scikit_learn(loss, reg):
    X, y = problem()
    # two passes: later ones multiply rounding where logistic steps are long
    models = [
        PairSGD(loss=loss, reg=reg, n_updates=800, random_state=5, form=form).fit(X, y)
        for form in ("primal", "dual")
    ]
    primal, dual = (model.decision_function(X) for model in models)
    np.testing.assert_allclose(dual, primal, rtol=0, atol=1e-6 * np.abs(primal).max())
    assert models[0].n_updates_ == models[1].n_updates_
