"""The project's own promises: floors, locked versions, component contracts."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import kronbench
from kronbench_suite.resources import paper_folder, shipped_papers

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "kronbench"
MANUAL = runpy.run_path(str(ROOT / "docs" / "config_manual.py"))
# What stands under all rooms, and files beside them; of the suite, where its papers lie.
GROUND = {f"kronbench.{name}" for name in "__version__ errors files intervals io".split()}
GROUND |= {f"kronbench.{name}" for name in "progress resources solvers yaml_files".split()}
_SUITE_GROUND = {"kronbench_suite.resources"}
_TOP = ("kronbench", "kronbench_suite")


def _rooms(names, package="kronbench"):
    return {f"{package}.{name}" for name in names.split()}


# What each room may import, beside itself and the ground: the library knows nothing of the suite.
FLOORS = {
    "kronbench/linalg": set(),
    "kronbench/pairs": _rooms("linalg"),
    "kronbench/class_tree": _rooms("linalg"),
    "kronbench/datasets": _rooms("linalg pairs"),
    "kronbench/evaluation": _rooms("linalg pairs class_tree"),
    "kronbench/models": _rooms("linalg pairs class_tree evaluation"),
    "kronbench/own_pairs": _rooms("linalg pairs datasets evaluation models"),
    "kronbench": _rooms("cli datasets own_pairs"),  # the files that are in no room
}
_RUNNER = _rooms("runner", "kronbench_suite") | _SUITE_GROUND
_REPORT = _RUNNER | _rooms("report", "kronbench_suite")
FLOORS |= {
    "kronbench_suite/runner": _rooms("linalg pairs datasets evaluation") | _SUITE_GROUND,
    "kronbench_suite/report": _RUNNER,
    "kronbench_suite/accepted": _REPORT,
    "kronbench_suite/commands": _RUNNER | _rooms("datasets"),
    "kronbench_suite/studies/field": _rooms("datasets evaluation pairs") | _RUNNER,
}
# In a paper's folder a measurement knows nothing of the report, and a plot nothing of solvers.
_MEASURES = _rooms("linalg pairs class_tree datasets evaluation models") | _RUNNER
for _paper in shipped_papers():
    _folder = paper_folder(_paper).path.relative_to(ROOT / "src").as_posix()
    FLOORS |= dict.fromkeys((f"{_folder}/measure", f"{_folder}/solvers"), _MEASURES)
    FLOORS[f"{_folder}/plot"] = _REPORT
# Its headlines are numbers of the papers' items.
FLOORS["kronbench_suite/studies/performance/plot"] |= _rooms("papers", "kronbench_suite")
# What the commands on a user's own pairs promise is measured too.
FLOORS["kronbench_suite/studies/field/measure"] |= _rooms("own_pairs")
# A folder from outside, which may be copied inside as it is.
_OUTSIDE = "../tests/paper_folder/aeberhard"
FLOORS |= dict.fromkeys((f"{_OUTSIDE}/measure", f"{_OUTSIDE}/solvers"), _MEASURES)
FLOORS[f"{_OUTSIDE}/plot"] = _REPORT
# These hold rooms: only their own files are looked at.
_HALLS = {"kronbench", "kronbench_suite/studies/field"}


# The folder of a paper's module, by its last letters, and what is out of its reach there.
ALOFT = {("plot", "measure"), ("plot", "solvers"), ("sure", "plot"), ("vers", "plot")}


@pytest.mark.parametrize("floor", FLOORS)
def test_nothing_imports_upward(floor):
    allowed, own = FLOORS[floor] | GROUND, floor.replace("/", ".")
    folder, of_paper = ROOT / "src" / floor, floor.endswith(("measure", "solvers", "plot"))
    if of_paper:  # they may take what README shows: from kronbench import PairData
        allowed |= {f"kronbench.{name}" for name in kronbench.__all__}
    for file in folder.glob("*.py") if floor in _HALLS else folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            modules = []
            if isinstance(node, ast.ImportFrom):
                # Modules of a paper import each other relatively, so that it can be renamed; a
                # plot never imports what measures.
                assert of_paper or node.level == 0, f"{file.name} imports by a relative path"
                if node.level:
                    room = "" if node.level == 1 else (node.module or "").partition(".")[0]
                    assert (floor[-4:], room) not in ALOFT, f"{file.name}: {room}"
                    continue
                assert node.names[0].name != "*", f"{file.name} imports all names of a module"
                # What a package itself offers is a room, or a name that stands on one.
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                modules = names if node.module in _TOP else [node.module]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                parts = module.split(".")
                if parts[0] in _TOP and (floor, module) != ("kronbench", "kronbench"):
                    assert len(parts) > 1, f"{file.name} imports all of {module}"
                    inside = floor != "kronbench" and f"{module}.".startswith(f"{own}.")
                    assert inside or ".".join(parts[:2]) in allowed, f"{file.name}: {module}"


COMPILED = re.compile(r"\b(njit|overload|intrinsic)\b")  # decorators of what numba types


def public_functions(body):
    """Public functions and methods among the statements of a module, without compiled ones."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            if isinstance(node, ast.ClassDef):
                yield from public_functions(node.body)
            elif not any(COMPILED.search(ast.unparse(entry)) for entry in node.decorator_list):
                yield node


