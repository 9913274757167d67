"""Ridge regression and the support vector machine (section 4)."""

from __future__ import annotations

import numpy as np

from kronbench.pairs import LOSSES
from kronbench.papers.airola.measure.statements.algorithm_1 import algorithm_1, restricted
from kronbench.papers.airola.measure.statements.newton import fitted
from kronbench.papers.airola.measure.statements.problem import Problem
from kronbench.papers.airola.measure.statements.rows import row, vanishing


def ridge(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 4.1: the systems of the minimum, and one Newton step to it."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    a = np.linalg.solve(Q + reg * np.eye(n), y)
    w = np.linalg.solve(X.T @ X + reg * np.eye(X.shape[1]), X.T @ y)
    start = rng.standard_normal(n)
    step = np.linalg.solve(Q + reg * np.eye(n), Q @ start - y + reg * start)
    return [
        vanishing(
            "ridge-system",
            "section 4.1",
            "dual ridge",
            "(R (G ⊗ K) Rᵀ + λ I) a = y: no gradient is left",
            Q @ (Q @ a - y + reg * a),
            np.abs(Q @ y).max(),
        ),
        vanishing(
            "ridge-primal-system",
            "section 4.1",
            "primal ridge",
            "the primal system: no gradient is left",
            X.T @ (X @ w - y) + reg * w,
            np.abs(X.T @ y).max(),
        ),
        row(
            "ridge-once",
            "section 4.1",
            "one step",
            "one Newton step from anywhere ends there",
            start - step,
            a,
        ),
    ]


def svm(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 4.2: the squared hinge, at random predictions and at the minimum."""
    loss = LOSSES["l2svm"]
    Q, y, n = problem.Q, problem.y, len(problem.y)
    a = rng.standard_normal(n) / np.abs(Q).max()
    p = Q @ a
    S = np.flatnonzero(y * p < 1)
    S_S = np.eye(n)[S]
    model = fitted(problem, "l2svm", reg, "dual")
    best = model.dual_coef_
    support = np.abs(best) > 1e-8 * np.abs(best).max()
    inside = y * (Q @ best) < 1
    rows, cols = problem.train.rows, problem.train.cols
    sparse = np.where(rng.random(n) < 0.2, a, 0.0)
    kept = np.flatnonzero(sparse)
    part = restricted(problem.G, problem.K, cols[S], rows[S], cols[kept], rows[kept])
    product, operations = algorithm_1(*part, sparse[kept])
    (q_S, q_v), (m_S, m_v) = (matrix.shape for matrix in part[:2])
    return [
        row(
            "svm-formulas",
            "section 4.2",
            "least squares",
            "squared hinge as least squares on S",
            0.5 * np.sum((S_S @ (p - y)) ** 2),
            loss.value(p, y),
        ),
        row(
            "svm-formulas",
            "section 4.2",
            "SVM gradient",
            "g = Sᵀ (S p - S y)",
            S_S.T @ (S_S @ p - S_S @ y),
            loss.gradient(p, y),
        ),
        row(
            "svm-formulas",
            "section 4.2",
            "SVM Hessian",
            "H = Sᵀ S, 1 for members of S and 0 otherwise",
            np.diag(S_S.T @ S_S),
            loss.hessian_diagonal(p, y),
        ),
        row(
            "svm-sparse-product",
            "section 4.2",
            "sparse product",
            "S_S R (G ⊗ K) Rᵀ v for a sparse v",
            product,
            Q[S] @ sparse,
            operations=operations,
            cost=min(q_S * len(kept) + m_v * len(S), m_S * len(kept) + q_v * len(S)),
            plain=2 * n * sum(matrix.shape[0] for matrix in (problem.G, problem.K)),
        ),
        vanishing(
            "svm-support",
            "section 4.2",
            "support",
            "share of pairs in one of S and the support alone, at the minimum",
            np.mean(support != inside),
        ),
        row(
            "svm-sparsity",
            "section 4.2",
            "zeros",
            "share of coefficients that are 0 at the minimum",
        )
        | {"share": np.mean(~support)},
    ]
