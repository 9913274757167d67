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
    """

    regs: np.ndarray
    objective: np.ndarray
    solutions: ShiftedSolutions
    test_images: np.ndarray | None

    @property
    def n_iter(self) -> int:
        """Iterations made, K."""
        return self.solutions.n_iter

    def dual_coef(self, j: int, k: int = -1) -> np.ndarray:
        """Dual coefficients (n,) for ``regs[j]`` after k + 1 iterations, by default the last."""
        return self.solutions.iterate(j, k)

    def test_scores(self, j: int) -> np.ndarray:
        """Test predictions (K, t) of all iterates for ``regs[j]``."""
        self._check_test_pairs()
        return self.solutions.images(j, self.test_images)

    def final_test_scores(self, tol: float) -> np.ndarray:
        """Test predictions (s, t), for each weight of the iterate that a fit to it ends with.

        The first whose residual is at most ``tol`` times the labels' norm, else the last.
        """
        self._check_test_pairs()
        found = self.solutions
        reached = found.residual_norms <= tol * found.b_norm
        last = np.where(reached.any(axis=1), reached.argmax(axis=1), self.n_iter - 1)
        return found.coefficients[np.arange(len(last)), last] @ self.test_images

    def _check_test_pairs(self):
        if self.test_images is None:
            raise InputError("the path has no test pairs: give X_test to KronRidge.path")
