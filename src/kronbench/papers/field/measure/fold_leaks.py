"""Test pairs of a published fold by what they have of their like among the training pairs."""

from __future__ import annotations

import numpy as np

from kronbench.datasets import PublishedFold

_NEAR = 0.9  # similarity from which vertices are nearly identical


class Leaks:
    """Which test pairs have twins, or nearly identical pairs, in training.

    Parameters
    ----------
    similarities : two square arrays
        Of all row and of all column vertices.
    fold : PublishedFold

    Attributes
    ----------
    parts : dict of (t,) boolean arrays
        "all" test pairs; those with a "twin" in training, with a "near" pair, and "other" ones.
    counts : dict of int
        ``new_vertices`` of the test set, and those of them ``with_twin`` and ``with_near``.
    """

    def __init__(self, similarities: tuple[np.ndarray, np.ndarray], fold: PublishedFold):
        self.fold = fold
        near = [_nearly_identical(S) for S in similarities]
        known = np.zeros([len(S) for S in similarities], np.float32)
        known[fold.rows[fold.train], fold.cols[fold.train]] = 1
        reach = near[0].astype(np.float32) @ known @ near[1].astype(np.float32)
        related = reach[fold.rows[fold.test], fold.cols[fold.test]] > 0
        found = fold.leak(*similarities)
        self.parts = {
            "all": np.ones(len(fold.test), bool),
            "twin": found.pairs,
            "near": related & ~found.pairs,
            "other": ~related & ~found.pairs,
        }
        self.new = fold.new_rows, fold.new_cols
        # vertices that are nearly those that are new in the test set
        self.close = [N[:, new].any(axis=1) for N, new in zip(near, self.new, strict=True)]
        trained = [np.unique(side[fold.train]) for side in (fold.rows, fold.cols)]
        has_near = [
            N[np.ix_(new, old)].any(axis=1)
            for N, new, old in zip(near, self.new, trained, strict=True)
        ]
        self.counts = {
            "new_vertices": sum(map(len, self.new)),
            "with_twin": int(found.rows.sum() + found.cols.sum()),
            "with_near": int(sum(side.sum() for side in has_near)),
        }

    def unrelated(self, train: np.ndarray) -> np.ndarray:
        """Training pairs without the vertices that are nearly new ones of the test set."""
        rows, cols = self.fold.rows[train], self.fold.cols[train]
        return train[~(self.close[0][rows] | self.close[1][cols])]


def _nearly_identical(similarity):
    diagonal = np.sqrt(np.diag(similarity))
    near = similarity / np.outer(diagonal, diagonal) >= _NEAR
    np.fill_diagonal(near, True)
    return near | near.T
