"""What one fit of KronRidge takes: ``python docs/how_large.py FORM PAIRS [ITERATIONS]``.

Pairs are made up. FORM is "kernels" (Gaussian kernel matrices of both sides), "features" (a weight
for each product of dense features) or "bits" (the same, with sparse fingerprints on one side).
docs/how-large.md has the table.
"""

import resource
import sys
import time
import warnings

import numpy as np
from scipy import sparse

from kronbench import PairData
from kronbench.models import KronRidge

form, n = sys.argv[1], int(float(sys.argv[2]))
max_iter = int(sys.argv[3]) if sys.argv[3:] else 100
rng = np.random.default_rng(0)
m, q, k = {"kernels": (5_000, 2_500, 20), "features": (100_000, 2_500, 300)}.get(
    form, (100_000, 2_500, 2_048)
)
if form == "bits":  # 50 of 2,048 bits are set; a bit that is drawn twice stays one
    bits = np.sort(rng.integers(k, size=(m, 50)), axis=1).ravel()
    rows = sparse.csr_array((np.ones(50 * m), bits, np.arange(0, 50 * m + 1, 50)), shape=(m, k))
    rows.sum_duplicates()
    rows.data[:] = 1
else:
    rows = rng.standard_normal((m, k))
cols = rng.standard_normal((q, 20))
pair = np.sort(rng.choice(m * q, size=n, replace=False, shuffle=False))
pairs = PairData(rows, cols, pair // q, pair % q)
y = (rows @ rng.standard_normal(k))[pairs.rows] * cols[pairs.cols, 0] + rng.standard_normal(n)
kernel = {
    "row_kernel": "gaussian",
    "col_kernel": "gaussian",
    "row_gamma": 0.025,
    "col_gamma": 0.025,
}
options = {"form": "dual", **kernel} if form == "kernels" else {"form": "primal"}

KronRidge.warm_up()  # compiled, or loaded, before the clock starts
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
start = time.process_time()
with warnings.catch_warnings(action="ignore"):  # that the iterations end it
    model = KronRidge(fit_intercept=True, max_iter=max_iter, **options).fit(pairs, y)
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # kilobytes on Linux
print(
    f"{form}: {n:,} pairs, {seconds:.1f} processor seconds, {model.n_iter_} iterations, ended by"
)
print(f"{model.stop_reason_}; peak {peak:,} MiB, {before:,} MiB with the data alone")
