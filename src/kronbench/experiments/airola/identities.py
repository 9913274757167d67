"""Lemmas, theorem, remarks and equations of product kernel methods, measured on a training set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from kronbench.bench.columns import Columns
from kronbench.bench.seeds import generator
from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold
from kronbench.linalg import gram
from kronbench.models import KronNewton
from kronbench.pairs import LOSSES, PairData, SampledKroneckerOperator
from kronbench.pairs.data import used_vertices

_STEP = 1e-4

COLUMNS = Columns(
    key=("name",),
    counts=("operations", "cost", "plain"),
    numbers=("deviation", "share"),
    texts=("key", "place", "statement"),
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each statement of Airola & Pahikkala (2016, 2018), in the order of the text.

    Measured on ``pairs`` training and test pairs of a zero-shot fold, with linear kernels of the
    first ``features`` features of each side, so that the dual and the primal form are the same
    model. ``key`` names the statement in the files of claims; ``deviation`` is the largest
    difference of both sides of a statement, relative to the largest entry; ``operations`` are the
    multiplications and additions of the proposed way, counted in a run of Algorithm 1 as printed,
    ``cost`` the argument of its printed O(), ``plain`` the operations of the way that it replaces;
    ``share`` is what a statement says of a share.
    """
    pairs, y = labelled_pairs(
        data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
    )
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    train, test = (rng.permutation(part)[: spec["pairs"]] for part in (train, test))
    full = pairs.row_features.shape[1], pairs.col_features.shape[1]
    train_pairs, test_pairs = (
        _narrow(_used(pairs[part]), spec["features"]) for part in (train, test)
    )
    problem = _Problem(train_pairs, test_pairs, y[train], full)
    rows = []
    for statements in (
        _products,
        _model,
        _predictions,
        _derivatives,
        _newton,
        _ridge,
        _svm,
        _gaussian,
    ):
        rows += statements(problem, spec["reg"], rng)
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Problem:
    """Pairs, labels, the numbers of features there are; the matrices of the statements."""

    train: PairData
    test: PairData
    y: np.ndarray
    full: tuple[int, int]

    @property
    def D(self):
        return self.train.row_features

    @property
    def T(self):
        return self.train.col_features

    @property
    def K(self):
        return self.D @ self.D.T

    @property
    def G(self):
        return self.T @ self.T.T

    @property
    def K_hat(self):
        return self.test.row_features @ self.D.T

    @property
    def G_hat(self):
        return self.test.col_features @ self.T.T

    @property
    def X(self):
        """(n, dr) R (T kron D), a row t kron d for each pair."""
        return _row_products(self.T[self.train.cols], self.D[self.train.rows])

    @property
    def Q(self):
        """(n, n) R (G kron K) R', entry by entry."""
        rows, cols = self.train.rows, self.train.cols
        return self.K[np.ix_(rows, rows)] * self.G[np.ix_(cols, cols)]

    @property
    def Q_hat(self):
        """(t, n) kernel values between test and training pairs."""
        test, train = self.test, self.train
        return (
            self.K_hat[np.ix_(test.rows, train.rows)] * self.G_hat[np.ix_(test.cols, train.cols)]
        )


def _used(pairs):
    """The same pairs over the vertices that occur in them: the sequences are surjective."""
    rows, row_index = used_vertices(pairs.rows, pairs.n_rows)
    cols, col_index = used_vertices(pairs.cols, pairs.n_cols)
    return PairData(pairs.row_features[rows], pairs.col_features[cols], row_index, col_index)


def _narrow(pairs, features):
    return PairData(
        pairs.row_features[:, :features], pairs.col_features[:, :features], pairs.rows, pairs.cols
    )


def _row(
    key,
    place,
    name,
    statement,
    ours=None,
    reference=None,
    *,
    operations=None,
    cost=None,
    plain=None,
):
    deviation = np.nan
    if ours is not None:
        ours, reference = np.asarray(ours, float), np.asarray(reference, float)
        deviation = np.abs(ours - reference).max() / max(np.abs(reference).max(), 1e-300)
    return {
        "key": key,
        "place": place,
        "name": name,
        "statement": statement,
        "deviation": float(deviation),
        "operations": operations,
        "cost": cost,
        "plain": plain,
    }


def _vanishing(key, place, name, statement, values, scale=1.0):
    row = _row(key, place, name, statement)
    row["deviation"] = float(np.abs(values).max() / scale)
    return row


