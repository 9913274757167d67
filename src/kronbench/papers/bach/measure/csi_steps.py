"""Cholesky with side information: the time of its steps, and its identities."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kronbench.linalg import KernelColumns, csi, gram, incomplete_cholesky
from kronbench.linalg.csi_decomposition import CSI_STEPS
from kronbench.linalg.lowrank import CholeskySteps, factor_threads
from kronbench.runner.call_times import watched_calls
from kronbench.runner.clock import in_turn
from kronbench.runner.columns import TIMING, Columns

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

_PATIENCE = 2.0  # seconds after which a decomposition is long enough to be timed once

COLUMNS = TIMING | Columns(
    # the columns that are asked for tell the ranks of "total, by rank" apart
    key=("step", "n", "columns", "quantity"),
    counts=("rank",),
    numbers=("deviation",),
    texts=("key",),
    values={
        "step": (
            "kernel columns",
            "1, 3b: Cholesky steps",
            "1, 3b: QR steps",
            "3c, 3d: permutation of R, exact gain",
            "3a, 3c: permutation of G, gains of all",
            *(
                "one iteration: permute, exact gain, gains of all",
                "one iteration: redo Cholesky steps",
            ),
            *("total", "incomplete Cholesky", "total, by rank", "identity"),
        ),
        "key": (
            *("interpolates", "determined", "residual-semidefinite", "semidefinite"),
            *("triangular", "column-gain", "lower-bound", "trace", "same-risk", "gains"),
            *("exact-ahead", "no-lookahead", "intercept"),
        ),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """Rows of four kinds, told apart by ``step`` (Bach & Jordan 2005, figure 1, section 5).

    - For n points of uniform features the seconds of each step of CSI, "total", timed without a
      profiler, and "incomplete Cholesky" of the same rank. Runs take turns; the seconds of a step
      are medians over the runs whose calls were watched. ``columns`` counts the kernel columns
      that one run asks for.
    - "total, by rank": the same for growing ranks at ``rank_points`` points.
    - "one iteration: ...": what section 5.2 compares, in the middle of the decomposition: a step
      of CSI without its new column (a mean over all steps), and the naive way, which does the
      look-ahead steps of Cholesky again, their kernel columns being kept; at ``rank`` columns.
    - "identity": ``deviation`` from what a proposition or equation says, on a small problem;
      ``key`` names the statement in the files of claims.
    """
    rows = []
    untimed = rng.spawn(1)[0]  # the same problem at every scale
    for n in [min(spec["sizes"]), *spec["sizes"]]:  # the first, compiling, does not count
        kernel, targets = _problem(rng, n, spec["features"], spec["gamma"])
        arguments = {"max_rank": spec["rank"], "lookahead": spec["lookahead"], "tol": 0.0}
        decompose = partial(csi, kernel, targets, **arguments)
        watched = []
        runs = in_turn(
            {
                "total": decompose,
                "incomplete Cholesky": partial(incomplete_cholesky, kernel, spec["rank"], 0.0),
                "steps": partial(_watched, decompose, watched),
            },
            patience=_PATIENCE,
        )
        factor, total = runs["total"]
        plain, cholesky = runs["incomplete Cholesky"]
        _, steps = runs["steps"]
        middle = spec["rank"] // 2
        again = in_turn({"redo": _Redo(kernel, plain.pivots, middle, spec["lookahead"])})
        asked = watched[-1]["kernel columns"].count
        measured = {"n": n, "rank": factor.rank, "columns": asked}
        counted = [
            measured
            | steps.columns()
            | {"step": step, **_spread([calls[step].seconds for calls in watched])}
            | {"cpu_seconds": np.nan, "processors": np.nan}
            for step in CSI_STEPS
        ]
        turned = [
            sum(calls[step].seconds for step in CSI_STEPS if step.startswith("3")) / factor.rank
            for calls in watched
        ]
        one = {"n": n, "rank": middle, "columns": 0}
        counted.append(
            one
            | steps.columns()
            | {"step": "one iteration: permute, exact gain, gains of all", **_spread(turned)}
            | {"cpu_seconds": np.nan, "processors": np.nan}
        )
        counted.append(
            one | again["redo"][1].columns() | {"step": "one iteration: redo Cholesky steps"}
        )
        counted.append(measured | total.columns() | {"step": "total"})
        alone = {"n": n, "rank": plain.rank, "columns": plain.rank, "step": "incomplete Cholesky"}
        counted.append(alone | cholesky.columns())
        rows.append(counted)
    rows = [row for counted in rows[1:] for row in counted]
    rows += _by_rank(spec, rng) + _identities(spec, untimed)
    return pd.DataFrame(rows)


def _problem(rng, n, features, gamma):
    X = rng.random((n, features))
    targets = np.sin(2 * np.pi * X[:, :1]) + X[:, 1:2] + 0.1 * rng.standard_normal((n, 1))
    return KernelColumns(X, "gaussian", gamma), targets


def _by_rank(spec, rng):
    """Seconds for growing ranks; exponents are over rank + look-ahead, the Cholesky steps."""
    n = spec["rank_points"]
    kernel, targets = _problem(rng, n, spec["features"], spec["gamma"])
    runs = in_turn(
        {
            rank: partial(csi, kernel, targets, rank, lookahead=spec["lookahead"], tol=0.0)
            for rank in spec["ranks"]
        },
        patience=_PATIENCE,
    )
    return [
        {"n": n, "rank": rank, "columns": rank + spec["lookahead"], "step": "total, by rank"}
        | timing.columns()
        for rank, (_, timing) in runs.items()
    ]


class _KeptColumns:
    """Columns of a kernel matrix that need not be computed again."""

    def __init__(self, kernel, points):
        self._diagonal = kernel.diagonal()
        self._columns = {point: np.array(kernel.column(point)) for point in points}

    def diagonal(self):
        return self._diagonal

    def column(self, point):
        return self._columns[point]


class _Redo:
    """Does the Cholesky steps behind the first ``rank`` columns, those that look ahead, again."""

    def __init__(self, kernel, pivots, rank, lookahead):
        self.rank, self.pivots = rank, pivots[: rank + lookahead]
        columns = _KeptColumns(kernel, self.pivots)
        self.steps = CholeskySteps(columns, columns.diagonal(), len(self.pivots))
        for pivot in pivots[:rank]:
            self.steps.add(pivot)
        self.residual = self.steps.residual.copy()

    def __call__(self):
        self.steps.t = self.rank
        self.steps.residual[:] = self.residual
        with factor_threads(len(self.residual)):
            for pivot in self.pivots[self.rank :]:
                self.steps.add(pivot)


def _identities(spec, rng):
    """Largest deviations from what the paper proves, by dense matrices."""
    n, rank, lookahead = spec["identity_points"], 25, 10
    X = rng.random((n, 3))
    K = gram(X, kernel="gaussian", gamma=2.0)
    Y = np.column_stack([np.sin(4 * X[:, 0]), X[:, 1]]) + 0.1 * rng.standard_normal((n, 2))
    factor = csi(K, Y, rank, lookahead=lookahead, tol=0.0)
    G, I = factor.factor, factor.pivots  # noqa: E741
    L = G @ G.T
    spanned = K[:, I] @ np.linalg.solve(K[np.ix_(I, I)], K[:, I].T)
    plain = incomplete_cholesky(K, rank)
    plain_residual = np.trace(K) - np.cumsum((plain.factor**2).sum(axis=0))
    least_squares = [np.linalg.lstsq(A, Y, rcond=None)[0] for A in (spanned, G)]
    risks = [np.sum((Y - A @ b) ** 2) for A, b in zip((spanned, G), least_squares, strict=True)]
    centred = Y - Y.mean(axis=0)
    criterion = np.array([_criterion(K, centred, G[:, :k]) for k in range(rank + 1)])
    greedy = csi(K, Y, rank, lookahead=n, tol=0.0)
    without = csi(K, Y, rank, lookahead=0, tol=0.0)
    deviations = {
        ("interpolates", "Proposition 1: L(:, I) - K(:, I)"): abs(L[:, I] - K[:, I]).max(),
        ("determined", "Proposition 1: L - K(:, I) K(I, I)^-1 K(I, :)"): abs(L - spanned).max(),
        ("residual-semidefinite", "Proposition 1: negative part of K - L"): max(
            -np.linalg.eigvalsh(K - L)[0], 0.0
        ),
        ("semidefinite", "Proposition 1: negative part of L"): max(-np.linalg.eigvalsh(L)[0], 0.0),
        ("triangular", "section 2.1: entries above the diagonal of G(I, :)"): abs(
            np.triu(G[I], 1)
        ).max(),
        ("column-gain", "section 2.2: gain of a column - its squared norm"): abs(
            plain.gains * np.trace(K) - (plain.factor**2).sum(axis=0)
        ).max(),
        ("lower-bound", "section 2.2: gain of a column below its bound"): max(
            (plain.factor[plain.pivots].diagonal() ** 2 - plain.gains * np.trace(K)).max(), 0.0
        ),
        ("trace", "Eq. 3: tr(K - L) - tr K + squared norms"): abs(
            plain_residual[-1] - np.trace(K - plain.factor @ plain.factor.T)
        ),
        ("same-risk", "Eq. 1: risk by alpha - risk by beta"): abs(risks[0] - risks[1])
        / np.sum(Y**2),
        ("gains", "Eqs. 5-8: gains - decreases of J"): abs(
            -np.diff(criterion) - factor.gains
        ).max(),
        ("exact-ahead", "section 5.1: best gain - gain, all points ahead"): _regret(
            K, centred, greedy
        ),
        ("no-lookahead", "section 5.1: pivots with no look-ahead - Cholesky"): float(
            np.sum(without.pivots != incomplete_cholesky(K, rank).pivots)
        ),
        ("intercept", "section 5.4: mean of the residual with intercept"): abs(
            np.mean(centred - _fitted(G, centred), axis=0)
        ).max(),
    }
    return [
        {
            "step": "identity",
            "n": n,
            "key": key,
            "quantity": quantity,
            "deviation": float(deviation),
        }
        for (key, quantity), deviation in deviations.items()
    ]


def _fitted(G, targets):
    G = G - G.mean(axis=0)
    return G @ np.linalg.lstsq(G, targets, rcond=None)[0] if G.shape[1] else 0.0 * targets


def _criterion(K, targets, G, kappa=0.99):
    """J(G) of Eq. 2 with the weights of section 3.2, for centred targets."""
    error = (np.trace(K) - np.sum(G**2)) / np.trace(K)
    risk = np.sum((targets - _fitted(G, targets)) ** 2) / np.sum(targets**2)
    return (1 - kappa) * error + kappa * risk


def _regret(K, targets, factor):
    """How much more another pivot would have gained, at worst over the steps."""
    worst = 0.0
    for k in range(min(factor.rank, 8)):
        G = factor.factor[:, :k]
        before, residual = _criterion(K, targets, G), K - G @ G.T
        gains = [
            before
            - _criterion(K, targets, np.column_stack([G, residual[:, i] / residual[i, i] ** 0.5]))
            for i in range(len(K))
            if residual[i, i] > 1e-8
        ]
        worst = max(worst, max(gains) - factor.gains[k])
    return worst


def _watched(decompose, watched):
    with watched_calls(CSI_STEPS) as calls:
        decompose()
    watched.append(calls)


def _spread(seconds):
    return {
        "seconds": np.median(seconds),
        "seconds_low": min(seconds),
        "seconds_high": max(seconds),
    }
