"""Plans with solvers from outside as further methods, or with a paper from outside."""

from __future__ import annotations

import copy
import hashlib
import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pandas as pd

from kronbench import datasets
from kronbench.errors import InputError
from kronbench.files import replacing
from kronbench.yaml_files import read_yaml, validate
from kronbench_suite.commands.figures import plan_of_scale
from kronbench_suite.resources import paper_folder
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.items import Item, Plan
from kronbench_suite.runner.plans import load_plan, use_outside
from kronbench_suite.runner.provenance import docstring_of, names_in

_LONGEST = 60  # characters of a name in that of its folder
_OF_PAIRS = {"label matrix", "labelled pairs", "pairs"}  # kinds of data sets


@dataclass(frozen=True)
class Outside:
    """What a user adds to a run."""

    name: str  # results go to results/<scale>-with-<name>/
    solvers: Mapping[str, Mapping]  # by the names of their rows
    user: Mapping[str, str]  # that key of the configuration
    datasets: tuple[str, ...] = ()  # in place of those of each item
    # papers and items, or a paper and "" for all of its; all that compare methods when empty
    items: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = ()  # files of rows that others have measured on the same splits


def outside_of_file(path: str | Path) -> Outside:
    """What a file adds, in the form of ``workflow/schemas/outside.schema.yaml``."""
    path = whole_path(path)
    content = read_yaml(path)
    validate(content, "outside", path)
    # Paths in the file start from its folder.
    for name in content["solvers"]:
        _check_name(name, f"{path}: solvers")
    registry = content.get("registry") and path.parent / content["registry"]
    items = content.get("items", {}).items()
    return Outside(
        content.get("name", _slug(next(iter(content["solvers"])))),
        {name: {"parameters": {}, **entry} for name, entry in content["solvers"].items()},
        _user(path.parent / content.get("path", "."), registry),
        tuple(content.get("datasets", ())),
        tuple((paper, name) for paper, names in items for name in names),
    )


def outside_of_options(
    solver: str,
    parameters: Mapping[str, object],
    name: str | None = None,
    path: str | Path | None = None,
    registry: str | Path | None = None,
    data: Sequence[str] = (),
    add: Sequence[str] = (),
) -> Outside:
    """What one solver adds: its import path, and the folder of its module if not installed."""
    name = solver.rpartition(".")[2] if name is None else name
    _check_name(name, "--name")
    added = tuple(str(whole_path(file)) for file in add)
    for file in added:
        if not Path(file).is_file():
            raise InputError(f"--add {file}: there is no such file; kronbench run-with writes one")
    return Outside(
        _slug(name),
        {name: {"solver": solver, "parameters": parameters}},
        _user(path, registry or os.environ.get("KRONBENCH_REGISTRY")),
        tuple(dict.fromkeys(data)),
        added=added,
    )


def plan_with_solvers(
    outside: Outside, paper: str | None = None, name: str | None = None, scale: str = "default"
) -> tuple[Plan, list[Item], list[str]]:
    """The plan of a scale with further methods, the items that show them, and why others do not.

    ``paper`` and ``name`` say one paper or item, in place of those of ``outside``; ``paper`` may
    also be the folder of one.
    """
    use_outside(outside.user)
    for data in outside.datasets:
        datasets.describe(data)
    # Start from the plan of the scale; a folder adds its paper to it.
    base = plan_of_scale(scale)
    if paper and paper not in base.papers and Path(paper).is_dir():
        base, paper = plan_with_paper(paper, scale)
    # Change the parameters of each item that takes further methods; others are told, not run.
    wanted = ((paper, name or ""),) if paper else outside.items
    config = _config(base, outside.name, dict(outside.user))
    changed, refused = set(), []
    for item in _asked(base, wanted):
        try:
            changes = _changes(item, outside)
        except InputError as error:
            refused.append(f"{item.paper} {item.name}: {error}")
            continue
        items = config["papers"][item.paper]
        items[item.name] = {**items.get(item.name, {}), **changes}
        changed.add((item.paper, item.name))
    # What was asked for by name and cannot be is an error.
    if refused and (not changed or any(name for _, name in wanted)):
        raise InputError("; ".join(refused))
    # Items that draw the tables of a changed one show the new rows too.
    plan = load_plan(config)
    own = [item for item in plan.items if not item.numbers_of]
    return plan, [item for item in own if (item.paper, item.tables_of) in changed], refused


def _config(plan, name, user):
    """The configuration of a plan, of which results go to a folder of their own."""
    user = {**plan.config.get("user", {}), **user}
    return copy.deepcopy(dict(plan.config)) | {"scale": f"{plan.scale}-with-{name}", "user": user}


def write_rows(plan: Plan, items: Sequence[Item], outside: Outside) -> Iterator[Path]:
    """Write the rows of the solvers from outside, a file for each item that others can add to."""
    for item in items:
        if item.has_tables and "added" in item.parameters:
            tables = pd.concat(pd.read_csv(item.table(part)) for part in item.parts)
            path = plan.results / f"{item.paper}-{item.name}-{outside.name}.csv"
            with replacing(path) as temporary:
                rows = tables[tables["method"].isin(outside.solvers)]
                rows.to_csv(temporary, index=False)
            yield path


def compares_methods(item: Item) -> bool:
    """Whether an item takes further methods.

    Its measurement declares ``methods : solvers by name``, which is ``{solver: import path,
    parameters: {...}}`` for each; or it makes the parameters of one more by ``with_solver``.
    """
    if not item.has_tables:
        return False
    declares = re.search(r"^methods : solvers by name\b", docstring_of(item.measure_module), re.M)
    return bool(declares) or "with_solver" in names_in(item.measure_module)


