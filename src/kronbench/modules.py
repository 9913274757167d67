"""What the modules of this package hold and import, read from their text: nothing is run.

Importing them instead would load numba and scikit-learn into every command that only plans.
"""

from __future__ import annotations

import ast
import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kronbench.resources import package_path


@dataclass(frozen=True)
class Module:
    """A module of this package: the names it binds, what it imports at any depth."""

    names: set[str] = field(default_factory=set)
    handed_on: dict[str, tuple[str, str]] = field(default_factory=dict)
    imports: list[tuple[str, str | None]] = field(default_factory=list)


def on_demand(package: str) -> tuple[Callable, Callable]:
    """``__getattr__`` and ``__dir__`` of a package whose names and modules are imported on demand.

    The names are those that the package imports under ``if TYPE_CHECKING:``, where tools that
    complete names see them too. None may be that of a module of the package: importing the module
    would put it in the place of the name.
    """

    def module_getattr(name):
        # __main__ is a module that would run.
        if not name.startswith("__") and file_of(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
        if name not in read_module(package).handed_on:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, written = read_module(package).handed_on[name]
        value = getattr(importlib.import_module(module), written)
        setattr(sys.modules[package], name, value)  # from now on it is found without this
        return value

    def module_dir():
        return sorted({*vars(sys.modules[package]), *read_module(package).handed_on})

    return module_getattr, module_dir


@functools.cache
def file_of(name: str) -> Path | None:
    """The file of the module ``kronbench.….name``, or None where the package has no such file."""
    package, *parts = name.split(".")
    if package != "kronbench":
        return None
    file = package_path(*parts, "__init__.py")
    if not file.is_file():
        file = package_path(*parts[:-1], f"{parts[-1]}.py") if parts else file
    return file if file.is_file() else None


@functools.cache
def read_module(name: str) -> Module | None:
    """The module ``kronbench.….name``, or None where the package has no such file."""
    file = file_of(name)
    if file is None:
        return None
    tree = ast.parse(file.read_text(encoding="utf-8"))
    module = Module()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            module.imports.extend((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module.imports.extend((node.module, alias.name) for alias in node.names)
    for node in _bound(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            module.names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                module.names.add(alias.asname or alias.name)
                module.handed_on[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            module.names.update(
                leaf.id
                for target in targets
                for leaf in ast.walk(target)
                if isinstance(leaf, ast.Name)
            )
    return module


def defining_module(module: str, name: str) -> str:
    """The module in which ``name``, as found in ``module``, is written.

    A package hands on names of its modules: who takes one of them depends on the module that
    defines it, not on all the others.
    """
    if file_of(f"{module}.{name}"):
        return f"{module}.{name}"
    found = read_module(module)
    if found and name in found.handed_on and found.handed_on[name][0].startswith("kronbench"):
        return defining_module(*found.handed_on[name])
    return module


@functools.cache
def imported_modules(name: str) -> frozenset[str]:
    """Modules of this package in which the names that a module imports are written."""
    return frozenset(
        module if imported is None else defining_module(module, imported)
        for module, imported in read_module(name).imports
        if module.partition(".")[0] == "kronbench"
    )


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements inside a node, at any depth; without their expressions, nine nodes in ten."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(node, part, ()):
            yield statement
            yield from _statements(statement)


def _bound(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements of a module that bind its names; see ``on_demand``."""
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from node.body
        else:
            yield node
