"""A class tree where examples are few.

Forty classes form eight groups. `HierarchicalNewtonClassifier` has a function on each node of the
tree, so a class learns from the other classes of its group. The flat model has no tree. The right
panel shows Newton's method: the certified gap bounds the distance to the optimum. The data are
made up.
"""

import matplotlib.pyplot as plt
import numpy as np

from kronbench.models import HierarchicalNewtonClassifier

rng = np.random.default_rng(0)
tree = np.array([-1, *[0] * 8, *np.repeat(np.arange(1, 9), 5)])
centres = np.repeat(rng.standard_normal((8, 30)), 5, axis=0) + 0.3 * rng.standard_normal((40, 30))
y = np.tile(np.arange(40), 52)
X = centres[y] + 2.0 * rng.standard_normal((len(y), 30))
test, sizes, gaps = np.arange(1280, len(y)), [2, 4, 8, 16, 32], []

plt.rcParams["font.size"] = 8
figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.6), layout="constrained")
for name, parents in (("tree", tree), ("flat", None)):
    model = HierarchicalNewtonClassifier(parents, variance=0.05)
    models = [model.fit(X[: 40 * k], y[: 40 * k]).score(X[test], y[test]) for k in sizes]
    left.semilogx(sizes, models, "o-", ms=3, base=2, label=name)
    gaps.clear()
    model.fit(X[:320], y[:320], callback=lambda mode: gaps.append(mode.gap / mode.value))
    right.semilogy(range(1, len(gaps) + 1), gaps, "o-", ms=3, label=name)
left.set(xlabel="training examples of a class", ylabel="accuracy on new examples")
right.set(xlabel="Newton step", ylabel="certified gap of the objective")
left.legend()
figure.savefig("class-tree.png")
