"""Complete pairwise problems, and their models by dense linear algebra."""

import numpy as np
from hypothesis import strategies as st

from kronbench.linalg import psd_part

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


def condition(K, G, reg):
    """Condition number of G kron K + reg I."""
    return 1 + np.linalg.norm(K, 2) * np.linalg.norm(G, 2) / reg


def retrain_kron(setting, K, G, Y, reg):
    """Leave-one-out predictions of Kronecker ridge by one dense system for each pair."""
    m, q = Y.shape
    product, y = np.kron(K, G), Y.ravel()  # row-major: pair (i, j) is i q + j
    rows, cols = np.divmod(np.arange(m * q), q)
    out = np.zeros((m, q))
    for i in range(m):
        for j in range(q):
            kept = {
                "A": (rows != i) | (cols != j),
                "B": rows != i,
                "C": cols != j,
                "D": (rows != i) & (cols != j),
            }[setting]
            train = np.flatnonzero(kept)
            system = product[np.ix_(train, train)] + reg * np.eye(len(train))
            out[i, j] = product[i * q + j, train] @ np.linalg.solve(system, y[train])
    return out


def retrain_two_step(setting, K, G, Y, reg_rows, reg_cols):
    """The same for two-step ridge; in setting A with the pairwise kernel of Theorem 2."""
    m, q = Y.shape
    out = np.zeros((m, q))
    if setting == "A":
        xi = theorem_2_kernel(K, G, reg_rows, reg_cols)
        for pair in range(m * q):
            train = np.delete(np.arange(m * q), pair)
            system = xi[np.ix_(train, train)] + np.eye(len(train))
            out.ravel()[pair] = xi[pair, train] @ np.linalg.solve(system, Y.ravel()[train])
        return out
    for i in range(m):
        for j in range(q):
            rows = np.delete(np.arange(m), i) if setting in "BD" else np.arange(m)
            cols = np.delete(np.arange(q), j) if setting in "CD" else np.arange(q)
            left = np.linalg.solve(
                K[np.ix_(rows, rows)] + reg_rows * np.eye(len(rows)), K[rows, i]
            )
            right = np.linalg.solve(
                G[np.ix_(cols, cols)] + reg_cols * np.eye(len(cols)), G[cols, j]
            )
            out[i, j] = left @ Y[np.ix_(rows, cols)] @ right
    return out


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
