"""What is new in a pair decides the score.

A score on random pairs says little about a new drug. Here a model is scored in each of the [four
settings](../reference/glossary.md#settings-a-b-c-d), next to predictions by row and column
averages alone. The data are the nuclear receptors of Yamanishi et al. (2008). Each box shows 15
test sets, in setting D 45.
"""

import matplotlib.pyplot as plt

from kronbench import PairData
from kronbench.datasets import load
from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import SETTINGS, SettingKFold, additive_scores, roc_auc
from kronbench.models import KronRidge

data = load("NR")  # a random surrogate where the files cannot be had
K_targets, K_drugs, _ = kernels(data)
pairs, y = PairData.complete(K_drugs, K_targets), data["values"].ravel()
model = KronRidge(row_kernel="precomputed", col_kernel="precomputed", fit_intercept=True)

plt.rcParams["font.size"] = 8
figure, axes = plt.subplots(1, 4, figsize=(7.2, 2.4), sharey=True, layout="constrained")
what_is_new = ["random pairs", "new drugs", "new targets", "both new"]
for axis, setting, title in zip(axes, SETTINGS, what_is_new, strict=True):
    areas = []
    for train, test in SettingKFold(setting, 3, n_repeats=5, random_state=0).split(pairs, y):
        predicted = model.fit(pairs[train], y[train]).predict(pairs[test])
        averages = additive_scores(pairs[train], y[train], pairs[test])
        areas.append([roc_auc(y[test], scores) for scores in (averages, predicted)])
    axis.boxplot(list(zip(*areas, strict=True)), tick_labels=["averages", "KronRidge"])
    axis.set_title(f"{setting}: {title}")
axes[0].set_ylabel("AUC")
figure.suptitle("SURROGATE DATA" if data.source == "surrogate" else "Nuclear receptors")
figure.savefig("four-settings.png")
