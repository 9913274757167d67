"""Prediction intervals: left-out errors against refits, their level, and the commands."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from kronbench import InputError, PairData
from kronbench.evaluation import SettingKFold
from kronbench.models import KronRidge
from kronbench.own_pairs import model_file
from kronbench.own_pairs.prediction_intervals import left_out, radius
from kronbench.own_pairs.recipe import Recipe
from tests.own_pairs.problem import arguments, fit, predict, run, tables
from tests.own_pairs.test_bad_input import npy, rewritten

KERNELS = {"row_kernel": "gaussian", "row_gamma": 0.2, "col_kernel": "gaussian", "col_gamma": 0.2}
OPTIONS = [f"--set={name}={value}" for name, value in KERNELS.items()]


def complete(seed, m, q):
    """All pairs of vertices with features, and labels with effects of rows and of columns."""
    rng = np.random.default_rng(seed)
    X = PairData.complete(rng.normal(size=(m, 3)), rng.normal(size=(q, 2)))
    effects = rng.normal(size=m)[X.rows] + rng.normal(size=q)[X.cols]
    return X, 5 + effects + 0.5 * rng.normal(size=m * q)


@pytest.mark.parametrize("setting", [*"ABCD"])
@pytest.mark.parametrize("solver", ["KronRidge", "CompleteKronRidge"])
def test_errors_of_complete_labels_are_those_of_refits(solver, setting):
    X, y = complete(0, 8, 6)
    recipe = Recipe(solver, {**KERNELS, "reg": 0.3})
    units, errors = left_out(recipe, recipe.fit(X, y), X, y, setting)
    assert units == {"A": 48, "B": 8, "C": 6, "D": 6}[setting]
    model, expected = KronRidge(**KERNELS, reg=0.3, max_iter=1000), []
    for k in range(len(X)):
        same = X.rows == X.rows[k], X.cols == X.cols[k]
        out = {"A": same[0] & same[1], "B": same[0], "C": same[1], "D": same[0] | same[1]}[setting]
        model.fit(X[~out], y[~out] - y.mean())  # the mean of all labels is kept
        expected.append(abs(model.predict(X[[k]])[0] + y.mean() - y[k]))
    np.testing.assert_allclose(errors, np.sort(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("setting", [*"ABCD"])
def test_errors_of_other_pairs_are_those_of_folds_of_what_is_new(setting):
    X, y = complete(0, 12, 11)
    kept = np.random.default_rng(1).permutation(132)[:90]
    X, y = X[kept], y[kept]
    recipe, tested = Recipe("KronRidge", {**KERNELS, "reg": 0.3}, seed=3), []
    fitted = recipe.fit(X, y)

    class Noted(Recipe):
        def fit(self, train, labels):
            made = super().fit(train, labels)
            tested.append((train, made))
            return made

    noted = Noted(recipe.solver, recipe.parameters, seed=3)
    units, errors = left_out(noted, fitted, X, y, setting)
    # Each pair is left out once (D: those of a diagonal block), by a fit that lacks what is new.
    if setting == "D":
        assert len(tested) <= 10
        assert units == min(len(errors), 11) >= 8
    else:
        assert (len(tested), len(errors)) == (10, 90)
        assert units == {"A": 90, "B": 12, "C": 11}[setting]
    expected = []
    for train, made in tested:
        known = [np.isin(getattr(X, side), getattr(train, side)) for side in ("rows", "cols")]
        new = {"B": ~known[0], "C": ~known[1], "D": ~known[0] & ~known[1]}
        if setting == "A":
            pairs = set(zip(train.rows.tolist(), train.cols.tolist(), strict=True))
            new["A"] = np.array([pair not in pairs for pair in zip(X.rows, X.cols, strict=True)])
        expected.append(np.abs(made.scores(X[new[setting]]) - y[new[setting]]))
    np.testing.assert_allclose(errors, np.sort(np.concatenate(expected)), rtol=1e-6)


def test_the_radius_is_the_quantile_of_split_conformal_prediction():
    errors = {"B": (9, np.arange(1.0, 28))}
    assert radius(errors, "B", 0.9) == np.ceil(28 * 0.9)
    assert radius(errors, "B", 0.5) == 14
    message = "the errors of 9 rows that were left out, and the level 0.95 needs 19"
    with pytest.raises(InputError, match=message):
        radius(errors, "B", 0.95)
    # Of many errors a thousand are kept, and the level is rounded up by 1 / 1000.
    X, y = complete(0, 60, 50)
    recipe = Recipe("TwoStepRidge", KERNELS)
    fitted = recipe.fit(X, y)
    kept = left_out(recipe, fitted, X, y, "B")[1]
    loo = fitted.estimator.loo("B").ravel() + fitted.offset
    every = np.sort(np.abs(y - loo))
    assert len(kept) == 1000
    assert kept[-1] == every[-1]
    assert every[2699] <= radius({"B": (60, kept)}, "B", 0.9) <= every[2705]


def test_new_vertices_are_covered_by_the_errors_of_their_own_setting():
    """The usual radius, of known vertices, covers fewer where rows and columns have effects."""
    covered = {setting: [] for setting in "BCD"}
    for seed in range(40):
        X, y = complete(seed, 40, 32)
        new = X.rows >= 30, X.cols >= 24
        train = ~(new[0] | new[1])
        recipe = Recipe("TwoStepRidge", {**KERNELS, "reg_rows": 0.01, "reg_cols": 0.01})
        fitted = recipe.fit(X[train], y[train])
        errors = {s: left_out(recipe, fitted, X[train], y[train], s) for s in "ABCD"}
        asked = {"B": new[0] & ~new[1], "C": ~new[0] & new[1], "D": new[0] & new[1]}
        for setting, test in asked.items():
            found = np.abs(fitted.scores(X[test]) - y[test])
            covered[setting].append(
                [np.mean(found <= radius(errors, s, 0.9)) for s in "A" + setting]
            )
    for setting, shares in covered.items():
        usual, own = np.mean(shares, axis=0)
        assert usual < 0.87, setting
        assert own == pytest.approx(0.9, abs=0.035), setting


def test_predict_writes_intervals_by_what_is_new_in_a_pair(tmp_path, capsys):
    pairs, drugs, _ = tables(tmp_path, real=True)
    known = ~(pairs["drug"].isin(["D00", "D01"]) | pairs["target"].isin(["00"]))
    pairs[known].to_csv(tmp_path / "known.csv", index=False)
    model = fit(
        capsys, tmp_path, "KronRidge", *OPTIONS, "--intervals", pairs=tmp_path / "known.csv"
    )
    found = predict(capsys, model, "pairs.csv", "--interval", "0.8")
    # A vertex without a training pair is new, also where the tables of the fit have it.
    new = np.array([pairs["drug"].isin(["D00", "D01"]), pairs["target"].isin(["00"])])
    setting = np.array([*"ABCD"])[new[0] + 2 * new[1]]
    np.testing.assert_array_equal(found["setting"], setting)
    errors = model_file.load_model(model).left_out
    assert [*errors] == [*"ABCD"]
    half = [radius(errors, each, 0.8) for each in setting]
    np.testing.assert_allclose(found["upper"] - found["prediction"], half)
    np.testing.assert_allclose(found["prediction"] - found["lower"], half)
    # screen writes those that predict writes for the same pairs.
    out = tmp_path / "best.csv"
    status, _, err = run(capsys, "screen", model, "--interval", ".8", "--top", 30, "-o", out)
    assert status == 0, err
    again = predict(capsys, model, "best.csv", "--interval", ".8")
    pd.testing.assert_frame_equal(pd.read_csv(out, dtype=again.dtypes.to_dict()), again)
    # The same vertices with other features, of a table of their own, are new.
    drugs.assign(mass=drugs["mass"] + 1).to_csv(tmp_path / "other.csv", index=False)
    found = predict(
        capsys, model, "known.csv", "--rows", tmp_path / "other.csv", "--interval", ".8"
    )
    assert {*found["setting"]} == {"B"}


def with_errors(change):
    """An edit of a model file: of its first setting's errors, as JSON has them."""

    def edit(members):
        schema = json.loads(members["model.json"])
        setting = schema["left_out"]["dict"][0]
        name = setting[1]["tuple"][1]["file"]
        units, errors = change(setting[1]["tuple"][0], np.load(io.BytesIO(members[name])))
        setting[1]["tuple"][0], members[name] = units, npy(errors)
        members["model.json"] = json.dumps(schema).encode()

    return edit


