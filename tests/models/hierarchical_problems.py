"""Small problems, and minimizers of another kind, for the hierarchical classifier."""

import numpy as np
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
