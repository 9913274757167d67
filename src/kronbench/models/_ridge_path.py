"""Ridge regression for many weights: by one Krylov space, or by singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import svd
from scipy.sparse.linalg import aslinearoperator

from kronbench.errors import InputError
from kronbench.linalg import ShiftedSolutions
from kronbench.linalg.krylov import Operator

_MOST_FEATURES = 256
_MOST_NUMBERS = 1 << 23  # of the matrix, 64 MiB


def is_thin(n: int, p: int) -> bool:
    """Whether n pairs with p features are decomposed in less time than iterations take."""
    return p <= min(n, _MOST_FEATURES) and n * p <= _MOST_NUMBERS


class ThinRidge:
    """Minimizers w of 1/2 ||X w - y||^2 + reg/2 ||w||^2 for any reg, from X = U S V', in double.

    A row of X is the Kronecker product of a row of each of the features (a, d) and (b, r). Errors
    are multiplied by ``root``.
    """

    def __init__(self, design, y, root=None):
        row_features, col_features, rows, cols = design
        T, D = (np.asarray(side, np.float64) for side in (row_features, col_features))
        with np.errstate(over="ignore"):
            X = _products(T, D, rows, cols)
        if not np.isfinite(X).all():
            raise InputError("products of features are too large for a number: scale the features")
        X, y = scaled(root, X), scaled(root, y)
        U, s, Vt = svd(X, full_matrices=False, overwrite_a=True, check_finite=False)
        kept = s > np.finfo(s.dtype).eps * max(X.shape) * s.max(initial=0)
        self._U, self._s, self._Vt = U[:, kept], s[kept], Vt[kept]
        self._along = self._U.T @ y
        self._root = root
        self._rest = y - self._U @ self._along  # which no weights explain

    def coef(self, reg: float) -> np.ndarray:
        return self._Vt.T @ (self._along / (self._s + reg / self._s))

    def residual(self, reg: float) -> np.ndarray:
        """Root^2 (y - X w), (n,), which is reg times the dual coefficients."""
        return scaled(self._root, self._rest + self._U @ (self._along * self._left(reg)))

    def objective(self, reg: float) -> float:
        explained = float(self._along @ (self._left(reg) * self._along))
        return 0.5 * (float(self._rest @ self._rest) + explained)

    def path(self, regs: np.ndarray) -> ShiftedSolutions:
        """The dual coefficients of all regs, in the basis of U and what is orthogonal to it.

        As if they were reached in one iteration: b is no multiple of the first vector.
        """
        size = float(np.linalg.norm(self._rest))
        none = np.zeros((1, len(self._rest)))
        basis = np.vstack([self._U.T, self._rest[None] / (size or 1.0), none])
        weights = np.stack([np.append(self._along * self._left(reg), size) / reg for reg in regs])
        values = np.append(self._s**2, 0.0)
        return ShiftedSolutions(
            shifts=regs,
            basis=basis,
            tridiagonal=np.vstack([np.diag(values), 0 * values]),
            coefficients=weights[:, None],
            residual_norms=np.zeros((len(regs), 1)),
            b_norm=float(np.hypot(size, np.linalg.norm(self._along))),
        )

    def images(self, features: tuple) -> np.ndarray:
        """Scores (K, t) of the vectors of that basis for pairs with these features."""
        X = _products(*features)
        inside = (self._s[:, None] * self._Vt) @ X.T.astype(np.float64, copy=False)
        return np.vstack([inside, np.zeros((1, len(X)))])

    def _left(self, reg):
        """Reg / (s^2 + reg): what is left of each coordinate of y."""
        with np.errstate(over="ignore"):
            return 1 / (1 + self._s * (self._s / reg))


def _products(T, D, rows, cols):
    return (T[rows][:, :, None] * D[cols][:, None, :]).reshape(len(rows), -1)


def scaled(root: np.ndarray | None, v: np.ndarray) -> np.ndarray:
    """W v with W = diag(root), for (n,) or (n, k); v itself without a root."""
    return v if root is None else (v.T * root).T.astype(v.dtype, copy=False)


def weighted(operator: Operator, root: np.ndarray | None, *, dual: bool) -> Operator:
    """W Q W or W X of an operator Q or X; the operator itself without a root."""
    if root is None:
        return operator
    W = aslinearoperator(sparse.diags_array(root.astype(operator.dtype)))
    return W @ operator @ W if dual else W @ operator


@dataclass(frozen=True)
class RidgePath:
    """Ridge regression for s regularization weights and each number of iterations 1..K.

    ``objective`` (s, K) is the regularized risk, ``test_images`` (K, t) are the scores of the
    Lanczos vectors for the test pairs, and ``last`` (s,) is the position of the last iterate that
    is what it claims to be: less than K - 1 where rounding has spoilt the later ones. Of the
    ``stop_reasons`` "rounding" says that the recurrence has left the system. Dual coefficients
    after k + 1 iterations are ``solutions.iterate(j, k)``. ``failed`` are the weights that a
    ConvergenceWarning tells of; empty where there is none.
    """

    regs: np.ndarray
    objective: np.ndarray
    solutions: ShiftedSolutions
    test_images: np.ndarray | None
    stop_reasons: tuple[str, ...]
    last: np.ndarray
    intercept: float
    failed: tuple[bool, ...] = ()

    def test_scores(self, j: int) -> np.ndarray:
        """Test predictions (K, t) of all iterates for ``regs[j]``."""
        return self.solutions.coefficients[j] @ self._images() + self.intercept

    def final_test_scores(self, tol: float) -> np.ndarray:
        """Test predictions (s, t) of the iterate that a fit to each weight ends with."""
        images, found = self._images(), self.solutions
        ends = np.minimum(first_within(found, tol), self.last)
        return found.coefficients[np.arange(len(ends)), ends] @ images + self.intercept

    def _images(self):
        if self.test_images is None:
            raise InputError("the path has no test pairs: give X_test to KronRidge.path")
        return self.test_images


def first_within(found: ShiftedSolutions, tol: float) -> np.ndarray:
    """Positions (s,) of the first iterates whose residual has fallen by ``tol``; else the last."""
    reached = found.residual_norms <= tol * found.b_norm
    return np.where(reached.any(axis=1), reached.argmax(axis=1), found.n_iter - 1)
