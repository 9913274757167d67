"""Cross-validation of pairs: known vertices, new rows, new columns, or both new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold, ShuffleSplit, StratifiedKFold
from sklearn.utils import check_random_state

from kronbench.errors import InputError
from kronbench.pairs import PairData

SETTINGS = {"A": "random pairs", "B": "new rows", "C": "new columns", "D": "new rows and columns"}
Splits: TypeAlias = Iterator[tuple[np.ndarray, np.ndarray]]


class PairSplitter(BaseCrossValidator):
    """What all splits of pairs have: ``get_n_splits``, and ``split`` with checked pairs."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of test sets; no argument is read."""
        return self._n_tests

    def split(self, X: PairData, y: Any = None, groups: Any = None) -> Splits:
        """Yield (train, test) positions of pairs; ``groups`` is ignored."""
        if not isinstance(X, PairData):
            raise InputError(f"X is a {type(X).__name__}: split a PairData")
        yield from self._split(X, y)


def vertex_blocks(folds: Sequence[np.ndarray], shape: tuple[int, ...]) -> Splits:
    """(train, test) of each block of folds (n,) of one side or two: training shares none of it."""
    # Each block has its own pairs, and those that share no fold with it: the sum over all other
    # parts of each side in turn.
    counts = np.zeros(shape, dtype=np.intp)
    np.add.at(counts, tuple(folds), 1)
    train_counts = counts
    for axis in range(len(shape)):
        train_counts = train_counts.sum(axis=axis, keepdims=True) - train_counts
    for name, sizes in (("test", counts), ("training", train_counts)):
        if not sizes.all():
            block = tuple(np.argwhere(sizes == 0)[0].tolist())
            raise InputError(
                f"block {block} of the {' x '.join(map(str, shape))} split has "
                f"no {name} pairs: use fewer folds or another random_state"
            )
    # The pairs inside by all sides test, those inside by none train.
    for block in np.ndindex(shape):
        inside = [fold == part for fold, part in zip(folds, block, strict=True)]
        yield np.flatnonzero(~np.any(inside, axis=0)), np.flatnonzero(np.all(inside, axis=0))


class VertexDisjointKFold(PairSplitter):
    """Cross-validation in which training and test pairs share no vertex.

    Row vertices are divided at random into ``n_row_folds`` parts of nearly equal size, column
    vertices into ``n_col_folds``; each block of the product is the test set once, in row-major
    order, and the pairs that share neither a row nor a column vertex with the block train (four of
    nine blocks for 3 x 3: Airola & Pahikkala 2018, section 5.1). Only vertices that occur in a
    pair are divided, so that splits nest.

    Parameters
    ----------
    n_row_folds, n_col_folds : int >= 2
        Number of parts of the row and of the column vertices.
    random_state : int, RandomState or None
        With an int every call of ``split`` and ``blocks`` uses the same folds.
    """

    def __init__(self, n_row_folds=3, n_col_folds=3, random_state=None):
        self.n_row_folds = n_row_folds
        self.n_col_folds = n_col_folds
        self.random_state = random_state

    @property
    def _n_tests(self):
        return self.n_row_folds * self.n_col_folds

    def blocks(self, X: PairData) -> tuple[np.ndarray, np.ndarray]:
        """Row fold and column fold of each pair, two (n,) integer arrays."""
        rng = check_random_state(self.random_state)
        return (
            _divide(X.rows, self.n_row_folds, "row", rng, "n_row_folds"),
            _divide(X.cols, self.n_col_folds, "col", rng, "n_col_folds"),
        )

    def _split(self, X, y):
        return vertex_blocks(self.blocks(X), (self.n_row_folds, self.n_col_folds))


class VertexKFold(PairSplitter):
    """Cross-validation in which the test pairs have new vertices on one side.

    The vertices of that side that occur in a pair are divided at random into ``n_splits`` parts of
    nearly equal size; the pairs of each part are the test set once, all others train.

    Parameters
    ----------
    n_splits : int >= 2, default 5
    side : {"rows", "cols"}, default "rows"
    random_state : as for :class:`VertexDisjointKFold`
    """

    def __init__(self, n_splits=5, side="rows", random_state=None):
        self.n_splits = n_splits
        self.side = side
        self.random_state = random_state

    @property
    def _n_tests(self):
        return self.n_splits

    def _split(self, X, y):
        if self.side not in ("rows", "cols"):
            raise InputError(f"side={self.side!r} is unknown: give 'rows' or 'cols'")
        rng = check_random_state(self.random_state)
        fold = _divide(getattr(X, self.side), self.n_splits, self.side[:-1], rng, "n_splits")
        return vertex_blocks([fold], (self.n_splits,))


