"""The Newton method (section 3.3)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from kronbench.models import KronNewton
from kronbench.pairs import LOSSES, SampledKroneckerOperator
from kronbench.papers.airola.measure.statements.problem import Problem
from kronbench.papers.airola.measure.statements.rows import row


def newton_steps(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 3.3: the system solved for a step, Algorithms 2 and 3, other optimizers, batches."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    loss = LOSSES["logistic"]
    a = rng.standard_normal(n) / np.abs(Q).max()
    p = Q @ a
    g, H = loss.gradient(p, y), np.diag(loss.hessian_diagonal(p, y))
    x = np.linalg.solve(H @ Q + reg * np.eye(n), g + reg * a)
    scores = {
        form: fitted(problem, "l2svm", reg, form).decision_function(problem.test)
        for form in ("dual", "primal")
    }
    dual = fitted(problem, "logistic", reg, "dual")
    found = minimize(
        lambda w: (
            loss.value(X @ w, y) + reg / 2 * w @ w,
            X.T @ loss.gradient(X @ w, y) + reg * w,
        ),
        np.zeros(X.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-8},
    )
    m, q = len(problem.K), len(problem.G)
    batch = n // 20
    return [
        row(
            "equation-9",
            "equation 9",
            "common term",
            "its solution solves the Newton system",
            Q @ (H @ Q + reg * np.eye(n)) @ x,
            Q @ (g + reg * a),
        ),
        row(
            "algorithms-2-3",
            "Algorithms 2 and 3",
            "both forms",
            "dual and primal Newton method, converged: test scores",
            scores["primal"],
            scores["dual"],
        ),
        row(
            "other-optimizers",
            "section 3.3",
            "L-BFGS",
            "L-BFGS from the same products: training scores",
            X @ found.x,
            Q @ dual.dual_coef_,
        ),
        row(
            "batches",
            "section 3.3",
            "one batch",
            "one product of all pairs instead of 20 of batches",
            operations=2 * (m + q) * n,
            plain=sum(
                SampledKroneckerOperator(
                    problem.K,
                    problem.G,
                    problem.train.rows[first : first + batch],
                    problem.train.cols[first : first + batch],
                    problem.train.rows,
                    problem.train.cols,
                    method="sparse",
                ).flops
                for first in range(0, n, batch)
            ),
        ),
    ]


def fitted(problem: Problem, loss: str, reg: float, form: str) -> KronNewton:
    """A Newton method that has converged, by conjugate gradients and line search."""
    return KronNewton(
        loss=loss,
        form=form,
        reg=reg,
        max_iter=500,
        max_inner=1000,
        solver="cg",
        tol=1e-10,
        product="sparse",
    ).fit(problem.train, problem.y)
