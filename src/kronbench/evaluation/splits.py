"""Zero-shot cross-validation: test pairs whose row and column vertex are both new."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from kronbench.errors import InputError
from kronbench.pairs import PairData


class VertexDisjointKFold(BaseCrossValidator):
    """Cross-validation in which training and test pairs share no vertex.

    Row vertices are divided at random into ``n_row_folds`` parts of nearly equal size, column
    vertices into ``n_col_folds``; each block of the product is the test set once, and the pairs
    that share neither a row nor a column vertex with the block train (four of nine blocks for
    3 x 3).
    Only vertices that occur in a pair are divided, so that splits nest.

    Parameters
    ----------
    n_row_folds, n_col_folds : int >= 2
        Number of parts of the row and of the column vertices.
    random_state : int, RandomState or None
        An int makes every call of ``split`` and ``blocks`` divide alike.

    References
    ----------
    Airola & Pahikkala 2018, section 5.1 and figure 2.
    """

    def __init__(self, n_row_folds=3, n_col_folds=3, random_state=None):
        self.n_row_folds = n_row_folds
        self.n_col_folds = n_col_folds
        self.random_state = random_state

    def get_n_splits(
        self,
        X: PairData | None = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Number of blocks, ``n_row_folds * n_col_folds``."""
        return self.n_row_folds * self.n_col_folds

    def blocks(self, X: PairData) -> tuple[np.ndarray, np.ndarray]:
        """Row fold and column fold of each pair, two (n,) integer arrays.

        Raises
        ------
        InputError
            ``X`` is no PairData, a number of folds is below two or above the number of vertices.
        """
        if not isinstance(X, PairData):
            raise InputError(f"X is a {type(X).__name__}: split a PairData")
        rng = check_random_state(self.random_state)
        return (
            _divide(X.rows, self.n_row_folds, "row", rng),
            _divide(X.cols, self.n_col_folds, "col", rng),
        )

    def split(
        self, X: PairData, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (train, test) positions of pairs, the blocks in row-major order.

        ``y`` and ``groups`` are ignored. O(n) for each split.

        Raises
        ------
        InputError
            As ``blocks``; or a block, or the training pairs of a block, are empty.
        """
        row_fold, col_fold = self.blocks(X)
        counts = np.zeros((self.n_row_folds, self.n_col_folds), dtype=np.intp)
        np.add.at(counts, (row_fold, col_fold), 1)
        in_row, in_col = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
        train_counts = counts.sum() - in_row - in_col + counts
        for name, sizes in (("test", counts), ("training", train_counts)):
            if not sizes.all():
                a, b = np.argwhere(sizes == 0)[0]
                raise InputError(
                    f"block ({a}, {b}) of the {self.n_row_folds} x {self.n_col_folds} split has "
                    f"no {name} pairs: use fewer folds or another random_state"
                )
        for a in range(self.n_row_folds):
            for b in range(self.n_col_folds):
                in_rows, in_cols = row_fold == a, col_fold == b
                yield np.flatnonzero(~(in_rows | in_cols)), np.flatnonzero(in_rows & in_cols)


def _divide(vertices, n_folds, side, rng):
    """Fold of each pair when the vertices that occur are divided at random."""
    occurring, position = np.unique(vertices, return_inverse=True)
    if n_folds < 2:
        raise InputError(f"n_{side}_folds is {n_folds}: give at least 2")
    if n_folds > len(occurring):
        raise InputError(
            f"n_{side}_folds is {n_folds}, but only {len(occurring)} {side} vertices occur in the "
            "pairs: use fewer folds"
        )
    fold = np.arange(len(occurring)) % n_folds
    return rng.permutation(fold)[position]
