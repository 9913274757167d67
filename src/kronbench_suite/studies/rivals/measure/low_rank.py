"""Test errors of low-rank factors by the way their pivots are chosen.

Parameters
----------
points : most training points
splits : number of random splits
repetitions : number of times that random pivots are drawn
ranks : numbers of pivots
lookahead : number of look-ahead columns
gammas : kernel widths to choose from, times the number of features
regs : regularization weights to choose from
selection_points : training points that choose
"""

from functools import partial
from time import process_time

import numpy as np
import pandas as pd
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import LabelBinarizer, StandardScaler
from tqdm import tqdm

from kronbench.linalg import KernelColumns, LowRankFactor, csi, gram, incomplete_cholesky
from kronbench.linalg.lowrank import CholeskySteps, factor_threads
from kronbench.linalg.lssvm_paths import LSSVMPath, PrefixPath, solve_full
from kronbench_suite.runner.columns import Columns

PIVOTS = ("CSI", "RPCholesky", "greedy", "uniform")
_DRAWN = ("RPCholesky", "uniform")
# A point is spanned where the pivots so far leave less than this part of its diagonal entry.
# Pivots in no order of size magnify rounding errors: with 1e-10 the residual of `adult` became
# negative in 10 of 48 factors, from 1e-8 on in none.
_SPANNED, _SPANNED_AT_RANDOM = 1e-10, 1e-7

COLUMNS = Columns(
    key=("pivots", "split", "repetition", "rank"),
    repeats=("split", "repetition"),
    clock=("cpu_seconds",),
)


