"""The commands against the same work by hand."""

import functools
import json
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from kronbench import PairData
from kronbench.datasets.pair_tables import read_own_pairs
from kronbench.evaluation import SettingKFold, additive_scores, concordance_index, roc_auc
from kronbench.intervals import half_width
from kronbench.models import KronRidge, KronRidgeCV, KronSVM, VertexScaler
from kronbench.own_pairs import model_file
from kronbench.own_pairs.recipe import make_recipe, read_assignments
from tests.own_pairs.problem import arguments, fit, predict, run, tables

GAUSSIAN = [
    f"--set={side}_{name}" for side in ("row", "col") for name in ("kernel=gaussian", "gamma=0.2")
]
PRIMAL = [*GAUSSIAN, "--set=form=primal"]

KERNELS = {"row_kernel": "gaussian", "col_kernel": "gaussian", "row_gamma": 0.2, "col_gamma": 0.2}


def frames(pairs, drugs, targets):
    return PairData.from_frames(pairs, drugs, targets, label="active")


def test_evaluate_is_cross_validation_by_hand(tmp_path, capsys):
    X, y = frames(*tables(tmp_path))
    status, out, err = run(
        capsys, "evaluate", *arguments(tmp_path), "--solver", "KronSVM", *GAUSSIAN,
        "--set", "reg=1e-2", "--scale", "--repeats", 2, "--json",
    )  # fmt: skip
    assert status == 0
    assert "evaluate: 36 of 36 fits" in err
    result = json.loads(out)
    assert [entry["setting"] for entry in result["settings"]] == list("ABCD")
    model = make_pipeline(VertexScaler(), KronSVM(reg=1e-2, **KERNELS))
    for entry in result["settings"]:
        splits = list(SettingKFold(entry["setting"], 3, 2, random_state=0).split(X, y))
        splits = [s for s in splits if all(len(np.unique(y[part])) == 2 for part in s)]
        areas = cross_val_score(model, X, y, cv=splits, scoring="roc_auc")
        floor = [
            roc_auc(y[test], additive_scores(X[train], y[train], X[test]))
            for train, test in splits
        ]
        ratio = np.mean([len(test) / len(train) for train, test in splits])
        ratio **= 0.5 if entry["setting"] == "D" else 1  # each side counts
        (score,) = entry["scores"]
        assert entry["test_sets"] == len(splits)
        assert score["metric"] == "AUC"
        for part, values in (("model", areas), ("additive", floor), ("difference", areas - floor)):
            assert score[part]["mean"] == pytest.approx(np.mean(values))
            assert score[part]["half_width"] == pytest.approx(half_width(values, ratio))


def test_real_labels_have_concordance_and_error_and_no_intercept_is_needed(tmp_path, capsys):
    X, y = frames(*tables(tmp_path, real=True))
    command = [
        "evaluate", *arguments(tmp_path), "--solver", "KronRidge", *GAUSSIAN,
        "--setting", "B", "--repeats", 1,
    ]  # fmt: skip
    _, out, _ = run(capsys, *command, "--json")
    concordance, error = json.loads(out)["settings"][0]["scores"]
    model = KronRidge(**KERNELS)
    expected = []
    for train, test in SettingKFold("B", 3, random_state=0).split(X, y):
        mean = y[train].mean()
        scores = model.fit(X[train], y[train] - mean).predict(X[test]) + mean
        expected.append((concordance_index(y[test], scores), np.mean((scores - y[test]) ** 2)))
    means = [concordance["model"]["mean"], error["model"]["mean"]]
    np.testing.assert_allclose(means, np.mean(expected, axis=0))
    _, out, _ = run(capsys, *command)
    line = next(line for line in out.splitlines() if line.startswith("B  new rows"))
    low = means[0] - concordance["model"]["half_width"]  # the interval reaches beyond 1
    assert f"C-index  {means[0]:.3f} ({low:.3f} to 1.000)" in line


