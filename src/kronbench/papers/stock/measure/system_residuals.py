"""Four ways to learn from complete pairs: each one's own equation, and what relates them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench.runner.columns import Columns

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}

COLUMNS = Columns(
    key=("method",),
    numbers=("residual", "deviation", "share"),
    texts=("key",),
    values={
        "method": (
            *("independent-task", "Kronecker kernel", "ordinary Kronecker least squares"),
            *("two-step", "order of the steps", "Theorem 1", "Theorem 1, singular G"),
            *("Theorem 2", "Theorem 3", "Fisher discriminant"),
            *("Algorithm 1, l < d", "Algorithm 1, l > d"),
            *("Algorithm 2, l < r", "Algorithm 2, l > r", "Theorem 5", "Theorem 5, beyond 1/2"),
        ),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each method (Stock et al. 2016, table 3.3), with weights ``reg``, ``reg_cols``.

    ``residual`` is that of the system for the dual coefficients A, of least squares where the
    system has no solution, relative to its right-hand side; ``deviation`` is the largest
    difference between the printed prediction function, evaluated with A, and what the fitted model
    predicts for its training vertices, relative to the largest prediction.

    Below them one row for each statement on two-step regression, which ``key`` names in the files
    of claims: ``deviation`` is that of its two
    sides, relative to the largest value; in Theorem 5, ``share`` is the largest value of the
    left-hand side over its bound. Theorem 2 needs a matrix of all pairs: it is computed for the
    first vertices of both sides, ``block`` of them.
    """
    K, G, Y = kernels(data)
    reg, reg_cols = spec["reg"], spec["reg_cols"]
    rows = [
        {"method": name, "residual": residual, "deviation": deviation}
        for name, residual, deviation in _methods(K, G, Y, reg, reg_cols)
    ]
    sides = {
        ("order-of-steps", "order of the steps"): _orders(K, G, Y, reg, reg_cols),
        ("theorem-1", "Theorem 1"): _theorem_1(K, G + np.eye(len(G)), Y, reg),
        ("theorem-1-singular", "Theorem 1, singular G"): _projected(K, G, Y, reg),
        ("theorem-2", "Theorem 2"): _theorem_2(K, G, Y, reg, reg_cols, spec["block"]),
        ("theorem-3", "Theorem 3"): _theorem_3(K, G, Y, reg, reg_cols),
        ("fisher", "Fisher discriminant"): _fisher(K, G, Y),
        ("algorithm-1", "Algorithm 1, l < d"): _updated(
            "rows", K, G, Y, reg, reg_cols, small=True
        ),
        ("algorithm-1-large-batches", "Algorithm 1, l > d"): _updated(
            "rows", K, G, Y, reg, reg_cols, small=False
        ),
        ("algorithm-2", "Algorithm 2, l < r"): _updated(
            "cols", K, G, Y, reg, reg_cols, small=True
        ),
        ("algorithm-2", "Algorithm 2, l > r"): _updated(
            "cols", K, G, Y, reg, reg_cols, small=False
        ),
    }
    rows += [
        {"key": key, "method": name, "deviation": _deviation(one, other)}
        for (key, name), (one, other) in sides.items()
    ]
    rows += [
        {"key": key, "method": name, "share": share}
        for key, name, share in (
            ("theorem-5", "Theorem 5", _share_of_bound(K, G, 0.5)),
            ("theorem-5-qualification", "Theorem 5, beyond 1/2", _share_of_bound(K, G, 0.75)),
        )
    ]
    return pd.DataFrame(rows)


def _methods(K, G, Y, reg, reg_cols):
    """Yield (name, residual, deviation) for the four systems."""
    independent = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)
    kronecker = CompleteKronRidge(reg=reg, **PRECOMPUTED).fit_matrix(K, G, Y)
    ordinary = CompleteKronRidge(reg=0.0, **PRECOMPUTED).fit_matrix(K, G, Y)
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
    A, B, C, D = (model.dual_coef_ for model in (independent, kronecker, ordinary, two_step))
    rows = [
        ("independent-task", K @ A + reg * A, Y, K @ A, independent.predict_matrix(K)),
        ("Kronecker kernel", K @ B @ G + reg * B, Y, K @ B @ G, kronecker.predict_matrix(K, G)),
        (
            "ordinary Kronecker least squares",
            K @ (K @ C @ G) @ G,
            K @ Y @ G,
            K @ C @ G,
            ordinary.predict_matrix(K, G),
        ),
        (
            "two-step",
            (K @ D + reg * D) @ G + reg_cols * (K @ D + reg * D),
            Y,
            K @ D @ G,
            two_step.predict_matrix(K, G),
        ),
    ]
    for name, left, right, printed, predicted in rows:
        residual = np.linalg.norm(left - right) / np.linalg.norm(right)
        yield name, residual, _deviation(printed, predicted)


def _deviation(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


def _orders(K, G, Y, reg, reg_cols):
    """Section 3.3: instances first, as in Eq. (11), or tasks first."""
    tasks = IndependentRidge(reg=reg_cols, row_kernel="precomputed").fit_matrix(G, None, Y.T)
    labels = tasks.predict_matrix(G).T
    swapped = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, labels)
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
    return swapped.predict_matrix(K), two_step.predict_matrix(K, G)


