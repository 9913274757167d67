"""A paper from outside: one folder, and no edit here."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from kronbench.errors import InputError
from kronbench.resources import ADDED_REGISTRIES
from kronbench.solvers import import_object
from kronbench_suite import resources
from kronbench_suite.cli import main
from kronbench_suite.commands.run_with import (
    check_paper,
    outside_of_options,
    plan_with_paper,
    plan_with_solvers,
)
from kronbench_suite.runner import provenance

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "paper_folder" / "aeberhard"
MODULE = "kronbench_suite.papers.aeberhard.measure.left_out"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy to be spoilt; what the process knows of papers is forgotten afterwards."""
    monkeypatch.setattr("kronbench_suite.papers.__path__", resources.PAPERS_PATH)
    before = list(resources.PAPERS_PATH)
    forget()
    yield Path(shutil.copytree(FOLDER, tmp_path / "aeberhard"))
    resources.PAPERS_PATH[:] = before
    resources.ADDED_PAPERS.clear()
    ADDED_REGISTRIES.clear()
    forget()


def forget():
    """What was read of the folder's modules, and the modules themselves."""
    for read in vars(provenance).values():
        if hasattr(read, "cache_clear"):
            read.cache_clear()
    for name in [
        name for name in sys.modules if re.match(r"kronbench_suite.papers.a(eberhard|gain)", name)
    ]:
        del sys.modules[name]


