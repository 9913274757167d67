"""Test pairs of a published fold by what they have of their like among the training pairs."""

import numpy as np

_NEAR = 0.9  # similarity from which vertices are nearly identical


class Leaks:
    """Which test pairs have twins, or nearly identical pairs, in training.

    ``parts`` are masks (t,) of "all" test pairs, those with a "twin" in training, those with a
    "near" pair, and "other" ones. ``counts`` has the ``new_vertices`` of the test set, and those
    of them ``with_twin`` and ``with_near``.
    """

    def __init__(self, similarities, fold):
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
        new = fold.new_rows, fold.new_cols
        trained = fold.rows[fold.train], fold.cols[fold.train]
        with_near = 0
        for N, fresh, old in zip(near, new, trained, strict=True):
            with_near += N[np.ix_(fresh, np.unique(old))].any(axis=1).sum()
        self.counts = {
            "new_vertices": sum(map(len, new)),
            "with_twin": int(found.rows.sum() + found.cols.sum()),
            "with_near": int(with_near),
        }
        # vertices that are nearly those that are new in the test set
        self._close = [N[:, fresh].any(axis=1) for N, fresh in zip(near, new, strict=True)]

    def unrelated(self, train: np.ndarray) -> np.ndarray:
        """Training pairs without the vertices that are nearly new ones of the test set."""
        rows, cols = self.fold.rows[train], self.fold.cols[train]
        return train[~(self._close[0][rows] | self._close[1][cols])]


def _nearly_identical(similarity):
    diagonal = np.sqrt(np.diag(similarity))
    near = similarity / np.outer(diagonal, diagonal) >= _NEAR
    np.fill_diagonal(near, True)
    return near | near.T
