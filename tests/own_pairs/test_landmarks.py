"""Landmarks from the shell: the pipeline of VertexNystroem and a primal model, fitted and kept."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from kronbench import PairData
from kronbench.evaluation import SettingKFold
from kronbench.io import read_table
from kronbench.models import KronRidge, KronSVM, VertexNystroem, VertexScaler
from kronbench.own_pairs import requirements
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.selection import select
from tests.own_pairs.problem import arguments, fit, predict, run, tables
from tests.own_pairs.test_bad_input import array, refused, rewritten, without

SOLVERS = {"KronRidge": KronRidge, "KronSVM": KronSVM}
GAUSSIAN = {"row_kernel": "gaussian", "row_gamma": 0.2}
TANIMOTO = {"row_kernel": "tanimoto"}
SIMILAR = {"col_kernel": "precomputed"}
WIDE = {"col_kernel": "gaussian", "col_gamma": 0.3}


@pytest.fixture
def folder(tmp_path):
    """The tables of the problem; the drugs also as fingerprints, the targets as a similarity."""
    _, drugs, targets = tables(tmp_path, real=True)
    bits = np.random.default_rng(0).random((14, 64)) < 0.3
    cells = ["".join(map(str, row.astype(int))) for row in bits]
    written = pd.DataFrame({"drug": drugs["drug"], "fp_bits": cells})
    written.to_csv(tmp_path / "bits.csv", index=False)
    values = targets.drop(columns="target").to_numpy()
    K = np.exp(-0.1 * ((values[:, None] - values) ** 2).sum(axis=2))
    similar = pd.DataFrame(K, columns=targets["target"])
    similar.insert(0, "target", targets["target"])
    similar.to_csv(tmp_path / "similar.csv", index=False)
    return tmp_path


def settings(parameters):
    return [f"--set={name}={value}" for name, value in parameters.items()]


def pipeline(solver, parameters, n, scaler=None):
    """The estimator of the documentation: landmarks of the rows, then a primal model."""
    given = {"row_kernel": "linear", **parameters}
    kernel, gamma = given.pop("row_kernel"), given.pop("row_gamma", None)
    dtype = given.get("dtype") or "float64"
    landmarks = VertexNystroem(
        row_kernel=kernel, row_gamma=gamma, row_rank=n, dtype=dtype, random_state=0
    )
    steps = [landmarks, SOLVERS[solver](form="primal", **given)]
    return make_pipeline(*([scaler] if scaler else []), *steps)


def problem(folder, rows, cols="cols"):
    frames = [read_table(folder / f"{name}.csv") for name in (rows, cols)]
    pairs = read_table(folder / "pairs.csv", ids=2)
    return PairData.from_frames(pairs, *frames, label="active")


def mean_error(X, y, parameters, n):
    """Of the pipeline, with landmarks drawn in the training set of each fold of setting B."""
    errors = []
    for train, test in SettingKFold("B", 3, random_state=0).split(X, y):
        mean = y[train].mean()
        model = pipeline("KronRidge", parameters, n).fit(X[train], y[train] - mean)
        errors.append(np.mean((model.predict(X[test]) + mean - y[test]) ** 2))
    return np.mean(errors)


def test_evaluate_draws_landmarks_in_each_training_set(folder, capsys):
    X, y = problem(folder, "rows")
    status, out, _ = run(
        capsys, "evaluate", *arguments(folder), "--solver", "KronRidge", "--row-landmarks", 5,
        *settings(GAUSSIAN | WIDE), "--setting", "B", "--repeats", 1, "--json",
    )  # fmt: skip
    assert status == 0
    result = json.loads(out)
    assert result["landmarks"] == [5, None]
    (error,) = (s for s in result["settings"][0]["scores"] if s["metric"] == "MSE")
    assert error["model"]["mean"] == pytest.approx(mean_error(X, y, GAUSSIAN | WIDE, 5))


@pytest.mark.parametrize(
    ("solver", "rows", "cols", "parameters", "scale"),
    [
        ("KronRidge", "bits", "cols", TANIMOTO, False),
        ("KronRidge", "bits", "cols", TANIMOTO | WIDE, True),
        ("KronRidge", "bits", "similar", TANIMOTO | SIMILAR, False),
        ("KronRidge", "rows", "cols", GAUSSIAN, True),
        ("KronSVM", "rows", "cols", GAUSSIAN | WIDE, False),
        ("KronSVM", "bits", "cols", TANIMOTO | {"dtype": "float32"}, False),
    ],
)
def test_a_model_file_predicts_known_and_new_vertices_as_the_pipeline_does(
    folder, capsys, solver, rows, cols, parameters, scale
):
    pairs = read_table(folder / "pairs.csv", ids=2)
    if solver == "KronSVM":
        pairs["active"] = (pairs["active"] > pairs["active"].median()).astype(int)
        pairs.to_csv(folder / "pairs.csv", index=False)
    known = pairs[pairs["drug"] < "D12"]
    known.to_csv(folder / "known.csv", index=False)
    drugs, targets = (read_table(folder / f"{name}.csv") for name in (rows, cols))
    drugs[drugs["drug"] < "D13"].to_csv(folder / "old.csv", index=False)  # D12 has no pair
    drugs[drugs["drug"] >= "D13"].to_csv(folder / "new.csv", index=False)
    files = {"pairs": "known.csv", "rows": "old.csv", "cols": f"{cols}.csv"}
    given = {name: folder / file for name, file in files.items()}
    options = ["--row-landmarks", 6, *settings(parameters), *(["--scale"] if scale else [])]
    file = fit(capsys, folder, solver, *options, **given)
    found = predict(capsys, file, "pairs.csv", "--rows", folder / "new.csv")["prediction"]
    X, y = PairData.from_frames(known, drugs, targets, label="active")
    asked = PairData.from_frames(pairs, drugs, targets)
    y = y.astype(float)
    mean = 0.0 if solver == "KronSVM" else y.mean()
    scaler = VertexScaler(rows=rows == "rows") if scale else None
    model = pipeline(solver, parameters, 6, scaler).fit(X, y - mean)
    score = model.decision_function if solver == "KronSVM" else model.predict
    rtol = 1e-4 if parameters.get("dtype") else 1e-8
    np.testing.assert_allclose(found, score(asked) + mean, rtol=rtol, atol=rtol)
    assert (pairs["drug"] >= "D12").sum() > 5


def test_a_choice_behind_landmarks_is_that_of_fits_one_by_one(folder, capsys, monkeypatch):
    X, y = problem(folder, "bits")
    recipe = Recipe("KronRidge", TANIMOTO | {"form": "primal"}, landmarks=(6, None))
    drawn = []
    fit = VertexNystroem.fit
    monkeypatch.setattr(VertexNystroem, "fit", lambda *given: drawn.append(1) or fit(*given))
    choice = select(recipe, X, y, "B", 0)
    assert len(drawn) == 3  # folds, and not fits
    assert -choice.score == pytest.approx(mean_error(X, y, TANIMOTO | choice.chosen, 6))


@pytest.mark.parametrize("command", ["evaluate", "fit"])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["KronRidge", "--row-landmarks=15"], "--row-landmarks is 15, and the pairs have 14 row"),
        (["KronRidge", "--col-landmarks=12"], "the pairs have 11 column vertices: give at"),
        (["PairSGD", "--row-landmarks=5"], "give one of KronNewton, KronRidge, KronSVM"),
        (["KronRidge", "--row-landmarks=5", "--set=form=dual"], "form=dual: landmarks need the"),
        (
            ["KronRidge", "--row-landmarks=5", "--set=reg=-1"],
            "The 'reg' parameter of KronRidge must be a float",
        ),
        (["KronRidge", "--row-landmarks=5", "--set=row_effect=1"], "vertex effects"),
        (["KronRidge", "--row-landmarks=5", "--set=row_kernel=rbf"], "Got 'rbf' instead"),
        (["KronRidge", "--row-landmarks=5", "--set=dtype=half"], "'dtype' parameter of"),
    ],
)
def test_landmarks_that_cannot_be_had(folder, capsys, command, options, sentence):
    out = ["-o", folder / "m.kron"] if command == "fit" else []
    refused(capsys, folder, sentence, command, *arguments(folder), "--solver", *options, *out)


def test_a_similarity_has_no_landmarks(folder, capsys):
    argv = ["evaluate", *arguments(folder, cols=folder / "similar.csv"), "--solver", "KronRidge"]
    refused(capsys, folder, "leave out --col-landmarks", *argv, "--col-landmarks", 5)


def test_what_memory_does_not_hold_can_be_fitted_as_its_sentence_says(folder, capsys, monkeypatch):
    monkeypatch.setattr(requirements, "available_memory", lambda: 2000)
    monkeypatch.setattr("kronbench.own_pairs.commands.check_tables", lambda tables: None)
    argv = ["fit", *arguments(folder, rows=folder / "bits.csv"), "--solver", "KronRidge"]
    argv += ["-o", folder / "m.kron"]
    refused(capsys, folder, "or fit on landmarks: --row-landmarks 14", *argv)


@pytest.mark.parametrize(
    "change",
    [
        without("row_landmarks_"),
        array("row_landmarks_", np.ones((6, 5))),
        array("coef_", np.ones(5)),
        array("_pivots", np.ones((2, 3))),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_no_model(folder, capsys, change):
    options = [*settings(GAUSSIAN | WIDE), "--row-landmarks", 6]
    model = fit(capsys, folder, "KronRidge", *options)
    model.write_bytes(rewritten(model.read_bytes(), change))
    argv = ["predict", model, "--pairs", folder / "pairs.csv", "-o", folder / "p.csv"]
    refused(capsys, folder, "not a complete model", *argv)
