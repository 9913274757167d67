"""Rows of the table of statements."""

import numpy as np


def row(
    key,
    place,
    name,
    statement,
    ours=None,
    reference=None,
    *,
    operations=None,
    cost=None,
    plain=None,
):
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


def vanishing(key, place, name, statement, values, scale=1.0):
    """A row whose ``deviation`` is max|values| / scale: of ``values`` that should be 0."""
    deviation = float(np.abs(values).max() / scale)
    return row(key, place, name, statement) | {"deviation": deviation}
