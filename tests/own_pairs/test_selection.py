"""Selection, from one Krylov solve where it can be, against a fit for each weight.

Kernels that do not fit in memory are refused, with what would fit.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kronbench import InputError, PairData
from kronbench.evaluation import SettingKFold, roc_auc
from kronbench.models import VertexScaler
from kronbench.own_pairs import commands, recipe as recipes, selection
from kronbench.own_pairs.recipe import Recipe, available_memory, check_memory
from kronbench.own_pairs.selection import INNER_FOLDS, choose, n_fits
from kronbench.pairs.data import used_vertices
from tests.models.kron_problems import random_pairs
from tests.own_pairs.problem import arguments, run, tables
from tests.own_pairs.test_bad_input import refused

WIDE = {"row_kernel": "gaussian", "col_kernel": "gaussian", "col_gamma": 0.4}


@pytest.fixture(params=["numbers", "two labels"])
def problem(request):
    X = random_pairs(14, 11, 130, seed=3)
    side = X.row_features @ np.array([1.0, -1.0, 0.5])
    y = side[X.rows] * X.col_features[X.cols, 0] + np.random.default_rng(3).normal(size=130)
    return X, (y > 0).astype(float) if request.param == "two labels" else y


def score(y, scores):
    return roc_auc(y, scores) if len(np.unique(y)) == 2 else -np.mean((y - scores) ** 2)


@pytest.mark.parametrize(
    ("setting", "tol", "form"),
    [
        ("A", 1e-8, "dual"),
        ("B", 1e-1, "dual"),
        ("C", 1e-1, "dual"),
        ("D", 1e-8, "dual"),
        ("B", 1e-8, "primal"),
    ],
)
def test_a_choice_is_that_of_single_fits(problem, setting, tol, form):
    X, y = problem
    given = {**WIDE, "tol": tol, "max_iter": 40, "form": form}
    recipe = Recipe("KronRidge", given, (True, True), setting=setting)
    steps = []
    with warnings.catch_warnings(action="error"):
        choice = choose(recipe, X, y, steps.append)
    assert sum(steps) == n_fits(recipe)
    assert choice.recipe.parameters == given | choice.chosen
    expected = {}
    scaled = VertexScaler().fit_transform(X).row_features
    used = scaled[used_vertices(X.rows, 14)[0]]
    distances = ((used[:, None] - used) ** 2).sum(axis=2)[np.triu_indices(len(used), 1)]
    folds = list(SettingKFold(setting, INNER_FOLDS, random_state=0).split(X, y))
    for reg in 10.0 ** np.arange(-5, 3):
        for width in (0.1, 0.3, 1.0, 3.0):
            tried = {"reg": reg, "row_gamma": width / np.median(distances)}
            trial = replace(recipe, parameters={**given, **tried})
            with warnings.catch_warnings(record=True, action="always") as told:
                found = [
                    score(y[test], trial.fit(X[train], y[train]).scores(X[test]))
                    for train, test in folds
                ]
            if told:  # its optimum is not reached
                continue
            expected[reg, trial.parameters["row_gamma"]] = np.nanmean(found)
    best = max(expected, key=expected.get)
    assert tuple(choice.chosen.values()) == pytest.approx(best)
    assert choice.score == pytest.approx(expected[best], rel=1e-7)


def test_a_value_at_an_end_of_its_grid_has_a_next_one(monkeypatch):
    X = random_pairs(14, 11, 130, seed=3)
    noise = np.random.default_rng(0).normal(size=130)  # the more weight the better
    monkeypatch.setattr(selection, "_REGS", np.array([1e-4, 1e-3, 1e-2]))
    choice = choose(Recipe("KronRidge", WIDE | {"row_gamma": 0.5}, setting="D"), X, noise)
    assert choice.chosen == pytest.approx({"reg": 0.01})
    assert choice.on_edge == pytest.approx({"reg": 0.1})


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_weights_are_tried_in_units_of_the_kernel(unit):
    X = random_pairs(14, 11, 130, seed=5)
    y = X.row_features[X.rows, 0] * X.col_features[X.cols, 0]
    y = y + np.random.default_rng(5).normal(size=130)
    level = np.mean((X.row_features**2).sum(axis=1)) * np.mean((X.col_features**2).sum(axis=1))
    X = X.with_features(unit * X.row_features, X.col_features)
    (reg,) = choose(Recipe("KronRidge", {}, setting="B"), X, y).chosen.values()
    decades = np.log10(reg / (unit**2 * level))
    assert decades == pytest.approx(round(decades), abs=1e-6)
    assert 1e-4 < reg / (unit**2 * level) < 10  # no end of the grid


def slow(noise):
    """Complete pairs whose kernel takes many iterations at small weights."""
    rng = np.random.default_rng(2)
    X = PairData.complete(rng.normal(size=(24, 2)), rng.normal(size=(18, 2)))
    smooth = np.cos(X.row_features[X.rows, 0] + X.col_features[X.cols, 1])
    return X, smooth + noise * rng.normal(size=len(X))


def test_weights_that_iterations_do_not_reach_are_left_out_in_silence():
    X, y = slow(noise=0.5)
    recipe = Recipe("KronRidge", {**WIDE, "row_gamma": 0.4}, setting="A")
    with pytest.warns(ConvergenceWarning, match="far from the optimum for . of 8 weights"):
        path = recipe.estimator().path(X, y, 10.0 ** np.arange(-5, 3))
    assert path.failed[0]
    assert not path.failed[-1]
    with warnings.catch_warnings(action="error"):
        choice = choose(recipe, X, y)
        choice.recipe.fit(X, y)
    assert "max_iter" not in choice.recipe.parameters | choice.on_edge  # far from those


@pytest.mark.parametrize("given", [{}, {"max_iter": 100}])
def test_more_iterations_are_made_where_the_best_weight_is_the_smallest_that_is_reached(given):
    X, y = slow(noise=0.02)
    recipe = Recipe("KronRidge", {**WIDE, "row_gamma": 0.4, **given}, setting="A")
    with warnings.catch_warnings(action="error"):
        choice = choose(recipe, X, y)
    if given:
        assert choice.recipe.parameters == recipe.parameters | choice.chosen
        assert choice.on_edge == {"max_iter": 400}
        return
    assert choice.recipe.parameters["max_iter"] == 400
    shorter = choose(replace(recipe, parameters=recipe.parameters | {"max_iter": 100}), X, y)
    assert choice.chosen["reg"] < shorter.chosen["reg"]
    assert choice.score > shorter.score
    with warnings.catch_warnings(action="error"):
        choice.recipe.fit(X, y)


def test_a_model_of_complete_data_is_chosen_where_inner_folds_leave_out_vertices():
    X = PairData.complete(np.eye(6), np.eye(5))
    y = np.random.default_rng(0).normal(size=30)
    assert set(choose(Recipe("CompleteKronRidge", {}, setting="B"), X, y).chosen) == {"reg"}
    with pytest.raises(InputError, match="needs every pair exactly once"):
        choose(Recipe("CompleteKronRidge", {}, setting="A"), X, y)


# --- memory ------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_with_what_would(monkeypatch):
    monkeypatch.setattr(recipes, "available_memory", lambda: 2.0**26)
    pairs = PairData(np.eye(3000, 8), np.eye(20), np.arange(6000) % 3000, np.arange(6000) % 20)
    recipe = Recipe("KronRidge", {"row_kernel": "tanimoto"})
    with pytest.raises(InputError) as caught:
        check_memory(recipe, pairs)
    told = str(caught.value)
    assert "KronRidge for 6,000 pairs of 3,000 rows and 20 columns need 69 MiB" in told
    assert "and 64 MiB are available: give fewer vertices, form=primal with linear" in told
    with pytest.raises(InputError, match="for 3,000 pairs from 6,000 pairs of 3,000 rows"):
        check_memory(recipe, pairs, pairs[:3000])
    check_memory(recipe, pairs, pairs[:2000])
    monkeypatch.setattr(recipes, "available_memory", lambda: 2.0**17)  # 160 weights of products
    check_memory(Recipe("KronRidge", {"form": "primal"}), pairs)
    monkeypatch.setattr(recipes, "available_memory", lambda: 0.0)
    check_memory(Recipe("PairKNN", {}), pairs)
    # 160 products of features are decomposed, without a kernel matrix of 3,000 rows.
    check_memory(Recipe("KronRidge", {}), pairs)
    check_memory(Recipe("KronRidge", {}), pairs, pairs[:3000])
    with pytest.raises(InputError, match="the kernels of KronRidge for 6,000 pairs"):
        check_memory(Recipe("KronRidge", {"solver": "minres"}), pairs)
    with pytest.raises(InputError, match="the kernels of KronSVM for 6,000 pairs"):
        check_memory(Recipe("KronSVM", {}), pairs)


def test_only_the_form_that_is_taken_has_kernels_to_hold(monkeypatch, rng):
    monkeypatch.setattr(recipes, "available_memory", lambda: 2.0**17)
    i, j = np.divmod(rng.permutation(40000)[:20000], 100)
    narrow = PairData(rng.standard_normal((400, 18)), rng.standard_normal((100, 17)), i, j)
    wide = PairData(rng.standard_normal((400, 900)), rng.standard_normal((100, 800)), i, j)
    auto, minres = (Recipe("KronRidge", given) for given in ({}, {"solver": "minres"}))
    check_memory(auto, narrow)
    check_memory(auto, narrow, narrow[:50])
    for recipe, pairs in ((auto, wide), (minres, narrow)):
        assert not recipe.estimator().is_primal(pairs)
        with pytest.raises(InputError, match=r"KronRidge for 20,000 pairs .* need 1 MiB, and 0"):
            check_memory(recipe, pairs)


def test_each_command_refuses_what_does_not_fit_and_writes_nothing(tmp_path, capsys, monkeypatch):
    tables(tmp_path)
    model, out = tmp_path / "m.kron", tmp_path / "p.csv"
    # By kernel matrices: a KronRidge of few linear features would need none.
    recipe = ["--solver", "KronRidge", "--set", "solver=minres"]
    fit = ["fit", *arguments(tmp_path), *recipe, "-o", model]
    assert run(capsys, *fit)[0] == 0
    before = model.read_bytes()
    monkeypatch.setattr(recipes, "available_memory", lambda: 2000)
    for argv in (
        fit,
        ["evaluate", *arguments(tmp_path), *recipe],
        ["predict", model, "--pairs", tmp_path / "pairs.csv", "-o", out],
    ):
        refused(capsys, tmp_path, "MiB are available", *argv)
    assert model.read_bytes() == before


def test_a_table_larger_than_memory_is_not_read(tmp_path, capsys, monkeypatch):
    tables(tmp_path)
    monkeypatch.setattr(commands, "available_memory", lambda: 2.0**32)
    with (tmp_path / "rows.csv").open("r+b") as file:
        file.truncate(10_000_000_000)  # takes no place on the disk
    sentence = "has 9,537 MiB, and reading the tables takes about"
    refused(capsys, tmp_path, sentence, "evaluate", *arguments(tmp_path), "--solver", "KronRidge")


def test_memory_is_what_the_machine_and_its_container_leave(tmp_path):
    free = available_memory(tmp_path)  # says nothing of a container
    assert free > 2**27

    def container(limit):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        (tmp_path / "memory.current").write_text(f"{3 * 2**25}\n")
        (tmp_path / "memory.stat").write_text(f"anon 1\ninactive_file {2**25}\n")
        return available_memory(tmp_path)

    assert container(2**27) == 2**27 - 2**26
    assert container(2**10) == 0
    assert container("max") == pytest.approx(free, rel=0.5)


def test_the_choice_and_the_fit_have_one_line_on_iterations(tmp_path, capsys, monkeypatch):
    """Whether or not the fit ends before its optimum, which here is its first iteration."""
    tables(tmp_path)
    lines = []
    for max_iter in (1, 1000):

        def chosen(recipe, *data, max_iter=max_iter):
            parameters = {"row_gamma": 0.2, "reg": 1e-3, "max_iter": max_iter}
            parameters = {**recipe.parameters, **parameters}
            recipe = replace(recipe, parameters=parameters)
            return selection.Choice(recipe, {"reg": 1e-3}, -1.0, {"max_iter": 4 * max_iter})

        monkeypatch.setattr(selection, "choose", chosen)
        options = ["--set", "row_kernel=gaussian", "--select", "-o", tmp_path / "m.kron"]
        argv = ["fit", *arguments(tmp_path), "--solver", "KronRidge", *options]
        status, out, err = run(capsys, *argv)
        assert status == 0
        lines += [line for line in (out + err).splitlines() if "iterations:" in line]
        assert "warning" not in err
    assert lines == [
        "the fit and smaller reg need more iterations: --set max_iter=4 allows them",
        "smaller reg need more iterations: --set max_iter=4000 allows them",
    ]
