import ast
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kronbench.resources import package_path
from kronbench.runner import source_imports
from kronbench.runner.items import load_plan
from kronbench.runner.provenance import (
    code_of,
    data_code,
    data_settings,
    drawing_digest,
    drawing_settings,
    table_code,
    table_digests,
)
from tests.helpers import merged

PLAN = load_plan(merged("smoke"))


def names(code):
    """Modules without the package's own name."""
    return {name.removeprefix("kronbench.") for name in code}


MEASURED = [item for item in PLAN.items if item.parts]


@pytest.mark.parametrize("item", MEASURED, ids=lambda item: f"{item.paper} {item.name}")
def test_a_table_rests_on_its_experiment_and_on_the_runner(item):
    found = names(table_code(item))
    assert {"kronbench", "runner.job", "runner.clock", "runner.environment"} <= found
    assert f"papers.{item.paper}.measure.{item.experiment}" in found
    # neither on other formats of data nor on what only names and shows things
    assert not found & {"cli", "runner.items", "runner.warm_up", "runner.provenance"}
    assert not found & {"datasets", "datasets.uci", "datasets.wipo"}
    assert not any(name.startswith("report") for name in found)


def test_the_runner_names_no_experiment():
    assert not any(name.startswith("papers.") for name in names(code_of("kronbench.runner.job")))


def test_named_solvers_count_and_their_neighbours_do_not():
    ridge = names(table_code(PLAN.item("airola", "figure-3")))
    assert {"models.kron_ridge", "linalg.panel_loops", "linalg.krylov"} <= ridge
    assert not ridge & {"models.kron_svm", "models.csi_lssvm", "models.pair_sgd"}
    # one that needs a package that is not installed
    assert "models.pair_rlscore" in names(table_code(PLAN.item("airola", "figure-6")))


def test_a_solver_from_outside_counts_with_its_file(tmp_path, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text("class Solver: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    config = merged("smoke")
    config["papers"]["airola"]["figure-3"]["solver"] = "mine.Solver"
    item = load_plan(config).item("airola", "figure-3")
    assert "models.kron_ridge" not in names(table_code(item))
    before = table_digests(item)
    file.write_text("class Solver: pass\n")
    after = table_digests(item)
    assert after["sources"] != before["sources"]
    assert after["settings"] == before["settings"]


def test_code_is_what_runs():
    """Neither docstrings nor comments; a text of several lines counts with all of its own."""
    plain = read("def f():\n    return 1\n")
    assert read('"""A module."""\n\n# why\ndef f():\n    """It."""\n    return 1\n') == plain
    assert read("def f():\n    return 2\n") != plain
    text = 'x = """\n# not a comment\n\n"""\n'
    assert read(text) == text.rstrip()


def read(text):
    return source_imports._code(ast.parse(text), text.splitlines())


def test_data_rest_on_their_own_format():
    found = names(data_code("ringnorm"))
    assert {"datasets", "datasets.fetch", "datasets.generators"} <= found
    assert not found & {"datasets.uci", "datasets.wipo", "datasets.checkerboard"}
    assert "datasets.uci" in names(data_code("boston"))
    assert {"loader", "files", "options", "surrogate"} <= set(data_settings("boston"))


def test_words_draw_no_picture_anew():
    item = PLAN.item("airola", "figure-6")
    settings = drawing_settings(item)
    assert {"printed", "drawing_options", "parameters"} <= set(settings)
    other = dataclasses.replace(item, title="Other", caption="Other.")
    assert drawing_digest(other) == drawing_digest(item)
    assert drawing_digest(dataclasses.replace(item, drawing_options={"a": 1})) != drawing_digest(
        item
    )


def test_packages_only_hand_on_names():
    """The file of a package is a source only where a name of it is asked for: no other may act."""
    for file in package_path().rglob("__init__.py"):
        if file.parent in (package_path(), package_path("datasets")):
            continue  # settings of threads, which each table lists; load, which has a rule
        for node in ast.parse(file.read_text()).body:
            assert (
                isinstance(node, ast.ImportFrom)
                or (
                    isinstance(node, ast.Assign)
                    and ast.unparse(node.targets[0]) in ("__all__", "__path__", "PAIR_SOLVERS")
                )
                or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
                or ast.unparse(node) == "import lazy_loader"
                or ast.unparse(node).endswith("= lazy_loader.attach_stub(__name__, __file__)")
            ), file


# What a process imports for each kind of job, and the libraries that take it a tenth of a second
# or more and must not come with them. A workflow starts a process for every job.
HEAVY = {"numba", "sklearn", "matplotlib", "pandas", "requests", "scipy.stats", "scipy.optimize"}
LIGHT = {
    "what makes jobs due": (
        "from kronbench.runner import provenance\n"
        "from kronbench.runner.items import load_plan\n"
        "plan = load_plan(yaml.safe_load(sys.stdin))\n"
        "for item in plan.items:\n"
        "    provenance.drawing_digest(item), item.parts and provenance.table_digests(item)\n"
        "provenance.data_digest('boston'), provenance.page_digest(plan)\n"
        "import kronbench.cli, kronbench.runner.prepared_data",
        HEAVY,
    ),
    "drawing, and the page": (
        "import kronbench.cli, kronbench.report.render, kronbench.report.page\n"
        "from kronbench.runner.items import load_plan\n"
        "for item in load_plan(yaml.safe_load(sys.stdin)).items:\n"
        "    importlib.import_module(item.drawing_module)",
        (HEAVY | {"scipy"}) - {"matplotlib", "pandas"},
    ),
    "a measurement of one model": (
        "import kronbench.cli, kronbench.runner.job\n"
        "import kronbench.papers.seeger.measure.newton_iterations",
        {"matplotlib", "requests", "sklearn.linear_model", "sklearn.neighbors", "libsvm"},
    ),
}


@pytest.mark.parametrize("what", LIGHT)
def test_a_process_loads_no_library_that_its_job_does_not_need(what):
    program, heavy = LIGHT[what]
    if "yaml." in program:
        program = f"import yaml\n{program}"
    run = subprocess.run(
        [sys.executable, "-c", f"import importlib, sys\n{program}\nprint(*sys.modules)"],
        input=yaml.safe_dump(merged("smoke")),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert not heavy & set(run.stdout.split())