# The rooms that a user imports.
LIBRARY = ("linalg", "pairs", "class_tree", "models", "evaluation", "datasets", "own_pairs")


def test_every_public_function_says_the_types_of_what_it_takes_and_gives():
    seen, untyped = 0, []
    for file in sorted(file for room in LIBRARY for file in (PACKAGE / room).rglob("*.py")):
        for function in public_functions(ast.parse(file.read_text(encoding="utf-8")).body):
            given = function.args
            arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            arguments += filter(None, [given.vararg, given.kwarg])
            missing = [entry.arg for entry in arguments if entry.annotation is None]
            missing = [name for name in missing if name not in ("self", "cls")]
            if function.returns is None:
                missing.append("the result")
            if missing:
                place = f"{file.relative_to(PACKAGE)}:{function.lineno}"
                untyped.append(f"{place} {function.name}: {', '.join(missing)}")
            seen += 1
    assert seen > 300
    assert not untyped, "\n".join(untyped)


def test_environment_is_in_step_with_the_lock():
    lock = (ROOT / "requirements.lock").read_text()
    locked = set(re.findall(r"^([a-z0-9][^ ]*==[^\\\n]*[^ \\\n]) *\\$", lock, re.MULTILINE))
    (pip,) = [
        entry["pip"]
        for entry in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
        if isinstance(entry, dict)
    ]
    assert set(pip) == locked | {"-e ."}


def test_the_manual_of_the_configuration_is_current():
    written = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    assert written == MANUAL["manual"](), "write it with: python docs/config_manual.py"


@pytest.mark.parametrize("schema", [path.stem for path in (ROOT / "workflow/schemas").iterdir()])
def test_every_key_of_the_configuration_is_described(schema):
    """In the manual; the schemas of all files are in it."""
    name = schema.removesuffix(".schema")
    assert name in MANUAL["SCHEMAS"]

    def check(entry, place):
        for key, value in entry.get("properties", {}).items():
            if isinstance(value, dict):
                assert value.get("description"), f"{schema}: {place}{key}"
                check(value, f"{place}{key}.")
        for inner in ("items", "additionalProperties"):
            if isinstance(entry.get(inner), dict):
                check(entry[inner], place)
        for key, value in entry.get("$defs", {}).items():
            check(value, f"{key}.")

    check(yaml.safe_load((ROOT / "workflow/schemas" / f"{schema}.yaml").read_text()), "")


def test_the_readme_has_the_accepted_verdicts():
    target = ROOT / "results" / "reference" / "paper"
    if (target / "verdicts.csv").exists():
        with_matrix = runpy.run_path(str(ROOT / "docs" / "results.py"))["with_matrix"]
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        assert with_matrix(readme, target) == readme


def test_the_pictures_in_the_readme_show_the_accepted_numbers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import first_screen

    for name, text in first_screen.shown().items():
        assert first_screen.kept(name) == text


def test_the_examples_of_the_readme_run_as_they_stand():
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert examples
    for example in examples:
        run = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        told = re.findall(r"^print\(.*\)  # ([\d.]+):", example, re.MULTILINE)
        printed = [float(line) for line in run.stdout.split()]
        assert printed == pytest.approx([float(number) for number in told], abs=0.002)
        assert printed
