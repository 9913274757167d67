"""One entry of a ``paper.yaml`` as an item, once all that it says and names is checked."""

from __future__ import annotations

import contextlib
import reprlib
from collections.abc import Mapping

from kronbench.errors import InputError
from kronbench.solvers import check_entries, import_object, import_paths, nearest
from kronbench.yaml_files import number_or_text
from kronbench_suite.resources import paper_folder
from kronbench_suite.runner.items import RESULTS, Item
from kronbench_suite.runner.provenance import names_in, parameters_of


def read_item(
    paper: str, name: str, content: Mapping, overrides: Mapping, config: Mapping
) -> Item:
    """The item ``name`` of a paper whose ``paper.yaml`` has ``content``.

    ``overrides`` are what the scale sets for the paper's items, by name.
    """
    folder, protocol = paper_folder(paper), content.get("protocol", {})
    source, entry, override = _entry(paper, name, content["items"], overrides)
    # What the measurement reads, by its docstrings; other keys would make its tables stale
    # without changing a number, so they are refused.
    known = {}
    try:
        if "numbers_of" not in entry:
            _check_module(folder, "measure", entry["measure"], {"run", "COLUMNS"})
            known = parameters_of(folder.module("measure", entry["measure"]))
    except InputError as error:
        raise InputError(f"{paper} {name}: {error}") from None
    _check_given(paper, name, entry, known)
    # Values: the paper's protocol, then the item, then the scale, then what all of a run share.
    values = {**protocol.get("parameters", {}), **entry.get("parameters", {})}
    base = {key: value for key, value in values.items() if key in known}
    parameters = base | _changes(f"papers.{paper}.{name}", base, override, protocol)
    parameters["seed"] = config["seed"]
    if "time_cap" in known:
        parameters["time_cap"] = config["time_cap"]
    _check_choices(f"papers.{paper}.{name}", parameters, known)
    parameters = _with_import_paths(parameters, folder)
    taken = "title plot measure plot_options printed timed keeps_predictions".split()
    item = Item(
        paper=paper,
        name=name,
        caption=" ".join(entry["caption"].split()),
        datasets=tuple(override.get("datasets", entry.get("datasets", ()))),
        parameters=parameters,
        solvers=tuple(dict.fromkeys(import_paths(parameters))),
        scale=config["scale"],
        results=RESULTS / config["scale"],
        tables_of=source,
        protocol=protocol,
        layout=tuple(content["items"][name].get("layout", ())),
        **{key: entry[key] for key in taken if key in entry},
    )
    # What it names has to be there: the plot, printed numbers, solvers.
    try:
        _check_module(folder, "plot", item.plot, set())
        if missing := [file for file in item.printed_files if not file.is_file()]:
            raise InputError(f"there is no file of printed numbers {missing[0]}")
        check_entries(parameters)
        for path in item.solvers:
            _check_solver(path)
    except InputError as error:
        raise InputError(f"{paper} {name}: {error}") from None
    return item


def _entry(paper, name, entries, overrides):
    """The item whose tables it draws, its entry, completed by that of these, and its override."""
    entry, override, place = entries[name], overrides.get(name, {}), f"papers.{paper}.{name}"
    source = entry.get("tables_of", name)
    # Its own entry says how it is drawn, that of the measured item all else.
    if source != name:
        if source not in entries or "tables_of" in entries[source]:
            raise InputError(
                f"papers/{paper}/paper.yaml: {name} draws the tables of '{source}': "
                "give an item that is measured"
            )
        if override:
            raise InputError(f"{place} draws the tables of {source}: set these keys there")
        entry, override = {**entries[source], **entry}, overrides.get(source, {})
    if "numbers_of" in entry and override:
        there = ", ".join(entry["numbers_of"])
        raise InputError(
            f"{place} combines numbers of other items: set these keys there ({there})"
        )
    return source, entry, override


def _check_given(paper, name, entry, known):
    """Refuse a parameter of the entry that the docstring of its measurement does not name."""
    for key in entry.get("parameters", {}):
        if key not in known:
            told = f"; the docstring of measure/{entry['measure']}.py has: {', '.join(known)}"
            told = f"unknown parameter '{key}'{nearest(key, known) or told}"
            raise InputError(f"papers/{paper}/paper.yaml: {name}: {told}")


