"""The posterior mode of a flat model by exact Newton steps (Seeger 2006, Appendix B), for tests.

O(n^3 C) a step.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kronbench.class_tree.softmax import softmax


def exact_flat_mode(matrices, y, bias_variance, max_iter=40):
    """Coefficients (n, C), probabilities (n, C) and the value of Phi; v_c K^(c) without bias."""
    n, C = len(y), len(matrices)
    K = [matrix + bias_variance for matrix in matrices]
    Y, alpha = np.eye(C)[y], np.zeros((n, C))

    def phi(alpha):
        U = np.stack([K[c] @ alpha[:, c] for c in range(C)], axis=1)
        P, normalizers = softmax(U)
        return normalizers.sum() - np.vdot(Y, U) + 0.5 * np.vdot(alpha, U), U, P

    value, U, P = phi(alpha)
    for _ in range(max_iter):
        WU = P * (U - (P * U).sum(axis=1, keepdims=True))
        new = _newton_point(K, P, WU - (P - Y))
        length = 1.0
        while True:
            trial, U_trial, P_trial = phi(alpha + length * (new - alpha))
            if trial <= value + 1e-12 * abs(value) or length < 1e-8:
                break
            length /= 2
        alpha, gain = alpha + length * (new - alpha), value - trial
        value, U, P = trial, U_trial, P_trial
        if gain <= 1e-15 * abs(value):
            break
    return alpha, P, float(value)


def _newton_point(K, P, rhs):
    """(I + W K~)^-1 rhs for block-diagonal K~ (Eq. 10)."""
    root = np.sqrt(P)
    n, C = P.shape
    factors = [
        cho_factor(np.eye(n) + root[:, c, None] * K[c] * root[None, :, c]) for c in range(C)
    ]

    def inverse(x):
        return np.stack([cho_solve(factors[c], x[:, c]) for c in range(C)], axis=1)

    scaled = rhs / root
    first = inverse(scaled)
    middle = sum(root[:, c, None] * cho_solve(factors[c], np.diag(root[:, c])) for c in range(C))
    t = np.linalg.solve(middle, (root * (scaled - first)).sum(axis=1))
    return root * (first + inverse(root * t[:, None]))
