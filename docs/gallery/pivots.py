"""Pivots that know the labels.

Incomplete Cholesky decomposition chooses points (crosses) that leave little of the kernel, so
they spread over all data. With [side information](../explanation/look-ahead.md) it chooses points
that also predict the labels, and a smaller factor is enough. The data are made up: labels depend
only on the horizontal coordinate, and vary only in the right half.
"""

import matplotlib.pyplot as plt
import numpy as np

from kronbench.linalg import csi, gram, incomplete_cholesky

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (800, 2))
y = np.where(X[:, 0] > 0, np.sin(8 * X[:, 0]), 0.0)
K = gram(X, kernel="gaussian", gamma=8.0)
factors = {
    "kernel alone": incomplete_cholesky(K, 15, tol=0.0),
    "kernel and labels": csi(K, y, 15, tol=0.0),
}

plt.rcParams["font.size"] = 8
figure, axes = plt.subplots(1, 2, figsize=(7.6, 2.8), sharey=True, layout="constrained")
for axis, (name, factor) in zip(axes, factors.items(), strict=True):
    G = np.column_stack([np.ones(800), factor.factor])
    left = y - G @ np.linalg.lstsq(G, y, rcond=None)[0]
    shown = axis.scatter(*X.T, c=y, cmap="RdBu", s=6, vmin=-1, vmax=1)
    axis.plot(*X[factor.pivots].T, "kx", ms=7)
    axis.set_title(f"{name}: {left.var() / y.var():.0%} of the variance left")
figure.colorbar(shown, ax=axes, label="label")
figure.savefig("pivots.png")
