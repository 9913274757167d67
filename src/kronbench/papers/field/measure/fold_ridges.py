"""Kronecker ridge regression on a published fold, shared by the methods that are made of it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from kronbench.models import KronRidge
from kronbench.pairs import PairData
from kronbench.runner.clock import Stopwatch

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
        self._made = {}
        self._spared = 0.0

    def errors(
        self,
        kernels: Kernels,
        effects: Sequence[float],
        validation: np.ndarray,
        train: np.ndarray,
    ) -> list[float]:
        """Mean squared errors (s,) for each of ``regs`` on the validation part, one for a fold."""
        regs = self.spec["regs"]

        def made():
            X, mean = self.pairs(*kernels), self.y[train].mean()
            path = self.model(effects, regs[0]).path(
                X[train], self.y[train] - mean, regs, X[validation]
            )
            off = self.y[validation] - mean
            return np.mean((off - path.final_test_scores(0.0)) ** 2, axis=1).tolist()

        return self._once(made, kernels, tuple(effects))

    def predictions(
        self,
        kernels: Kernels,
        effects: Sequence[float],
        reg: float,
        train: np.ndarray,
        test: np.ndarray,
    ) -> np.ndarray:
        """Predictions (t,) for the test pairs after a fit to the training pairs."""

        def made():
            X, mean = self.pairs(*kernels), self.y[train].mean()
            model = self.model(effects, reg).fit(X[train], self.y[train] - mean)
            return model.predict(X[test]) + mean

        return self._once(made, kernels, tuple(effects), reg, train.tobytes(), test.tobytes())

    def model(self, effects: Sequence[float], reg: float) -> KronRidge:
        """Kronecker ridge regression with this weight, not fitted."""
        return KronRidge(
            **self.parameters(effects, reg),
            solver="minres",
            max_iter=self.spec["max_iter"],
            tol=1e-5,
        )

    def parameters(self, effects: Sequence[float], reg: float) -> dict:
        """What all machines on the kernels of the fold have in common."""
        return {
            "reg": reg,
            "row_kernel": "precomputed",
            "col_kernel": "precomputed",
            "row_effect": effects[0],
            "col_effect": effects[1],
            "product": "dense",
            "dtype": self.problem.dtype,
        }

    def clock(self) -> float:
        """Seconds since some start, as if nothing had been made before: what a method takes."""
        return time.perf_counter() + self._spared

    def pairs(self, drugs: str, targets: str, permuted: bool) -> PairData:
        """The pairs of the fold over these kernels."""
        return self.problem.pairs(drugs, targets, self.fold.rows, self.fold.cols, permuted)

    def _once(self, make, *key):
        """What ``make`` gives, made when it is first asked for."""
        if key in self._made:
            self._spared += self._made[key][1]
        else:
            with Stopwatch() as watch:
                made = make()
            self._made[key] = made, watch.seconds
        return self._made[key][0]
