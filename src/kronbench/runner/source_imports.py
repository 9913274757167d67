"""What the modules of this package hold and import, read from their text: nothing is run.

Importing them instead would load numba and scikit-learn into every command that only plans.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, field
from pathlib import Path

from kronbench.resources import package_path


@dataclass(frozen=True)
class Module:
    """A module of this package: the names it binds, what it imports at any depth.

    ``handed_on`` maps a name that the module imports to the module and the name there; those that
    a package imports on demand stand in its stub, ``__init__.pyi``. ``code`` is its text without
    docstrings, blank lines and lines of comment.
    """

    code: str = ""
    names: set[str] = field(default_factory=set)
    handed_on: dict[str, tuple[str, str]] = field(default_factory=dict)
    imports: list[tuple[str, str | None]] = field(default_factory=list)


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
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    module = Module(_code(tree, text.splitlines()))
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            module.imports.extend((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module.imports.extend((node.module, alias.name) for alias in node.names)
    stub = file.with_suffix(".pyi")
    statements = tree.body
    if stub.is_file():
        statements = [*statements, *ast.parse(stub.read_text(encoding="utf-8")).body]
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            module.names.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # in a stub: from .krylov import cg as cg
            origin = f"{name}.{node.module}" if node.level else node.module
            for alias in node.names:
                module.names.add(alias.asname or alias.name)
                module.handed_on[alias.asname or alias.name] = (origin, alias.name)
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


def _statements(body):
    """The statements of a body at any depth, not their expressions, which are most of a tree."""
    for node in body:
        yield node
        for kind in ("body", "handlers", "cases", "orelse", "finalbody"):
            yield from _statements(getattr(node, kind, ()))


def _code(tree, lines):
    """The lines that a program consists of; a text of several lines keeps all of its own."""
    left_out, texts = set(), set()
    for node in (tree, *_statements(tree.body)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                left_out |= set(range(first.lineno, first.end_lineno + 1))
    kept = [(number, line) for number, line in enumerate(lines, 1) if number not in left_out]
    if any('"""' in line or "'''" in line or line.endswith("\\") for _, line in kept):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno > node.lineno:
                texts |= set(range(node.lineno + 1, node.end_lineno + 1))
    return "\n".join(
        line for number, line in kept if number in texts or line.strip().partition("#")[0]
    )
