"""The product against the dense matrix.

Training is dominated by products of the kernel matrix of the pairs with a vector.
`SampledKroneckerOperator` computes them from the two kernel matrices of the vertices, by the [vec
trick](../explanation/vec-trick.md). The dense matrix takes 8 n² bytes for n pairs, 800 MB for
10,000. Both give the same numbers. The data are made up: 400 rows, 300 columns, random pairs.
"""

from timeit import repeat

import matplotlib.pyplot as plt
import numpy as np

from kronbench.linalg import gram
from kronbench.pairs import SampledKroneckerOperator

rng = np.random.default_rng(0)
K, G = (gram(rng.standard_normal((n, 5)), kernel="gaussian", gamma=0.1) for n in (400, 300))
sizes, fast, dense = [250, 500, 1000, 2000, 4000, 20_000, 100_000], [], []
for n in sizes:
    rows, cols = np.divmod(rng.choice(400 * 300, n, replace=False), 300)
    operator, v = SampledKroneckerOperator(K, G, rows, cols), rng.standard_normal(n)
    fast.append(min(repeat("A @ v", number=1, globals={"A": operator, "v": v})))
    if n <= 4000:
        Q = K[np.ix_(rows, rows)] * G[np.ix_(cols, cols)]
        assert np.allclose(Q @ v, operator @ v)
        dense.append(min(repeat("A @ v", number=1, globals={"A": Q, "v": v})))

plt.rcParams["font.size"] = 8
figure, axis = plt.subplots(figsize=(4.8, 2.8), layout="constrained")
axis.loglog(sizes[: len(dense)], dense, "o-", ms=3, label="dense matrix")
axis.loglog(sizes, fast, "o-", ms=3, label="SampledKroneckerOperator")
axis.set(xlabel="pairs", ylabel="seconds of a product")
axis.legend()
figure.savefig("product.png")
