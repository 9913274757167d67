"""Model files: what can be kept predicts the same, and no file runs code or is half believed."""

import io
import json
import os
import sys
import webbrowser
import zipfile

import numpy as np
import pytest

from kronbench import InputError
from kronbench.datasets.pair_tables import read_own_pairs
from kronbench.own_pairs import KEPT, PAIR_SOLVERS, REFITTED, model_file
from kronbench.own_pairs.commands import fit_files
from kronbench.own_pairs.recipe import make_recipe, read_assignments
from tests.own_pairs.problem import arguments, fit, predict, run, tables
from tests.own_pairs.test_bad_input import array, npy, record, refused, rewritten

GAUSSIAN = ["row_kernel=gaussian", "row_gamma=0.2"]
PRIMAL = [*GAUSSIAN, "form=primal"]
PARAMETERS = {
    "KronRidge": GAUSSIAN,
    "KronSVM": PRIMAL,
    "KronRidgeCV": ["gradient_steps=1"],
    "PairSGD": ["random_state=0", "n_updates=1000"],
    "TwoStepRidge": GAUSSIAN,
}
HELPER = "open({trace!r}, 'w').close()\nclass X:\n    pass\n"


def complete(folder):
    """Tables whose pairs are all pairs of their vertices."""
    _, drugs, targets = tables(folder)
    pairs = drugs[["drug"]].merge(targets[["target"]], how="cross")
    labels = np.random.default_rng(0).normal(size=len(pairs))
    labels += 6 + np.outer(drugs["mass"], targets["length"] + 1).ravel()
    pairs.assign(active=labels).to_csv(folder / "pairs.csv", index=False)
    return pairs, drugs, targets


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The bytes of a model file of each of some solvers."""
    found = {}
    for solver, parameters in PARAMETERS.items():
        folder = tmp_path_factory.mktemp(solver)
        complete(folder) if solver in REFITTED else tables(folder)
        given = {name: folder / f"{name}.csv" for name in ("pairs", "rows", "cols")}
        fit_files(given, folder / "m.kron", solver, parameters, scale=True)
        found[solver] = (folder / "m.kron").read_bytes()
    return found


# --- no code ----------------------------------------------------------------------------------


def texts_of(node, found):
    """All strings of a JSON value, its keys too."""
    if isinstance(node, dict):
        found.update(node)
    for part in node.values() if isinstance(node, dict) else node:
        if isinstance(part, str):
            found.add(part)
        elif isinstance(part, dict | list):
            texts_of(part, found)
    return found


def with_text(node, old, new):
    """The JSON value with a string in the place of another, wherever that is."""
    if isinstance(node, dict):
        return {with_text(key, old, new): with_text(part, old, new) for key, part in node.items()}
    if isinstance(node, list):
        return [with_text(part, old, new) for part in node]
    return new if type(node) is str and node == old else node


def replaced_by(schema):
    return lambda members: members.update({"model.json": schema})


HOSTILE = ["helper.X", "antigravity", "helper", "antigravity.X", "os.system", "../helper.py"]
if not os.environ.get("KRONBENCH_FUZZ"):  # all of them take minutes
    HOSTILE = HOSTILE[:2]


@pytest.mark.parametrize("solver", ["KronSVM", "KronRidgeCV", "TwoStepRidge"])
def test_no_text_in_a_file_is_a_name_of_what_to_import(solver, models, tmp_path, monkeypatch):
    trace, file = tmp_path / "trace", tmp_path / "m.kron"
    (tmp_path / "helper.py").write_text(HELPER.format(trace=str(trace)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # a user may have put the folder there
    monkeypatch.setattr(webbrowser, "open", lambda *_: trace.touch())
    file.write_bytes(models[solver])
    known = model_file.load_model(file)
    expected = known.fitted.scores(known.data)
    loaded = set(sys.modules)
    schema = json.loads(zipfile.ZipFile(io.BytesIO(models[solver])).read("model.json"))
    texts = sorted(texts_of(schema, set()))
    assert solver in texts
    taken = 0
    for old in texts:
        for hostile in HOSTILE:
            changed = json.dumps(with_text(schema, old, hostile)).encode()
            file.write_bytes(rewritten(models[solver], replaced_by(changed)))
            try:
                model = model_file.load_model(file)
            except InputError as error:
                assert str(file) in str(error)
            else:
                taken += 1
                np.testing.assert_array_equal(model.fitted.scores(model.data), expected)
            assert not trace.exists(), (old, hostile)
            assert set(sys.modules) <= loaded, (old, hostile)
    assert taken < len(texts) * len(HOSTILE) / 2


@pytest.mark.parametrize("name", ["helper.X", "antigravity.X", "kronbench.models.KronRidge"])
def test_a_solver_from_elsewhere_is_refused_before_it_is_imported(
    name, models, tmp_path, monkeypatch, capsys
):
    tables(tmp_path)
    (tmp_path / "helper.py").write_text(HELPER.format(trace=str(tmp_path / "trace")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(webbrowser, "open", lambda *_: (tmp_path / "trace").touch())
    change = record('"solver": "KronRidge"', f'"solver": "{name}"')
    (tmp_path / "m.kron").write_bytes(rewritten(models["KronRidge"], change))
    argv = ["predict", "m.kron", "--pairs", "pairs.csv", "-o", "out.csv"]
    refused(capsys, tmp_path, f"its solver is '{name}', which no model file holds", *argv)
    assert not {"helper", "antigravity"} & set(sys.modules)


@pytest.mark.parametrize("command", ["fit", "predict", "screen", "score", "evaluate"])
def test_the_working_directory_brings_no_modules_to_commands_on_files(
    command, models, tmp_path, monkeypatch, capsys
):
    tables(tmp_path)
    (tmp_path / "m.kron").write_bytes(models["KronRidge"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    argv = {
        "fit": [*arguments(tmp_path), "--solver", "KronRidge", "-o", "new.kron"],
        "predict": ["m.kron", "--pairs", "pairs.csv", "-o", "out.csv"],
        "screen": ["m.kron", "-o", "out.csv"],
        "score": ["pairs.csv", "--data", "nothing", "--folds", "none"],
        "evaluate": [*arguments(tmp_path), "--solver", "KronRidge", "--setting=A", "--repeats=1"],
    }[command]
    run(capsys, command, *argv)
    assert str(tmp_path) not in sys.path
    # a solver that the user names may lie there
    (tmp_path / "mine_here.py").write_text("from kronbench.models import KronRidge as Mine\n")
    options = ["--setting", "A", "--repeats", "1"]
    own = ["evaluate", *arguments(tmp_path), "--solver", "mine_here.Mine", *options]
    assert run(capsys, *own)[0] == 0
    del sys.modules["mine_here"]


# --- numbers ----------------------------------------------------------------------------------


def more_vertices(members):
    """The table of the training pairs of the estimator alone has one vertex more."""
    schema = json.loads(members["model.json"])
    pairs = schema["fitted"]["estimator"]["X_fit_"]
    features = np.load(io.BytesIO(members[pairs["row_features"]["file"]]))
    members["more.npy"] = npy(np.vstack([features, features[:1]]))
    pairs |= {"row_features": {"file": "more.npy"}, "n_rows": len(features) + 1}
    members["model.json"] = json.dumps(schema).encode()


def other_ids(ids):
    """The training pairs of the estimator alone have these ids of their rows."""

    def change(members):
        schema = json.loads(members["model.json"])
        schema["fitted"]["estimator"]["X_fit_"]["row_ids"] = {"tuple": ids}
        members["model.json"] = json.dumps(schema).encode()

    return change


def of_fit(name, value):
    """The number of this name is another."""

    def change(members):
        members["other.npy"], schema = npy(value), json.loads(members["model.json"])
        schema["fitted"]["estimator"][name] = {"file": "other.npy"}
        members["model.json"] = json.dumps(schema).encode()

    return change


@pytest.mark.parametrize(
    ("solver", "change", "sentence"),
    [
        ("KronRidge", array("dual_coef_", np.ones(120) + 1j), "dual_coef_ does not hold finite"),
        ("KronSVM", array("coef_", np.full(28, 1j)), "coef_ does not hold finite numbers"),
        ("KronRidge", array("row_mean_", np.full(3, np.nan)), "row_mean_ does not hold finite"),
        ("KronRidge", array("row_scale_", np.full(3, np.nan)), "row_scale_ does not hold finite"),
        ("KronRidge", array("col_scale_", np.ones(3)), "col_scale_ has shape (3,)"),
        ("KronRidge", array("col_mean_", np.ones((2, 1))), "col_mean_ has shape (2, 1)"),
        ("KronRidge", of_fit("noise_variance_", np.float64(np.nan)), "noise_variance_ does not"),
        ("KronRidge", of_fit("noise_variance_", np.float64(np.inf)), "noise_variance_ does not"),
        ("KronRidge", of_fit("intercept_", np.complex128(1j)), "intercept_ does not hold finite"),
        ("KronRidge", of_fit("reg", np.float64(2.0)), "its solver is not KronRidge("),
        ("KronRidge", more_vertices, "X_fit_ has other pairs or vertices"),
        ("KronRidge", other_ids(["D00"] * 13), "X_fit_ has other pairs or vertices"),
        ("KronRidge", other_ids([0] * 14), "X_fit_ has other pairs or vertices"),
        ("KronRidge", array("rows", np.zeros(120)), "rows has dtype float64"),
        ("KronRidge", array("rows", np.zeros(120, np.int8)), "X_fit_ has other pairs or"),
        ("PairSGD", array("row_coef_", np.full(3, np.nan)), "row_coef_ does not hold finite"),
        ("TwoStepRidge", array("y", np.ones(3)), "its labels have shape (3,)"),
        ("TwoStepRidge", array("y", np.full(154, np.nan)), "y does not hold finite numbers"),
        ("TwoStepRidge", array("y", np.full(154, 1j)), "y does not hold finite numbers"),
        ("KronRidge", record('"type": "KronRidge"', '"type": "KronSVM"'), "is not"),
    ],
)
def test_numbers_that_no_fit_gives_are_refused(solver, change, sentence, models, tmp_path, capsys):
    complete(tmp_path)
    (tmp_path / "m.kron").write_bytes(rewritten(models[solver], change))
    argv = ["predict", tmp_path / "m.kron", "--pairs", tmp_path / "pairs.csv"]
    refused(capsys, tmp_path, sentence, *argv, "-o", tmp_path / "out.csv")


# --- what can be kept -------------------------------------------------------------------------


def test_the_help_and_the_refusal_name_what_can_be_kept(tmp_path, capsys):
    tables(tmp_path)
    assert set(REFITTED) < set(KEPT) < set(PAIR_SOLVERS)
    with pytest.raises(SystemExit):
        run(capsys, "fit", "--help")
    told = " ".join(capsys.readouterr().out.split())
    assert f"--solver SOLVER one of {', '.join(KEPT)} --set" in told
    argv = ["fit", *arguments(tmp_path), "--solver", "PairKNN", "-o", tmp_path / "m.kron"]
    refused(capsys, tmp_path, f"cannot be kept in a file: give one of {', '.join(KEPT)}", *argv)


@pytest.mark.parametrize("solver", REFITTED)
@pytest.mark.parametrize("kernel", [[], ["--set=row_kernel=gaussian", "--set=row_gamma=0.2"]])
@pytest.mark.parametrize("scale", [[], ["--scale"]])
def test_a_closed_form_predicts_from_a_file_what_it_did(solver, kernel, scale, tmp_path, capsys):
    pairs, drugs, _ = complete(tmp_path)
    file = fit(capsys, tmp_path, solver, *kernel, *scale)
    own = read_own_pairs(*(tmp_path / f"{name}.csv" for name in ("pairs", "rows", "cols")))
    given = read_assignments(solver, [entry.removeprefix("--set=") for entry in kernel])
    expected = make_recipe(solver, given, own, bool(scale), False).fit(own.data, own.y)
    pairs.to_csv(tmp_path / "new.csv", index=False)
    found = predict(capsys, file, "new.csv")["prediction"]
    np.testing.assert_allclose(found, expected.scores(own.data), rtol=1e-12)
    assert np.corrcoef(found, own.y)[0, 1] > 0.2
    # of new rows
    drugs.assign(drug="new-" + drugs["drug"]).to_csv(tmp_path / "new-rows.csv", index=False)
    pairs.assign(drug="new-" + pairs["drug"]).to_csv(tmp_path / "new.csv", index=False)
    new = predict(capsys, file, "new.csv", "--rows", tmp_path / "new-rows.csv")["prediction"]
    np.testing.assert_allclose(new, found, rtol=1e-9)
