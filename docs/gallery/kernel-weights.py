"""Kernels that learn their weights.

There are three candidate kernels for the drugs and two for the targets. The labels depend on two
of the first and on one of the second, and the noise kernels should get no weight. `KronRidgeCV`
finds the weights, the vertex effects and `reg` by the gradient of a validation error, here on
pairs of new drugs. The data are made up.
"""

import matplotlib.pyplot as plt
import numpy as np

from kronbench import PairData
from kronbench.evaluation import VertexKFold
from kronbench.linalg import gram
from kronbench.models import KronRidgeCV

rng = np.random.default_rng(1)
drugs = {name: rng.standard_normal((50, 4)) for name in ("fingerprint", "assay", "noise")}
targets = {name: rng.standard_normal((30, 4)) for name in ("sequence", "noise")}
rows, cols = np.divmod(rng.choice(50 * 30, 800, replace=False), 30)
drawn = np.hstack([drugs["fingerprint"], drugs["assay"] / 2]) @ rng.standard_normal((8, 4))
y = (drawn @ targets["sequence"].T)[rows, cols] + rng.standard_normal(800)

of_rows, of_cols = ({name: gram(x) for name, x in side.items()} for side in (drugs, targets))
folds = VertexKFold(3, random_state=0)
search = KronRidgeCV(
    row_kernels=of_rows, col_kernels=of_cols, powers=(1,), gradient_steps=12, cv=folds
)
search.fit(PairData(np.arange(50.0)[:, None], np.arange(30.0)[:, None], rows, cols), y)

plt.rcParams["font.size"] = 8
figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.2), sharex=True, layout="constrained")
for axis, side in zip(axes, ("row", "col"), strict=True):
    weights = search.best_params_[f"{side}_weights"]
    axis.barh([*map(str, weights)], [*weights.values()])
    axis.set(title={"row": "drugs", "col": "targets"}[side], xlabel="weight", xlim=(0, 1))
    axis.invert_yaxis()
figure.savefig("kernel-weights.png")
