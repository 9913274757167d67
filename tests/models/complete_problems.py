"""Complete pairwise problems, and their models by dense systems without parts of the labels."""

import numpy as np
from hypothesis import strategies as st

from kronbench.linalg import psd_part
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}
KINDS = ("full", "deficient", "clipped", "diagonal", "duplicate")

problems = st.tuples(
    st.integers(0, 10**6),
    st.integers(1, 7),
    st.integers(1, 6),
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
)


def make_kernel(rng, n, kind):
    """(n, n) kernel matrix of full rank, rank-deficient, or a similarity made semidefinite."""
    if kind == "clipped":
        S = rng.uniform(-1, 1, (n, n))
        return psd_part(S + S.T + np.eye(n))
    if kind == "diagonal":
        return np.diag(rng.uniform(0, 2, n))
    rank = n + 2 if kind == "full" else max(1, n // 2)
    features = rng.normal(size=(n, rank))
    if kind == "duplicate":
        features = rng.normal(size=(n, n))[rng.integers(0, n, n)]
    return features @ features.T


def make_problem(seed, m, q, row_kind, col_kind):
    rng = np.random.default_rng(seed)
    K, G = make_kernel(rng, m, row_kind), make_kernel(rng, q, col_kind)
    return K, G, rng.normal(size=(m, q))


def kron(K, G, Y, reg, **parameters):
    return CompleteKronRidge(reg=reg, **PRECOMPUTED, **parameters).fit_matrix(K, G, Y)


def two_step(K, G, Y, regs=(1.0, 1.0), **parameters):
    model = TwoStepRidge(reg_rows=regs[0], reg_cols=regs[1], **PRECOMPUTED, **parameters)
    return model.fit_matrix(K, G, Y)


def independent(K, Y, reg):
    return IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)


def theorem_2_kernel(K, G, reg_rows, reg_cols):
    """Xi of Theorem 2, pairs in row-major order."""
    eye_m, eye_q = np.eye(len(K)), np.eye(len(G))
    inner = (
        reg_rows * reg_cols * np.kron(eye_m, eye_q)
        + reg_cols * np.kron(K, eye_q)
        + reg_rows * np.kron(eye_m, G)
    )
    xi = np.kron(K, G) @ np.linalg.inv(inner)
    return (xi + xi.T) / 2


def splits(setting, folds, shape):
    """(training, test) masks (m, q) of cross-validation; folds as ``loo`` takes them."""
    rows, cols = np.arange(shape[0]), np.arange(shape[1])
    if setting == "D":
        rows, cols = (rows, cols) if folds is None else map(np.asarray, folds)
        for a, b in np.ndindex(len(np.unique(rows)), len(np.unique(cols))):
            in_rows, in_cols = rows[:, None] == np.unique(rows)[a], cols == np.unique(cols)[b]
            yield ~(in_rows | in_cols), in_rows & in_cols
        return
    if folds is None:
        folds = {"A": np.arange(rows.size * cols.size).reshape(shape), "B": rows, "C": cols}[
            setting
        ]
    number = np.broadcast_to(np.reshape(folds, (-1, 1)) if setting == "B" else folds, shape)
    for fold in np.unique(number):
        yield number != fold, number == fold


def symmetric_splits(setting, m):
    """The same for leave-one-out of a square matrix, whose rows and columns are one set."""
    vertex = np.arange(m)
    for i, j in np.ndindex(m, m):
        test = np.zeros((m, m), bool)
        test[i, j] = True
        if setting == "A":
            yield ~(test | test.T), test
            continue
        out = {"B": vertex == i, "C": vertex == j, "D": (vertex == i) | (vertex == j)}[setting]
        yield ~(out[:, None] | out), test


def retrained(product, reg, Y, pairs):
    """By one dense system with the kernel of pairs, (m q, m q), for each of the splits."""
    F = np.full(Y.shape, np.nan)
    for train, test in pairs:
        train, test = np.flatnonzero(train), np.flatnonzero(test)
        system = product[np.ix_(train, train)] + reg * np.eye(len(train))
        F.flat[test] = product[np.ix_(test, train)] @ np.linalg.solve(system, Y.flat[train])
    return F


def retrained_two_step(setting, K, G, Y, regs, pairs):
    """The same for two-step ridge; in setting A with the pairwise kernel of Theorem 2."""
    if setting == "A":
        return retrained(theorem_2_kernel(K, G, *regs), 1.0, Y, pairs)
    F = np.full(Y.shape, np.nan)
    for train, test in pairs:
        kept = train.any(axis=1), train.any(axis=0)
        new = test.any(axis=1), test.any(axis=0)
        left, right = (
            np.linalg.solve(M[np.ix_(a, a)] + reg * np.eye(a.sum()), M[np.ix_(a, b)])
            for M, reg, a, b in zip((K, G), regs, kept, new, strict=True)
        )
        F[np.ix_(*new)] = left.T @ Y[np.ix_(*kept)] @ right
    return F
