"""Predictions of new pairs (section 3.1)."""

from __future__ import annotations

import numpy as np

from kronbench.papers.airola.measure.statements.algorithm_1 import algorithm_1, restricted
from kronbench.papers.airola.measure.statements.problem import Problem
from kronbench.papers.airola.measure.statements.rows import row


def predictions(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 3.1: dual predictions, with and without the zeros of a, and primal ones."""
    train, test = problem.train, problem.test
    a = rng.standard_normal(len(train)) * (rng.random(len(train)) < 0.3)
    Q_hat = problem.Q_hat
    u, v, m, q, t, n = test.n_rows, test.n_cols, train.n_rows, train.n_cols, len(test), len(train)
    M, N, new = problem.G_hat, problem.K_hat, (test.cols, test.rows)
    dual, dual_operations = algorithm_1(M, N, *new, train.cols, train.rows, a)
    kept = train[a != 0]
    part = restricted(M, N, *new, kept.cols, kept.rows)
    sparse, sparse_operations = algorithm_1(*part, a[a != 0])
    q_kept, m_kept = (matrix.shape[1] for matrix in part[:2])
    D_hat, T_hat = test.row_features, test.col_features
    d, r = D_hat.shape[1], T_hat.shape[1]
    weights = (index.ravel() for index in np.indices((r, d)))
    primal, primal_operations = algorithm_1(T_hat, D_hat, *new, *weights, problem.X.T @ a)
    nonzero = np.count_nonzero(a)
    full_d, full_r = problem.full
    return [
        row(
            "dual-predictions",
            "section 3.1",
            "dual predictions",
            "dual predictions R̂ (Ĝ ⊗ K̂) Rᵀ a",
            dual,
            Q_hat @ a,
            operations=dual_operations,
            cost=min(v * n + m * t, u * n + q * t),
            plain=2 * t * n,
        ),
        row(
            "sparse-predictions",
            "equation 5",
            "sparse predictions",
            "the same without the coefficients that are 0",
            sparse,
            Q_hat @ a,
            operations=sparse_operations,
            cost=min(v * nonzero + m_kept * t, u * nonzero + q_kept * t),
            plain=2 * t * nonzero,
        ),
        row(
            "primal-predictions",
            "section 3.1",
            "primal predictions",
            "primal predictions R̂ (T̂ ⊗ D̂) w",
            primal,
            Q_hat @ a,
            operations=primal_operations,
            cost=min(v * d * r + d * t, u * d * r + r * t),
        ),
        row(
            "dual-saves",
            "section 3.1",
            "dual instead of primal",
            "all features, dr ≫ n: dual instead of primal",
            operations=dual_operations,
            plain=2 * min(v * full_d * full_r + full_d * t, u * full_d * full_r + full_r * t),
        ),
    ]