def test_a_setting_that_cannot_be_had_says_why_beside_the_others(tmp_path, capsys):
    pairs, _, _ = tables(tmp_path)
    pairs[pairs["target"].isin(["01", "02"])].to_csv(tmp_path / "pairs.csv", index=False)
    status, out, _ = run(
        capsys, "evaluate", *arguments(tmp_path), "--solver", "KronRidge", "--repeats", 1
    )
    assert status == 0
    assert "--splits is 3, but only 2 col vertices occur" in out
    assert "n_row_folds" not in out
    assert "n_col_folds" not in out
    assert out.count("--splits is 3, but only 2 col") == 2  # of C and of D


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("KronRidge", GAUSSIAN),
        ("KronRidge", PRIMAL),
        ("KronSVM", GAUSSIAN),
        ("KronSVM", [*PRIMAL, "--set=dtype=float32"]),
        ("KronNewton", GAUSSIAN),
        ("PairSGD", ["--set=random_state=0"]),
    ],
)
@pytest.mark.parametrize("scale", [[], ["--scale"]])
def test_predictions_of_a_file_are_those_of_the_model_in_the_order_asked_for(
    tmp_path, capsys, solver, options, scale
):
    pairs, drugs, targets = tables(tmp_path)
    model = fit(capsys, tmp_path, solver, *options, *scale)
    known = PairData.complete(np.zeros((14, 1)), np.zeros((11, 1)))
    order = np.random.default_rng(1).permutation(len(known))
    asked = pd.DataFrame(
        {"note": "x", "target": targets["target"].to_numpy()[known.cols[order]],
         "drug": drugs["drug"].to_numpy()[known.rows[order]]}
    )  # fmt: skip
    asked.to_csv(tmp_path / "new.csv", index=False)
    found = predict(capsys, model, "new.csv")
    assert list(found.columns) == ["drug", "target", "prediction"]
    assert found["drug"].tolist() == asked["drug"].tolist()
    assert found["target"].tolist() == asked["target"].tolist()
    X, y = frames(pairs, drugs, targets)
    test = PairData.from_frames(asked, drugs, targets)

    own = read_own_pairs(*(tmp_path / f"{name}.csv" for name in ("pairs", "rows", "cols")))
    assignments = [entry.removeprefix("--set=") for entry in options]
    given = read_assignments(solver, assignments)
    fitted = make_recipe(solver, given, own, bool(scale), False).fit(X, y)
    np.testing.assert_allclose(found["prediction"], fitted.scores(test), rtol=1e-9)
    # known ids with other features, in another order of columns and rows
    drugs["drug"] = np.roll(drugs["drug"], 1)
    drugs[["drug", "rings", "logp", "mass"]][::-1].to_csv(tmp_path / "moved.csv", index=False)
    rows = ["--rows", tmp_path / "moved.csv"]
    found = predict(capsys, model, "new.csv", *rows, end="tsv")["prediction"]
    moved = PairData.from_frames(asked, drugs, targets)
    np.testing.assert_allclose(found, fitted.scores(moved), rtol=1e-9)


def test_a_fit_of_the_command_takes_the_route_of_the_library(tmp_path, capsys):
    X, y = frames(*tables(tmp_path, real=True))
    model = model_file.load_model(fit(capsys, tmp_path, "KronRidge"))
    expected = KronRidge(fit_intercept=True).fit(X, y)
    assert (model.fitted.estimator.n_iter_, expected.n_iter_) == (1, 1)  # by singular values
    np.testing.assert_array_equal(model.fitted.scores(X), expected.predict(X))


def test_vertex_effects_stay_with_the_vertices_that_the_model_knows(tmp_path, capsys):
    _, drugs, _ = tables(tmp_path)
    model = fit(capsys, tmp_path, "KronRidge", *GAUSSIAN, "--scale", "--set=row_effect=3")
    drugs[:1].assign(drug="twin").to_csv(tmp_path / "new-drugs.csv", index=False)
    (tmp_path / "new.csv").write_text("drug,target\nD00,03\ntwin,03\n")
    (tmp_path / "old.csv").write_text("drug,target\nD00,03\n")
    rows = ["--rows", tmp_path / "new-drugs.csv"]
    known, twin = predict(capsys, model, "new.csv", *rows)["prediction"]
    assert known == pytest.approx(predict(capsys, model, "old.csv")["prediction"][0])
    assert twin != pytest.approx(known)  # an effect is of a vertex