def run(spec, data, rng):
    """One row for each split, way to choose pivots, draw of these, and rank.

    ``columns`` of the kernel matrix were read until then, of at most ``budget``. A factor that
    ends earlier stays. Rows of the "full kernel" have all points for their rank. ``on_edge`` says
    that width or regularization lie at an end of their grid.
    """
    X, y = data["X"], data["y"]
    n_train = min(spec["points"], 3 * len(X) // 4)
    seed = int(rng.integers(2**31))
    sizes = {"train_size": n_train, "test_size": n_train // 3}
    splitter = ShuffleSplit(spec["splits"], **sizes, random_state=seed)
    rows = []
    for split, (train, test) in enumerate(tqdm(splitter.split(X), data.name, spec["splits"])):
        scale = X[train].std(axis=0)
        problem = _Problem(X / np.where(scale > 0, scale, 1.0), y, train, test, spec)
        rows += [{"split": split, **row} for row in problem.rows(rng)]
    return pd.DataFrame(rows).assign(training=n_train, agreement=data.agreement)


class _Problem:
    """One split with its choice of width and weight."""

    def __init__(self, X, y, train, test, spec):
        self.spec, self.X, self.X_test, self.y_test = spec, X[train], X[test], y[test]
        self.targets, self.decide = coded_targets(y[train])
        part = slice(spec["selection_points"])
        regs, gammas = np.sort(spec["regs"]), np.sort(spec["gammas"]) / X.shape[1]
        errors = []
        for gamma in gammas:
            path = LSSVMPath(
                gram(self.X[part], kernel="gaussian", gamma=gamma), self.targets[part]
            )
            left_out = path.leave_one_out(regs)
            errors.append([error_of(y[train][part], self.decide(each)) for each in left_out])
        i, j = np.unravel_index(np.argmin(errors), np.shape(errors))
        self.gamma, self.reg = gammas[i], regs[j]
        self.on_edge = int(i in (0, len(gammas) - 1) or j in (0, len(regs) - 1))

    def rows(self, rng):
        """Rows of the full kernel and of each way to choose pivots."""
        chosen = {"gamma p": self.gamma * self.X.shape[1], "reg": self.reg}
        chosen["on_edge"] = self.on_edge
        kernel = partial(gram, kernel="gaussian", gamma=self.gamma)
        began = process_time()
        coef, intercept = solve_full(kernel(self.X), self.targets, self.reg)
        full = {"cpu_seconds": process_time() - began, "trace_left": 0.0}
        full |= dict.fromkeys(("rank", "budget", "columns"), len(self.X))
        responses = kernel(self.X_test, self.X) @ coef + intercept
        full["error"] = error_of(self.y_test, self.decide(responses))
        yield {"pivots": "full kernel", "repetition": 0, **full, **chosen}
        for pivots in PIVOTS:
            for draw in range(self.spec["repetitions"] if pivots in _DRAWN else 1):
                drawn = np.random.RandomState(int(rng.integers(2**31)))
                for row in self._of_ranks(pivots, drawn):
                    yield {"pivots": pivots, "repetition": draw, **row, **chosen}

    def _of_ranks(self, pivots, rng):
        """The leading columns of one factor are the factors of all smaller ranks."""
        ahead = self.spec["lookahead"] if pivots == "CSI" else 0
        kernel = ClockedColumns(self.X, "gaussian", self.gamma)
        factor = decompose(pivots, kernel, self.targets, max(self.spec["ranks"]), ahead, rng)
        kernel.clock.append(process_time())
        at_pivots = gram(self.X_test, self.X[factor.pivots], kernel="gaussian", gamma=self.gamma)
        rows = factor.transform(at_pivots)
        path = PrefixPath(factor.factor, self.targets)
        errors = [
            error_of(self.y_test, self.decide(responses))
            for responses in path.staged_responses(rows, self.reg)
        ]
        left = 1.0 - (factor.factor**2).sum(axis=0).cumsum() / len(self.X)
        for rank in self.spec["ranks"]:
            last = min(rank, factor.rank) - 1
            columns = min(rank + ahead, len(kernel.clock) - 1)
            yield {
                "rank": rank,
                "budget": rank + ahead,
                "columns": columns,
                "error": errors[last],
                "trace_left": left[last],
                "cpu_seconds": kernel.clock[columns] - kernel.clock[0],
            }


class ClockedColumns(KernelColumns):
    """Kernel columns with the processor seconds at which each of them was asked for."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.clock = []

    def column(self, i: int) -> np.ndarray:
        """K(:, i), (n,)."""
        self.clock.append(process_time())
        return super().column(i)


def decompose(pivots, kernel, targets, rank, lookahead, rng) -> LowRankFactor:
    """The factor of a rank by pivots of one of the ``PIVOTS``."""
    if pivots == "CSI":
        return csi(kernel, targets, rank, lookahead=lookahead, tol=0.0)
    if pivots != "uniform":
        return incomplete_cholesky(kernel, rank, _SPANNED, rng if pivots == "RPCholesky" else None)
    # points in a random order, without those that the ones before span
    diagonal = kernel.diagonal()
    with factor_threads(len(diagonal)):
        steps = CholeskySteps(kernel, diagonal, rank)
        for point in rng.permutation(len(diagonal)):
            left = steps.residual[point] / diagonal[point]
            if steps.t < steps.capacity and left > _SPANNED_AT_RANDOM:
                steps.add(point)
    return LowRankFactor(steps.take(steps.t), np.array(steps.pivots), np.array(steps.squares))


def coded_targets(y):
    """Targets (n, d) of a machine, and the function from its responses to decisions."""
    if y.dtype.kind in "iu":
        coder = LabelBinarizer(neg_label=-1).fit(y)
        return coder.transform(y).astype(float), lambda R: coder.inverse_transform(R, threshold=0)
    scaler = StandardScaler().fit(y[:, None])
    return scaler.transform(y[:, None]), lambda R: scaler.inverse_transform(R)[:, 0]


def error_of(y, decisions):
    """The share of wrong classes, or the squared error over the variance of y."""
    if y.dtype.kind in "iu":
        return float(np.mean(decisions != y))
    return float(np.mean((decisions - y) ** 2) / np.var(y))
