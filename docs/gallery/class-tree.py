"""Newton's method on a class tree.

Forty classes form eight groups. `HierarchicalNewtonClassifier` has a function on each node of the
tree, so a class learns from the other classes of its group. Left: after each Newton step the
certified gap bounds how far the objective is from its minimum. Right: mean probabilities of new
examples; errors stay mostly inside a group. The data are made up.
"""

import matplotlib.pyplot as plt
import numpy as np

from kronbench.models import HierarchicalNewtonClassifier

rng = np.random.default_rng(0)
tree = np.array([-1, *[0] * 8, *np.repeat(np.arange(1, 9), 5)])
centres = np.repeat(rng.standard_normal((8, 30)), 5, axis=0) + 0.5 * rng.standard_normal((40, 30))
y = np.tile(np.arange(40), 30)
X = centres[y] + rng.standard_normal((len(y), 30))
train, test, steps = np.arange(400), np.arange(400, len(y)), []
model = HierarchicalNewtonClassifier(tree, variance=0.1, tol=1e-10)
model.fit(X[train], y[train], callback=lambda mode: steps.append((mode.gap, mode.value)))
gaps, values = np.array(steps).T
distances = values - (values - gaps).max()  # no objective is below the largest of the bounds
probabilities = np.array([model.predict_proba(X[test][y[test] == c]).mean(0) for c in range(40)])

plt.rcParams["font.size"] = 8
figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.8), layout="constrained")
numbers = np.arange(1, len(gaps))
left.semilogy(numbers, gaps[:-1], "o-", ms=3, label="certified gap")
left.semilogy(numbers, distances[:-1], "o-", ms=3, label="distance to the minimum")
left.set(xlabel="Newton step", ylabel="objective")
left.legend()
figure.colorbar(right.imshow(probabilities, cmap="Blues"), ax=right, label="probability")
right.set(xlabel="class", ylabel="true class")
figure.savefig("class-tree.png")
