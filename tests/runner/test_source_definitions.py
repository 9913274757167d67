import ast
import importlib
import shutil
import sys

import pytest

from kronbench import datasets
from kronbench.resources import package_path
from kronbench.runner import source_definitions, source_imports
from kronbench.runner.items import load_plan
from kronbench.runner.job import run_experiment
from kronbench.runner.provenance import table_digests
from kronbench.runner.source_definitions import definitions_of
from tests.helpers import merged

PLAN = load_plan(merged("smoke"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with the sources of the package: they are read, none is run."""
    folder = tmp_path / "kronbench"
    shutil.copytree(package_path(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source_imports, "package_path", lambda *parts: folder.joinpath(*parts))
    forget()
    yield folder
    forget()


def forget():
    for cached in (
        source_imports.file_of,
        source_imports.read_module,
        source_imports.imported_modules,
        source_definitions._read,
    ):
        cached.cache_clear()


def sources(paper, item):
    forget()
    return table_digests(PLAN.item(paper, item))["sources"]


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_an_edit_counts_where_it_can_be_reached(package):
    of_svm, of_ridge = sources("airola", "figure-5"), sources("stock", "figure-7")
    edit(package / "linalg" / "krylov.py", "_ROUNDING = 100", "_ROUNDING = 99")
    assert sources("airola", "figure-5") != of_svm, "a constant that cg reads"
    assert sources("stock", "figure-7") == of_ridge, "closed forms need no Krylov method"


def test_neighbours_docstrings_and_comments_count_for_nothing(package):
    before = sources("bach", "figure-2")
    edit(package / "linalg" / "lowrank.py", '"""One step with this pivot."""', '"""A step."""')
    edit(package / "linalg" / "lowrank.py", "# the operating system", "# The operating system")
    with open(package / "linalg" / "lowrank.py", "a") as file:
        file.write("\n\ndef another():\n    return one_blas_thread\n")
    assert sources("bach", "figure-2") == before
    edit(
        package / "linalg" / "lowrank.py", "self.residual[pivot] = 0.0", "self.residual[pivot] = 1"
    )
    assert sources("bach", "figure-2") != before


def test_what_every_import_runs_counts(package):
    before = sources("bach", "figure-2")
    with open(package / "linalg" / "lowrank.py", "a") as file:
        file.write("\nprint('loaded')\n")
    assert sources("bach", "figure-2") != before


def test_names_are_followed_through_packages_imports_in_functions_and_decorators(package):
    (package / "one.py").write_text(
        "from kronbench.two import base, unused\n"
        "def start():\n    from kronbench.linalg import cg\n    return base(cg)\n"
    )
    (package / "two.py").write_text(
        "import kronbench.three as three\n"
        "def mark(of):\n    return lambda f: f\n"
        "def base(x):\n    return x\n"
        "@mark(base)\ndef other():\n    return three.anything\n"
        "def unused():\n    return 0\n"
    )
    (package / "three.py").write_text("anything = 1\nbeside = 2\n")
    reached = definitions_of(("kronbench.one", "start"), but={"kronbench.errors"})
    assert {"kronbench.one", "kronbench.two", "kronbench.three"} <= set(reached)
    assert "kronbench.linalg.krylov" in reached
    assert not {"kronbench.linalg", "kronbench.linalg.minres", "kronbench.errors"} & set(reached)
    forget()
    edit(package / "two.py", "    return 0", "    return 1")
    edit(package / "three.py", "beside = 2", "beside = 3")
    after = definitions_of(("kronbench.one", "start"), but={"kronbench.errors"})
    assert after["kronbench.two"] == reached["kronbench.two"], "it is imported, but not asked for"
    assert after["kronbench.three"] != reached["kronbench.three"], "a module counts as a whole"


@pytest.mark.parametrize(
    ("paper", "name", "part"),
    [("airola", "figure-1", "GPCR"), ("stock", "table-3.3", "nr"), ("airola", "table-3", "all")],
)
def test_what_a_measurement_calls_is_reached(paper, name, part, monkeypatch):
    """Each function of the package that Python calls stands in a statement that was found."""
    item = PLAN.item(paper, name)
    monkeypatch.setattr(source_definitions, "_sha256", str)  # the texts themselves
    found = []

    def note(*starts, but):
        found.extend((definitions_of(*starts, but=but), but))
        return found[0]

    monkeypatch.setattr("kronbench.runner.provenance.definitions_of", note)
    table_digests(item)
    reached, but = found
    data = datasets.load(part, policy="surrogate") if item.datasets else None
    importlib.import_module(item.experiment_module)
    called = set()

    def watch(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_flags & 1 and str(package_path()) in code.co_filename:
            called.add(code)

    sys.setprofile(watch)
    try:
        run_experiment(f"{paper}.{item.experiment}", dict(item.parameters), data, part)
    finally:
        sys.setprofile(None)
    lines = set(map(first_line, called))
    assert len(called) > 10
    assert not {
        (module, line)
        for module, line in lines
        if module not in but and line not in reached.get(module, "")
    }


def first_line(code):
    """The module of a function, and the first line of the statement in which it stands."""
    place = code.co_filename.removeprefix(str(package_path().parent)).strip("/")
    module = place.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    text = open(code.co_filename).read()
    (line,) = (
        node.lineno
        for node in ast.parse(text).body
        if min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        <= code.co_firstlineno
        <= node.end_lineno
    )
    return module, text.splitlines()[line - 1]
