"""Test error of the LS-SVM on factors of growing rank, incomplete Cholesky against CSI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.model_selection import ShuffleSplit
from tqdm import tqdm

from kronbench.bench.columns import Columns
from kronbench.linalg import csi, gram, incomplete_cholesky
from kronbench.linalg.lssvm_paths import LSSVMPath, PrefixPath
from kronbench.models import LSSVM

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

COLUMNS = Columns(
    key=("split", "decomposition", "rank"),
    repeats=("split",),
    counts=("n_features", "n_classes", "n_points"),
    numbers=("error", "gamma", "reg"),
    texts=("agreement",),
    values={"decomposition": ("full", "full, training", "cholesky", "csi")},
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each split, decomposition and rank; rank 0 stands for the full kernel matrix.

    Decomposition "full" is the machine whose parameters were selected by leave-one-out error, as
    for the factors, and "full, training" the one whose parameters have the least training error.

    Bach & Jordan (2005), section 6.3: variables scaled to unit variance (by their training part),
    75/25 splits, Gaussian kernel, gamma and reg (the paper's tau) by the leave-one-out error of
    the full machine on at most ``selection_points`` training points; ``gammas`` are in 1/p.
    ``error`` is the test error: the share of wrong classes, or the squared error relative to the
    variance of the response. Columns ``gamma``, ``reg`` say what was selected. ``max_rank`` bounds
    the ranks, and ``max_ranks`` those of single data sets.
    """
    X, y = data["X"], data["y"]
    classification = y.dtype.kind in "iu"
    max_rank = spec.get("max_ranks", {}).get(data.name, spec["max_rank"])
    splitter = ShuffleSplit(spec["splits"], test_size=0.25, random_state=int(rng.integers(2**31)))
    frames = []
    for split, (train, test) in enumerate(tqdm(splitter.split(X), desc=data.name, unit="split")):
        scaled = X / _scale(X[train])
        targets, decide = _coding(y, train, classification)
        selected = _select(scaled[train], targets[train], y[train], decide, spec, rng)
        gamma, reg = selected["leave-one-out"]
        K = gram(scaled[train], kernel="gaussian", gamma=gamma)
        K_test = gram(scaled[test], scaled[train], kernel="gaussian", gamma=gamma)
        full = LSSVM(reg=reg, kernel="precomputed").fit(K, targets[train])
        errors = {"full": [_error(decide(full.predict(K_test)), y[test])]}
        for name, factor in _factors(K, targets[train], max_rank):
            path = PrefixPath(factor.factor, targets[train])
            rows = factor.transform(K_test[:, factor.pivots])
            errors[name] = [
                _error(decide(responses), y[test])
                for responses in path.staged_responses(rows, reg)
            ]
        for name, values in errors.items():
            ranks = [0] if name == "full" else np.arange(1, len(values) + 1)
            frames.append(
                pd.DataFrame({"decomposition": name, "rank": ranks, "error": values}).assign(
                    split=split, gamma=gamma, reg=reg
                )
            )
        gamma, reg = selected["training"]
        machine = LSSVM(reg=reg, kernel="gaussian", gamma=gamma).fit(scaled[train], targets[train])
        error = _error(decide(machine.predict(scaled[test])), y[test])
        frames.append(
            pd.DataFrame({"decomposition": ["full, training"], "rank": 0, "error": error}).assign(
                split=split, gamma=gamma, reg=reg
            )
        )
    n_classes = len(np.unique(y)) if classification else 0
    return pd.concat(frames, ignore_index=True).assign(
        n_features=X.shape[1], n_classes=n_classes, n_points=len(X), agreement=data.agreement
    )


def _scale(X):
    scale = X.std(axis=0)
    return np.where(scale > 0, scale, 1.0)


def _coding(y, train, classification):
    """Targets (n, d) of the machine, and the function from responses (n, d) to decisions."""
    if not classification:
        mean, scale = y[train].mean(), y[train].std()
        return ((y - mean) / scale)[:, None], lambda responses: responses[:, 0] * scale + mean
    classes = np.unique(y)
    if len(classes) == 2:
        signs = np.where(y == classes[1], 1.0, -1.0)[:, None]
        return signs, lambda responses: classes[(responses[:, 0] > 0).astype(int)]
    # The closest basis vector has the largest component.
    indicators = (y[:, None] == classes).astype(float)
    return indicators, lambda responses: classes[responses.argmax(axis=1)]


def _error(decisions, y):
    if y.dtype.kind in "iu":
        return float(np.mean(decisions != y))
    return float(np.mean((decisions - y) ** 2) / np.var(y))


def _select(X, targets, y, decide, spec, rng):
    """Gamma and reg with the smallest leave-one-out and the smallest training error.

    The first of several; one eigendecomposition for each gamma.
    """
    part = rng.permutation(len(X))[: spec["selection_points"]]
    best = dict.fromkeys(("leave-one-out", "training"), (np.inf, None, None))
    for multiple in spec["gammas"]:
        gamma = multiple / X.shape[1]
        K = gram(X[part], kernel="gaussian", gamma=gamma)
        path = LSSVMPath(K, targets[part])
        for way, responses in (
            ("leave-one-out", path.leave_one_out(spec["regs"])),
            ("training", path.responses(K, spec["regs"])),
        ):
            for reg, of_reg in zip(spec["regs"], responses, strict=True):
                error = _error(decide(of_reg), y[part])
                if error < best[way][0]:
                    best[way] = (error, gamma, reg)
    return {way: chosen[1:] for way, chosen in best.items()}


def _factors(K, targets, max_rank):
    max_rank = min(max_rank, len(K))
    yield "cholesky", incomplete_cholesky(K, max_rank=max_rank)
    # Gains do not fall steadily: a stop at the first below 1e-4, as the paper says, would end
    # kin-32nm near rank 34, where it prints 479. So nothing stops but the largest rank.
    yield "csi", csi(K, targets, max_rank=max_rank, tol=0.0)
