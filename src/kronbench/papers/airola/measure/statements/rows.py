"""Rows of the table of statements."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def row(
    key: str,
    place: str,
    name: str,
    statement: str,
    ours: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    *,
    operations: float | None = None,
    cost: float | None = None,
    plain: float | None = None,
) -> dict:
    """A row whose ``deviation`` is max|ours - reference| / max|reference|, NaN without sides.

    Parameters
    ----------
    key : str
        The statement in the files of claims.
    place, name, statement : str
        Where the paper has it, what the row is called, what is said.
    ours, reference : array_like of one shape, optional
        Both sides of the statement.
    operations, cost, plain : int, optional
        Operations of the proposed way, the argument of its printed O(), operations of the way
        that it replaces.
    """
    deviation = np.nan
    if ours is not None:
        ours, reference = np.asarray(ours, float), np.asarray(reference, float)
        deviation = np.abs(ours - reference).max() / max(np.abs(reference).max(), 1e-300)
    return {
        "key": key,
        "place": place,
        "name": name,
        "statement": statement,
        "deviation": float(deviation),
        "operations": operations,
        "cost": cost,
        "plain": plain,
    }


def vanishing(
    key: str, place: str, name: str, statement: str, values: ArrayLike, scale: float = 1.0
) -> dict:
    """A row whose ``deviation`` is max|values| / scale: of ``values`` that should be 0."""
    deviation = float(np.abs(values).max() / scale)
    return row(key, place, name, statement) | {"deviation": deviation}