def test_a_table_of_new_vertices_with_ids_of_the_model_is_told_where_it_differs(tmp_path, capsys):
    _, drugs, _ = tables(tmp_path)
    model = fit(capsys, tmp_path, "KronRidge", *GAUSSIAN, "--set=row_effect=3")
    (tmp_path / "new.csv").write_text("drug,target\nD00,03\nD01,03\nD02,03\n")
    before = predict(capsys, model, "new.csv")["prediction"]
    # the same features are the same vertex, with its effect, and nothing is said
    rows = ["--rows", tmp_path / "rows.csv"]
    argv = ["predict", model, "--pairs", tmp_path / "new.csv", *rows, "-o", tmp_path / "out.csv"]
    assert run(capsys, *argv)[2] == ""
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "out.csv")["prediction"], before)
    drugs.loc[[1, 2], "mass"] += 1
    drugs.to_csv(tmp_path / "rows.csv", index=False)
    status, _, err = run(capsys, *argv)
    assert status == 0
    assert err == (
        f"{tmp_path}/rows.csv has other features than the model for 2 of its ids, the first is "
        f"'D01': those of {tmp_path}/rows.csv are used\n"
    )
    after = pd.read_csv(tmp_path / "out.csv")["prediction"]
    assert after[0] == before[0]
    assert (np.abs(after - before)[1:] > 1e-3).all()


def test_similarities_are_kernels_and_new_ones_need_columns_for_the_old(tmp_path, capsys):
    pairs, drugs, targets = tables(tmp_path)
    values = drugs.drop(columns="drug").to_numpy()
    K = np.exp(-0.05 * ((values[:, None] - values) ** 2).sum(axis=2))
    ids = drugs["drug"].tolist()
    table = pd.DataFrame(K, ids, ids)
    known, new = ids[:-2], ids[-2:]
    table.loc[known, known].sample(frac=1, random_state=0).to_csv(tmp_path / "rows.csv")
    seen = pairs[~pairs["drug"].isin(new)]
    seen.to_csv(tmp_path / "pairs.csv", index=False)
    table.loc[new, known[::-1]].to_csv(tmp_path / "new-rows.csv")
    table.to_csv(tmp_path / "all-rows.csv")
    pairs[["drug", "target"]].to_csv(tmp_path / "new.csv", index=False)
    file = fit(capsys, tmp_path, "KronRidge")
    predictions = [
        predict(capsys, file, "new.csv", "--rows", tmp_path / name)["prediction"]
        for name in ("new-rows.csv", "all-rows.csv")
    ]
    X, y = frames(seen, table.loc[known, known], targets)
    y = y.astype(float)
    model = KronRidge(row_kernel="precomputed").fit(X, y - y.mean())
    row = [ids.index(entry) for entry in pairs["drug"]]
    col = [targets["target"].tolist().index(entry) for entry in pairs["target"]]
    test = PairData(K[:, :-2], X.col_features, row, col)
    for found in predictions:
        np.testing.assert_allclose(found, model.predict(test) + y.mean(), atol=1e-7)


def test_what_the_tables_were_taken_for_is_said_first(tmp_path, capsys):
    _, drugs, _ = tables(tmp_path, real=True)
    pd.DataFrame(np.eye(14), drugs["drug"], drugs["drug"]).to_csv(tmp_path / "rows.csv")
    status, _, err = run(
        capsys, "fit", *arguments(tmp_path), "--solver", "KronRidge", "--scale",
        "-o", tmp_path / "m.kron",
    )  # fmt: skip
    assert status == 0
    pairs, rows, cols = err.splitlines()[:3]
    assert re.fullmatch(r"pairs: 120, label 'active': numbers from -?[\d.]+ to [\d.]+", pairs)
    assert rows == f"rows: {tmp_path}/rows.csv, similarities of 14 vertices, kernel precomputed"
    assert cols == (
        f"columns: {tmp_path}/cols.csv, 11 vertices of 2 features, kernel linear, scaled"
    )


def test_a_model_that_is_worse_than_the_mean_is_refused_and_told(tmp_path, capsys, monkeypatch):
    tables(tmp_path, real=True)
    scores = KronRidge.decision_function
    monkeypatch.setattr(KronRidge, "decision_function", lambda self, X: -scores(self, X))
    command = [*arguments(tmp_path), "--solver", "KronRidge"]
    status, _, err = run(capsys, "fit", *command, "-o", tmp_path / "m.kron")
    assert status == 2
    assert "worse than their mean label does" in err
    assert "try --scale if a table has features of large numbers or --set reg=100" in err
    assert not (tmp_path / "m.kron").exists()
    status, out, _ = run(capsys, "evaluate", *command, "--setting", "B", "--repeats", 1)
    assert status == 0
    assert "B: in 3 of 3 training sets KronRidge predicts its own training pairs worse" in out
    monkeypatch.undo()
    _, out, _ = run(capsys, "evaluate", *command, "--setting", "B", "--repeats", 1)
    assert "worse" not in out


