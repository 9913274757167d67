"""Small problems, and minimizers of another kind, for the hierarchical classifier."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

PARENTS = np.array([-1, 0, 0, 1, 1, 2, 2, 2])  # leaves 3..7
UNEVEN = np.array([-1, 3, 3, 0, 0, 1, 1, 4])  # leaves 2, 5, 6, 7 at depths 2, 3, 3, 2; a chain


def clouds(n=60, d=4, n_classes=5, seed=0):
    """Points around a centre for each class, shuffled; the last class has few."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((n_classes, d))
    y = rng.integers(0, n_classes, n)
    return centres[y] + 0.8 * rng.standard_normal((n, d)), y


def weight_space_mode(X, targets, B, variance, bias):
    """Probabilities and Phi by L-BFGS on the weights of the nodes and the intercepts."""
    d = X.shape[1]
    C, P = B.shape
    Y = np.eye(C)[targets] if targets.ndim == 1 else targets

    def objective(w):
        V, b = w[: P * d].reshape(P, d), w[P * d :]
        # weights of node p are sqrt(v_p) times standard ones, the intercepts sigma times
        scale = np.sqrt(variance)[:, None]
        U = X @ (scale * V).T @ B.T + np.sqrt(bias) * b
        G = softmax(U, axis=1) - Y
        value = logsumexp(U, axis=1).sum() - np.vdot(Y, U) + 0.5 * w @ w
        gradient = np.concatenate(
            [(scale * ((G @ B).T @ X)).ravel(), np.sqrt(bias) * G.sum(axis=0)]
        )
        return value, gradient + w

    start = np.zeros(P * d + C)
    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9}
    result = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    V, b = result.x[: P * d].reshape(P, d), result.x[P * d :]
    U = X @ (np.sqrt(variance)[:, None] * V).T @ B.T + np.sqrt(bias) * b
    return softmax(U, axis=1), result.fun


def exact_flat_mode(matrices, y, bias, n_steps=40):
    """Coefficients of the flat model by exact Newton steps, O(n^3 C) (Appendix B, Eq. 10).

    matrices: v_c K^(c) for each class.
    """
    n, C = len(y), len(matrices)
    K = [matrix + bias for matrix in matrices]
    Y, alpha = np.eye(C)[y], np.zeros((n, C))

    def phi(alpha):
        U = np.stack([K[c] @ alpha[:, c] for c in range(C)], axis=1)
        return logsumexp(U, axis=1).sum() - np.vdot(Y, U) + 0.5 * np.vdot(alpha, U), U

    value, U = phi(alpha)
    for _ in range(n_steps):
        pi = softmax(U, axis=1)
        WU = pi * (U - (pi * U).sum(axis=1, keepdims=True))
        new = exact_solve(K, pi, WU - (pi - Y))
        length = 1.0
        while True:
            trial, U_trial = phi(alpha + length * (new - alpha))
            if trial <= value + 1e-12 * abs(value) or length < 1e-8:
                break
            length /= 2
        alpha, done = alpha + length * (new - alpha), value - trial <= 1e-15 * abs(value)
        value, U = trial, U_trial
        if done:
            break
    return alpha, softmax(U, axis=1), value


def exact_solve(K, pi, rhs):
    """(I + W K~)^-1 rhs for block-diagonal K~ by Eq. 10."""
    root = np.sqrt(pi)
    n, C = pi.shape
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