def _row_products(left, right):
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _branch(first, M, N, p, q, r, t, v):
    """Lines 2-11 or 13-22 of Algorithm 1: the product, and the operations it took."""
    if first:
        terms = v[:, None] * M[:, r].T
        T = np.zeros((N.shape[1], M.shape[0]))
        np.add.at(T, t, terms)
        products = N[q] * T[:, p].T
    else:
        terms = v[:, None] * N[:, t].T
        S = np.zeros((M.shape[1], N.shape[0]))
        np.add.at(S, r, terms)
        products = S[:, q].T * M[p]
    return products.sum(axis=1), 2 * (terms.size + products.size)


def _algorithm_1(M, N, p, q, r, t, v):
    """The product by the package, and the operations of Algorithm 1, counted as printed."""
    (a, b), (c, d), e, f = M.shape, N.shape, len(r), len(p)
    _, operations = _branch(a * e + d * f < c * e + b * f, M, N, p, q, r, t, v)
    return SampledKroneckerOperator(N, M, q, p, t, r, method="sparse") @ v, operations


def _part(M, N, *pairs):
    """The matrices and p, q, r, t over the vertices that occur in these."""
    (p_used, p), (q_used, q), (r_used, r), (t_used, t) = (
        np.unique(index, return_inverse=True) for index in pairs
    )
    return M[np.ix_(p_used, r_used)], N[np.ix_(q_used, t_used)], p, q, r, t


