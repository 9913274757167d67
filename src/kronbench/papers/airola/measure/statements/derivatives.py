"""Derivatives of the objective and of the losses (section 3.2)."""

from __future__ import annotations

import numpy as np

from kronbench.pairs import LOSSES
from kronbench.papers.airola.measure.statements.problem import Problem
from kronbench.papers.airola.measure.statements.rows import row, vanishing

_STEP = 1e-4


def derivatives(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 3.2: gradients and Hessians of J against central differences."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    loss = LOSSES["logistic"]
    a = rng.standard_normal(n)
    w = X.T @ a
    rows = [row("norm", "section 3.2", "norm", "‖f‖² = aᵀ R (G ⊗ K) Rᵀ a", a @ Q @ a, w @ w)]
    scale = np.sqrt(np.abs(Q).max())
    dual = "R (G ⊗ K) Rᵀ (g + λ a)", "R (G ⊗ K) Rᵀ (H R (G ⊗ K) Rᵀ + λ I)"
    primal = "(Tᵀ ⊗ Dᵀ) Rᵀ g + λ w", "(Tᵀ ⊗ Dᵀ) Rᵀ H R (T ⊗ D) + λ I"
    forms = ("a", Q, Q, dual), ("w", X, np.eye(X.shape[1]), primal)
    for name, design, norm, formulas in forms:
        # small coefficients, so that no prediction is far out on the logistic curve
        x, step = rng.standard_normal((2, design.shape[1])) / (scale if name == "w" else scale**2)

        def objective(x, design=design, norm=norm):
            return loss.value(design @ x, y) + reg / 2 * x @ (norm @ x)

        def gradient(x, design=design, norm=norm):
            return design.T @ loss.gradient(design @ x, y) + reg * norm @ x

        def hessian(x, v, design=design, norm=norm):
            p = design @ x
            return design.T @ loss.hessian_product(p, y, design @ v) + reg * norm @ v

        ahead, behind = x + _STEP * step, x - _STEP * step
        form = "dual" if name == "a" else "primal"
        rows += [
            row(
                f"{form}-gradient",
                "equation 8" if name == "a" else "section 3.2",
                f"{form} gradient",
                f"∂J/∂{name} = {formulas[0]}",
                step @ gradient(x),
                (objective(ahead) - objective(behind)) / (2 * _STEP),
            ),
            row(
                f"{form}-hessian",
                "section 3.2",
                f"{form} Hessian",
                f"∂²J/∂{name}² = {formulas[1]}",
                hessian(x, step),
                (gradient(ahead) - gradient(behind)) / (2 * _STEP),
            ),
        ]
    p = rng.standard_normal(n)
    hessians = {
        name: np.column_stack([loss.hessian_product(p, y, unit) for unit in np.eye(n)])
        for name, loss in LOSSES.items()
    }
    least = [min(np.linalg.eigvalsh(H)[0], 0.0) / n for H in hessians.values()]
    off = [H - np.diag(np.diag(H)) for name, H in hessians.items() if name != "rankrls"]
    rows += [
        vanishing(
            "convex",
            "table 2",
            "convexity",
            "negative eigenvalues of the Hessians: the losses are convex",
            least,
        ),
        vanishing(
            "diagonal-hessians",
            "section 3.2",
            "diagonal Hessians",
            "univariate losses: Hessian entries off the diagonal",
            off,
        ),
        vanishing(
            "l1-hessian",
            "section 4.2",
            "L1-SVM",
            "L1-SVM: entries of the Hessian",
            hessians["l1svm"],
        ),
    ]
    return rows
