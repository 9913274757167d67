"""The items that compare methods, with solvers from outside the repository as further methods."""

from __future__ import annotations

import copy
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kronbench import datasets
from kronbench.errors import InputError
from kronbench.reference.figures import check_checkout, make_items, plan_of_scale, told
from kronbench.runner.items import Item, Plan, load_plan
from kronbench.runner.outside import commit_of, use_outside
from kronbench.runner.source_imports import read_module
from kronbench.settings import read_yaml, validate

_LONGEST = 60  # characters of a name in that of its folder


@dataclass(frozen=True)
class Outside:
    """What a user adds to a run.

    Attributes
    ----------
    name : str
        Results go to ``results/<scale>-with-<name>/``.
    solvers : dict
        By the names of their rows: ``solver``, an import path, and ``parameters``.
    user : dict
        The key ``user`` of the configuration: where modules and data sets are.
    datasets : tuple of str
        In place of those of each item, where it is not empty.
    items : tuple of (str, str)
        Papers and items, or a paper and "" for all of its; all that compare methods when empty.
    """

    name: str
    solvers: Mapping[str, Mapping]
    user: Mapping[str, str] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()


def outside_of_file(path: str | Path) -> Outside:
    """What a file adds, in the form of ``workflow/schemas/outside.schema.yaml``.

    Raises
    ------
    InputError
        The file is not of that form; a folder or registry is not there; or the folder stands at
        another commit than the file says.
    """
    path = whole_path(path)
    content = read_yaml(path)
    validate(content, "outside", path)
    for name in content["solvers"]:
        _check_name(name, f"{path}: solvers")
    folder = whole_path(path.parent / content.get("path", "."))
    user = _user(folder, content.get("registry") and path.parent / content["registry"])
    pinned = content.get("commit")
    if pinned and user.get("commit") != pinned:
        stands = user.get("commit") or "no commit of git"
        raise InputError(f"{path} is for commit {pinned}, and {folder} stands at {stands}")
    return Outside(
        content.get("name", _slug(next(iter(content["solvers"])))),
        {name: {"parameters": {}, **entry} for name, entry in content["solvers"].items()},
        user,
        tuple(content.get("datasets", ())),
        tuple(
            (paper, item) for paper, items in content.get("items", {}).items() for item in items
        ),
    )


def outside_of_options(
    solver: str,
    parameters: Mapping[str, object],
    name: str | None = None,
    path: str | Path | None = None,
    registry: str | Path | None = None,
    data: Sequence[str] = (),
) -> Outside:
    """What one solver adds: its import path, and the folder where its module is if not installed.

    Raises
    ------
    InputError
        A folder or registry is not there.
    """
    name = solver.rpartition(".")[2] if name is None else name
    _check_name(name, "--name")
    user = _user(path, registry or os.environ.get("KRONBENCH_REGISTRY"))
    return Outside(
        _slug(name),
        {name: {"solver": solver, "parameters": parameters}},
        user,
        tuple(dict.fromkeys(data)),
    )


def run_with(
    outside: Outside,
    check: Callable[[str, Mapping], object],
    paper: str | None = None,
    item: str | None = None,
    scale: str = "default",
    cores: str = "all",
    only_shown: bool = False,
) -> int:
    """Run the items that compare methods with those from outside, and print their tables.

    Nothing of the repository changes, nor any other results: the run has a folder of its own.

    Parameters
    ----------
    check : callable(path, parameters)
        Raises where a solver cannot stand beside the others; called once all else is known to be
        right, for it runs the solver.
    paper, item : str, optional
        One paper or one item, in place of those of ``outside``.
    scale, cores, only_shown
        As for :func:`kronbench.reference.figures.make_figures`.

    Returns
    -------
    int
        The exit status of the first command that fails, else 0.

    Raises
    ------
    InputError
        The current folder is no checkout; an item takes no further methods; a method has that
        name already; a data set or a scale is unknown.
    """
    check_checkout(cores)
    use_outside(outside.user)
    for name in outside.datasets:
        datasets.describe(name)
    base = plan_of_scale(scale)
    wanted = ((paper, item or ""),) if paper else outside.items
    asked = list(_asked(base, wanted))
    for entry in outside.solvers.values():
        check(entry["solver"], entry["parameters"])
    plan, changed = _plan_with(base, outside, asked, named=any(name for _, name in wanted))
    drawn = [
        entry
        for entry in plan.items
        if (entry.paper, entry.tables_of) in changed and not entry.numbers_of
    ]
    status = make_items(plan, drawn, cores, only_shown)
    if not only_shown and not status:
        print("".join(f"\n{text}\n" for text in map(told, drawn)), end="")
    return status