@pytest.mark.workflow
def test_a_folder_is_planned_measured_drawn_and_judged(tmp_path, monkeypatch):
    for name in ("Snakefile", "workflow", "config", "profiles", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = subprocess.run(
        [sys.executable, "-m", "kronbench_suite", "run-with", FOLDER, "--scale", "smoke"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 items rendered" in done.stdout
    assert "claims of the papers, on these data: 2 holds, 1 contradicted" in done.stdout
    results = tmp_path / "results" / "smoke-with-aeberhard" / "aeberhard"
    shown = pd.read_csv(results / "table-1.csv").set_index("method")
    # 170 of 178 wines, where the repository quotes 171
    assert shown["accuracy"].round(1).to_dict() == {"LDA": 98.9, "QDA": 99.4, "1-NN": 95.5}
    assert pd.read_csv(results / "figure-1.csv")["neighbours"].tolist() == [1, 5, 15]
    sidecar = json.loads((results / "tables" / "table-1" / "wine-178.json").read_text())
    assert sidecar["data"]["name"] == "wine-178"
    pages = results.parent / "report" / "part"
    page = (pages / "claims.html").read_text()
    assert "The nearest neighbour classifies 96.1 % right" in page
    page = (pages / "index.html").read_text()
    assert "The classification performance of RDA" in page
    assert "missing" not in done.stdout  # what the run lacks of other papers
    assert "claims.csv" not in page


@pytest.mark.workflow
def test_the_same_folder_copied_inside_is_a_shipped_paper(tmp_path):
    """Nothing else is edited: planned with all others, measured, drawn and judged."""
    package = tmp_path / "src" / "kronbench_suite"
    shutil.copytree(ROOT / "src" / "kronbench_suite", package)
    shutil.copytree(FOLDER, package / "papers" / "aeberhard")
    for name in ("Snakefile", "workflow", "config", "profiles"):
        (tmp_path / name).symlink_to(ROOT / name)

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": f"{tmp_path / 'src'}:{ROOT / 'src'}"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    smoke = ("--cores", "1", "--configfile", "config/smoke.yaml")
    planned = run("snakemake", "aeberhard", *smoke, "--dry-run")
    assert "aeberhard table-1: wine-178" in planned
    item = "results/smoke/aeberhard/figure-1.pdf"
    run("snakemake", item, "results/smoke/aeberhard/table-1.html", *smoke)
    shown = pd.read_csv(tmp_path / item.replace(".pdf", ".csv"))
    assert shown["neighbours"].tolist() == [1, 5, 15]  # by its own scales
    said = run("kronbench_suite", "report", "--config", "results/smoke/config.yaml")
    assert "claims of the papers, on these data: 2 holds, 1 contradicted" in said
    page = (tmp_path / "results/smoke/report/part/index.html").read_text()
    assert "The classification performance of RDA" in page


def test_its_contracts_are_those_of_the_shipped_papers(folder):
    parts = list(check_paper(*plan_with_paper(folder)))
    assert [wrong for _, wrong in parts] == [""] * 4
    edit(folder / "plot" / "neighbours.py", "def draw(frame, item)", "def draw(frame)")
    edit(folder / "measure" / "left_out.py", "COLUMNS = Columns(", "COLUMNS = dict(")
    forget()
    wrong = [said for _, said in check_paper(*plan_with_paper(folder)) if said]
    assert wrong == [
        "COLUMNS is not a kronbench_suite.runner.columns.Columns",
        "draw takes other parameters than frame, item",
    ]


def test_what_cannot_be_imported_is_said_of_its_file(folder, capsys):
    edit(folder / "measure" / "neighbours.py", "import make_solver", "import make_solver, nothing")
    assert main(["check", str(folder)]) == 1
    said = capsys.readouterr().out
    assert (
        "measure/neighbours.py\n        it cannot be imported: ImportError: cannot import" in said
    )


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


NEAR, LEFT_OUT, CLAIMS = "measure/neighbours.py", "measure/left_out.py", "claims/claims.yaml"


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            "paper.yaml",
            "",
            None,
            "has no paper.yaml: a paper is a folder with paper.yaml, claims/",
        ),
        ("claims", "", None, "has no file of claims, .*: write 'claims: none' in paper.yaml"),
        ("printed/accuracy.csv", "", None, "table-1: there is no file of printed numbers"),
        (NEAR, "", None, "figure-1: there is no module .*neighbours.py"),
        ("plot/accuracy.py", "", None, "table-1: there is no module .*plot/accuracy.py"),
        (LEFT_OUT, "def run(", "def runs(", "left_out.py has no run"),
        (LEFT_OUT, "def run(", "def run{", "left_out.py, line 28: closing"),
        ("plot/accuracy.py", "return frame", "return frame)", "y.py, line 12: unmatched"),
        (
            *(NEAR, "from .left_out", "from .leftout"),
            "neighbours.py imports kronbench_suite.papers.aeberhard.measure.leftout, and there is "
            "no such module: did you mean 'left_out'",
        ),
        (
            *(NEAR, "kronbench_suite.runner.columns", "kronbench.runer.columns"),
            "neighbours.py imports kronbench.runer.columns, and there is no such module",
        ),
        (LEFT_OUT, "COLUMNS = ", "COLUMN = ", "left_out.py has no COLUMNS"),
        ("plot/neighbours.py", "def draw(", "def drew(", "neither draw.* nor tabulate"),
        (CLAIMS, "kind: gain", "kind: gains", "gains"),
        (
            *(CLAIMS, "value: accuracy, between", "value: accuracyy, between"),
            "'accuracyy', which aeberhard table-1 has at no scale: .* did you mean 'accuracy'",
        ),
        (CLAIMS, "method == 'QDA'", "method == 'QDB'", "for 'QDB', which"),
        (CLAIMS, "method == 'QDA'", "dataset == 'wine'", "for 'wine', whi"),
        ("paper.yaml", "[wine-178]", "[wine-187]", "there is no data set 'wine-187'"),
        ("data.yaml", "data:WINE", "data:VINE", "'measure.data:VINE': .* 'VINE'"),
        ("measure/data.py", "def wine(rng)", "def wine(rng", "data:WINE': SyntaxError: '\\("),
        ("data.yaml", "wine-178:", "boston:", "has the name of the shipped data set boston"),
        ("paper.yaml", "title:", "tilte:", "tilte"),
        (
            *("paper.yaml", " neighbours: [1, 3", " neighbors: [1, 3"),
            "figure-1: unknown parameter 'neighbors': did you mean 'neighbours'",
        ),
        (
            *("paper.yaml", "{methods: [LDA, QDA", "{methods: [LDA, QDAA"),
            "table-1: methods: there is no 'QDAA': did you mean 'QDA'",
        ),
        (
            *("paper.yaml", "items:", "protocol: {parameters: {methodz: [LDA]}}\nitems:"),
            "protocol: no item reads the parameter 'methodz'",
        ),
        (NEAR, '("neighbours",)', '("neighbours",', "error: aeberhard figure-1: .* line 16: "),
        (
            *(NEAR, "neighbours : numbers", "neighbours: numbers"),
            "neighbours.py: in the docstring .* under Parameters, 'neighbours: numbers of .*' is "
            "neither 'name : what it means' nor 'name : keys of MAPPING'",
        ),
        *(
            (
                *(NEAR, " : numbers of neighbours", f" : keys of {mapping}"),
                f"under Parameters, 'neighbours : keys of {mapping}' is neither",
            )
            for mapping in ("NUMBERS", "COLUMNS")
        ),
        (
            *(LEFT_OUT, '"LDA": Lin', "LDA: Lin"),
            "under Parameters, 'methods : keys of METHODS' is neither .* this module writes out",
        ),
        (
            *(NEAR, "\nParameters", "\nParameter"),
            "unknown parameter 'solver'; the docstring of measure/neighbours.py has: m",
        ),
        ("paper.yaml", "smoke:", "smok:", "scales: unknown key 'smok'; known are: smoke"),
        (
            *("paper.yaml", "ScaledNeighbours,", "ScaledNeighbour,"),
            "figure-1: unknown solver path 'kronbench_suite.papers.aeberhard.solvers.neighbours."
            "ScaledNeighbour': .* did you mean 'ScaledNeighbours'",
        ),
        (
            *("paper.yaml", "solvers.neighbours.", "solvers.neighbour."),
            "aeberhard.solvers has no module 'neighbour': did you mean 'neighbours'",
        ),
        (
            *("paper.yaml", "{neighbours: [1, 5", "{neighbuors: [1, 5"),
            "scales: smoke: papers.aeberhard.figure-1: unknown key 'neighbuors'",
        ),
    ],
)
def test_what_is_missing_is_said_before_any_job(folder, name, old, new, said, monkeypatch, capsys):
    path = folder / name
    if new is not None:
        edit(path, old, new)
    else:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    monkeypatch.chdir(ROOT)
    assert main(["run-with", str(folder), "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(error)


@pytest.mark.parametrize("name", ["bach", "Wine", "7wines"])
def test_a_folder_has_a_name_of_its_own(folder, name):
    other = folder.rename(folder.with_name(name))
    with pytest.raises(InputError, match=r"shipped paper|lower-case letters"):
        plan_with_paper(other)


def test_a_renamed_folder_never_takes_the_code_of_one_beside_it(folder):
    edit(folder / "measure" / "neighbours.py", "from .left_out", f"from {MODULE} ")
    renamed = Path(shutil.copytree(folder, folder.with_name("again")))
    forget()
    told = (
        "neighbours.py imports kronbench_suite.papers.aeberhard.measure.left_out, and there is no"
    )
    with pytest.raises(
        InputError, match=f"{told} such module: did you mean kronbench_suite.papers.again"
    ):
        plan_with_paper(renamed)


def test_a_renamed_folder_with_relative_imports_is_a_paper(folder):
    renamed = folder.rename(folder.with_name("again"))
    edit(renamed / "data.yaml", "wine-178:", "wine-again:")
    edit(renamed / "paper.yaml", "wine-178", "wine-again")
    plan, paper = plan_with_paper(renamed)
    assert [wrong for _, wrong in check_paper(plan, paper)] == [""] * 4
    # What is imported so counts in the digest of the code.
    code = provenance.table_code(plan.item("again", "figure-1"))
    assert "kronbench_suite.papers.again.measure.left_out" in code


@pytest.fixture
def shown(folder, monkeypatch, capsys):
    """The lines that a dry run prints."""
    monkeypatch.chdir(ROOT)

    def shown(*argv):
        assert main(["run-with", str(folder), *argv, "--scale", "smoke", "--dry-run"]) == 0
        return capsys.readouterr().out.splitlines()

    return shown


def test_one_item_of_a_folder_is_run_by_its_name(shown):
    saved, make, _ = shown("table-1")
    config = "results/smoke-with-aeberhard/config.yaml"
    assert saved == f"# without --dry-run, {config} is written before:"
    assert make.split()[1:3] == [
        "results/smoke-with-aeberhard/aeberhard/table-1.html",
        "--cores",
    ]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ["{folder}", "table-9"],
            "there is no item 'aeberhard table-9' in this run; did you mean",
        ),
        (["{folder}", "table-1", "table-1"], "item is for a single solver: leave it out with"),
        (["{folder}d"], "there is no folder {folder}d: did you mean '{folder}'?"),
        (["no/such/place"], "no folder no/such/place: give that of a paper, or the import path"),
        (["aeberhard"], "there is no folder aeberhard: give that of a paper, or the import path"),
    ],
)
@pytest.mark.parametrize("command", ["run-with", "check"])
def test_a_misspelt_folder_or_item_is_said(folder, given, sentence, command, monkeypatch, capsys):
    if command == "check" and len(given) > 1:
        pytest.skip("check takes no items")
    monkeypatch.chdir(ROOT)
    assert main([command, *(word.format(folder=folder) for word in given)]) == 2
    error = capsys.readouterr().err
    assert sentence.format(folder=folder) in error
    assert error.count("\n") == 1


