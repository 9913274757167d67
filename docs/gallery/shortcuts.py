"""Leave-one-out without retraining.

Each label is predicted by a model that has not seen its row (setting B), its column (C) or both
(D). The [shortcuts](../explanation/shortcuts.md) take one fit. Retraining takes a fit for each
row, column or pair: 30, 20 and 600. All points lie on the diagonal, since both agree to rounding
error. The data are made up.
"""

import time
from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from kronbench.models import CompleteKronRidge

rng = np.random.default_rng(0)
D, T = rng.standard_normal((30, 5)), rng.standard_normal((20, 5))
Y = D @ rng.standard_normal((5, 5)) @ T.T + rng.standard_normal((30, 20))
model = CompleteKronRidge(reg=1.0).fit_matrix(D, T, Y)
model.loo("D")  # compiled, or loaded

plt.rcParams["font.size"] = 8
figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.6), layout="constrained")
for axis, setting in zip(axes, "BCD", strict=True):
    start = time.perf_counter()
    shortcut = model.loo(setting)
    took, start = time.perf_counter() - start, time.perf_counter()
    retrained = np.empty_like(Y)
    rows = [[i] for i in range(30)] if setting in "BD" else [[]]
    cols = [[j] for j in range(20)] if setting in "CD" else [[]]
    for i, j in product(rows, cols):
        again, rest = CompleteKronRidge(reg=1.0), np.delete(np.delete(Y, i, 0), j, 1)
        again.fit_matrix(np.delete(D, i, 0), np.delete(T, j, 0), rest)
        i, j = i or range(30), j or range(20)
        retrained[np.ix_(i, j)] = again.predict_matrix(D[i], T[j])
    assert np.allclose(retrained, shortcut)
    times = f"{took:.1g} s, retraining {time.perf_counter() - start:.1g} s"
    axis.plot(retrained.ravel(), shortcut.ravel(), ".", ms=3)
    axis.axline((0, 0), slope=1, color="0.7", lw=0.8)
    axis.set(title=f"{setting}: {times}", xlabel="retrained", ylabel="shortcut")
figure.savefig("shortcuts.png")
