"""What each way to carry out a product costs: counted operations, the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass

# Coefficients for an output, or outputs for a coefficient, from which the order of the many counts
_MOST_PAIRS = 8


@dataclass(frozen=True)
class Sizes:
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
        totals = self.a * self.e + self.d * self.f, self.c * self.e + self.b * self.f
        if max(self.e, self.f) > _MOST_PAIRS * min(self.e, self.f) and near(*totals):
            return 2 * min(totals), int(self.e > self.f)
        branches = [(totals[0], self.d * self.f, 0), (totals[1], self.b * self.f, 1)]
        total, _, first = min(branches)
        return 2 * total, first


def near(u: float, v: float) -> bool:
    """Whether the operations of two branches differ by less than it costs to permute pairs."""
    return max(u, v) <= 1.1 * min(u, v)


def dense_flops(a: int, b: int, c: int, d: int) -> int:
    """Operations of the cheaper order of A V B' with A (a, b) and B (c, d)."""
    return 2 * min(a * d * (b + c), b * c * (a + d))


@dataclass(frozen=True)
class Costs:
    """Costs of products, in operations of a product of two matrices.

    ``pair_operation`` is that of an operation over pairs, ``factorization`` that of one of
    incomplete Cholesky, counted as n k^2.
    """

    pair_operation: int
    factorization: int

    def sparse(self, sizes: Sizes) -> int:
        return self.pair_operation * sizes.sparse()[0]

    def dense(self, sizes: Sizes) -> int:
        return dense_flops(sizes.a, sizes.b, sizes.c, sizes.d)

    def lowrank(self, sizes: Sizes, side: int, rank: int, middle_rank: int | None = None) -> int:
        """With factors of the matrix of one side, and of the other where it has a rank too."""
        rows, columns = (sizes.c, sizes.d) if side == 0 else (sizes.a, sizes.b)
        over_pairs = self.pair_operation * 2 * rank * (sizes.e + sizes.f)
        if middle_rank is None:
            return over_pairs + 2 * rank * rows * columns
        return over_pairs + 2 * rank * middle_rank * (rows + columns)

    def factors(self, shape: tuple[int, int], rank: int) -> int:
        """To find factors of a matrix and to check them."""
        a, b = shape
        if a == b:
            return self.factorization * a * rank**2 + 2 * a * b * rank
        return 6 * a * b * rank


# All equally dear: what the papers count.
OPERATIONS = Costs(pair_operation=1, factorization=0)

# What processors were found to take, one thread: 42 (Zen 3) and 87 (Zen 5) times 10^9 operations a
# second of the BLAS in double precision, 15 and 28 over the pairs, 4 and 8 of a factorization. Of
# 85 problems the way chosen so took at most 1.3 times as long as the fastest in 83.
TYPICAL = Costs(pair_operation=3, factorization=11)