def whole_path(path: str | Path) -> Path:
    """A path from the root on; InputError where links run in a circle or a name cannot be one."""
    try:
        return Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{str(path)!r} is no path: {error}") from None


def compares_methods(item: Item) -> bool:
    """Whether an item takes further methods: its experiment offers ``with_solver``."""
    module = read_module(item.experiment_module) if item.measures else None
    return module is not None and "with_solver" in module.names


def _plan_with(
    base: Plan, outside: Outside, asked: Sequence[Item], named: bool
) -> tuple[Plan, set[tuple[str, str]]]:
    """The plan of the run, and the items that measure the methods from outside."""
    config = copy.deepcopy(dict(base.config))
    config |= {"scale": f"{base.scale}-with-{outside.name}", "user": dict(outside.user)}
    changed, refused = set(), []
    for item in asked:
        try:
            changes = _changes(item, outside)
        except InputError as error:
            refused.append(f"{item.paper} {item.name}: {error}")
            continue
        config["papers"][item.paper] = {
            **config["papers"][item.paper],
            item.name: {**config["papers"][item.paper].get(item.name, {}), **changes},
        }
        changed.add((item.paper, item.name))
    if not changed or (refused and named):
        raise InputError("; ".join(refused))
    for sentence in refused:
        print(f"left out: {sentence}", file=sys.stderr)
    return load_plan(config), changed


def _asked(plan: Plan, wanted) -> Iterator[Item]:
    """The items to change: each asked for by name must compare methods."""
    known = [item for item in plan.items if compares_methods(item)]
    for paper, name in wanted or [("", "")]:
        if paper and paper not in plan.papers:
            raise InputError(f"there is no paper '{paper}': give {', '.join(plan.papers)}")
        if name:
            item = plan.item(paper, name)
            item = plan.item(paper, item.tables_of)
        if name and item not in known:
            which = ", ".join(f"{entry.paper} {entry.name}" for entry in known)
            raise InputError(f"{paper} {name} takes no further methods; these do: {which}")
        found = [item] if name else [entry for entry in known if paper in ("", entry.paper)]
        if not found:
            raise InputError(f"no item of {paper} takes further methods")
        yield from found


def _changes(item: Item, outside: Outside) -> dict:
    """The parameters of an item that change, its data sets among them."""
    experiment = importlib.import_module(item.experiment_module)
    spec = dict(item.parameters)
    changes = {}
    for name, entry in outside.solvers.items():
        for methods in filter(lambda value: isinstance(value, Mapping), spec.values()):
            if name in methods:
                raise InputError(f"'{name}' is the name of another method: give one of your own")
        new = experiment.with_solver(spec, name, entry["solver"], entry["parameters"])
        changes |= new
        spec |= new
    if outside.datasets and not item.datasets:
        raise InputError("it draws its own data, and takes no data set")
    if outside.datasets:
        changes["datasets"] = list(outside.datasets)
    return changes


def _user(path, registry):
    """The key ``user`` of the configuration, with whole paths."""
    user = {}
    if path:
        folder = whole_path(path)
        if not folder.is_dir():
            raise InputError(f"{path} is no folder: give the one that holds your module")
        user["path"] = str(folder)
        if commit := commit_of(folder):
            user["commit"] = commit
    if registry:
        file = whole_path(registry)
        if not file.is_file():
            raise InputError(f"there is no registry {registry}: give a file of data sets")
        user["registry"] = str(file)
    return user


def _slug(name):
    """The end of a folder's name; names that differ in more than case have different ones."""
    slug = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST]
    slug = slug if slug[:1].isalpha() else f"solver-{slug}".strip("-")
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return slug if slug == name.lower() else f"{slug}-{digest}"


def _check_name(name, where):
    if not (isinstance(name, str) and name.strip() and name.isprintable()):
        raise InputError(
            f"{where}: {name!r} is no name of a row: give text, in quotes where YAML would read "
            "it as something else"
        )
