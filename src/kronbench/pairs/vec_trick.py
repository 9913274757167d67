"""The generalized vec trick: products with a sampled Kronecker product, u = R (G kron K) C' v.

Algorithm 1 of Airola & Pahikkala (2018) has it as R (M kron N) C' v. The order of the factors only
permutes what R and C pick: here M (a, b) is the matrix of the row vertices, K, and N (c, d) that
of the column vertices, G. Output h is of the pair (p_h, q_h) of a row of M and one of N, and
coefficient h of the pair (r_h, t_h) of their columns.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import dense
from kronbench.linalg.lowrank import low_rank_factors
from kronbench.linalg.threads import WORTH_A_THREAD, at_most_threads
from kronbench.pairs._cost_model import PAIR_OPERATION, Sizes, factorization, near
from kronbench.pairs._routes import DenseRoute, DoubleSum, PairRoute, middle_product
from kronbench.pairs._sampling import Sampling
from kronbench.pairs.data import as_features, as_positions

METHODS = ("auto", "sparse", "dense", "lowrank")

# Below this many operations (a few milliseconds) methods are compared by operations alone.
_OPERATIONS_WORTH_FACTORS = 5e7

# Terms of a double sum below which all ways take microseconds.
_TERMS_WORTH_A_ROUTE = 100_000

# Pairs and vertices are numbered in 32 bits; sums over them and places in arrays in 64.
_MOST_PAIRS_OR_VERTICES = np.iinfo(np.int32).max

# Rows of a matrix that are looked through at a time for subnormal numbers.
_ROWS_IN_A_BLOCK = 256

# A factorization must pay for itself within this many products, so that one that fails costs no
# more than these. An operator from pairs to the same pairs belongs to an iterative solver; any
# other may be used once.
_PRODUCTS_OF_A_SOLVER = 4


class SampledKroneckerOperator(LinearOperator):
    """Product of a sampled Kronecker product matrix with vectors over pairs.

    u_h = sum_e row_matrix[rows_h, in_rows_e] * col_matrix[cols_h, in_cols_e] * v_e, never with
    anything of the size of the number of pairs times the number of vertices in memory.

    Parameters
    ----------
    row_matrix, col_matrix : (a, b), (c, d) arrays or sparse matrices
    rows, cols : (f,) integer arrays
        Row and column vertex of each output: rows of the two matrices. Arrays of int32 are kept,
        not copied: do not change them.
    in_rows, in_cols : (e,) integer arrays, optional
        The same for each coefficient: columns of the two matrices. The output pairs when None.
    method : {"auto", "sparse", "dense", "lowrank"}
        "sparse": Algorithm 1 of Airola & Pahikkala (2018), the cheaper of its two branches, in
        O(min(a e + d f, c e + b f)), where only coefficients other than zero count in e; where e f
        is no more than 2 (a b + c d) ("independent" pairs), the double sum itself.
        "dense": two matrix products of the BLAS, O(min(a d (b + c), b c (a + d))).
        "lowrank": O(k (e + f)) with factors of rank k that reproduce every entry of a matrix to
        1e-11 of its largest (1e-6 in float32); where they would cost more than an exact method,
        the cheaper of those.
        "auto": the cheapest by counted operations, factorization included; an operation over the
        pairs counts for three of the BLAS.
    dtype : {float32, float64}, optional
        Of the arithmetic and the outputs; float32 when None and both matrices are, else float64.

    Attributes
    ----------
    method : str
        The method in use, never "auto".
    flops : int
        Operations of one product by it; for "sparse" that of Theorem 1 (a multiplication and an
        addition for each term), counting vertices that occur in a pair, and a pair once.

    Notes
    -----
    A ``scipy.sparse.linalg.LinearOperator``. Pairs that occur several times are merged for the
    product (Airola & Pahikkala 2016, Remark 1): their coefficients are summed, and an output is
    formed once and repeated. Results are bitwise the same for the same method and number of
    threads, which is that of numba.
    """

    def __init__(
        self,
        row_matrix: ArrayLike | sparse.sparray,
        col_matrix: ArrayLike | sparse.sparray,
        rows: ArrayLike,
        cols: ArrayLike,
        in_rows: ArrayLike | None = None,
        in_cols: ArrayLike | None = None,
        *,
        method: str = "auto",
        dtype: DTypeLike | None = None,
    ):
        if method not in METHODS:
            raise InputError(f"method is {method!r}: give one of {', '.join(map(repr, METHODS))}")
        if (in_rows is None) != (in_cols is None):
            raise InputError("one of in_rows and in_cols is missing: give both or neither")
        matrices = tuple(
            dense(as_features(matrix, name))
            for matrix, name in ((row_matrix, "row_matrix"), (col_matrix, "col_matrix"))
        )
        # The arithmetic is in single precision only where both matrices are, or it is asked for.
        if dtype is None:
            both_single = all(matrix.dtype == np.float32 for matrix in matrices)
            dtype = np.float32 if both_single else np.float64
        elif np.dtype(dtype) not in (np.float32, np.float64):
            raise InputError(f"dtype is {dtype!r}: give float32 or float64")
        dtype = np.dtype(dtype)
        # Outputs are pairs of rows of the matrices, coefficients pairs of their columns. One
        # object for both tells later that the pairs are the same.
        out_shape, in_shape = zip(*(matrix.shape for matrix in matrices), strict=True)
        out = _as_sampling(rows, cols, out_shape, ("rows", "cols"))
        if in_rows is not None:
            in_ = _as_sampling(in_rows, in_cols, in_shape, ("in_rows", "in_cols"))
        elif out_shape == in_shape:
            in_ = out
        else:
            in_ = _as_sampling(rows, cols, in_shape, ("rows", "cols"))
        matrices = tuple(_without_subnormals(matrix, dtype) for matrix in matrices)
        # Both matrices are cast before any method is chosen; each has no factors yet.
        self._set(dtype, matrices, (None, None), out, in_, method)
        self._auto = method == "auto"
        if method in ("auto", "lowrank"):
            self._choose_method()

    def restrict(self, out: np.ndarray, in_: np.ndarray) -> SampledKroneckerOperator:
        """The operator on the pairs of two boolean masks, sharing matrices and factors.

        Give the same object for both to keep the pairs the same on both sides.
        """
        part_out = self._out.take(out)
        shared = in_ is out and self._in is self._out
        part_in = part_out if shared else self._in.take(in_)
        # Factors are kept, as they are there; the cheapest exact method is chosen anew.
        part = self._sibling(self._matrices, self._factors, part_out, part_in)
        if self._auto and self.method != "lowrank":
            _, part.method, _ = part._cheapest_exact()
        return part

    def _set(self, dtype, matrices, factors, out, in_, method):
        """Set all that a product needs but its route."""
        super().__init__(dtype, (len(out), len(in_)))
        self._matrices, self._factors = matrices, factors
        self._out, self._in = out, in_
        # Remark 1 of the 2016 paper: e and f count distinct pairs.
        self._out_pairs, self._out_place = out.distinct
        self._in_pairs, self._in_place = in_.distinct
        # Theorem 1 assumes that each vertex has a pair; those without count nothing here.
        (a, c), (b, d) = out.used, in_.used
        self._sizes = Sizes(a, b, c, d, len(self._in_pairs), len(self._out_pairs))
        # This side of "lowrank" has the factors that run over the pairs: 0 is the row matrix.
        self._over_pairs: Any = None
        self.method = method

    def _cheapest_exact(self):
        """What an operation over pairs counts for, the cheapest exact method, and its cost."""
        sparse, _ = self._sizes.sparse()
        few = self.method == "lowrank" or sparse < _OPERATIONS_WORTH_FACTORS
        weight = 1 if few else PAIR_OPERATION
        # Equal costs fall to the first: operations of the BLAS are the faster ones.
        exact = {"dense": self._sizes.dense(), "sparse": weight * sparse}
        method, cost = min(exact.items(), key=lambda item: item[1])
        return weight, method, cost

    def _choose_method(self):
        """Set the cheapest method: the exact ones compete with up to four ways of "lowrank"."""
        weight, exact, limit = self._cheapest_exact()
        options: list = []
        if self.method == "lowrank" or weight > 1:
            factors = self._find_factors(weight, limit)
            ranks: list = [None if pair is None else pair[0].shape[1] for pair in factors]
            # An option is its cost, the side whose factors run over the pairs, and whether the
            # other side enters by its factors too. It enters whole where its rank is None.
            options = [
                (self._sizes.lowrank(side, ranks[side], other, weight), side, other is not None)
                for side in (0, 1)
                for other in (None, ranks[1 - side])
                if ranks[side] is not None
            ]
            options = [option for option in options if option[0] <= limit]
        if not options:
            self.method = exact
            return
        # The best of nearly equal options takes the pairs by their row vertices. They mostly come
        # in this order, and to permute ten million pairs, on the way in and out, takes two thirds
        # of the time of the rest of their product.
        best = min(options)
        by_rows = [option for option in options if option[1] == 1 and near(option[0], best[0])]
        _, self._over_pairs, both = min(by_rows, default=best)
        # The rest is let go: two matrices are often most of the memory of a run.
        needed = [both or side == self._over_pairs for side in (0, 1)]
        self._factors = tuple(f if keep else None for f, keep in zip(factors, needed, strict=True))
        self._matrices = tuple(
            None if keep else m for m, keep in zip(self._matrices, needed, strict=True)
        )
        self.method = "lowrank"

    def _find_factors(self, weight, limit):
        """Factors of either matrix, None where their rank would make the product dearer."""
        products: float = _PRODUCTS_OF_A_SOLVER if self._in is self._out else 1
        if weight == 1:
            products = np.inf  # the costs are those of products alone
        factors: list = []
        for side, matrix in enumerate(self._matrices):

            def cost(rank, side=side, shape=matrix.shape):
                """The cost of a product, with its share of the factorization."""
                product = min(
                    self._sizes.lowrank(side, rank, middle, weight) for middle in (None, rank)
                )
                return product + factorization(shape, rank) / products

            # The cost grows with the rank, so that bisection finds the largest that pays.
            if side == 1 and matrix is self._matrices[0]:
                factors.append(factors[0])
            else:
                largest = bisect_right(range(1, min(matrix.shape) + 1), limit, key=cost)
                factors.append(low_rank_factors(matrix, largest) if largest else None)
        return factors

    @cached_property
    def flops(self) -> int:
        """Operations of one product by the method in use."""
        if self.method == "dense":
            return self._sizes.dense()
        if self.method == "sparse":
            return self._sizes.sparse()[0]
        side = self._over_pairs
        factors, others = self._factors[side], self._factors[1 - side]
        middle = None if others is None else others[0].shape[1]
        return self._sizes.lowrank(side, factors[0].shape[1], middle)

    @cached_property
    def _route(self):
        """What carries out a product of distinct pairs, made once for the method in use."""
        if self.method == "dense":
            return DenseRoute(self._in_pairs.sorted(0), self._out_pairs.sorted(0), *self._matrices)
        if self.method == "sparse":
            # A sum over all pairs of pairs is taken where it reads less than Algorithm 1 would
            # copy: a copy of one number costs as much as two to four multiply-adds.
            terms = len(self._in_pairs) * len(self._out_pairs)
            if _TERMS_WORTH_A_ROUTE <= terms <= 2 * sum(matrix.size for matrix in self._matrices):
                return DoubleSum(self._in_pairs.index, self._out_pairs.index, *self._matrices)
            # Line 1 chooses the branch: side 0 makes T = V M' (lines 2-6), side 1 makes S = N V
            # (lines 13-17). Coefficients of one vertex of the other side share a row of T or a
            # column of S; outputs of one vertex of this side share a column of T or a row of S.
            _, side = self._sizes.sparse()
            in_pairs, out_pairs = self._in_pairs.sorted(1 - side), self._out_pairs.sorted(side)
            first, second = self._matrices[side], self._matrices[1 - side]
            return PairRoute(in_pairs, out_pairs, first.T, second, columns=out_pairs.majors)
        # With M = P Q' the rows of Q take the place of those of M' in lines 2-6, so that T has a
        # column for each of the few factors. N lies in between, and outputs are inner products
        # with rows of P. The same holds with M and N exchanged.
        side = self._over_pairs
        in_pairs, out_pairs = self._in_pairs.sorted(1 - side), self._out_pairs.sorted(1 - side)
        P, Q = self._factors[side]
        between = self._factors[1 - side] or self._matrices[1 - side]
        middle = middle_product(between, out_pairs.majors)
        return PairRoute(in_pairs, out_pairs, Q, P, middle=middle)

    @cached_property
    def _adjoint_operator(self):
        matrices = tuple(None if matrix is None else matrix.T for matrix in self._matrices)
        factors = tuple(None if pair is None else pair[::-1] for pair in self._factors)
        return self._sibling(matrices, factors, self._in, self._out)

    def _sibling(self, matrices, factors, out, in_):
        """An operator of other pairs with these matrices and factors, by the same method.

        It is made past ``__init__``, which would check, cast and factorize the matrices again. A
        copy of this operator would have its cached route.
        """
        operator = SampledKroneckerOperator.__new__(SampledKroneckerOperator)
        operator._set(self.dtype, matrices, factors, out, in_, self.method)
        operator._over_pairs, operator._auto = self._over_pairs, self._auto
        return operator

    def _adjoint(self):
        return self._adjoint_operator

    _transpose = _adjoint

    def _matmat(self, X):
        X = np.ascontiguousarray(X, self.dtype)
        # Coefficients of equal pairs are summed first, and outputs repeated last (Remark 1).
        if self._in_place is not None:
            sums = np.empty((len(self._in_pairs), X.shape[1]), X.dtype)
            for column, values in enumerate(X.T):
                sums[:, column] = np.bincount(self._in_place, values, minlength=len(sums))
            X = sums
        with at_most_threads(self.flops * X.shape[1] / WORTH_A_THREAD):
            product = self._route(X)
        return product if self._out_place is None else product[self._out_place]


def _without_subnormals(matrix, dtype):
    """The matrix in this dtype, in single precision with zeros for subnormal numbers.

    A Gaussian kernel falls below 1e-38 at a distance of 9 widths, and with such numbers a product
    takes ten times as long; below those of double precision ``gram`` leaves none.
    """
    cast = matrix.astype(dtype, copy=False)
    if dtype == np.float32:
        for first in range(0, len(cast), _ROWS_IN_A_BLOCK):
            size = np.abs(cast[first : first + _ROWS_IN_A_BLOCK])
            subnormal = (size < np.finfo(dtype).tiny) & (size > 0)
            if subnormal.any():
                # The caller's array is copied before its first number is changed.
                cast = matrix.astype(dtype) if cast is matrix else cast
                cast[first : first + _ROWS_IN_A_BLOCK][subnormal] = 0
    return cast


def _as_sampling(rows, cols, shape, names):
    """The pairs of these positions, checked, in 32 bits."""
    for index, size, name in zip((rows, cols), shape, names, strict=True):
        if max(np.size(index), size) > (most := _MOST_PAIRS_OR_VERTICES):
            raise InputError(f"{name} is too long: give at most {most} pairs and vertices")
    index = as_positions(rows, cols, shape, names)
    return Sampling(tuple(part.astype(np.int32, copy=False) for part in index), shape)