def _products(problem, reg, rng):
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
        _row(
            "lemma-1",
            "Lemma 1",
            "vec trick",
            "vec trick: (M ⊗ N) vec(Q) = vec(N Q Mᵀ)",
            (small_N @ Q @ small_M.T).ravel("F"),
            kron @ Q.ravel("F"),
            operations=2 * min(10 * 12 * 11 + 10 * 11 * 9, 12 * 11 * 9 + 10 * 12 * 9),
            plain=2 * kron.size,
        ),
        _row(
            "lemma-2",
            "Lemma 2",
            "indices",
            "row i of M ⊗ N is the product of rows ⌊i/c⌋ and i mod c",
            _row_products(small_M[i // 10], small_N[i % 10]),
            kron,
        ),
    ]
    matrix = M[np.ix_(p, r)] * N[np.ix_(q, t)]
    expected = matrix @ v
    costs = {True: a * e + d * f, False: c * e + b * f}
    for first, lines in ((True, "2 to 11"), (False, "13 to 22")):
        product, operations = _branch(first, M, N, p, q, r, t, v)
        rows.append(
            _row(
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
    product, operations = _algorithm_1(M, N, p, q, r, t, v)
    rows.append(
        _row(
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
    product, operations = _algorithm_1(small_M, small_N, *cells, Q.ravel("F"))
    rows.append(
        _row(
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
    merged = _part(M, N, p[some], q[some], r[once], t[once])
    _, operations = _algorithm_1(*merged, np.bincount(place, v))
    (a, b), (c, d) = (part.shape for part in merged[:2])
    rows.append(
        _row(
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


def _model(problem, reg, rng):
    """Section 3: kernel matrix, features, representer theorem."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    a = np.linalg.solve(Q + reg * np.eye(n), y)
    w = np.linalg.solve(X.T @ X + reg * np.eye(X.shape[1]), X.T @ y)
    return [
        _row(
            "kernel-matrix",
            "section 3",
            "kernel matrix",
            "R (G ⊗ K) Rᵀ = X Xᵀ with X = R (T ⊗ D)",
            X @ X.T,
            Q,
        ),
        _row(
            "representer",
            "section 3",
            "representer theorem",
            "representer theorem: w of the minimizer is Xᵀ a",
            X.T @ a,
            w,
        ),
    ]


def _predictions(problem, reg, rng):
    """Section 3.1."""
    train, test = problem.train, problem.test
    a = rng.standard_normal(len(train)) * (rng.random(len(train)) < 0.3)
    Q_hat = problem.Q_hat
    u, v, m, q, t, n = test.n_rows, test.n_cols, train.n_rows, train.n_cols, len(test), len(train)
    M, N, new = problem.G_hat, problem.K_hat, (test.cols, test.rows)
    dual, dual_operations = _algorithm_1(M, N, *new, train.cols, train.rows, a)
    kept = train[a != 0]
    part = _part(M, N, *new, kept.cols, kept.rows)
    sparse, sparse_operations = _algorithm_1(*part, a[a != 0])
    q_kept, m_kept = (matrix.shape[1] for matrix in part[:2])
    D_hat, T_hat = test.row_features, test.col_features
    d, r = D_hat.shape[1], T_hat.shape[1]
    weights = (index.ravel() for index in np.indices((r, d)))
    primal, primal_operations = _algorithm_1(T_hat, D_hat, *new, *weights, problem.X.T @ a)
    nonzero = np.count_nonzero(a)
    full_d, full_r = problem.full
    return [
        _row(
            "dual-predictions",
            "section 3.1",
            "dual predictions",
            "dual predictions R̂ (Ĝ ⊗ K̂) Rᵀ a",
            dual,
            Q_hat @ a,
            operations=dual_operations,
            cost=min(v * n + m * t, u * n + q * t),
            plain=2 * t * n,
        ),
        _row(
            "sparse-predictions",
            "equation 5",
            "sparse predictions",
            "the same without the coefficients that are 0",
            sparse,
            Q_hat @ a,
            operations=sparse_operations,
            cost=min(v * nonzero + m_kept * t, u * nonzero + q_kept * t),
            plain=2 * t * nonzero,
        ),
        _row(
            "primal-predictions",
            "section 3.1",
            "primal predictions",
            "primal predictions R̂ (T̂ ⊗ D̂) w",
            primal,
            Q_hat @ a,
            operations=primal_operations,
            cost=min(v * d * r + d * t, u * d * r + r * t),
        ),
        _row(
            "dual-saves",
            "section 3.1",
            "dual instead of primal",
            "all features, dr ≫ n: dual instead of primal",
            operations=dual_operations,
            plain=2 * min(v * full_d * full_r + full_d * t, u * full_d * full_r + full_r * t),
        ),
    ]


def _derivatives(problem, reg, rng):
    """Section 3.2: gradients and Hessians of J against central differences."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    loss = LOSSES["logistic"]
    a = rng.standard_normal(n)
    w = X.T @ a
    rows = [_row("norm", "section 3.2", "norm", "‖f‖² = aᵀ R (G ⊗ K) Rᵀ a", a @ Q @ a, w @ w)]
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
            _row(
                f"{form}-gradient",
                "equation 8" if name == "a" else "section 3.2",
                f"{form} gradient",
                f"∂J/∂{name} = {formulas[0]}",
                step @ gradient(x),
                (objective(ahead) - objective(behind)) / (2 * _STEP),
            ),
            _row(
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
        _vanishing(
            "convex",
            "table 2",
            "convexity",
            "negative eigenvalues of the Hessians: the losses are convex",
            least,
        ),
        _vanishing(
            "diagonal-hessians",
            "section 3.2",
            "diagonal Hessians",
            "univariate losses: Hessian entries off the diagonal",
            off,
        ),
        _vanishing(
            "l1-hessian",
            "section 4.2",
            "L1-SVM",
            "L1-SVM: entries of the Hessian",
            hessians["l1svm"],
        ),
    ]
    return rows


def _newton(problem, reg, rng):
    """Section 3.3: the system solved for a step, Algorithms 2 and 3, other optimizers, batches."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    loss = LOSSES["logistic"]
    a = rng.standard_normal(n) / np.abs(Q).max()
    p = Q @ a
    g, H = loss.gradient(p, y), np.diag(loss.hessian_diagonal(p, y))
    x = np.linalg.solve(H @ Q + reg * np.eye(n), g + reg * a)
    scores = {
        form: _fitted(problem, "l2svm", reg, form).decision_function(problem.test)
        for form in ("dual", "primal")
    }
    dual = _fitted(problem, "logistic", reg, "dual")
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
        _row(
            "equation-9",
            "equation 9",
            "common term",
            "its solution solves the Newton system",
            Q @ (H @ Q + reg * np.eye(n)) @ x,
            Q @ (g + reg * a),
        ),
        _row(
            "algorithms-2-3",
            "Algorithms 2 and 3",
            "both forms",
            "dual and primal Newton method, converged: test scores",
            scores["primal"],
            scores["dual"],
        ),
        _row(
            "other-optimizers",
            "section 3.3",
            "L-BFGS",
            "L-BFGS from the same products: training scores",
            X @ found.x,
            Q @ dual.dual_coef_,
        ),
        _row(
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


def _fitted(problem, loss, reg, form):
    """Converged by conjugate gradients and line search."""
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


def _ridge(problem, reg, rng):
    """Section 4.1."""
    Q, X, y, n = problem.Q, problem.X, problem.y, len(problem.y)
    a = np.linalg.solve(Q + reg * np.eye(n), y)
    w = np.linalg.solve(X.T @ X + reg * np.eye(X.shape[1]), X.T @ y)
    start = rng.standard_normal(n)
    step = np.linalg.solve(Q + reg * np.eye(n), Q @ start - y + reg * start)
    return [
        _vanishing(
            "ridge-system",
            "section 4.1",
            "dual ridge",
            "(R (G ⊗ K) Rᵀ + λ I) a = y: no gradient is left",
            Q @ (Q @ a - y + reg * a),
            np.abs(Q @ y).max(),
        ),
        _vanishing(
            "ridge-primal-system",
            "section 4.1",
            "primal ridge",
            "the primal system: no gradient is left",
            X.T @ (X @ w - y) + reg * w,
            np.abs(X.T @ y).max(),
        ),
        _row(
            "ridge-once",
            "section 4.1",
            "one step",
            "one Newton step from anywhere ends there",
            start - step,
            a,
        ),
    ]


def _svm(problem, reg, rng):
    """Section 4.2, at random predictions and at the minimum."""
    loss = LOSSES["l2svm"]
    Q, y, n = problem.Q, problem.y, len(problem.y)
    a = rng.standard_normal(n) / np.abs(Q).max()
    p = Q @ a
    S = np.flatnonzero(y * p < 1)
    S_S = np.eye(n)[S]
    model = _fitted(problem, "l2svm", reg, "dual")
    best = model.dual_coef_
    support = np.abs(best) > 1e-8 * np.abs(best).max()
    inside = y * (Q @ best) < 1
    rows, cols = problem.train.rows, problem.train.cols
    sparse = np.where(rng.random(n) < 0.2, a, 0.0)
    kept = np.flatnonzero(sparse)
    part = _part(problem.G, problem.K, cols[S], rows[S], cols[kept], rows[kept])
    product, operations = _algorithm_1(*part, sparse[kept])
    (q_S, q_v), (m_S, m_v) = (matrix.shape for matrix in part[:2])
    return [
        _row(
            "svm-formulas",
            "section 4.2",
            "least squares",
            "squared hinge as least squares on S",
            0.5 * np.sum((S_S @ (p - y)) ** 2),
            loss.value(p, y),
        ),
        _row(
            "svm-formulas",
            "section 4.2",
            "SVM gradient",
            "g = Sᵀ (S p - S y)",
            S_S.T @ (S_S @ p - S_S @ y),
            loss.gradient(p, y),
        ),
        _row(
            "svm-formulas",
            "section 4.2",
            "SVM Hessian",
            "H = Sᵀ S, 1 for members of S and 0 otherwise",
            np.diag(S_S.T @ S_S),
            loss.hessian_diagonal(p, y),
        ),
        _row(
            "svm-sparse-product",
            "section 4.2",
            "sparse product",
            "S_S R (G ⊗ K) Rᵀ v for a sparse v",
            product,
            Q[S] @ sparse,
            operations=operations,
            cost=min(q_S * len(kept) + m_v * len(S), m_S * len(kept) + q_v * len(S)),
            plain=2 * n * sum(matrix.shape[0] for matrix in (problem.G, problem.K)),
        ),
        _vanishing(
            "svm-support",
            "section 4.2",
            "support",
            "share of pairs in one of S and the support alone, at the minimum",
            np.mean(support != inside),
        ),
        _row(
            "svm-sparsity",
            "section 4.2",
            "zeros",
            "share of coefficients that are 0 at the minimum",
        )
        | {"share": np.mean(~support)},
    ]


def _gaussian(problem, reg, rng):
    """Section 5.1."""
    gaussian = [
        gram(features[index], kernel="gaussian", gamma=0.01)
        for features, index in (
            (problem.D, problem.train.rows),
            (problem.T, problem.train.cols),
        )
    ]
    both = np.hstack([problem.D[problem.train.rows], problem.T[problem.train.cols]])
    return [
        _row(
            "concatenated",
            "section 5.1",
            "Gaussian kernels",
            "the product of Gaussian kernels is that of concatenated features",
            gaussian[0] * gaussian[1],
            gram(both, kernel="gaussian", gamma=0.01),
        ),
    ]
