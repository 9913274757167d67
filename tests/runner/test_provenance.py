"""What a table was made from: exactly the code and the settings that can change it."""

import ast
import dataclasses
import sys

import pytest

import kronbench
import kronbench.class_tree
import kronbench.linalg
import kronbench.models
import kronbench.pairs
from kronbench.datasets import record_of
from kronbench.resources import LIBRARY
from kronbench_suite.resources import package_path
from kronbench_suite.runner import provenance
from kronbench_suite.runner.plans import load_plan
from kronbench_suite.runner.provenance import (
    data_code,
    plot_digest,
    read_module,
    table_code,
    table_digests,
)
from tests.helpers import merged

PLAN = load_plan(merged("smoke"))


def names(code):
    """Modules without the package's own name."""
    return {name.removeprefix("kronbench.") for name in code}


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


def test_parameters_are_the_lines_of_one_section_of_a_docstring():
    """Those that go on indented are joined; blank lines and other sections do not count."""
    text = "A module.\n\nNotes\n-----\nx : no\n\nParameters\n----------\n"
    lines = "n : number of points,\n\n    by data set\n\nm : keys of MODELS\n"
    found = ["n : number of points, by data set", "m : keys of MODELS"]
    for end in ("", "\nNotes and others\n----------------\ny : no\n"):
        assert [*provenance._parameter_lines(text + lines + end)] == found
    assert not [*provenance._parameter_lines("A module.\n\nParameters\n")]
    assert [*provenance._parameter_lines(f"{text}  n : indented\n  m : too")] == [
        " n : indented m : too"  # which is refused
    ]


def read(text):
    return provenance._code(ast.parse(text), text.splitlines())


def test_data_rest_on_their_own_format():
    ringnorm, boston = map(record_of, ("ringnorm", "boston"))
    found = names(data_code(ringnorm.modules))
    assert {"datasets.loaders", "datasets.fetch", "datasets.generators"} <= found
    assert not found & {"datasets.uci", "datasets.wipo"}
    found = names(data_code(boston.modules))
    assert "datasets.uci" in found
    assert not found & {"datasets.drug_target", "datasets.wipo"}
    assert {"loader", "files", "options", "surrogate"} <= set(boston.settings)


def test_words_draw_no_picture_anew():
    item = PLAN.item("airola", "figure-6")
    other = dataclasses.replace(item, title="Other", caption="Other.")
    assert plot_digest(other) == plot_digest(item)
    for key in ("plot_options", "parameters"):
        other = dataclasses.replace(item, **{key: {"a": 1}})
        assert plot_digest(other) != plot_digest(item)


NAMES = ("__all__", "__path__", "PAIR_SOLVERS", "REFITTED", "KEPT")


def test_packages_only_hand_on_names():
    """The file of a package is a source only where a name of it is asked for: no other may act."""
    files = [*LIBRARY.rglob("__init__.py"), *package_path().rglob("__init__.py")]
    assert len(files) > 15
    for file in files:
        if file.parent in (LIBRARY, LIBRARY / "datasets"):
            continue  # settings of threads, which each table lists; load, which has a rule
        for node in ast.parse(file.read_text()).body:
            assert (
                isinstance(node, ast.ImportFrom)
                or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in NAMES)
                or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
                or ast.unparse(node) == "import lazy_loader"
                or ast.unparse(node).endswith("= lazy_loader.attach_stub(__name__, __file__)")
            ), file


ON_DEMAND = [kronbench, kronbench.class_tree, kronbench.linalg, kronbench.models, kronbench.pairs]


@pytest.mark.parametrize("package", ON_DEMAND, ids=lambda package: package.__name__)
def test_a_name_is_read_as_that_of_the_module_from_which_it_comes(package):
    _, handed_on, _ = read_module(package.__name__)
    assert handed_on
    for name in handed_on:
        found = getattr(package, name)
        module, written = handed_on[name]
        assert found is getattr(sys.modules[module], written)
        assert getattr(found, "__module__", module) == module  # LOSSES is a mapping
