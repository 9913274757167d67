"""What each way to carry out a product costs: counted operations, the same on every machine."""

from __future__ import annotations

from typing import NamedTuple

# Operations of a product of two matrices in the time of one over pairs, and of one of incomplete
# Cholesky, counted as n k^2. Processors were found to make, in one thread, 42 (Zen 3) and 87
# (Zen 5) times 10^9 operations a second of the BLAS in double precision, 15 and 28 over the pairs,
# 4 and 8 of a factorization. Of 85 problems the way chosen so took at most 1.3 times as long as
# the fastest in 83.
PAIR_OPERATION = 3
_CHOLESKY_OPERATION = 11

# The same for an entry of a list of sparse features: read from a table, multiplied and added.
LIST_OPERATION = 30

# Coefficients for an output, or outputs for a coefficient, from which the order of many counts.
_RATIO_OF_MANY_PAIRS = 8


class Sizes(NamedTuple):
    """a x b row matrix, c x d column matrix, f outputs of e coefficients; used vertices only."""

    a: int
    b: int
    c: int
    d: int
    e: int
    f: int

    def sparse(self) -> tuple[int, int]:
        """Operations of the cheaper branch, and the side whose matrix it multiplies first.

        2 min(a e + d f, c e + b f): Theorem 1 of Airola & Pahikkala (2018), a multiplication and
        an addition each. Of equal branches the one with the cheaper second half, which zero
        coefficients leave as it is; of nearly equal ones, where most pairs are on one side, the
        one that takes these by their row vertices, the order in which they mostly come.
        """
        # Line 1 of Algorithm 1 compares the same two sums.
        totals = self.a * self.e + self.d * self.f, self.c * self.e + self.b * self.f
        if max(self.e, self.f) > _RATIO_OF_MANY_PAIRS * min(self.e, self.f) and near(*totals):
            return 2 * min(totals), int(self.e > self.f)
        branches = [(totals[0], self.d * self.f, 0), (totals[1], self.b * self.f, 1)]
        total, _, first = min(branches)
        return 2 * total, first

    def dense(self) -> int:
        """Operations of the cheaper order of A V B' with A (a, b) and B (c, d)."""
        return 2 * min(self.a * self.d * (self.b + self.c), self.b * self.c * (self.a + self.d))

    def lowrank(self, side: int, rank: int, middle: int | None = None, weight: int = 1) -> int:
        """With factors of the matrix of one side, and of the other where it has a rank too.

        An operation over pairs counts for ``weight``.
        """
        # The coefficients are spread over ``rank`` columns and the outputs collected from as many.
        # In between each of these columns is multiplied by the matrix of the other side, which is
        # whole or two factors of the rank ``middle``.
        rows, columns = (self.c, self.d) if side == 0 else (self.a, self.b)
        between = rows * columns if middle is None else middle * (rows + columns)
        return weight * 2 * rank * (self.e + self.f) + 2 * rank * between


def near(u: float, v: float) -> bool:
    """Whether the operations of two branches differ by less than it costs to permute pairs."""
    return max(u, v) <= 1.1 * min(u, v)


def factorization(shape: tuple[int, int], rank: int) -> int:
    """To find factors of a matrix and to check them."""
    # Incomplete Cholesky takes a kernel matrix, a randomized range finder any other.
    a, b = shape
    if a == b:
        return _CHOLESKY_OPERATION * a * rank**2 + 2 * a * b * rank
    return 6 * a * b * rank


def design_cost(n: int, shapes: tuple[tuple[int, int], ...], method: str = "auto") -> int:
    """Operations of X or X', X = R (T kron D), for n pairs and D, T of these ``shapes``, dense."""
    (m, d), (q, r) = shapes
    of_features = Sizes(m, d, q, r, d * r, n)
    by_pairs = PAIR_OPERATION * of_features.sparse()[0]
    return by_pairs if method == "sparse" else min(of_features.dense(), by_pairs)


def features_are_cheaper(n: int, shapes: tuple[tuple[int, int], ...], products: int) -> bool:
    """Whether products with X and X' cost no more than those with X X', X = R (T kron D).

    For n pairs and features of these ``shapes``, D (m, d) of rows and T (q, r) of columns. X X'
    takes the cheapest of its methods, after kernel matrices are made, and factors of them where
    they are of low rank.
    """
    (m, d), (q, r) = shapes
    ranks = min(m, d), min(q, r)
    # The dual form multiplies from pairs to pairs, the primal form from d r features to pairs.
    of_pairs = Sizes(m, m, q, q, n, n)
    lowrank = min(of_pairs.lowrank(k, ranks[k], ranks[1 - k], PAIR_OPERATION) for k in (0, 1))
    factors = sum(
        factorization((size, size), rank) for size, rank in zip((m, q), ranks, strict=True)
    )
    dual = min(
        of_pairs.dense(), PAIR_OPERATION * of_pairs.sparse()[0], lowrank + factors / products
    )
    # A step of the primal form takes X and X', one of the dual X X' alone.
    primal = 2 * design_cost(n, shapes)
    # The dual form has kernel matrices of the vertices to make first.
    dual += 2 * (m * m * d + q * q * r) / products
    return primal <= dual or near(primal, dual)
