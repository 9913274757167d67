"""One entry of a ``paper.yaml`` as an item, once all that it says and names is checked."""

from __future__ import annotations

import contextlib
import reprlib
from collections.abc import Mapping

from kronbench.errors import InputError
from kronbench.solvers import check_entries, import_object, import_paths, nearest
from kronbench.yaml_files import number_or_text
from kronbench_suite.resources import package_of, paper_path, printed_path
from kronbench_suite.runner.items import RESULTS, Item
from kronbench_suite.runner.provenance import names_in, parameters_of


def read_item(
    paper: str, name: str, content: Mapping, overrides: Mapping, config: Mapping
) -> Item:
    """The item ``name`` of a paper whose ``paper.yaml`` has ``content``.

    ``overrides`` are what the scale sets for the paper's items, by name.
    """
    entries, protocol = content["items"], content.get("protocol", {})
    entry, override, place = entries[name], overrides.get(name, {}), f"papers.{paper}.{name}"
    source = entry.get("tables_of", name)
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
        raise InputError(
            f"{place} combines the numbers of other items: set these keys there "
            f"({', '.join(entry['numbers_of'])})"
        )
    # What the scale changes of the parameters of the paper's protocol and of the item: those that
    # its measurement reads. Others would make its tables stale without changing a number.
    known, given = {}, entry.get("parameters", {})
    if "numbers_of" not in entry:
        module = f"{package_of(paper)}.measure.{entry['measure']}"
        file = f"measure/{entry['measure']}.py"
        try:
            _check_module(paper, "measure", entry["measure"], {"run", "COLUMNS"})
            known = parameters_of(module)
        except InputError as error:
            raise InputError(f"{paper} {name}: {error}") from None
    for key in given:
        if key not in known:
            raise InputError(
                f"papers/{paper}/paper.yaml: {name}: unknown parameter '{key}'"
                + (nearest(key, known) or f"; the docstring of {file} has: {', '.join(known)}")
            )
    shared = protocol.get("parameters", {})
    base = {key: value for key, value in {**shared, **given}.items() if key in known}
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
    parameters = {**base, **changes, "seed": config["seed"]}
    if "time_cap" in known:
        parameters["time_cap"] = config["time_cap"]
    for key, choices in known.items():
        value = parameters.get(key, ()) if choices else ()
        for choice in [value] if isinstance(value, str) else value:
            if choice not in choices:
                hint = nearest(choice, choices) or f"; known are: {', '.join(choices)}"
                raise InputError(f"{place}: {key}: there is no '{choice}'{hint}")
    # What it names has to be there: modules, printed numbers, solvers.
    try:
        _check_module(paper, "plot", entry["plot"], set())
        printed = entry.get("printed") or ()
        for file in [printed] if isinstance(printed, str) else printed:
            if not (path := printed_path(paper, file)).is_file():
                raise InputError(f"there is no file of printed numbers {path}")
        check_entries(parameters)
        for path in import_paths(parameters):
            module, _, solver = path.rpartition(".")
            known = names_in(module)
            if known is None:
                # One of another package that is not installed: its job skips it, with the reason.
                with contextlib.suppress(ModuleNotFoundError):
                    import_object(path)
            elif solver not in known:
                raise InputError(
                    f"unknown solver path '{path}': {module} has no '{solver}'"
                    + nearest(solver, known)
                )
    except InputError as error:
        raise InputError(f"{paper} {name}: {error}") from None
    taken = "title plot measure plot_options printed timed keeps_predictions".split()
    return Item(
        paper=paper,
        name=name,
        caption=" ".join(entry["caption"].split()),
        datasets=tuple(override.get("datasets", entry.get("datasets", ()))),
        parameters=parameters,
        scale=config["scale"],
        results=RESULTS / config["scale"],
        tables_of=source,
        protocol=protocol,
        layout=tuple(entries[name].get("layout", ())),
        **{key: entry[key] for key in taken if key in entry},
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


def _check_module(paper, part, module, needs):
    names = names_in(f"{package_of(paper)}.{part}.{module}")
    file = paper_path(paper, part, f"{module}.py")
    if names is None:
        raise InputError(f"there is no module {file}")
    if missing := needs - names:
        raise InputError(f"{file} has no {' and no '.join(sorted(missing))}")
    if part == "plot" and not {"draw", "tabulate"} & names:
        raise InputError(
            f"{file} has neither draw(frame, item), for a figure, nor "
            "tabulate(frame, item, printed), for a table"
        )
