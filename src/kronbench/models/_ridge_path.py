"""What one Krylov space tells of ridge regression for many regularization weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kronbench.errors import InputError
from kronbench.linalg import ShiftedSolutions


@dataclass(frozen=True)
class RidgePath:
    """Ridge regression for s regularization weights and each number of iterations 1..K.

    Attributes
    ----------
    regs : (s,) array
    objective : (s, K) array
        Regularized risk.
    solutions : ShiftedSolutions
    test_images : (K, t) array or None
        Scores of the Lanczos vectors for the test pairs.
    stop_reasons : tuple of s strings
        "tol", "max_iter", "breakdown", or "rounding" where the recurrence has left the system.
    last : (s,) array of int
        Position of the last iterate for each weight that is what it claims to be: K - 1, or less
        where rounding has spoilt the later ones.
    intercept : float
        Added to the test scores.
    """

    regs: np.ndarray
    objective: np.ndarray
    solutions: ShiftedSolutions
    test_images: np.ndarray | None
    stop_reasons: tuple[str, ...]
    last: np.ndarray
    intercept: float = 0.0

    @property
    def n_iter(self) -> int:
        """Iterations made, K."""
        return self.solutions.n_iter

    def dual_coef(self, j: int, k: int | None = None) -> np.ndarray:
        """Dual coefficients (n,) for ``regs[j]`` after k + 1 iterations, or ``last[j]`` + 1."""
        return self.solutions.iterate(j, int(self.last[j]) if k is None else k)

    def test_scores(self, j: int) -> np.ndarray:
        """Test predictions (K, t) of all iterates for ``regs[j]``."""
        self._check_test_pairs()
        return self._with_intercept(self.solutions.images(j, self.test_images))

    def final_test_scores(self, tol: float) -> np.ndarray:
        """Test predictions (s, t), for each weight of the iterate that a fit to it ends with.

        The first whose residual is at most ``tol`` times the labels' norm, else that of ``last``.
        """
        self._check_test_pairs()
        found = self.solutions
        ends = np.minimum(first_within(found, tol), self.last)
        return self._with_intercept(
            found.coefficients[np.arange(len(ends)), ends] @ self.test_images
        )

    def _with_intercept(self, scores):
        return scores + self.intercept if self.intercept else scores

    def _check_test_pairs(self):
        if self.test_images is None:
            raise InputError("the path has no test pairs: give X_test to KronRidge.path")


def first_within(found: ShiftedSolutions, tol: float) -> np.ndarray:
    """Positions (s,) of the first iterates whose residual has fallen by ``tol``; else the last."""
    reached = found.residual_norms <= tol * found.b_norm
    return np.where(reached.any(axis=1), reached.argmax(axis=1), found.n_iter - 1)
