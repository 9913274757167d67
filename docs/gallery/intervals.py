"""Prediction intervals for what is new.

The radius of an interval is the 90 % quantile of errors on labels that were left out. If single
pairs are left out, intervals are too narrow for new drugs. If whole drugs, targets or both are
left out, the intervals contain about nine in ten labels in each
[setting](../reference/glossary.md#settings-a-b-c-d). Shares are means over ten random halves of
the data of Davis et al. (2011). [Intervals](../intervals.md) has the commands and more data sets.
"""

import matplotlib.pyplot as plt
import numpy as np

from kronbench.datasets import load
from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge

data = load("davis")  # a random surrogate where the files cannot be had
K_targets, K_drugs, Y = kernels(data)
held = np.zeros((2, 10, 3))
for seed in range(10):
    rng = np.random.default_rng(seed)
    i, j = (np.sort(rng.permutation(n)[: n // 2]) for n in (150, 68))  # of 150 targets, all drugs
    known, rest = np.ix_(i, j), (np.setdiff1d(range(150), i), np.setdiff1d(range(68), j))
    model = CompleteKronRidge(reg=0.1, row_kernel="precomputed", col_kernel="precomputed")
    mean = Y[known].mean()
    model.fit_matrix(K_targets[np.ix_(i, i)], K_drugs[np.ix_(j, j)], Y[known] - mean)
    radius = {s: np.quantile(np.abs(model.loo(s) + mean - Y[known]), 0.9) for s in "ABCD"}
    for k, (s, rows, cols) in enumerate([("B", rest[0], j), ("C", i, rest[1]), ("D", *rest)]):
        predicted = model.predict_matrix(K_targets[np.ix_(rows, i)], K_drugs[np.ix_(cols, j)])
        errors = np.abs(predicted + mean - Y[np.ix_(rows, cols)])
        held[:, seed, k] = (errors <= radius["A"]).mean(), (errors <= radius[s]).mean()

plt.rcParams["font.size"] = 8
figure, axis = plt.subplots(figsize=(5.2, 2.6), layout="constrained")
for shift, means, name in zip((-0.2, 0.2), held.mean(1), ("pairs", "what is new"), strict=True):
    axis.bar(np.arange(3) + shift, means, 0.38, label=f"{name} left out")
axis.axhline(0.9, color="0.3", lw=0.8, ls="--")
axis.set(xticks=range(3), xticklabels=["new targets", "new drugs", "both new"], ylim=(0.7, 1.0))
axis.set(ylabel="share in 90 % intervals")
axis.set_title("SURROGATE DATA" if data.source == "surrogate" else "Davis et al. (2011)")
axis.legend(ncols=2)
figure.savefig("intervals.png")
