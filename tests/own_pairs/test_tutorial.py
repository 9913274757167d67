"""docs/own-pairs.md and own-solver.md: what they tell to type prints what they show."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
import yaml

from kronbench import datasets
from kronbench_suite.cli import main
from kronbench_suite.commands.run_with import outside_of_file
from tests.docs.pages import DOCS, ROOT, texts
from tests.docs.run_blocks import assert_same, run, run_console, typed
from tests.own_pairs.problem import arguments, skip_without_mirror, tables

SOLVER_PAGE = DOCS / "own-solver.md"
PAGE = DOCS / "own-pairs.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    skip_without_mirror()
    folder = tmp_path_factory.mktemp("tutorial")
    for program in texts(PAGE, "python"):
        if ".to_csv(" in program:  # the tables that the commands take
            run(folder, program)
    return folder


def test_the_commands_print_what_is_shown(folder):
    shown = texts(PAGE, "console")
    commands = re.findall(r"^\$ kronbench .*(?:pairs|new)\.csv", "".join(shown), re.MULTILINE)
    assert len(commands) == 5
    for block in shown:
        run_console(folder, block)


def test_the_same_in_python(folder):
    (program,) = (block for block in texts(PAGE, "python") if "in SETTINGS" in block)
    printed = run(folder, program)
    told = re.search(r"means of the first table: (.*)\.", TEXT)[1]
    areas = [float(line.split()[1]) for line in printed.splitlines()]
    assert areas == pytest.approx([float(part) for part in re.findall(r"\.\d+", told)], abs=0.002)


def test_what_else_is_told_in_python(folder):
    block = r"((?:(?!```).)*)```"
    shown = re.findall(rf"```python\n{block}\n\n```text\n{block}", TEXT, re.DOTALL)
    assert len(shown) == 5
    for program, expected in shown:
        assert_same(run(folder, program), expected)


def test_the_commands_without_output_run(tmp_path, folder):
    evaluate, fit = texts(PAGE, "")
    assert "row_landmarks=500" in typed(folder, fit)
    tables(tmp_path, real=True)
    options = shlex.join([*arguments(tmp_path), "--splits", "2", "--repeats", "1"])
    assert "B  new rows" in typed(tmp_path, evaluate.replace("...", options))


@pytest.fixture
def own_solver(tmp_path, monkeypatch):
    """A folder as the text makes it."""
    (tmp_path / "my_solver.py").write_text(texts(SOLVER_PAGE, "python")[0])
    for name, text in zip(("registry", "mine"), texts(SOLVER_PAGE, "yaml"), strict=True):
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("KRONBENCH_REGISTRY", str(tmp_path / "registry.yaml"))
    monkeypatch.chdir(ROOT)
    return tmp_path


def test_the_commands_on_a_solver_print_what_is_shown(own_solver):
    shown = texts(SOLVER_PAGE, "console")
    assert len(shown) == 2
    for block in shown:
        run_console(ROOT, block.replace("FOLDER", str(own_solver)))


def test_its_data_set_and_its_file_are_read(own_solver, rng):
    (entry,) = yaml.safe_load(texts(SOLVER_PAGE, "yaml")[0]).values()
    paths = {key: own_solver / file["mirror"] for key, file in entry["files"].items()}
    paths["pairs"].parent.mkdir()
    for key, ids in (("rows", "abcdef"), ("cols", "xyz")):
        pd.DataFrame(rng.random((len(ids), 2)), list(ids)).to_csv(paths[key])
    index = pd.MultiIndex.from_product([list("abcdef"), list("xyz")])
    values = pd.DataFrame({"assay": 1, "pKd": np.linspace(5, 9, 18)}, index)
    values.to_csv(paths["pairs"], index_label=["compound", "kinase"])
    data = datasets.load("MyAssay")
    assert data["labels"].tolist() == [-1] * 9 + [1] * 9
    found = outside_of_file(own_solver / "mine.yaml")
    assert (found.name, found.datasets, found.items) == (
        "mine", ("MyAssay",), (("airola", "table-6"),),
    )  # fmt: skip
    assert list(found.solvers) == ["Additive, weak", "Additive, strong"]
    assert main(["run-with", str(own_solver / "mine.yaml"), "--scale", "smoke", "--dry-run"]) == 0
