"""Single random splits of pairs by scikit-learn, as scripts of the field draw them."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import ShuffleSplit

from kronbench.errors import InputError
from kronbench.evaluation.splits import SETTINGS
from kronbench.pairs import PairData


def shuffle_split(
    X: PairData, setting: str, test_size: float, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test positions of one random split in a setting of pairs.

    The pairs (setting A), the row vertices (B), the column vertices (C), or both (D) that occur
    are divided by ``ShuffleSplit(1, test_size=test_size, random_state=random_state)``, both sides
    of D by the same seed. In D pairs with one new vertex are in neither part.

    Parameters
    ----------
    X : PairData, n pairs
    setting : {"A", "B", "C", "D"}
    test_size : float
        Share of the pairs or vertices that are tested.
    random_state : int

    Returns
    -------
    train, test : integer arrays, sorted

    Raises
    ------
    InputError
        The setting is unknown.

    References
    ----------
    Viljanen, Airola & Pahikkala 2022: their settings 1 to 4 are A, C, B and D with drugs as rows.
    """
    if setting not in SETTINGS:
        raise InputError(f"setting={setting!r} is unknown: give 'A', 'B', 'C' or 'D'")

    def drawn(items):
        cut = ShuffleSplit(1, test_size=test_size, random_state=random_state)
        return items[next(cut.split(items))[1]]

    if setting == "A":
        tested = np.zeros(len(X), bool)
        tested[drawn(np.arange(len(X)))] = True
        return np.flatnonzero(~tested), np.flatnonzero(tested)
    sides = {"B": [X.rows], "C": [X.cols], "D": [X.rows, X.cols]}[setting]
    new = [np.isin(side, drawn(np.unique(side))) for side in sides]
    return np.flatnonzero(~np.any(new, axis=0)), np.flatnonzero(np.all(new, axis=0))
