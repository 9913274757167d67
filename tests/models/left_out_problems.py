"""Every way to leave out parts of a complete label matrix, and dense systems without them."""

import numpy as np

from tests.models.complete_problems import theorem_2_kernel


def splits(setting, folds):
    """(training, test) masks (m, q) of cross-validation; folds as ``loo`` takes them."""
    if setting == "D":
        rows, cols = np.asarray(folds[0])[:, None], np.asarray(folds[1])[None]
        for a, b in np.ndindex(len(np.unique(rows)), len(np.unique(cols))):
            in_rows, in_cols = rows == np.unique(rows)[a], cols == np.unique(cols)[b]
            yield ~(in_rows | in_cols), in_rows & in_cols
        return
    for number in np.unique(folds):
        yield folds != number, folds == number


def broadcast(setting, folds, shape):
    """Folds of rows (B) or of columns (C) as those of pairs."""
    if setting in "BC":
        return np.broadcast_to(folds[:, None] if setting == "B" else folds, shape)
    return folds


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
