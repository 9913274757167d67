"""A screen of molecules.

The compounds have fingerprints and belong to a few chemical series. One in ten of their pairs
with proteins is measured, and `screen` ranks all others. The curve shows how many of the
strongest binders are at the top of the list, next to a list by row and column averages and to one
in random order. The data are made up; [Screening kinases](../tutorials/screening.md) uses real
data.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from kronbench import PairData
from kronbench.evaluation import additive_scores
from kronbench.models import KronRidge
from kronbench.pairs import screen

rng = np.random.default_rng(0)
series = rng.random((60, 256)) < 0.2  # compounds of a series share most of their bits
bits = series[rng.integers(60, size=1500)] ^ (rng.random((1500, 256)) < 0.03)
proteins = rng.standard_normal((40, 10))
affinity = 6 + bits @ rng.standard_normal((256, 10)) @ proteins.T / 20
rows, cols = np.divmod(rng.choice(1500 * 40, 6000, replace=False), 40)
pairs = PairData(sparse.csr_array(bits.astype(float)), proteins, rows, cols)
y = affinity[rows, cols] + 0.3 * rng.standard_normal(6000)

model = KronRidge(row_kernel="tanimoto", fit_intercept=True, max_iter=500).fit(pairs, y)
ranked, _ = screen(model, pairs, top=None, per_row=40)  # all pairs without a label
averages = np.argsort(-additive_scores(pairs, y, ranked))
strong = affinity[ranked.rows, ranked.cols] > np.quantile(affinity, 0.99)

plt.rcParams["font.size"] = 8
figure, axis = plt.subplots(figsize=(4.8, 2.8), layout="constrained")
listed = np.arange(1, len(ranked) + 1) / len(ranked)
for name, order in (("screen", strong), ("averages", strong[averages])):
    axis.semilogx(listed, np.cumsum(order) / strong.sum(), label=name)
axis.semilogx(listed, listed, color="0.7", label="random order")
axis.set(xlabel="share of the list", ylabel="share of the strongest 1 % found", xlim=(1e-4, 1))
axis.legend()
figure.savefig("screen.png")
