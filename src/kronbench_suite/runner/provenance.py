"""What a table was made from: one digest of the code and the settings that a job depends on.

A measurement depends on what can change a number in its table, and on nothing else. Modules are
followed through the imports of the package, name by name, from those that a job starts with;
docstrings and comments do not count. The digests are parameters of the jobs: no source file is an
input. Modules are read as text, since importing them would load numba and scikit-learn.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import json
import re
import symtable
from collections.abc import Iterable, Sequence
from importlib.util import resolve_name
from pathlib import Path

from kronbench.errors import InputError
from kronbench.resources import LIBRARY
from kronbench.solvers import find_module, nearest
from kronbench_suite.resources import package_path, paper_folder
from kronbench_suite.runner.items import Item, Plan

# Excluded from the digest: these modules carry names, paths and sentences. Whatever they decide
# about a job is among the item's parameters already.
_CARRIERS = {
    *(f"kronbench.{name}" for name in "errors files resources yaml_files".split()),
    *(f"kronbench_suite.runner.{name}" for name in "items item_entries plans provenance".split()),
    "kronbench_suite.resources",
}
# Modules in the folder of a paper or of a study
_OF_PAPER = re.compile(r"kronbench_suite\.(papers|studies)\.")
# Warm-up comes before the clock, and no untimed column may depend on them; they
# use something of every floor. The data of a job come from its data file, which has a rule.
_BY_NAME = ("kronbench.datasets._load", "kronbench.datasets.loaders")
_BEFORE_THE_CLOCK = {"kronbench_suite.runner.warm_up", *_BY_NAME}


def table_digests(item: Item) -> dict[str, str]:
    """One sha256 of the ``sources`` and one of the ``settings`` of an item's result tables."""
    settings = {"parameters": dict(item.parameters), "timed": item.timed}
    return {"sources": _digest(table_code(item)), "settings": _digest(settings)}


def made_from(plan: Plan, item: Item, part: str) -> dict[str, str]:
    """What the sidecar of a part keeps: :func:`table_digests`, and that of its ``data``."""
    data = data_digest(part, plan.config["mirror"]) if item.datasets else ""
    return table_digests(item) | {"data": data}


def table_code(item: Item) -> dict[str, str]:
    """The sha256 of the code of each module that can change a number of an item's tables.

    The experiment, the solvers named in its parameters, the runner with clock and seeds, and the
    settings of threads in ``kronbench/__init__.py``. A solver of another package counts with the
    file of its module.
    """
    modules, foreign = ["kronbench", "kronbench_suite.runner.job", item.measure_module], {}
    for path in item.solvers:
        module, _, name = path.rpartition(".")
        if file_of(module):
            modules.append(_defining_module(module, name))
        elif file := find_module(module):
            foreign[module] = _sha256(Path(file).read_bytes())
    return _code_of(*modules, but=_CARRIERS | _BEFORE_THE_CLOCK) | foreign


def data_digest(name: str, mirror: str | None = None) -> str:
    """One sha256 of all that a prepared data set depends on: registry entry, files, parser.

    ``mirror`` is that of ``datasets.load``. One's own file that is gone has no sum: preparing the
    data says what is missing.
    """
    from kronbench.datasets import record_of

    record = record_of(name, mirror=mirror)
    return _digest([record.settings, data_code(record.modules)])


def data_code(makers: Sequence[str]) -> dict[str, str]:
    """The sha256 of the code of each module that makes a data set: fetching, parser, surrogate."""
    modules = ("kronbench.datasets.dataset", "kronbench.datasets.fetch", *makers)
    # The modules that load by name import every format.
    package = {name: read_module(name)[0] for name in _BY_NAME}
    return package | _code_of(*modules, but=_CARRIERS)


def plot_digest(item: Item) -> str:
    """One sha256 of what a figure or table depends on, the paper's numbers among it.

    Of an item all counts but its words, which only the page shows; of the items whose numbers it
    takes, where these are.
    """
    templates = package_path("report", "templates").glob("table*") if item.layout else ()
    code = _code_of("kronbench_suite.report.render", item.plot_module, but=_CARRIERS)
    settings = dataclasses.asdict(dataclasses.replace(item, title="", caption="", numbers_of=()))
    settings["numbers_of"] = [str(path) for path in item.drawn_from if item.numbers_of]
    return _digest([code, settings], [*item.printed_files, *templates])


