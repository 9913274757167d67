"""A solver from outside among the methods of each item that compares any, in an own folder."""

import subprocess
import textwrap

import pytest
import yaml

from kronbench_suite.cli import main
from kronbench_suite.commands.run_with import compares_methods, outside_of_options
from kronbench_suite.runner.plans import load_plan, load_scales
from tests.datasets.test_pair_tables import ENTRY
from tests.own_pairs.problem import tables

SOLVER = """
import numpy as np
from sklearn.base import BaseEstimator

class {name}(BaseEstimator):
    def __init__(self, *, reg=1.0):
        self.reg = reg

    def _features(self, X):
        return np.hstack([X.row_features[X.rows], X.col_features[X.cols]])

    def fit(self, X, y):
        A = self._features(X)
        self.coef_ = np.linalg.solve(A.T @ A + self.reg * np.eye(A.shape[1]), A.T @ y)
        return self

    def predict(self, X):
        return self._features(X) @ self.coef_
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A checkout without results, and a folder with a solver and a data set."""
    checkout, mine = tmp_path / "checkout", tmp_path / "mine"
    for folder in (checkout, mine / "my"):
        folder.mkdir(parents=True)
    (checkout / "Snakefile").touch()
    monkeypatch.chdir(checkout)
    monkeypatch.syspath_prepend(str(tmp_path))  # sys.path is as before at the end
    monkeypatch.setenv("KRONBENCH_REGISTRY", "")
    (mine / "outside_solver.py").write_text(SOLVER.format(name="Additive"))
    (mine / "registry.yaml").write_text(yaml.safe_dump({"Mine": ENTRY}))
    tables(mine / "my")
    return checkout, mine


@pytest.fixture
def commands(monkeypatch):
    """What would be run."""
    run = []

    def record(command, **given):
        run.append(command[2:])
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", record)
    return run


def run_with(mine, *argv):
    return main(["run-with", "outside_solver.Additive", *argv, "--path", str(mine)])


def smoke():
    return next(plan for plan in load_scales() if plan.scale == "smoke")


def test_it_is_one_more_method_with_the_same_splits_in_a_folder_of_its_own(outside, commands):
    checkout, mine = outside
    assert run_with(mine, "airola", "table-6", "--scale", "smoke", "--set", "reg=3") == 1
    plan = load_plan(checkout / "results" / "smoke-with-additive" / "config.yaml")
    assert commands[0][1:3] == [
        "results/smoke-with-additive/airola/table-6.html",
        "results/smoke-with-additive/airola/table-7.html",  # draws the same tables
    ]
    for ours, its in zip(plan.items, smoke().items, strict=True):
        changed = (its.paper, its.tables_of) == ("airola", "table-6")
        methods = dict(ours.parameters.get("methods", {})) if changed else None
        if changed:
            added = methods.popitem()
            assert added == (
                "Additive",
                {"solver": "outside_solver.Additive", "parameters": {"reg": 3}},
            )
            assert methods == its.parameters["methods"]
        rest = {key: value for key, value in ours.parameters.items() if key != "methods"}
        theirs = {key: value for key, value in its.parameters.items() if key != "methods"}
        assert rest == theirs
        assert ours.datasets == its.datasets
    assert plan.config["user"] == {"path": str(mine)}
    assert [path.name for path in (checkout / "results").iterdir()] == ["smoke-with-additive"]


def test_without_an_item_it_is_in_all_that_compare_methods(outside, commands):
    checkout, mine = outside
    run_with(mine)
    named = {(item.paper, item.name) for item in smoke().items if compares_methods(item)}
    of_airola = {("airola", name) for name in ("table-6", "figure-6", "figure-7")}
    assert named == {*of_airola, ("rivals", "table-1"), ("rivals", "table-4")}
    plan = load_plan(checkout / "results" / "default-with-additive" / "config.yaml")
    for paper, name in named:
        assert "outside_solver.Additive" in str(plan.item(paper, name).parameters)
    assert plan.item("airola", "figure-6").parameters["regs"]["Additive"] == [1.0]


def test_a_file_names_solvers_data_and_items(outside, commands):
    checkout, mine = outside
    text = textwrap.dedent(
        """
        name: two
        registry: registry.yaml
        solvers:
          A: {solver: outside_solver.Additive}
          B: {solver: outside_solver.Additive, parameters: {reg: 5.0}}
        datasets: [Mine]
        items: {airola: [table-7]}
        """
    )
    (mine / "mine.yaml").write_text(text)
    assert main(["run-with", str(mine / "mine.yaml"), "--scale", "smoke"]) == 1
    plan = load_plan(checkout / "results" / "smoke-with-two" / "config.yaml")
    item = plan.item("airola", "table-6")
    assert item.datasets == ("Mine",)
    assert list(item.parameters["methods"])[-2:] == ["A", "B"]
    assert plan.config["user"]["registry"] == str(mine / "registry.yaml")
    assert len(commands) == 1


