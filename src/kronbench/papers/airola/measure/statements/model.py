"""The kernel model: its matrix, its minimizer, its Gaussian kernels (sections 3 and 5.1)."""

from __future__ import annotations

import numpy as np

from kronbench.linalg import gram
from kronbench.papers.airola.measure.statements.problem import Problem
from kronbench.papers.airola.measure.statements.rows import row


def model(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 3: kernel matrix, features, representer theorem."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    a = np.linalg.solve(Q + reg * np.eye(n), y)
    w = np.linalg.solve(X.T @ X + reg * np.eye(X.shape[1]), X.T @ y)
    return [
        row(
            "kernel-matrix",
            "section 3",
            "kernel matrix",
            "R (G ⊗ K) Rᵀ = X Xᵀ with X = R (T ⊗ D)",
            X @ X.T,
            Q,
        ),
        row(
            "representer",
            "section 3",
            "representer theorem",
            "representer theorem: w of the minimizer is Xᵀ a",
            X.T @ a,
            w,
        ),
    ]


def gaussian_kernels(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 5.1: their product is that of concatenated features."""
    gaussian = [
        gram(features[index], kernel="gaussian", gamma=0.01)
        for features, index in (
            (problem.D, problem.train.rows),
            (problem.T, problem.train.cols),
        )
    ]
    both = np.hstack([problem.D[problem.train.rows], problem.T[problem.train.cols]])
    return [
        row(
            "concatenated",
            "section 5.1",
            "Gaussian kernels",
            "the product of Gaussian kernels is that of concatenated features",
            gaussian[0] * gaussian[1],
            gram(both, kernel="gaussian", gamma=0.01),
        ),
    ]
