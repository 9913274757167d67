"""Two-step ridge regression by RLScore (Pahikkala & Airola 2016), which is optional.

Importing this module without it raises ModuleNotFoundError: the reason to skip the solver.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from rlscore.learner import TwoStepRLS

_LEFT_OUT = {
    "A": "in_sample_loo",
    "B": "leave_x1_out",
    "C": "leave_x2_out",
    "D": "out_of_sample_loo",
}


class TwoStepRLScore:
    """RLScore's ``TwoStepRLS`` from kernel matrices, for leave-one-out predictions alone.

    The model and the settings of :class:`~kronbench.models.TwoStepRidge`; its ``loo_grid`` makes
    the same predictions.
    """

    def fit_matrix(self, K: np.ndarray, G: np.ndarray, Y: np.ndarray) -> Self:
        """Take in positive semidefinite K (m, m), G (q, q) and labels Y (m, q); O(m^3 + q^3)."""
        self._shape = Y.shape
        # any weights: the learner is solved anew for each point of a grid
        self._learner = TwoStepRLS(
            K1=K, K2=G, Y=np.ravel(Y, order="F"), regparam1=1.0, regparam2=1.0
        )
        return self

    def loo_grid(
        self, setting: str, regs_rows: ArrayLike, regs_cols: ArrayLike
    ) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Yields (i, j), (m, q) leave-one-out predictions for each point of a grid of weights.

        O(m^2 q + m q^2) a point; B decomposes K at each call, and C decomposes G.
        """
        predict = getattr(self._learner, _LEFT_OUT[setting])
        for (i, reg_rows), (j, reg_cols) in itertools.product(
            enumerate(np.asarray(regs_rows, dtype=float)),
            enumerate(np.asarray(regs_cols, dtype=float)),
        ):
            self._learner.solve(reg_rows, reg_cols)
            yield (i, j), predict().reshape(self._shape, order="F")