SOLVER = "kronbench_suite.papers.aeberhard.solvers.neighbours.ScaledNeighbours"


def test_a_solver_has_a_row_in_a_paper_that_takes_solvers_by_name(folder):
    given = outside_of_options("kronbench.models.KronRidge", {"reg": 2.0}, "Mine")
    with pytest.raises(InputError, match="no item of aeberhard takes further methods"):
        plan_with_solvers(given, str(folder))
    file = folder / "measure" / "left_out.py"
    edit(file, "methods : keys of METHODS", "methods : solvers by name")
    methods = "{1-NN: {solver: solvers.neighbours.ScaledNeighbours}}"
    edit(folder / "paper.yaml", "{methods: [LDA, QDA, 1-NN]}", f"{{methods: {methods}}}")
    forget()
    plan, (item,), left_out = plan_with_solvers(given, str(folder), scale="smoke")
    assert (plan.scale, item.name, left_out) == ("smoke-with-aeberhard-with-mine", "table-1", [])
    assert plan.config["user"]["papers"] == [str(folder)]
    assert item.parameters["methods"] == {
        "1-NN": {"solver": SOLVER},
        "Mine": {"solver": "kronbench.models.KronRidge", "parameters": {"reg": 2.0}},
    }
    assert item.solvers == (SOLVER, "kronbench.models.KronRidge")