@pytest.mark.parametrize(
    "change",
    [
        lambda units, errors: (units, errors[::-1]),
        lambda units, errors: (units, -errors[::-1]),
        lambda units, errors: (units, errors * np.nan),
        lambda units, errors: (units, errors[:0]),
        lambda units, errors: (0, errors),
        lambda units, errors: ("9", errors),
    ],
)
def test_errors_that_no_fit_gives_are_refused_and_files_of_before_are_read(
    change, tmp_path, capsys
):
    tables(tmp_path, real=True)
    model = fit(capsys, tmp_path, "KronRidge", *OPTIONS, "--intervals")
    content = model.read_bytes()
    model.write_bytes(rewritten(content, with_errors(change)))
    with pytest.raises(InputError, match="is not a complete model"):
        model_file.load_model(model)

    def as_before(members):
        schema = json.loads(members["model.json"])
        del schema["left_out"]
        members["model.json"] = json.dumps(schema).encode()

    model.write_bytes(rewritten(content, as_before))
    assert model_file.load_model(model).left_out is None


def test_evaluate_tells_the_coverage_of_test_sets_by_their_training_part(tmp_path, capsys):
    tables(tmp_path, real=True)
    command = ["evaluate", *arguments(tmp_path), "--solver", "KronRidge", *OPTIONS,
               "--setting", "B", "--repeats", "1", "--interval", "0.8"]  # fmt: skip
    of = json.loads(run(capsys, *command, "--json")[1])["settings"][0]["intervals"]
    frames = [pd.read_csv(tmp_path / f"{name}.csv") for name in ("pairs", "rows", "cols")]
    X, y = PairData.from_frames(*frames, label="active")
    recipe, shares = Recipe("KronRidge", KERNELS, setting="B"), []
    for train, test in SettingKFold("B", 3, random_state=0).split(X, y):
        fitted = recipe.fit(X[train], y[train])
        half = radius({"B": left_out(recipe, fitted, X[train], y[train], "B")}, "B", 0.8)
        shares.append((np.mean(np.abs(fitted.scores(X[test]) - y[test]) <= half), 2 * half))
    assert [of["coverage"], of["width"]] == pytest.approx(np.mean(shares, axis=0))
    text = run(capsys, *command)[1]
    assert f"B: 80 % intervals hold {of['coverage']:.3f}" in text
    many = run(capsys, *command, "--interval", "0.95")[1]
    assert "B: no intervals, because setting B has the errors of 9 rows" in many