def page_digest(plan: Plan) -> str:
    """One sha256 of what the page depends on beside results."""
    files = [file for item in plan.items for file in item.printed_files]
    files += package_path("report", "templates").iterdir()
    for folder in map(paper_folder, plan.papers):
        files += [folder.path / "paper.yaml", *folder.claims]
    if (verdicts := plan.accepted / "verdicts.csv").exists():
        files.append(verdicts)
    # What changed since is asked by the page of accepted tables alone, which is no job.
    code = _code_of("kronbench_suite.report.page", but={"kronbench_suite.runner.provenance"})
    return _digest(code, files)


def words_of_code(item: Item) -> set[str]:
    """The names and texts in the code that measures and draws an item, as it is written."""
    modules = {*_code_of("kronbench_suite.report.render", item.plot_module, but=_CARRIERS)}
    if item.measure:
        modules |= {module for module in table_code(item) if file_of(module)}
    return set().union(*map(_words_in, modules))


@functools.cache
def _words_in(module):
    """The texts, names, attributes and keywords of a module."""
    nodes = [*ast.walk(parsed(file_of(module)))]
    known = ("value", "id", "attr", "arg")  # of Constant, Name, Attribute, keyword
    found = {getattr(node, name, None) for node in nodes for name in known}
    return {word for word in found if isinstance(word, str)}


def _code_of(*modules: str, but: Iterable[str]) -> dict[str, str]:
    """The sha256 of the code of what modules import, directly or not, themselves included."""
    seen, waiting, found = set(but), list(modules), {}
    # Walk the imports depth first; ``but`` counts as seen, so what only it imports is left out.
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            found[name], _, imports = read_module(name)
            waiting += [_defining_module(*imported) for imported in imports]
    return found


def _digest(content, files=()):
    """One sha256; of files also, by the ends of their paths: folders may lie anywhere."""
    sums = {"/".join(file.parts[-3:]): _sha256(file.read_bytes()) for file in files}
    return _sha256(json.dumps([content, sums], sort_keys=True, default=str).encode())


def _sha256(content):
    return hashlib.sha256(content).hexdigest()


@functools.cache
def file_of(name: str) -> Path | None:
    """The file of a module of this distribution, or None where there is no such file."""
    package, *parts = name.split(".")
    if package == "kronbench_suite":  # whose papers may lie elsewhere
        place = package_path(*parts)
    elif package == "kronbench":
        place = LIBRARY.joinpath(*parts)
    else:
        return None
    files = place / "__init__.py", place.with_suffix(".py")
    return next((file for file in files if file.is_file()), None)


@functools.cache
def names_in(module: str) -> frozenset[str] | None:
    """The names that a module of this package binds, or None where the package has no such file.

    Those that a package imports on demand stand in its stub, ``__init__.pyi``.
    """
    file = file_of(module)
    if file is None:
        return None
    tables = [
        symtable.symtable(path.read_text(encoding="utf-8"), str(path), "exec")
        for path in (file, file.with_suffix(".pyi"))
        if path.is_file() and parsed(path)  # which tells of a fault
    ]
    return frozenset(
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_local()
    )


@functools.cache
def parameters_of(experiment: str) -> dict[str, tuple]:
    """The parameters that a measurement reads, each with all values that it can have, if it says.

    They are those of the section "Parameters" in the docstring of its module and of all modules of
    papers that it imports, one a line; an indented line continues the line before.

    - ``neighbours : numbers of neighbours`` says what a parameter means.
    - ``methods : keys of METHODS`` says that its values are looked up in a mapping which the
      module writes out: only its keys can be given.
    - ``methods : solvers by name`` says that it is ``{name: {solver: import path, parameters:
      {...}}}``: then ``kronbench run-with my.Solver`` adds one.

    ``solver: solvers.module.Class`` in ``paper.yaml`` is a class in the paper's own ``solvers/``.
    An import path is checked before any job, and the code behind it counts for the item.
    """
    found = {}
    for name in filter(_OF_PAPER.match, _code_of(experiment, but=_CARRIERS)):
        body = [node for node in parsed(file_of(name)).body if isinstance(node, ast.Assign)]
        known = {ast.unparse(node.targets[0]): node.value for node in body}
        # ``name : meaning``, or ``name : keys of MAPPING``, whose keys are read off its source.
        for line in _parameter_lines(docstring_of(name)):
            try:
                key, mapping = re.fullmatch(r"(\w+) : (?:keys? of (\w+)|\S).*", line).groups()
                choices = known[mapping].keys if mapping else ()
                found[key] = tuple(map(ast.literal_eval, choices))
            except (AttributeError, KeyError, ValueError):
                raise InputError(
                    f"{file_of(name)}: in the docstring of the module, under Parameters, '{line}' "
                    "is neither 'name : what it means' nor 'name : keys of MAPPING' with a "
                    "mapping that this module writes out"
                ) from None
    return found


