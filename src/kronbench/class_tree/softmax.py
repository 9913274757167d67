"""The multinomial logistic likelihood on blocks of scores, one row a document, one column a class.

Everything is local to a row; rows outside the training part count nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from kronbench.linalg.threads import PASS_WORTH_A_THREAD, at_most_threads

# Entries of a block that are exponentiated at a time: temporaries stay in the L2 cache.
_ENTRIES_OF_A_BLOCK = 2**15


class SoftmaxLoss:
    """Minus the log likelihood sum_i [logsumexp(u_i) - y_i'u_i] of scores U (n, C).

    ``targets`` are the class of each row (n,), or its distribution over the classes (n, C; Seeger
    2006, section 7.3). ``trains`` (n,) says which rows train; all do when None.
    """

    def __init__(self, targets: np.ndarray, n_classes: int, trains: np.ndarray | None = None):
        targets = np.asarray(targets)
        self.n_classes = n_classes
        self.trains = np.ones(len(targets), bool) if trains is None else np.asarray(trains)
        self.shares = targets if targets.ndim == 2 else None
        self.codes: Any = targets.astype(np.int64) if targets.ndim == 1 else None

    def evaluate(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """(value over the training part, probabilities (n, C) of all rows)."""
        losses, probabilities = self._losses(scores)
        return float(losses[self.trains].sum()), probabilities

    def held_out(self, scores: np.ndarray) -> float:
        """The same sum over the rows outside the training part."""
        return float(self._losses(scores)[0][~self.trains].sum())

    def gradient(self, probabilities: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Pi - y on the training part (or the given rows), zero elsewhere, (n, C)."""
        # This is g = pi - y of section 6.1.1.
        rows = self.trains if rows is None else rows
        gradient = np.where(rows[:, None], probabilities, 0)
        if self.shares is not None:
            gradient[rows] -= self.shares[rows].astype(gradient.dtype, copy=False)
        else:
            gradient[rows, self.codes[rows]] -= 1
        return gradient

    def mixed(self, probabilities: np.ndarray) -> np.ndarray:
        """(pi + y) / 2, at which the curvature is not yet tiny where the fit is poor."""
        mixed = 0.5 * probabilities
        if self.shares is not None:
            mixed += 0.5 * self.shares.astype(mixed.dtype, copy=False)
        else:
            mixed[np.arange(len(mixed)), self.codes] += 0.5
        return mixed

    def curvature(
        self, probabilities: np.ndarray, scores: np.ndarray, add: np.ndarray | None = None
    ) -> np.ndarray:
        """W x = pi o (x - pi'x) by rows, zero outside the training part; plus ``add``."""
        # This is W = D - D P_cls D of section 6.1.1. Zeros to add need no array of their own.
        out = np.zeros_like(scores) if add is None else np.empty_like(add)
        add = out if add is None else add
        with at_most_threads(scores.size / PASS_WORTH_A_THREAD):
            _add_curvature(probabilities, self.trains, scores, add, out)
        return out

    def _losses(self, scores):
        """(n,) of the rows, and their probabilities."""
        # Minus log P(y_i | u_i) is l_i - y_i'u_i with l_i = logsumexp(u_i) (Eq. 1).
        probabilities, normalizers = softmax(scores)
        if self.shares is not None:
            targets = np.einsum("ij,ij->i", scores, self.shares, dtype=np.float64)
        else:
            targets = scores[np.arange(len(scores)), self.codes].astype(np.float64)
        return normalizers - targets, probabilities


def softmax(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(probabilities (n, C), logsumexp (n,) in double precision) of each row of scores."""
    probabilities = np.empty_like(scores)
    normalizers = np.empty(len(scores))
    step = max(1, _ENTRIES_OF_A_BLOCK // max(1, scores.shape[1]))
    for start in range(0, len(scores), step):
        rows = slice(start, start + step)
        # The largest score is taken off, so that no exponential overflows.
        largest = scores[rows].max(axis=1)
        part = np.subtract(scores[rows], largest[:, None], out=probabilities[rows])
        np.exp(part, out=part)
        sums = part.sum(axis=1)
        part /= sums[:, None]
        normalizers[rows] = np.log(sums.astype(np.float64)) + largest
    return probabilities, normalizers


@njit(parallel=True, cache=True, fastmath={"reassoc", "contract"})
def _add_curvature(probabilities, rows, scores, add, out):
    """out[i] = add[i] + pi_i o (x_i - pi_i'x_i) where the row trains; ``out`` may be ``add``."""
    for i in prange(len(rows)):
        out[i] = add[i]
        if rows[i]:
            mean = 0.0
            for c in range(scores.shape[1]):
                mean += probabilities[i, c] * scores[i, c]
            for c in range(scores.shape[1]):
                out[i, c] += probabilities[i, c] * (scores[i, c] - mean)
