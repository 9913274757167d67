"""Which definitions of this package a program can reach, read from their text: nothing is run.

A module holds more than one caller asks for. So functions, classes and constants are followed by
name, from each to those that it names, and what stands beside them in their files does not count.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kronbench.runner.source_imports import defining_module, file_of

_PACKAGE = "kronbench"


@dataclass(frozen=True)
class _Statement:
    """A statement of a module: its text, the names in it, what is imported within it."""

    text: str
    names: frozenset[str]
    imports: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class _Module:
    """The statements of a module, by number.

    ``bound`` has those that define a name, ``imported`` where else a name comes from; ``always``
    are run by every import and bind nothing.
    """

    statements: tuple[_Statement, ...]
    bound: dict[str, list[int]]
    imported: dict[str, tuple[str, str | None]]
    always: tuple[int, ...]


def definitions_of(*starts: tuple[str, str | None], but: Iterable[str] = ()) -> dict[str, str]:
    """The sha256 of what can be reached of each module, by the module's import path.

    Parameters
    ----------
    starts : tuple of str and (str or None)
        A module and a name in it; None stands for all of the module.
    but : iterable of str
        Modules that are left out, with what only they name.

    Returns
    -------
    dict of str to str
        Docstrings and lines of comment count for nothing. Names are taken for those of the module
        wherever they stand, local variables too, so that rather too much is reached.

    Notes
    -----
    A name that is made at run time, by ``getattr`` on a module or ``import_module``, is not seen.
    """
    but, waiting = set(but), list(starts)
    reached, asked = defaultdict(set), set()
    while waiting:
        start = waiting.pop()
        if start in asked or start[0] in but or file_of(start[0]) is None:
            continue
        asked.add(start)
        module, name = start
        if name is not None:
            written = defining_module(module, name)
            if written != module:
                # A module of its own is meant as a whole, where a name of it is not.
                waiting.append((written, None if written == f"{module}.{name}" else name))
                continue
        content = _read(module)
        numbers = range(len(content.statements)) if name is None else content.bound.get(name, ())
        if name in content.imported:
            waiting.append(content.imported[name])
        for number in {*numbers, *content.always} - reached[module]:
            reached[module].add(number)
            statement = content.statements[number]
            waiting += statement.imports
            waiting += [(module, name) for name in statement.names if name in content.bound]
            waiting += [
                content.imported[name] for name in statement.names if name in content.imported
            ]
    return {
        module: _sha256(
            "\n".join(_read(module).statements[number].text for number in sorted(some))
        )
        for module, some in sorted(reached.items())
        if some
    }


@functools.cache
def _read(name):
    text = file_of(name).read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    statements, bound, imported, always = [], defaultdict(list), {}, []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= _bound_by_import(node)
        elif not _is_text(node) and not _for_types_alone(node):
            number = len(statements)
            for bound_name in _names_bound_by(node):
                bound[bound_name].append(number)
            if not isinstance(node, _DEFINITIONS):
                always.append(number)
            statements.append(_statement(node, lines))
    return _Module(tuple(statements), dict(bound), imported, tuple(always))


_DEFINITIONS = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def _statement(node, lines):
    walked = list(ast.walk(node))
    inner = [part for part in walked if isinstance(part, ast.Import | ast.ImportFrom)]
    return _Statement(
        _code(node, walked, lines),
        frozenset(part.id for part in walked if isinstance(part, ast.Name)),
        tuple(origin for part in inner for origin in _bound_by_import(part).values()),
    )


def _bound_by_import(node):
    """Of this package: local names, and where they come from."""
    if isinstance(node, ast.ImportFrom):
        found = {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    else:
        found = {alias.asname or _PACKAGE: (alias.name, None) for alias in node.names}
    return {name: origin for name, origin in found.items() if _inside(origin[0])}


def _names_bound_by(node):
    """Names that bring a statement with them: its own, and those that its decorators are about."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        about = [part for decorator in node.decorator_list for part in ast.walk(decorator)]
        return {node.name} | {part.id for part in about if isinstance(part, ast.Name)}
    targets = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return {part.id for part in targets if isinstance(part.ctx, ast.Store)}


def _code(node, walked, lines):
    """The lines of a statement but for blank ones, docstrings and lines of comment."""
    first = min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])
    kept = set(range(first, node.end_lineno + 1))
    strings = set()
    for part in walked:
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and _is_text(part.body[0]):
            kept -= set(range(part.body[0].lineno, part.body[0].end_lineno + 1))
        elif isinstance(part, ast.Constant | ast.JoinedStr) and part.end_lineno > part.lineno:
            strings |= set(range(part.lineno + 1, part.end_lineno + 1))
    return "\n".join(
        lines[number - 1]
        for number in sorted(kept)
        if number in strings or lines[number - 1].strip().partition("#")[0]
    )


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _for_types_alone(node):
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _inside(module):
    return module is not None and module.partition(".")[0] == _PACKAGE


def _sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()
