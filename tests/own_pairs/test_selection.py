"""Selection from one Krylov solve and by left-out pairs, against a fit for each weight."""

import numpy as np
import pytest

from kronbench import InputError, PairData
from kronbench.evaluation import SettingKFold, roc_auc
from kronbench.linalg import gram
from kronbench.models import VertexScaler
from kronbench.own_pairs import selection
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.selection import INNER_FOLDS, select
from kronbench.pairs.data import used_vertices
from tests.models.kron_problems import random_pairs

WIDE = {"row_kernel": "gaussian", "col_kernel": "gaussian", "col_gamma": 0.4}


@pytest.fixture(params=["numbers", "two labels"])
def problem(request):
    X = random_pairs(14, 11, 130, seed=3)
    side = X.row_features @ np.array([1.0, -1.0, 0.5])
    y = side[X.rows] * X.col_features[X.cols, 0] + np.random.default_rng(3).normal(size=130)
    return X, (y > 0).astype(float) if request.param == "two labels" else y


def score(y, scores):
    return roc_auc(y, scores) if len(np.unique(y)) == 2 else -np.mean((y - scores) ** 2)


@pytest.mark.parametrize(("setting", "tol"), [("A", 1e-8), ("B", 1e-1), ("C", 1e-1), ("D", 1e-8)])
def test_the_path_chooses_as_single_fits_do(problem, setting, tol):
    X, y = problem
    recipe = Recipe("KronRidge", {**WIDE, "tol": tol, "max_iter": 40}, (True, True))
    choice = select(recipe, X, y, setting, 0)
    expected = {}
    scaled = VertexScaler().fit_transform(X).row_features
    used = scaled[used_vertices(X.rows, 14)[0]]
    distances = ((used[:, None] - used) ** 2).sum(axis=2)[np.triu_indices(len(used), 1)]
    folds = list(SettingKFold(setting, INNER_FOLDS, random_state=0).split(X, y))
    for reg in 10.0 ** np.arange(-5, 3):
        for width in (0.1, 0.3, 1.0, 3.0):
            trial = recipe.with_parameters({"reg": reg, "row_gamma": width / np.median(distances)})
            found = [
                score(y[test], trial.fit(X[train], y[train]).scores(X[test]))
                for train, test in folds
            ]
            expected[reg, trial.parameters["row_gamma"]] = np.nanmean(found)
    best = max(expected, key=expected.get)
    assert tuple(choice.chosen.values()) == pytest.approx(best)
    assert choice.score == pytest.approx(expected[best], rel=1e-7)
    assert choice.how == f"on inner folds of setting {setting}"


@pytest.mark.parametrize("solver", ["KronRidge", "CompleteKronRidge"])
def test_of_complete_data_each_pair_is_left_out(solver):
    rng = np.random.default_rng(5)
    X = PairData.complete(rng.normal(size=(6, 3)), rng.normal(size=(5, 2)))
    X = X[rng.permutation(30)]
    y = X.row_features[X.rows, 0] * X.col_features[X.cols, 1] + 3 + 2 * rng.normal(size=30)
    choice = select(Recipe(solver, WIDE | {"row_gamma": 0.5}, (True, False)), X, y, "A", 0)
    assert choice.how == "by leaving out each pair in turn"
    scaled = VertexScaler(cols=False).fit_transform(X)
    K = gram(scaled.row_features, kernel="gaussian", gamma=0.5)[np.ix_(X.rows, X.rows)]
    K *= gram(X.col_features, kernel="gaussian", gamma=0.4)[np.ix_(X.cols, X.cols)]
    expected = {}
    for reg in 10.0 ** np.arange(-5, 3):
        predicted = []
        for h in range(30):
            others = np.delete(np.arange(30), h)
            mean = y[others].mean()
            system = K[np.ix_(others, others)] + reg * np.eye(29)
            predicted.append(K[h, others] @ np.linalg.solve(system, y[others] - mean) + mean)
        expected[reg] = -np.mean((y - predicted) ** 2)
    best = max(expected, key=expected.get)
    assert choice.chosen == pytest.approx({"reg": best})
    assert choice.score == pytest.approx(expected[best], rel=1e-6)


def test_a_value_at_an_end_of_its_grid_has_a_next_one(monkeypatch):
    X = random_pairs(14, 11, 130, seed=3)
    noise = np.random.default_rng(0).normal(size=130)  # the more weight the better
    monkeypatch.setattr(selection, "_REGS", np.array([1e-4, 1e-3, 1e-2]))
    choice = select(Recipe("KronRidge", WIDE | {"row_gamma": 0.5}), X, noise, "D", 0)
    assert choice.chosen == pytest.approx({"reg": 0.01})
    assert choice.on_edge == pytest.approx({"reg": 0.1})


def test_where_a_pair_is_missing_or_the_setting_is_another_folds_decide():
    X = PairData.complete(np.eye(6), np.eye(5))
    y = np.random.default_rng(0).normal(size=30)
    recipe = Recipe("KronRidge", {})
    assert "folds" in select(recipe, X[:29], y[:29], "A", 0).how
    assert "folds" in select(recipe, X, y, "B", 0).how
    effects = recipe.with_parameters({"row_effect": 1.0})
    assert "folds" in select(effects, X, y, "A", 0).how
    ranking = Recipe("CompleteKronRidge", {"loss": "ranking"})
    assert "folds" in select(ranking, X, y, "B", 0).how
    with pytest.raises(InputError, match="needs every pair exactly once"):
        select(ranking, X, y, "A", 0)  # the squared loss would take its shortcut