def test_a_fit_that_rounding_ended_far_from_its_solution_is_not_written(tmp_path, capsys):
    pairs, drugs, targets = tables(tmp_path)
    drugs["mass"] = 150 + 100 * drugs["mass"].rank()
    targets["length"] = 100 + 80 * targets["length"].rank()
    drugs.to_csv(tmp_path / "rows.csv", index=False)
    targets.to_csv(tmp_path / "cols.csv", index=False)
    y = np.random.default_rng(0).choice([-1, 1], len(pairs))
    pairs.assign(active=y).to_csv(tmp_path / "pairs.csv", index=False)
    effects = ["--set", "row_effect=1", "--set", "col_effect=1"]
    argv = ["fit", *arguments(tmp_path), "--solver", "KronRidge", *effects]
    status, _, err = run(capsys, *argv, "-o", tmp_path / "m.kron")
    assert status == 2
    assert "was ended by rounding far from its solution" in err
    assert "try --scale if a table has features of large numbers or --set reg=100" in err
    assert not (tmp_path / "m.kron").exists()
    assert run(capsys, *argv, "--scale", "-o", tmp_path / "m.kron")[0] == 0


def test_a_choice_of_its_own_is_made_in_the_setting_and_kept_in_a_file(tmp_path, capsys):
    pairs, drugs, targets = tables(tmp_path, real=True)
    X, y = frames(pairs, drugs, targets)
    some = ["KronRidgeCV", "--set", "gradient_steps=0", "--setting", "B"]
    inner = SettingKFold("B", 3, random_state=0)
    model = KronRidgeCV(gradient_steps=0, cv=inner)
    argv = ["evaluate", *arguments(tmp_path), "--solver", *some, "--repeats", 1, "--json"]
    _, out, _ = run(capsys, *argv)
    errors = cross_val_score(
        model, X, y, cv=SettingKFold("B", 3, random_state=0), scoring="neg_mean_squared_error"
    )
    score = json.loads(out)["settings"][0]["scores"][1]
    assert score["model"]["mean"] == pytest.approx(-np.mean(errors))

    file = fit(capsys, tmp_path, *some)
    drugs.assign(drug="new-" + drugs["drug"]).to_csv(tmp_path / "new-rows.csv", index=False)
    pairs[["drug", "target"]].to_csv(tmp_path / "old.csv", index=False)
    pairs.assign(drug="new-" + pairs["drug"]).to_csv(tmp_path / "new.csv", index=False)
    model.fit(X, y)
    moved = X.with_features(X.row_features.copy(), X.col_features)
    moved.row_ids = tuple(f"new-{name}" for name in X.row_ids)  # other vertices
    for name, more in (("old", []), ("new", ["--rows", tmp_path / "new-rows.csv"])):
        found = predict(capsys, file, f"{name}.csv", *more)["prediction"]
        np.testing.assert_allclose(found, model.predict(X if name == "old" else moved), rtol=1e-9)


def test_what_does_not_converge_is_one_line_of_a_command(tmp_path):
    tables(tmp_path)
    command = ["fit", *arguments(tmp_path), "--solver", "KronNewton", "--set", "max_iter=1"]
    done = subprocess.run(
        [sys.executable, "-m", "kronbench", *command, "-o", tmp_path / "model.kron"],
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in done.stderr.splitlines() if "before it reached tol" in line]
    assert line.startswith("warning: KronNewton ended by ")


def test_an_interrupt_is_one_line(tmp_path):
    tables(tmp_path)
    command = [sys.executable, "-m", "kronbench", "evaluate", *arguments(tmp_path)]
    command += ["--solver", "KronSVM", "--select", "--setting", "D", "--repeats", "10"]
    # What a shell runs in the background ignores the signal, as do all its children
    interruptible = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
    ) as process:
        seen = ""
        while " fits\n" not in seen:  # of a tenth, since standard error is no terminal
            seen += (read := process.stderr.read(1))
            assert read, f"it ended before it was interrupted: {seen}"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest.endswith("kronbench: interrupted\n")
    assert "Traceback" not in rest
