"""Ridge regression for many weights: by one Krylov space, or by decompositions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq, qr, svd
from scipy.sparse.linalg import aslinearoperator

from kronbench.errors import InputError
from kronbench.linalg import ShiftedSolutions, dense
from kronbench.linalg.krylov import Operator

Matrix: TypeAlias = np.ndarray | sparse.csr_array

# Largest design that is decomposed: p features, and n p numbers of 8 bytes (64 MiB).
MOST_FEATURES = 256
_MOST_ENTRIES = 1 << 23

# Largest rounding of the singular values as a share of the smallest that counts.
_LARGEST_SINGULAR_ROUNDING = 1e-3
# A column of size one is dependent where the others leave no more than this of it.
_DEPENDENT_REMAINDER = 1e-12


def is_thin(n: int, p: int) -> bool:
    """Whether n pairs with p features are decomposed in less time than iterations take."""
    return p <= min(n, MOST_FEATURES) and n * p <= _MOST_ENTRIES


class ThinSolution(NamedTuple):
    """Minimizer ``coef`` (p,), weighted errors ``residual`` (n,) = reg a, and the ``objective``.

    ``certain`` is False where features depend on each other to rounding and reg is below it.
    """

    coef: np.ndarray
    residual: np.ndarray
    objective: float
    certain: bool


class ThinRidge:
    """Minimizers w of 1/2 ||X w - y||^2 + reg/2 ||w||^2 for any reg, from X = U S V', in double.

    A row of X is the Kronecker product of a row of each of the features (a, d) and (b, r). Errors
    are multiplied by ``root``. Singular values are right to the rounding of the largest. Where
    that is not small against the least that counts, a column is far smaller than another, or
    nearly a sum of others. Then each reg has a system of its own, of scaled columns.
    """

    def __init__(self, design, y, root=None):
        row_features, col_features = (
            dense(side).astype(np.float64, copy=False) for side in design[:2]
        )
        with np.errstate(over="ignore"):
            X = products(row_features, col_features, *design[2:])
        if not np.isfinite(X).all():
            raise InputError("products of features are too large for a number: scale the features")
        # Weighted least squares are those of rows and labels times the roots of the weights.
        X, y = scaled(root, X), scaled(root, y)
        U, s, Vt = svd(X, full_matrices=False, check_finite=False)
        self._rounding = np.finfo(s.dtype).eps * max(X.shape) * s.max(initial=0)
        self._smallest = s.min(initial=np.inf)
        # Directions below the rounding of the largest singular value hold nothing but rounding.
        kept = s > self._rounding
        # The labels split in coordinates along U and a rest, which every weight shares.
        self._U, self._s, self._Vt = U[:, kept], s[kept], Vt[kept]
        self._along = self._U.T @ y
        self._X, self._y, self._root = X, y, root
        self._rest = y - self._U @ self._along  # what no weights explain

    def solve(self, reg: float) -> ThinSolution:
        """The minimizer for one weight, in O(p (n + p))."""
        if self._rounding > _LARGEST_SINGULAR_ROUNDING * np.hypot(self._smallest, np.sqrt(reg)):
            return self._solve_scaled(reg)
        # w is V s / (s^2 + reg) U'y, which leaves reg / (s^2 + reg) of each coordinate of y along
        # U.
        with np.errstate(over="ignore"):
            left = 1 / (1 + self._s * (self._s / reg))
        coef = self._Vt.T @ (self._along / (self._s + reg / self._s))
        residual = scaled(self._root, self._rest + self._U @ (self._along * left))
        # The minimum is reg/2 y'(X X' + reg I)^-1 y, without a difference of large numbers.
        along = float(self._along @ (left * self._along))
        objective = 0.5 * (float(self._rest @ self._rest) + along)
        return ThinSolution(coef, residual, objective, True)

    def _solve_scaled(self, reg):
        """Least squares of [X; root(reg) I] by pivoted QR, each column of a size near one."""
        R, root = self._triangle, np.sqrt(reg)
        A, b = R[:, :-1], R[:, -1]
        p = A.shape[1]
        # The scales are powers of two, so that nothing is rounded.
        scale = np.ldexp(1.0, -np.frexp(np.maximum(abs(A).max(axis=0), root))[1])
        system = np.vstack([A * scale, np.diag(root * scale)])
        scaled_coef, _, rank, _ = lstsq(
            system, np.append(b, np.zeros(p)), cond=_DEPENDENT_REMAINDER, lapack_driver="gelsy"
        )
        coef = scaled_coef * scale
        # Errors and the objective are those of the coefficients, not of the scaled system.
        error = self._y - self._X @ coef
        objective = 0.5 * float(error @ error) + 0.5 * reg * float(coef @ coef)
        return ThinSolution(coef, scaled(self._root, error), objective, rank == p)

    @cached_property
    def _triangle(self):
        """R of [X, y] = Q R: Householder's QR is as right for a small column as for a large."""
        return qr(np.column_stack([self._X, self._y]), mode="r", check_finite=False)[0]