def _changes(place, base, override, protocol):
    """The parameters that a scale changes, each of the kind of what it replaces."""
    changes = {key: _from_text(value) for key, value in override.items() if key != "datasets"}
    for key, value in changes.items():
        if key not in base:
            known = ", ".join(["datasets", *base])
            raise InputError(f"{place}: unknown key '{key}'; this item knows: {known}")
        if _kind(value) != _kind(base[key]) and base[key] is not None:
            raise InputError(
                f"{place}: {key} is {reprlib.repr(value)}; "
                f"give {_kind(base[key])}, such as {reprlib.repr(base[key])}"
            )
        _check_folds(place, key, value, base[key], protocol.get("folds"))
    return changes


def _check_choices(place, parameters, known):
    """Refuse a value that is no key of the mapping in which the measurement looks it up."""
    for key, choices in known.items():
        value = parameters.get(key, ()) if choices else ()
        for choice in [value] if isinstance(value, str) else value:
            if choice not in choices:
                hint = nearest(choice, choices) or f"; known are: {', '.join(choices)}"
                raise InputError(f"{place}: {key}: there is no '{choice}'{hint}")


def _with_import_paths(parameters, folder):
    """The parameters, with a solver of the paper's own folder by its import path.

    A paper names it from its folder on, as ``solver: solvers.module.Class``.
    """
    if isinstance(parameters, list):
        return [_with_import_paths(value, folder) for value in parameters]
    if not isinstance(parameters, Mapping):
        return parameters
    solver = parameters.get("solver")
    if not isinstance(solver, str):
        return {key: _with_import_paths(value, folder) for key, value in parameters.items()}
    # What stands below an entry that names its solver are that solver's own parameters.
    has_own = solver.startswith("solvers.") and (folder.path / "solvers").is_dir()
    return {**parameters, "solver": f"{folder.package}.{solver}"} if has_own else parameters


def _check_solver(path):
    """Refuse an import path that leads to nothing; what it leads to here is not imported."""
    module, _, solver = path.rpartition(".")
    names = names_in(module)
    if names is None:
        # One of another package that is not installed: its job skips it, with the reason.
        with contextlib.suppress(ModuleNotFoundError):
            import_object(path)
    elif solver not in names:
        raise InputError(
            f"unknown solver path '{path}': {module} has no '{solver}'" + nearest(solver, names)
        )


def _from_text(value):
    """Numbers and flags out of texts, which Snakemake makes of them in nested --config values."""
    if isinstance(value, Mapping):
        return {key: _from_text(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_from_text(entry) for entry in value]
    if isinstance(value, str):
        named = {"true": True, "false": False, "null": None}
        return named.get(value.lower(), number_or_text(value))
    return value


def _kind(value):
    """What a parameter is; lists and mappings (one entry a data set) stand for each other."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "a list or mapping"


def _check_folds(place, key, value, known, n_folds):
    """Refuse folds that the paper's split has not: by number, or those that its file names."""
    is_list = isinstance(known, list)
    named = is_list and any(isinstance(fold, str) for fold in known)
    if key not in ("fold", "folds", "timed_folds") or not isinstance(value, int | list):
        return
    # A number as ``folds`` is how many there are.
    if (key == "folds" and not is_list) or (not named and n_folds is None):
        return
    right = known if named else list(range(n_folds))
    for fold in value if isinstance(value, list) else [value]:
        if fold not in right or isinstance(fold, bool | float):
            raise InputError(f"{place}: {key}: there is no fold {fold!r}; known are: {right}")


def _check_module(folder, part, module, needs):
    """Refuse a module of a paper that is not there, or lacks a name by which it is called."""
    names = names_in(folder.module(part, module))
    file = folder.path / part / f"{module}.py"
    if names is None:
        raise InputError(f"there is no module {file}")
    if missing := needs - names:
        raise InputError(f"{file} has no {' and no '.join(sorted(missing))}")
    if part == "plot" and not {"draw", "tabulate"} & names:
        raise InputError(
            f"{file} has neither draw(frame, item), for a figure, nor "
            "tabulate(frame, item, printed), for a table"
        )
