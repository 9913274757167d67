"""Solvers by import path, so that one from outside the package can be benchmarked by naming it."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kronbench.errors import InputError

if TYPE_CHECKING:
    import numpy as np

_NAME_LIKENESS = 0.8  # how alike two names are from which one is taken for the other, misspelt


class SolverMissing(Exception):
    """A solver from another package that is not installed; the message is the reason."""


def make_solver(path: str, **parameters: Any) -> Any:
    """The estimator at an import path such as ``kronbench.models.KronSVM``, with parameters."""
    solver = import_solver(path)
    try:
        return solver(**parameters)
    except TypeError as error:
        raise InputError(f"{path}: {error}") from None


def import_solver(path: str) -> Any:
    """What :func:`import_object` finds; SolverMissing where the package is not installed."""
    try:
        return import_object(path)
    except ModuleNotFoundError as error:
        raise SolverMissing(f"{path} was skipped: {error.name} is not installed") from None


def installed(entries: Mapping[str, Mapping]) -> tuple[dict[str, Mapping], list[str]]:
    """The entries whose solver is there, by their names, and why others are skipped."""
    found, skipped = {}, []
    for name, entry in entries.items():
        try:
            import_solver(entry["solver"])
            found[name] = entry
        except SolverMissing as reason:
            skipped.append(str(reason))
    return found, skipped


def import_object(path: str) -> Any:
    """The object at an import path such as ``kronbench.models.KronSVM``."""
    module_name, _, name = path.rpartition(".")
    package, *parts = module_name.split(".")
    if not package:
        raise InputError(
            f"unknown solver path '{path}': give the import path of a class, "
            "such as kronbench.models.KronRidge"
        )
    # A misspelt package is told by its nearest name; one that is not installed may be skipped.
    if package == "__main__" or importlib.util.find_spec(package) is None:
        if near := _nearest_package(package, parts):
            right = ".".join([near, *parts, name])
            raise InputError(f"unknown solver path '{path}': did you mean '{right}'?")
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    # Look for each module on the way, so that a misspelt one is told by its nearest name.
    try:
        for part in parts:
            if find_module(f"{package}.{part}") is None:
                found = getattr(importlib.import_module(package), "__path__", [])
                near = nearest(part, [entry.name for entry in pkgutil.iter_modules(found)])
                raise InputError(
                    f"unknown solver path '{path}': {package} has no module '{part}'{near}"
                )
            package = f"{package}.{part}"
        module = importlib.import_module(module_name)
    except (InputError, ModuleNotFoundError):
        raise
    except (Exception, SystemExit) as error:  # whatever a file from outside does on import
        raise InputError(
            f"{module_name} cannot be imported: {type(error).__name__}: {error}"
        ) from None
    if not hasattr(module, name):
        near = nearest(name, dir(module))
        raise InputError(f"unknown solver path '{path}': {module_name} has no '{name}'{near}")
    return getattr(module, name)


def scores_of(model: Any, pairs: Any) -> np.ndarray:
    """Scores (t,) of a fitted solver: its decision function, or predictions where it has none."""
    return getattr(model, "decision_function", model.predict)(pairs)


def check_entries(parameters: Mapping) -> None:
    """InputError where one of an item's ``methods`` or ``solvers`` names no solver, others do."""
    for key in ("methods", "solvers"):
        entries = parameters.get(key)
        entries = entries if isinstance(entries, Mapping) else {}
        # An entry that is no mapping has no keys.
        known = {name: of if isinstance(of, Mapping) else {} for name, of in entries.items()}
        if any("solver" in entry for entry in known.values()):
            for name, entry in known.items():
                if not isinstance(entry.get("solver"), str):
                    near = difflib.get_close_matches("solver", list(entry), n=1)
                    hint = f"; it has '{near[0]}'" if near else ""
                    raise InputError(
                        f"{key}: {name} has no import path under the key 'solver'{hint}"
                    )


def import_paths(parameters: object) -> Iterator[str]:
    """Values of every key called ``solver``, at any depth.

    Below an entry that names its solver are that solver's own parameters, whose ``solver`` is
    that of linear systems.
    """
    if isinstance(parameters, Mapping) and isinstance(parameters.get("solver"), str):
        yield parameters["solver"]
    elif isinstance(parameters, Mapping | list):
        values = parameters.values() if isinstance(parameters, Mapping) else parameters
        for value in values:
            yield from import_paths(value)


def find_module(module: str) -> str | None:
    """The file of a module, "" of a folder without one, or None; its parents are imported."""
    with contextlib.suppress(ModuleNotFoundError):
        if spec := importlib.util.find_spec(module):
            return spec.origin or ""
    return None


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence: the name that may be meant, or nothing."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=_NAME_LIKENESS)
    return f": did you mean '{near[0]}'?" if near else ""


def _nearest_package(name: str, parts: list[str]) -> str | None:
    """The importable package of nearly this name that has these modules below it."""
    known = {module.name for module in pkgutil.iter_modules()}
    for near in difflib.get_close_matches(name, known, cutoff=_NAME_LIKENESS):
        if not parts or find_module(".".join([near, *parts])) is not None:
            return near
    return None