def test_a_dry_run_writes_and_runs_nothing(outside, commands, capsys):
    checkout, mine = outside
    assert run_with(mine, "airola", "table-6", "--dry-run") == 0
    assert capsys.readouterr().out.count("--config") == 2
    assert commands == []
    assert not (checkout / "results").exists()


@pytest.fixture
def refused(outside, commands, capsys):
    """The command ends with status 2 and one sentence, makes nothing and runs nothing."""

    def refused(argv, sentence):
        assert main(["run-with", *argv]) == 2
        told = capsys.readouterr().err
        assert sentence in told
        assert told.count("\n") == 1
        assert not (outside[0] / "results").exists()
        assert commands == []

    return refused


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["airola", "table-5"], "takes no further methods; these do: airola figure-6"),
        (["stock"], "no item of stock takes further methods"),
        (["airolla"], "there is no paper 'airolla'"),
        (["airola", "table-66"], "there is no item 'airola table-66'"),
        (["airola", "table-6", "--name", "KNN"], "'KNN' is the name of another method"),
        (["airola", "table-6", "--name", ""], "--name: '' cannot be the name of a row: give text"),
        (["airola", "table-6", "--set", "rge=1"], "did you mean 'reg'?"),
        (["airola", "table-6", "--data", "Mnie"], "there is no data set 'Mnie'"),
        (["airola", "table-6", "--registry", "no.yaml"], "there is no registry no.yaml"),
        (["airola", "figure-7", "--data", "GPCR"], "draws its own data"),
        (["--scale", "smok"], "there is no scale 'smok'"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_nothing_is_run(outside, refused, argv, sentence):
    refused(["outside_solver.Additive", *argv, "--path", str(outside[1])], sentence)


@pytest.mark.parametrize(
    ("solver", "sentence"),
    [
        ("outside_solvr.Additive", "did you mean 'outside_solver.Additive'?"),
        ("sklearn.linear_model.Ridge", "does not take pairs: it converts X to an array"),
        ("outside_broken.Additive", "outside_broken cannot be imported: SyntaxError"),
        ("outside_needs.Additive", "no_such_dependency is not installed"),
        ("outside_worse.Nothing", "breaks the contract of solvers"),
    ],
)
def test_a_solver_that_cannot_stand_beside_the_others(outside, refused, solver, sentence):
    mine = outside[1]
    (mine / "outside_broken.py").write_text("def fit(:\n")
    (mine / "outside_needs.py").write_text("import no_such_dependency\n")
    (mine / "outside_worse.py").write_text(
        SOLVER.format(name="Nothing").replace("        return self\n", "")
    )
    refused([solver, "--path", str(mine), "--scale", "smoke"], sentence)


NO_TEXT = "cannot be the name of a row: give text, in quotes"


@pytest.mark.parametrize(
    ("name", "added", "sentence"),
    [
        *((name, "", NO_TEXT) for name in ("1", '"a\\nb"')),
        ("A", "path: loop", "is not a valid path: Symlink loop"),
        ("A", f"name: {'a' * 300}", "is too long"),
    ],
)
def test_a_wrong_or_hostile_file_is_one_sentence(outside, refused, name, added, sentence):
    mine = outside[1]
    (mine / "loop").symlink_to("loop")
    file = mine / "mine.yaml"
    file.write_text(f"solvers: {{{name}: {{solver: outside_solver.Additive}}}}\n{added}\n")
    refused([str(file), "--scale", "smoke", "--dry-run"], sentence)


def test_names_that_differ_have_folders_that_differ():
    names = ["Mine", "mine-2", "Mine 2", "a/b", "a,b", "a-b", "a b", "\u00e9", "\u00e8", ".", "-",
             "1", "solver", "solver-1", "x" * 70, "x" * 71, "x" * 300]  # fmt: skip
    folders = [outside_of_options("a.B", {}, name).name for name in names]
    assert len(set(folders)) == len(names)
    assert folders[:2] == ["mine", "mine-2"]
    assert max(map(len, folders)) < 80


def test_a_data_set_that_is_named_twice_is_taken_once():
    assert outside_of_options("a.B", {}, data=["GPCR", "IC", "GPCR"]).datasets == ("GPCR", "IC")