@dataclass(frozen=True)
class ThinPath:
    """Dual coefficients ``basis`` (s, n) of all ``shifts`` (s,), exact, as if of one iteration.

    As :class:`kronbench.linalg.ShiftedSolutions`, without a Krylov space: each solution is a
    vector of the basis.
    """

    shifts: np.ndarray
    basis: np.ndarray
    n_iter: ClassVar[int] = 1
    b_norm: ClassVar[float] = 1.0

    @property
    def coefficients(self) -> np.ndarray:
        """(s, 1, s)."""
        return np.eye(len(self.shifts))[:, None]

    @property
    def residual_norms(self) -> np.ndarray:
        """(s, 1)."""
        return np.zeros((len(self.shifts), 1))

    def iterate(self, j: int, k: int = -1) -> np.ndarray:
        """Dual coefficients (n,) for ``shifts[j]``."""
        return self.basis[j]


def products(
    row_features: Matrix, col_features: Matrix, rows: np.ndarray, cols: np.ndarray
) -> np.ndarray:
    """Products of each row with each column feature of n pairs, (n, d*r), row features slowest."""
    of_rows, of_cols = dense(row_features)[rows], dense(col_features)[cols]
    return (of_rows[:, :, None] * of_cols[:, None, :]).reshape(len(rows), -1)


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

    Dual coefficients for ``regs[j]`` after k + 1 iterations are ``solutions.iterate(j, k)``, of
    MINRES in the primal form those of features. Where singular values need no iterations, K is 1.

    Attributes
    ----------
    regs : (s,) array
        The weights, as given.
    objective : (s, K) array
        Regularized risk of each iterate.
    solutions : ShiftedSolutions, or without iterations an object with ``iterate``
        All iterates in one basis (:class:`kronbench.linalg.ShiftedSolutions`).
    test_images : (K, t) array, or (s, t) without iterations, or None without test pairs
        Scores of the vectors of that basis for the test pairs. None in the primal form, where they
        are made when ``test_scores`` asks for them.
    stop_reasons : tuple of s {"tol", "max_iter", "breakdown", "rounding"}
        Why each weight ended; "rounding": the recurrence has left the system, or features depend
        on each other to rounding.
    last : (s,) array of int
        Position of the last iterate that is what it claims to be: less than K - 1 where rounding
        has spoilt the later ones.
    intercept : float
        Added to each test prediction.
    failed : tuple of s bool
        Which weights a ConvergenceWarning tells of; empty where there is none.
    test_operator : LinearOperator (t, d*r), or None
        From coefficients of the primal form to scores of the test pairs.
    """

    regs: np.ndarray
    objective: np.ndarray
    solutions: ShiftedSolutions | ThinPath
    test_images: np.ndarray | None
    stop_reasons: tuple[str, ...]
    last: np.ndarray
    intercept: float
    failed: tuple[bool, ...] = ()
    test_operator: Operator | None = None

    def test_scores(self, j: int) -> np.ndarray:
        """Test predictions (K, t) of all iterates for ``regs[j]``."""
        return self.solutions.coefficients[j] @ self._images + self.intercept

    def final_test_scores(self, tol: float) -> np.ndarray:
        """Test predictions (s, t) of the iterate that a fit to each weight ends with.

        In the primal form by s test products, in O(s t) memory, whatever the number of iterations.
        """
        solutions = self.solutions
        # A fit keeps the first iterate within ``tol``, or an earlier one that rounding has spared.
        ends = np.minimum(first_within(solutions, tol), self.last)
        if self.test_operator is not None:
            kept = np.array([solutions.iterate(j, end) for j, end in enumerate(ends)])
            return self.test_operator.matmat(kept.T).T + self.intercept
        return solutions.coefficients[np.arange(len(ends)), ends] @ self._images + self.intercept

    @cached_property
    def _images(self):
        """The scores of the basis for the test pairs, which predictions combine."""
        if self.test_operator is not None:
            return self.test_operator.matmat(self.solutions.basis[:-1].T).T
        if self.test_images is None:
            raise InputError("the path has no test pairs: give X_test to KronRidge.path")
        return self.test_images


def first_within(solutions: ShiftedSolutions | ThinPath, tol: float) -> np.ndarray:
    """Positions (s,) of the first iterates whose residual has fallen by ``tol``; else the last."""
    reached = solutions.residual_norms <= tol * solutions.b_norm
    return np.where(reached.any(axis=1), reached.argmax(axis=1), solutions.n_iter - 1)
