"""Products with sampled Kronecker matrices (section 2)."""

from __future__ import annotations

import numpy as np

from kronbench.pairs import SampledKroneckerOperator
from kronbench.papers.airola.measure.statements.algorithm_1 import algorithm_1, branch, restricted
from kronbench.papers.airola.measure.statements.problem import Problem, row_products
from kronbench.papers.airola.measure.statements.rows import row


def products(problem: Problem, reg: float, rng: np.random.Generator) -> list[dict]:
    """Section 2: M = G^ (a, b), N = K^ (c, d), v over e training pairs, u over f test pairs."""
    M, N = problem.G_hat, problem.K_hat
    p, q = problem.test.cols, problem.test.rows
    r, t = problem.train.cols, problem.train.rows
    (a, b), (c, d), e, f = M.shape, N.shape, len(r), len(p)
    v = rng.standard_normal(e)
    small_M, small_N = M[:9, :11], N[:10, :12]
    kron = np.kron(small_M, small_N)
    Q = rng.standard_normal((12, 11))
    i = np.arange(90)
    rows = [
        row(
            "lemma-1",
            "Lemma 1",
            "vec trick",
            "vec trick: (M ⊗ N) vec(Q) = vec(N Q Mᵀ)",
            (small_N @ Q @ small_M.T).ravel("F"),
            kron @ Q.ravel("F"),
            operations=2 * min(10 * 12 * 11 + 10 * 11 * 9, 12 * 11 * 9 + 10 * 12 * 9),
            plain=2 * kron.size,
        ),
        row(
            "lemma-2",
            "Lemma 2",
            "indices",
            "row i of M ⊗ N is the product of rows ⌊i/c⌋ and i mod c",
            row_products(small_M[i // 10], small_N[i % 10]),
            kron,
        ),
    ]
    matrix = M[np.ix_(p, r)] * N[np.ix_(q, t)]
    expected = matrix @ v
    costs = {True: a * e + d * f, False: c * e + b * f}
    for first, lines in ((True, "2 to 11"), (False, "13 to 22")):
        product, operations = branch(first, M, N, p, q, r, t, v)
        rows.append(
            row(
                "algorithm-1",
                "Algorithm 1",
                f"lines {lines}",
                "R (M ⊗ N) Cᵀ v as the dense product",
                product,
                expected,
                operations=operations,
                cost=costs[first],
                plain=2 * matrix.size,
            )
        )
    product, operations = algorithm_1(M, N, p, q, r, t, v)
    rows.append(
        row(
            "theorem-1",
            "Theorem 1",
            "Algorithm 1",
            "the product in O(min(ae + df, ce + bf))",
            product,
            expected,
            operations=operations,
            cost=min(costs.values()),
            plain=2 * matrix.size,
        )
    )
    # R = C = I: every pair of both sides, in the order of vec
    cells = [part.ravel() for part in (*np.indices((9, 10)), *np.indices((11, 12)))]
    product, operations = algorithm_1(small_M, small_N, *cells, Q.ravel("F"))
    rows.append(
        row(
            "remark-1",
            "Remark 1",
            "complete graph",
            "R = C = I: the vec trick at its own cost",
            product,
            (small_N @ Q @ small_M.T).ravel("F"),
            operations=operations,
            cost=min(9 * 11 * 12 + 9 * 10 * 12, 10 * 11 * 12 + 9 * 11 * 10),
        )
    )
    often, out = rng.integers(0, e, 4 * e), rng.integers(0, f, 4 * f)
    v = rng.standard_normal(4 * e)
    repeated = SampledKroneckerOperator(N, M, q[out], p[out], t[often], r[often], method="sparse")
    once, place = np.unique(often, return_inverse=True)
    some = np.unique(out)
    merged = restricted(M, N, p[some], q[some], r[once], t[once])
    _, operations = algorithm_1(*merged, np.bincount(place, v))
    (a, b), (c, d) = (part.shape for part in merged[:2])
    rows.append(
        row(
            "2016-remark-1",
            "2016, Remark 1",
            "repeated pairs",
            "repeated pairs merged: coefficients summed, outputs repeated",
            repeated @ v,
            matrix[out][:, often] @ v,
            operations=operations,
            cost=min(a * len(once) + d * len(some), c * len(once) + b * len(some)),
            plain=2 * min(a * 4 * e + d * 4 * f, c * 4 * e + b * 4 * f),
        )
    )
    return rows