class SettingKFold(PairSplitter):
    """Repeated cross-validation in one of the four settings of pairs (Stock et al. 2016).

    A pair to predict has a known row and a known column vertex (A), a new row (B), a new column
    (C), or both new (D). In each repeat every pair is tested once: on parts of the pairs (A, with
    as many of each label where ``y`` has two), of the row vertices (B) or of the column vertices
    (C), or on blocks of both (D), where pairs that share a vertex with the block do not train.

    Parameters
    ----------
    setting : {"A", "B", "C", "D"}, default "A"
    n_splits : int >= 2, default 3
        Parts of the pairs, or of the vertices of a side: D has its square for test sets.
    n_repeats : int >= 1, default 1
        Number of random splits.
    random_state : as for :class:`VertexDisjointKFold`
    """

    def __init__(self, setting="A", n_splits=3, n_repeats=1, random_state=None):
        self.setting = setting
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state

    @property
    def test_over_train(self) -> float:
        """Test points for each training point, counted in what is new (for intervals)."""
        return 1 / (self.n_splits - 1)

    @property
    def _n_tests(self):
        return self.n_repeats * self.n_splits ** (2 if self.setting == "D" else 1)

    def _split(self, X, y):
        _check_setting(self.setting)
        check_count(self.n_repeats, "n_repeats", 1)
        check_count(self.n_splits, "n_splits", 2)
        n, rng = self.n_splits, check_random_state(self.random_state)
        if self.setting == "A" and n > len(X):
            raise InputError(f"n_splits is {n} for {len(X)} pairs: give 2 or more, and fewer")
        y = np.zeros(len(X)) if y is None else y
        # Each repeat is a splitter of its own, with a seed of its own.
        for _ in range(self.n_repeats):
            seed = int(rng.randint(2**31 - 1))
            if self.setting == "D":
                yield from VertexDisjointKFold(n, n, seed).split(X)
            elif self.setting != "A":
                yield from VertexKFold(n, "rows" if self.setting == "B" else "cols", seed).split(X)
            else:
                # Labels go by codes: scikit-learn takes two labels with decimals for real ones.
                _, code, counts = np.unique(y, return_inverse=True, return_counts=True)
                kind = StratifiedKFold if len(counts) == 2 and counts.min() >= n else KFold
                yield from kind(n, shuffle=True, random_state=seed).split(code, code)


def shuffle_split(
    X: PairData, setting: str, test_size: float, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sorted training and test positions of one random split in a setting of pairs.

    The pairs (setting A), the row vertices (B), the column vertices (C), or both (D) that occur
    are divided by ``ShuffleSplit(1, test_size=test_size, random_state=random_state)``, both sides
    of D by the same seed. In D pairs with one new vertex are in neither part. Settings 1 to 4 of
    Viljanen, Airola & Pahikkala 2022 are A, C, B and D with drugs as rows.
    """
    _check_setting(setting)
    cut = ShuffleSplit(1, test_size=test_size, random_state=random_state)
    sides = {"A": [np.arange(len(X))], "B": [X.rows], "C": [X.cols], "D": [X.rows, X.cols]}
    # Each side that is split has a mask of the pairs whose vertex is in the test part.
    new = []
    for side in sides[setting]:
        items = np.unique(side)
        new.append(np.isin(side, items[next(cut.split(items))[1]]))
    return np.flatnonzero(~np.any(new, axis=0)), np.flatnonzero(np.all(new, axis=0))


def n_two_thirds(n: int) -> int:
    """Two thirds of ``n``, rounded up: the training part of n documents (Seeger 2006, 8.2)."""
    return -(-2 * n // 3)


def two_thirds(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Training and test positions: a random permutation of 0..n-1, cut after two thirds."""
    order = rng.permutation(n)
    return order[: n_two_thirds(n)], order[n_two_thirds(n) :]


def even_folds(n: int, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """(n,) random folds 0..n_folds-1, whose sizes differ by at most one."""
    return rng.permutation(np.arange(n) % n_folds)


def _check_setting(setting):
    if setting not in SETTINGS:
        raise InputError(f"setting={setting!r} is unknown: give 'A', 'B', 'C' or 'D'")


def check_count(value: object, name: str, least: int) -> None:
    """InputError unless a value is a whole number of at least ``least``."""
    if not (isinstance(value, Integral) and int(value) >= least):
        raise InputError(f"{name} is {value!r}: give a whole number, at least {least}")


def _divide(vertices, n_folds, side, rng, name):
    """Fold of each pair when the vertices that occur are divided at random."""
    check_count(n_folds, name, 2)
    occurring, position = np.unique(vertices, return_inverse=True)
    if n_folds > len(occurring):
        raise InputError(
            f"{name} is {n_folds}, but only {len(occurring)} {side} vertices occur in the "
            "pairs: use fewer folds"
        )
    fold = np.arange(len(occurring)) % n_folds
    return rng.permutation(fold)[position]
