"""What makes a result stale: the files that the jobs of an item depend on."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from kronbench.bench.items import Item
from kronbench.bench.solvers import find_module, import_object, import_paths


def table_sources(item: Item) -> list[str]:
    """Files of the package whose change makes the result tables of an item stale."""
    modules = [f"kronbench.experiments.{item.experiment}"]
    modules += [
        _defining_module(path)
        for path in import_paths(item.parameters)
        if path.startswith("kronbench.")
    ]
    return sorted({file for module in modules for file in sources_of(module)})


def drawing_sources(item: Item) -> list[str]:
    """Files of the package whose change makes the picture of an item stale."""
    modules = ("kronbench.report.render", f"kronbench.report.drawings.{item.drawing}")
    return sorted({file for module in modules for file in sources_of(module)})


@functools.cache
def sources_of(module: str) -> frozenset[str]:
    """Files of this package that a module imports, directly or not, itself included."""
    seen, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name in seen or not name.startswith("kronbench"):
            continue
        seen[name] = find_module(name)
        if seen[name] is None:  # a name imported from a module, not a module
            continue
        for node in ast.walk(ast.parse(Path(seen[name]).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                waiting += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return frozenset(file for file in seen.values() if file)


def _defining_module(path):
    """The module that an object is written in; that of its path where it cannot be imported."""
    try:
        return import_object(path).__module__
    except ModuleNotFoundError:
        return path.rpartition(".")[0]