def _asked(plan, wanted):
    """The items to change: each asked for by name must compare methods."""
    known = [item for item in plan.items if compares_methods(item)]
    for paper, name in wanted or [("", "")]:
        if paper and paper not in plan.papers:
            raise InputError(f"there is no paper '{paper}': give {', '.join(plan.papers)}")
        if name:
            item = plan.item(paper, plan.item(paper, name).tables_of)
            if item not in known:
                which = ", ".join(f"{entry.paper} {entry.name}" for entry in known)
                raise InputError(f"{paper} {name} takes no further methods; these do: {which}")
            yield item
        else:
            found = [item for item in known if paper in ("", item.paper)]
            if not found:
                raise InputError(f"no item of {paper} takes further methods")
            yield from found


def _changes(item, outside):
    """The parameters of an item that change, its data sets among them."""
    experiment = import_module(item.measure_module)
    spec, changes = dict(item.parameters), {}
    for name, entry in outside.solvers.items():
        # The name of a row must be new in every mapping by method.
        for methods in filter(lambda value: isinstance(value, Mapping), spec.values()):
            if name in methods:
                raise InputError(f"'{name}' is the name of another method: choose a different one")
        # Parameters that go beyond one entry of ``methods`` are made by the measurement.
        if hasattr(experiment, "with_solver"):
            new = experiment.with_solver(spec, name, entry["solver"], entry["parameters"])
        else:
            new = {"methods": {**spec["methods"], name: dict(entry)}}
        changes |= new
        spec |= new
    if outside.added and "added" in spec:
        changes["added"] = list(outside.added)
    if outside.datasets:
        if not item.datasets:
            raise InputError("it draws its own data, so it takes no data set")
        changes["datasets"] = list(outside.datasets)
    return changes


def _user(path, registry):
    """The key ``user`` of the configuration, with whole paths."""
    user = {}
    if path:
        folder = whole_path(path)
        if not folder.is_dir():
            raise InputError(f"{path} is not a folder: give the one that holds your module")
        user["path"] = str(folder)
    if registry:
        file = whole_path(registry)
        if not file.is_file():
            raise InputError(f"there is no registry {registry}: give a file of data sets")
        user["registry"] = str(file)
    return user


def whole_path(path: str | Path) -> Path:
    """A path from the root on; InputError where links run in a circle or a name cannot be one."""
    try:
        return Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{str(path)!r} is not a valid path: {error}") from None


def _slug(name):
    """The end of a folder's name; names that differ in more than case have different ones."""
    slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST]
    slug = slug if slug[:1].isalpha() else f"solver-{slug}".strip("-")
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return slug if slug == name.lower() else f"{slug}-{digest}"


def _check_name(name, where):
    if not (isinstance(name, str) and name.strip() and name.isprintable()):
        raise InputError(
            f"{where}: {name!r} cannot be the name of a row: give text, in quotes where YAML "
            "would read it as something else"
        )


def plan_with_paper(folder: str | Path, scale: str = "default") -> tuple[Plan, str]:
    """The plan of a scale with the paper of a folder, whose name is that of the paper.

    ``scales`` in its paper.yaml says what its items do at each scale.
    """
    folder = whole_path(folder)
    user = {"papers": [str(folder)]}
    use_outside(user)
    config = _config(plan_of_scale(scale), folder.name, user)
    config["papers"] = {folder.name: {}, **config["papers"]}
    plan = load_plan(config)
    # Its data sets are looked up now, as Snakemake would do before its first job.
    own = [item for item in plan.items if item.paper == folder.name]
    for name in (name for item in own for name in item.datasets):
        datasets.describe(name)
        # A file that is missing or was exchanged is told here, though prepared data may be there.
        if missing := datasets.record_of(name, mirror=plan.config["mirror"]).missing:
            raise missing
    return plan, folder.name


def check_paper(plan: Plan, paper: str) -> Iterator[tuple[str, str]]:
    """The contracts that the modules of a paper's folder keep: a part, and what is wrong or "".

    That its files are there and fit each other is checked by :func:`load_plan` before.
    """
    folder = paper_folder(paper)
    for item in plan.items:
        if item.paper != paper:
            continue
        # Its modules: what they are called with, and what they declare.
        for part, module in (("measure", item.measure), ("plot", item.plot)):
            if module:
                try:
                    wrong = "; ".join(_wrong(import_module(folder.module(part, module)), part))
                except Exception as error:  # whatever a file from outside does on import
                    wrong = f"it cannot be imported: {type(error).__name__}: {error}"
                yield f"{item.name}: {folder.path / part / module}.py", wrong


def solvers_of_pairs(plan: Plan, paper: str) -> list[str]:
    """The import paths of the solvers in a paper's own folder that its items run on pairs."""
    paths = set()
    for item in plan.items:
        kinds = {datasets.describe(name)["kind"] for name in item.datasets}
        if item.paper == paper and kinds <= _OF_PAIRS:
            paths.update(item.solvers)
    return sorted(path for path in paths if path.startswith(paper_folder(paper).package))


def _wrong(module, part):
    name, wanted = "run", ["spec", "data", "rng"]
    if part == "plot":  # of a module with both, draw gets what tabulate returned
        name, wanted = "draw", ["frame", "item"]
        if hasattr(module, "tabulate"):
            name, wanted = "tabulate", [*wanted, "printed"]
    if not module.__doc__:
        yield "it has no docstring"
    if list(inspect.signature(getattr(module, name)).parameters) != wanted:
        yield f"{name} takes other parameters than {', '.join(wanted)}"
    if part == "measure" and not isinstance(module.COLUMNS, Columns):
        yield "COLUMNS is not a kronbench_suite.runner.columns.Columns"
