"""Solvers by import path, so that one from outside the package can be benchmarked by naming it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from typing import Any

from kronbench.bench.source_imports import read_module
from kronbench.errors import InputError


class SolverMissing(Exception):
    """A solver from another package that is not installed; the message is the reason."""


def make_solver(path: str, **parameters: Any) -> Any:
    """The estimator at an import path such as ``kronbench.models.KronSVM``, with parameters.

    Raises
    ------
    SolverMissing
        The package that holds it is not installed: skip it, and report the reason.
    InputError
        The path leads nowhere, or the estimator does not know a parameter.
    """
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


def check_import_path(path: str) -> None:
    """Raise what ``import_object`` would raise; a path of this package is not imported for it."""
    module_name, _, name = path.rpartition(".")
    module = read_module(module_name)
    if module is None:
        import_object(path)
    elif name not in module.names:
        raise InputError(f"unknown solver path '{path}': {module_name} has no '{name}'")


def import_object(path: str) -> Any:
    """The object at an import path such as ``kronbench.models.KronSVM``.

    Raises
    ------
    ModuleNotFoundError
        The package that should hold it is not installed.
    InputError
        The package is there, and the path leads nowhere in it.
    """
    module_name, _, name = path.rpartition(".")
    package = module_name.partition(".")[0]
    if package and importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    if not package or find_module(module_name) is None:
        raise InputError(
            f"unknown solver path '{path}': give the import path of a class, "
            "such as kronbench.models.KronRidge"
        )
    module = importlib.import_module(module_name)
    if not hasattr(module, name):
        raise InputError(f"unknown solver path '{path}': {module_name} has no '{name}'")
    return getattr(module, name)


def import_paths(parameters: object) -> Iterator[str]:
    """Values of every key called ``solver``, at any depth.

    Below an entry that names its solver are that solver's own parameters, whose ``solver`` is
    that of linear systems.
    """
    if isinstance(parameters, Mapping):
        path = parameters.get("solver")
        if isinstance(path, str):
            yield path
        else:
            for value in parameters.values():
                yield from import_paths(value)
    elif isinstance(parameters, list):
        for value in parameters:
            yield from import_paths(value)


def find_module(module: str) -> str | None:
    """The file of a module, or None where there is none; its parents are imported."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return spec.origin if spec else None