def test_bad_input_has_one_sentence_and_nothing_is_written(tmp_path, capsys):
    tables(tmp_path, real=True)
    model = fit(capsys, tmp_path, "KronRidge", *OPTIONS)
    asked = ["predict", model, "--pairs", tmp_path / "pairs.csv", "-o", tmp_path / "p.csv"]
    for level, message in {
        "1": "--interval is 1: give a level between 0 and 1",
        "nan": "--interval is nan: give a level between 0 and 1",
        "0.9": "the model has no intervals for pairs of setting A: fit again with --intervals",
    }.items():
        status, _, err = run(capsys, *asked, "--interval", level)
        assert status == 2
        assert message in err
    # A model of known columns alone has no errors of new ones.
    command = ["fit", *arguments(tmp_path, **_complete(tmp_path)), "--solver", "IndependentRidge"]
    out = run(capsys, *command, "--intervals", "-o", model)[1].splitlines()
    assert out[0].startswith("no intervals for setting C, because ")
    assert out[2] == "left out for intervals: A 154 pairs, B 14 rows"
    status, _, err = run(capsys, *asked, "--interval", "0.999")
    assert status == 2
    assert "setting A has the errors of 154 pairs that were left out, and the level 0.999" in err
    tables(tmp_path)
    classifier = [*arguments(tmp_path), "--solver", "KronSVM", *OPTIONS]
    for command in (
        ["evaluate", "--interval", ".9"],
        ["fit", "--intervals", "-o", tmp_path / "c"],
    ):
        status, _, err = run(capsys, *command, *classifier)
        assert status == 2
        assert "intervals are for numbers, and KronSVM is a classifier" in err
    assert not (tmp_path / "p.csv").exists()
    assert not (tmp_path / "c").exists()


def _complete(folder):
    """The same tables with a label for each pair."""
    rows, cols = (pd.read_csv(folder / f"{name}.csv", dtype={0: str}) for name in ("rows", "cols"))
    pairs = pd.MultiIndex.from_product([rows["drug"], cols["target"]]).to_frame(index=False)
    pairs["active"] = np.random.default_rng(0).normal(size=len(pairs))
    pairs.to_csv(folder / "complete.csv", index=False, header=["drug", "target", "active"])
    return {"pairs": folder / "complete.csv"}
