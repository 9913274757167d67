"""Kronecker ridge regression on a published fold, shared by the methods that are made of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kronbench.models import KronRidge
from kronbench.pairs import PairData

# Names of the kernels of both sides, and whether their vertices are permuted.
Kernels = tuple[str, str, bool]


class FoldRidges:
    """Kronecker ridge regression on a fold: each error and each prediction is made once.

    Methods choose among the same kernels, on the same validation part, and often choose the same.

    Parameters
    ----------
    problem : object with ``pairs`` of two kernels, and the ``dtype`` of the fits
    fold : PublishedFold
    y : (n,) array
        Affinities of all pairs of the fold.
    spec : mapping
        With ``regs`` and ``max_iter``.
    """

    def __init__(self, problem, fold, y, spec):
        self.problem, self.fold, self.y, self.spec = problem, fold, y, spec
        self._errors, self._predictions = {}, {}

    def errors(
        self,
        kernels: Kernels,
        effects: Sequence[float],
        validation: np.ndarray,
        train: np.ndarray,
    ) -> list[float]:
        """Mean squared errors (s,) for each of ``regs`` on the validation part, one for a fold."""
        key = kernels, tuple(effects)
        if key not in self._errors:
            regs = self.spec["regs"]
            X, mean = self.pairs(*kernels), self.y[train].mean()
            path = self._model(effects, regs[0]).path(
                X[train], self.y[train] - mean, regs, X[validation]
            )
            off = self.y[validation] - mean
            self._errors[key] = np.mean((off - path.final_test_scores(0.0)) ** 2, axis=1).tolist()
        return self._errors[key]

    def predictions(
        self,
        kernels: Kernels,
        effects: Sequence[float],
        reg: float,
        train: np.ndarray,
        test: np.ndarray,
    ) -> np.ndarray:
        """Predictions (t,) for the test pairs after a fit to the training pairs."""
        key = kernels, tuple(effects), reg, train.tobytes(), test.tobytes()
        if key not in self._predictions:
            X, mean = self.pairs(*kernels), self.y[train].mean()
            model = self._model(effects, reg).fit(X[train], self.y[train] - mean)
            self._predictions[key] = model.predict(X[test]) + mean
        return self._predictions[key]

    def pairs(self, drugs: str, targets: str, permuted: bool) -> PairData:
        """The pairs of the fold over these kernels."""
        return self.problem.pairs(drugs, targets, self.fold.rows, self.fold.cols, permuted)

    def _model(self, effects, reg):
        return KronRidge(
            reg=reg,
            row_kernel="precomputed",
            col_kernel="precomputed",
            row_effect=effects[0],
            col_effect=effects[1],
            max_iter=self.spec["max_iter"],
            tol=1e-5,
            product="dense",
            dtype=self.problem.dtype,
        )