def _parameter_lines(docstring):
    """The lines of the section "Parameters"; one that is indented continues the line before."""
    _, *parts = re.split(r"^(\w.*)\n--+$", docstring, flags=re.MULTILINE)
    section = dict(zip(parts[::2], parts[1::2], strict=True)).get("Parameters", "")
    return filter(None, re.sub(r"\n+ +", " ", section).splitlines())


@functools.cache
def read_module(name: str) -> tuple[str, dict[str, tuple[str, str]], list[tuple[str, str]]]:
    """Of a module with a file: the sha256 of its code, the names that it hands on, its imports.

    A name that a module, or the stub of a package, imports is handed on from a module and a name
    there; imports of this package, at any depth, are modules with a name of each, or "".
    """
    file = file_of(name)
    tree, handed_on, imports = parsed(file), {}, []
    stub = file.with_suffix(".pyi")
    on_demand = parsed(stub).body if stub.is_file() else ()
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    for node in (*ast.walk(tree), *on_demand):
        if isinstance(node, ast.Import):
            imports += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            # A relative import has a level, one for each point before the name of the module.
            for alias in node.names:
                handed_on[alias.asname or alias.name] = (origin, alias.name)
                # in a stub: from .krylov import cg as cg
                imports += [] if node in on_demand else [(origin, alias.name)]
    imports = [found for found in imports if _is_own(found[0])]
    # An import that leads to no file would drop out of the digest: tell it before any job.
    for module, part in imports:
        if not (file_of(module) or file_of(f"{module}.{part}")):
            parts = module.split(".")
            siblings = [path.stem for path in package_path(*parts[1:-1]).glob("*.py")]
            hint = nearest(parts[-1], siblings)
            if file_of(moved := ".".join([*name.split(".")[:3], *parts[3:]])):  # renamed folder
                hint = f": did you mean {moved}?"
            raise InputError(f"{file} imports {module}, and there is no such module{hint}")
    code = _sha256(_code(tree, file.read_text(encoding="utf-8").splitlines()).encode())
    return code, handed_on, imports


def docstring_of(module: str) -> str:
    """The docstring of a module with a file, "" where it has none."""
    return ast.get_docstring(parsed(file_of(module))) or ""


def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file; InputError names the line at which it cannot be read."""
    try:
        return ast.parse(file.read_text(encoding="utf-8"), str(file))
    except SyntaxError as error:
        raise InputError(f"{file}, line {error.lineno}: {error.msg}") from None
    except ValueError as error:  # no UTF-8, or a byte of zeros
        raise InputError(f"{file} cannot be read: {error}") from None


def _code(tree, lines):
    """The lines that a program consists of; a text of several lines keeps all of its own."""
    left_out, texts = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            texts.update(range(node.lineno + 1, node.end_lineno + 1))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                left_out.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return "\n".join(
        line
        for number, line in enumerate(lines, 1)
        if number not in left_out and (number in texts or line.strip().partition("#")[0])
    )


def _defining_module(module: str, name: str) -> str:
    """The module in which ``name``, as found in ``module``, is written.

    A package hands on names of its modules: who takes one of them depends on the module that
    defines it, not on all the others.
    """
    if name and file_of(f"{module}.{name}"):
        return f"{module}.{name}"
    if file_of(module) and name in (handed_on := read_module(module)[1]):
        if _is_own(handed_on[name][0]):
            return _defining_module(*handed_on[name])
    return module


def _is_own(module):
    return module.partition(".")[0] in ("kronbench", "kronbench_suite")