def _theorem_1(K, G, Y, reg):
    """For G of full rank and reg_cols = 0, two-step is independent-task regression."""
    independent = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=0.0, **PRECOMPUTED).fit_matrix(K, G, Y)
    return two_step.predict_matrix(K, G), independent.predict_matrix(K)


def _projected(K, G, Y, reg):
    """For G of half the rank, its predictions are projected on the range of G."""
    values, vectors = np.linalg.eigh(G)
    half = vectors[:, len(G) // 2 :]
    singular = (half * values[len(G) // 2 :]) @ half.T
    two_step, independent = _theorem_1(K, singular, Y, reg)
    return two_step, independent @ half @ half.T


def _theorem_2(K, G, Y, reg, reg_cols, block):
    """Training predictions are those of the pairwise kernel Xi with weight 1."""
    m, q = np.minimum(block, Y.shape)
    K, G, Y = K[:m, :m], G[:q, :q], Y[:m, :q]
    inner = reg * reg_cols * np.eye(m * q)
    inner += reg_cols * np.kron(K, np.eye(q)) + reg * np.kron(np.eye(m), G)
    # both factors have the same eigenvectors, so that their quotient is symmetric
    xi = np.linalg.solve(inner, np.kron(K, G))
    dense = xi @ np.linalg.solve(xi + np.eye(m * q), Y.ravel())
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
    return two_step.predict_matrix(K, G), dense.reshape(m, q)


def _theorem_3(K, G, Y, reg, reg_cols):
    """New pairs by least squares without regularization and kernels with delta functions."""
    m, q = Y.shape
    seen, new = np.arange(m // 2), np.arange(m // 2, m)
    known, other = np.arange(q // 2), np.arange(q // 2, q)
    problem = K[np.ix_(seen, seen)], G[np.ix_(known, known)], Y[np.ix_(seen, known)]
    at = K[np.ix_(new, seen)], G[np.ix_(other, known)]
    shifted = [
        kernel + weight * np.eye(len(kernel))
        for kernel, weight in zip(problem, (reg, reg_cols), strict=False)
    ]
    ordinary = CompleteKronRidge(reg=0.0, **PRECOMPUTED).fit_matrix(*shifted, problem[2])
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(*problem)
    return two_step.predict_matrix(*at), ordinary.predict_matrix(*at)


def _fisher(K, G, Y):
    """Directions, of unit length, of least squares on rescaled labels and of Fisher's criterion.

    Features of a pair are products of the leading five of each side; least squares has an
    intercept. Fisher's direction is that of the inverse covariance within the classes, times the
    difference of their means.
    """
    X = np.kron(*(_leading_features(kernel)[:, -5:] for kernel in (K, G)))
    y = Y.ravel()
    centred = X - X.mean(axis=0)
    least_squares = np.linalg.solve(centred.T @ centred, centred.T @ y)
    classes = X[y > 0], X[y <= 0]
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in classes)
    fisher = np.linalg.solve(within, classes[0].mean(axis=0) - classes[1].mean(axis=0))
    return tuple(w / np.linalg.norm(w) for w in (least_squares, fisher))


def _updated(side, K, G, Y, reg, reg_cols, small):
    """Primal parameters after batches of new vertices, and those of training anew.

    Features are a third of the eigenpairs of each kernel; batches are half or twice as many.
    """
    features = [_leading_features(kernel) for kernel in (K, G)]
    if side == "cols":
        features, Y, reg, reg_cols = features[::-1], Y.T, reg_cols, reg
    Phi, Psi = features
    d = Phi.shape[1]
    step = d // 2 if small else 2 * d
    start = len(Phi) % step or step
    whole = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols).fit_matrix(Phi, Psi, Y)
    if side == "cols":
        model = TwoStepRidge(reg_rows=reg_cols, reg_cols=reg).fit_matrix(
            Psi, Phi[:start], Y[:start].T
        )
    else:
        model = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols).fit_matrix(
            Phi[:start], Psi, Y[:start]
        )
    for first in range(start, len(Phi), step):
        batch = slice(first, first + step)
        if side == "cols":
            model.partial_fit_cols(Phi[batch], Y[batch].T)
        else:
            model.partial_fit_rows(Phi[batch], Y[batch])
    return (model.coef_.T if side == "cols" else model.coef_), whole.coef_


def _leading_features(kernel):
    values, vectors = np.linalg.eigh(kernel)
    kept = slice(len(kernel) - len(kernel) // 3, None)
    return vectors[:, kept] * np.sqrt(values[kept])


def _share_of_bound(K, G, power):
    """Largest (z / reg)^power |1 - z phi(z)| over 2 a b, phi the filter of two-step regression.

    z = x s for eigenvalues x of K and s of G, and reg is the product of both weights; a and b are
    the constants of their factorizations (Theorem 5).
    """
    x, s = (np.linalg.eigvalsh(kernel) for kernel in (K, G))
    x, s = x[x > 1e-6 * x[-1], None], s[s > 1e-6 * s[-1]]
    a = np.sqrt(np.maximum(x / s, s / x))
    share = 0.0
    for reg, reg_cols in itertools.product(10.0 ** np.arange(-7, 2), repeat=2):
        b = np.sqrt(max(reg / reg_cols, reg_cols / reg))
        rest = 1 - x * s / ((x + reg) * (s + reg_cols))
        reached = (x * s / (reg * reg_cols)) ** power * rest / (2 * a * b)
        share = max(share, reached.max())
    return share
