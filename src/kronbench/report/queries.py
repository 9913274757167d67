"""What the query of a claim names: its columns, and the values that it compares them with."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kronbench.errors import InputError


@dataclass(frozen=True)
class Compared:
    """A column of a query, with values that it is compared with for equality.

    ``asked`` says whether the rows shall have these values, and not others.
    """

    column: str
    values: tuple = ()
    asked: bool = False


def columns_compared(where: str, place: str = "a claim") -> Iterator[Compared]:
    """Each column that a query names, with the values that it is compared with for equality.

    Raises
    ------
    InputError
        The query cannot be read; ``place`` is where it stands.
    """
    quoted = re.findall("`([^`]*)`", where)
    plain = re.sub("`[^`]*`", lambda match: f"_{quoted.index(match[0][1:-1])}_", where)
    names = {f"_{position}_": name for position, name in enumerate(quoted)}
    try:
        tree = ast.parse(plain.strip(), mode="eval")
    except SyntaxError as error:
        raise InputError(
            f"{place} has a 'where' that cannot be read: {where} ({error.msg})"
        ) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield Compared(names.get(node.id, node.id))
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
            column = names.get(node.left.id, node.left.id)
            for operator, side in zip(node.ops, node.comparators, strict=True):
                if isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                    asked = isinstance(operator, ast.Eq | ast.In)
                    yield Compared(column, _constants(side), asked)


def _constants(side):
    entries = side.elts if isinstance(side, ast.Tuple | ast.List) else [side]
    found = []
    for entry in entries:
        with contextlib.suppress(ValueError):  # another column, or what is computed
            found.append(ast.literal_eval(entry))
    return tuple(found)
