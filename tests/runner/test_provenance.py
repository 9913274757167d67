import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kronbench.resources import claim_files, package_path
from kronbench.runner.items import load_plan
from kronbench.runner.provenance import (
    data_settings,
    data_sources,
    drawing_settings,
    drawing_sources,
    page_sources,
    sources_of,
    table_sources,
)
from tests.helpers import merged

PLAN = load_plan(merged("smoke"))


def tails(files):
    """Files as paths below the package or the configuration."""
    return {re.split(r"(?:^|/)(?:src/kronbench|config)/", path)[-1] for path in files}


MEASURED = [item for item in PLAN.items if item.parts]


@pytest.mark.parametrize("item", MEASURED, ids=lambda item: f"{item.paper} {item.name}")
def test_a_table_rests_on_its_experiment_and_on_the_runner(item):
    files = tails(table_sources(item))
    assert {"__init__.py", "runner/job.py", "runner/clock.py", "runner/environment.py"} <= files
    assert f"papers/{item.paper}/measure/{item.experiment}.py" in files
    # neither on other formats of data nor on what only names and shows things
    assert not files & {"cli.py", "runner/items.py", "runner/warm_up.py", "runner/provenance.py"}
    assert not files & {"datasets/__init__.py", "datasets/uci.py", "datasets/wipo.py"}
    assert not any(file.startswith("report/") for file in files)


def test_the_runner_names_no_experiment():
    assert not any(
        file.startswith("papers/") for file in tails(sources_of("kronbench.runner.job"))
    )


def test_named_solvers_count_and_their_neighbours_do_not():
    ridge = tails(table_sources(PLAN.item("airola", "figure-3")))
    assert {"models/kron_ridge.py", "linalg/panel_loops.py", "linalg/krylov.py"} <= ridge
    assert not ridge & {"models/kron_svm.py", "models/csi_lssvm.py", "models/pair_sgd.py"}
    # one that needs a package that is not installed
    assert "models/pair_rlscore.py" in tails(table_sources(PLAN.item("airola", "figure-6")))


def test_a_solver_from_outside_counts_with_its_file(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("class Solver: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    config = merged("smoke")
    config["papers"]["airola"]["figure-3"]["solver"] = "mine.Solver"
    files = table_sources(load_plan(config).item("airola", "figure-3"))
    assert str(tmp_path / "mine.py") in files
    assert "models/kron_ridge.py" not in tails(files)


def test_data_rest_on_their_own_format():
    files = tails(data_sources("ringnorm"))
    assert {"datasets/__init__.py", "datasets/fetch.py", "datasets/generators.py"} <= files
    assert not files & {"datasets/uci.py", "datasets/wipo.py", "datasets/checkerboard.py"}
    assert "datasets/uci.py" in tails(data_sources("boston"))
    assert {"loader", "files", "options", "surrogate"} <= set(data_settings("boston"))


def test_a_picture_rests_on_drawing_style_and_printed_numbers():
    files = tails(drawing_sources(PLAN.item("airola", "figure-6")))
    assert {"report/render.py", "report/style.py", "papers/airola/draw/scaling.py"} <= files
    assert "papers/airola/printed/figure6-text.csv" in files
    assert not files & {"report/page.py", "papers/airola/draw/zero_shot.py", "runner/items.py"}
    settings = drawing_settings(PLAN.item("airola", "figure-6"))
    assert {"printed", "drawing_options", "parameters"} <= set(settings)
    assert not {"title", "caption"} & set(settings)


def test_the_page_rests_on_its_templates_claims_and_papers():
    files = tails(page_sources(PLAN))
    assert {"report/page.py", "report/claims.py", "report/checks.py", "runner/items.py"} <= files
    assert {"report/comparisons.py", "report/outcomes.py", "reference/verdicts.py"} <= files
    assert "report/templates/page.html.j2" in files
    assert {f"papers/{paper}/paper.yaml" for paper in PLAN.papers} <= files
    claims = [str(file) for paper in PLAN.papers for file in claim_files(paper)]
    assert (
        {"papers/airola/claims/section-2.yaml", "papers/bach/claims/claims.yaml"}
        <= tails(claims)
        <= files
    )
    assert "papers/bach/printed/figure2-ranks.csv" in files


def test_packages_only_hand_on_names():
    """The file of a package is a source only where a name of it is asked for: no other may act."""
    for file in package_path().rglob("__init__.py"):
        if file.parent in (package_path(), package_path("datasets")):
            continue  # settings of threads, which each table lists; load, which has a rule
        for node in ast.parse(file.read_text()).body:
            assert (
                isinstance(node, ast.ImportFrom)
                or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
                or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
                or ast.unparse(node) == "import lazy_loader"
                or ast.unparse(node).endswith("= lazy_loader.attach_stub(__name__, __file__)")
            ), file


def test_no_import_escapes():
    """Sources are followed through absolute imports alone."""
    for file in package_path().rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, file
                assert node.names[0].name != "*", file


def test_files_of_a_checkout_are_relative(monkeypatch):
    monkeypatch.chdir(package_path().parents[1])
    assert "src/kronbench/runner/job.py" in sources_of("kronbench.runner.job")


# What a process imports for each kind of job, and the libraries that take it a tenth of a second
# or more and must not come with them. A workflow starts a process for every job.
HEAVY = {"numba", "sklearn", "matplotlib", "pandas", "requests", "scipy.stats", "scipy.optimize"}
LIGHT = {
    "a command": ("import kronbench.cli", HEAVY | {"numpy", "scipy", "yaml"}),
    "the plan": (
        "from kronbench.runner.items import load_plan\nload_plan(yaml.safe_load(sys.stdin))",
        HEAVY | {"scipy"},
    ),
    "what makes jobs due": (
        "from kronbench.runner import provenance\n"
        "from kronbench.runner.items import load_plan\n"
        "plan = load_plan(yaml.safe_load(sys.stdin))\n"
        "for item in plan.items:\n"
        "    provenance.drawing_sources(item), item.parts and provenance.table_sources(item)\n"
        "provenance.data_sources('boston'), provenance.page_sources(plan)",
        HEAVY,
    ),
    "preparing data": ("import kronbench.cli, kronbench.runner.prepared_data", HEAVY),
    "drawing": (
        "import kronbench.cli, kronbench.report.render\n"
        "from kronbench.runner.items import load_plan\n"
        "for item in load_plan(yaml.safe_load(sys.stdin)).items:\n"
        "    importlib.import_module(item.drawing_module)",
        (HEAVY | {"scipy"}) - {"matplotlib", "pandas"},
    ),
    "the page": ("import kronbench.cli, kronbench.report.page", {"numba", "sklearn", "scipy"}),
    "a measurement without a model": (
        "import kronbench.cli, kronbench.runner.job\n"
        "import kronbench.papers.performance.measure.product_rates",
        HEAVY - {"numba", "pandas"},
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
