"""A library of others, for tests: two-step regression that is wrong where one weight is large."""

import numpy as np

from kronbench.models import TwoStepRidge

LARGE, OFF = 10.0, 0.25


class Peer:
    """Predictions of weights ``LARGE`` of the rows are off by ``OFF`` of the largest."""

    def fit_matrix(self, K, G, Y):
        self._ours = TwoStepRidge(row_kernel="precomputed", col_kernel="precomputed")
        self._ours.fit_matrix(K, G, Y)
        return self

    def loo_grid(self, setting, regs_rows, regs_cols):
        for (i, j), F in self._ours.loo_grid(setting, regs_rows, regs_cols):
            yield (i, j), F + (OFF * np.abs(F).max() if regs_rows[i] == LARGE else 0.0)
