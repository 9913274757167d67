"""The linear baseline against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from kronbench import PairData
from kronbench.models import pair_sgd
from kronbench.models.pair_sgd import PairSGD


def problem(seed=0, n=400):
    rng = np.random.default_rng(seed)
    row_features = 20 + 5 * rng.normal(size=(40, 5))
    col_features = -3 + 0.01 * rng.normal(size=(30, 4))
    X = PairData(row_features, col_features, rng.integers(0, 40, n), rng.integers(0, 30, n))
    f = (row_features[X.rows, 0] - 20) / 5 + (col_features[X.cols, 1] + 3) / 0.01
    return X, np.where(f + 0.5 * rng.normal(size=n) > 0, 1, -1)


def used_features(X):
    """Of the vertices that occur, each once."""
    return X.row_features[np.unique(X.rows)], X.col_features[np.unique(X.cols)]


def scaled(X):
    """[d, t], standardized over the vertices that occur."""
    scalers = [StandardScaler().fit(side) for side in used_features(X)]
    sides = (X.row_features, X.rows), (X.col_features, X.cols)
    return np.hstack([s.transform(side)[i] for s, (side, i) in zip(scalers, sides, strict=True)])


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
    scales = (side.std(axis=0) for side in used_features(X))
    found = zip((model.row_coef_, model.col_coef_), scales, strict=True)
    coef = np.concatenate([coef * scale for coef, scale in found])
    np.testing.assert_allclose(coef, sgd.coef_[0], rtol=1e-8, atol=1e-8)


def test_blocks_descend_to_the_same_place(monkeypatch):
    X, y = problem()
    options = dict(loss="logistic", reg=5.0, n_updates=200_000, random_state=0)
    whole = PairSGD(**options).fit(X, y).decision_function(X)
    monkeypatch.setattr("kronbench.models.pair_sgd._MOST_BYTES", 8 * 9 * 130)
    blocks = []

    def recorded(*args):
        blocks.append(len(args[1]))
        return features_of(*args)

    features_of = pair_sgd.concatenated
    monkeypatch.setattr(pair_sgd, "concatenated", recorded)
    model = PairSGD(**options).fit(X, y)
    assert model.n_iter_ == 500
    assert blocks == 500 * [130, 130, 130, 10]
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
    assert models[0].n_iter_ == models[1].n_iter_ == 2