def test_the_code_of_its_own_solver_counts_for_the_items_that_name_it(folder):
    plan, paper = plan_with_paper(folder)
    module = SOLVER.rpartition(".")[0]
    assert plan.item(paper, "figure-1").solvers == (SOLVER,)
    assert module in provenance.table_code(plan.item(paper, "figure-1"))
    assert type(import_object(SOLVER)(3)).__module__ == module


def test_its_folds_are_those_of_its_own_protocol(folder):
    edit(folder / "paper.yaml", "neighbours: [1, 3, 5, 9, 15, 25]}", "folds: [0]}")
    edit(folder / "paper.yaml", "{neighbours: [1, 5, 15]}", "{folds: [9]}")
    edit(folder / "measure" / "neighbours.py", "neighbours : n", "folds : n")
    plan, paper = plan_with_paper(folder, "smoke")
    assert plan.item(paper, "figure-1").parameters["folds"] == [9]
    edit(folder / "paper.yaml", "items:\n", "protocol: {folds: 9}\nitems:\n")
    with pytest.raises(InputError, match=r"there is no fold 9; known are: \[0, 1, "):
        plan_with_paper(folder, "smoke")


def with_a_file(folder, registered=""):
    """The wines as a file of the folder, and the digest that prepared data are due by."""
    file = folder / "wine.csv"
    if not file.exists():
        file.write_text("1,2\n")
        edit(
            folder / "data.yaml",
            "shape:",
            f"files: {{table: {{mirror: wine.csv{registered}}}}}\n  shape:",
        )
        edit(folder / "measure" / "data.py", "generate=wine", "parse=wine")
    plan_with_paper(folder)
    return provenance.data_digest("wine-178")


def test_a_file_of_the_folder_that_changes_makes_its_data_stale(folder):
    before = with_a_file(folder)
    assert with_a_file(folder) == before
    (folder / "wine.csv").write_text("2,1\n")
    assert with_a_file(folder) != before
    (folder / "wine.csv").unlink()
    assert provenance.data_digest("wine-178") != before  # so that preparing them says it
    with pytest.raises(InputError, match=r"wine-178 has no file .*wine\.csv: put it there"):
        plan_with_paper(folder)


def test_a_file_of_the_folder_has_the_checksum_that_is_registered(folder):
    right = hashlib.sha256(b"1,2\n").hexdigest()
    with_a_file(folder, f", sha256: {right}")
    (folder / "wine.csv").write_text("2,1\n")
    with pytest.raises(InputError, match=f"wine.csv has sha256 .* where the registry has {right}"):
        plan_with_paper(folder)
