"""Operations and seconds of one product: the explicit matrix against the vec trick.

Parameters
----------
form : dual or primal
features : features of a vertex in the primal form
independent : pairs, rows and columns where no two pairs share a vertex
dependent : the same where pairs share vertices
complete : the same where all pairs are there
explicit_mib : largest explicit matrix that is made, in MiB
"""

from functools import partial

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.pairs import SampledKroneckerOperator
from kronbench_suite.runner.clock import Stopwatch, measure
from kronbench_suite.runner.columns import TIMING, Columns

# Entries of the stored matrix that are made at a time: beside it there is room for little else.
_BLOCK_ENTRIES = 2**22

COLUMNS = TIMING | Columns(
    key=("setting", "n", "m", "q", "method"),
    clock=("setup_seconds",),
)


def run(spec, data, rng):
    """One row for each setting, size [n, m, q] and method (Airola & Pahikkala, tables 3 and 4).

    Matrices are random, in the primal with d = r = ``features``. ``cost`` is the argument of the
    paper's O() for the vertices that have a pair; ``setup_seconds`` is the time up to the end of
    the first product, ``deviation`` the largest difference of both methods' products, relative to
    the largest entry.
    """
    form, features, rows, too_large = spec["form"], spec["features"], [], []
    for setting in ("independent", "dependent", "complete"):
        for n, m, q in tqdm(spec[setting], desc=setting, unit="size"):
            # The pairs of a size, and what stands in the O() of tables 3 and 4 for them.
            problem = _problem(form, n, m, q, features, rng)
            _, _, rows_out, cols_out, rows_in, _ = problem
            v = rng.standard_normal(len(rows_in))
            seen = len(np.unique(rows_out)), len(np.unique(cols_out))
            baseline, proposed = _costs(form, setting, n, *seen, features)
            # Where Algorithm 1 saves nothing, SampledKroneckerOperator sums over all pairs.
            summed = (form, setting) == ("dual", "independent")
            fast = "double sum" if summed else "Algorithm 1"
            place = {"setting": setting, "n": n, "m": m, "q": q}
            # The proposed product first, then the stored matrix, if it has room in memory.
            product, ours = _measured(partial(_vec_trick, problem), v)
            ours = place | ours | {"method": "proposed", "way": fast, "cost": proposed}
            rows.append(ours)
            if 8 * n * len(v) > spec["explicit_mib"] * 2**20:
                too_large.append(f"{setting} n = {n}")
                continue
            # Both ways make the same product, up to rounding.
            expected, row = _measured(partial(_stored, problem), v)
            names = {"method": "baseline", "way": "stored matrix", "cost": baseline}
            rows.append(place | row | names)
            ours["deviation"] = np.abs(product - expected).max() / np.abs(expected).max()
    frame = pd.DataFrame(rows)
    if too_large:
        frame.attrs["skipped"] = [
            f"explicit matrices beyond {spec['explicit_mib']} MiB were not made: "
            + ", ".join(too_large)
        ]
    return frame


def _problem(form, n, m, q, features, rng):
    """Two matrices, and of each the rows and columns whose entries are multiplied."""
    # Independent pairs share no vertex; the others are drawn without replacement.
    if n == m == q:  # each vertex once
        cells = np.arange(n) * q + rng.permutation(n)
    else:
        cells = np.sort(rng.choice(m * q, n, replace=False))
    rows, cols = np.divmod(cells, q)
    if form == "dual":
        K, G = rng.standard_normal((m, m)), rng.standard_normal((q, q))
        return K + K.T, G + G.T, rows, cols, rows, cols
    D, T = rng.standard_normal((m, features)), rng.standard_normal((q, features))
    return D, T, rows, cols, *np.divmod(np.arange(features**2), features)


def _vec_trick(problem):
    """The product by Algorithm 1, and the number of its operations."""
    operator = SampledKroneckerOperator(*problem, method="sparse")
    return operator.matvec, operator.flops


def _stored(problem):
    """The product with the explicit matrix R (G kron K) R', and the number of its operations."""
    row_matrix, col_matrix, rows, cols, in_rows, in_cols = problem
    matrix = np.empty((len(rows), len(in_rows)))
    step = max(1, _BLOCK_ENTRIES // len(in_rows))
    for start in range(0, len(matrix), step):
        part = slice(start, start + step)
        left = row_matrix[np.ix_(rows[part], in_rows)]
        np.multiply(left, col_matrix[np.ix_(cols[part], in_cols)], out=matrix[part])
    return matrix.dot, 2 * matrix.size


def _costs(form, setting, n, m, q, d):
    """What stands in the printed O() of the baseline and of the proposed method, with r = d."""
    if form == "dual":
        return n**2, n**2 if setting == "independent" else (m + q) * n
    if setting == "independent":
        return n * d * d, n * d * d
    return n * d * d, min(q * d * d + d * n, m * d * d + d * n)


def _measured(make, v):
    """A product, and what it took: set-up alone, then products in a row.

    An iterative solver makes one product after the other. Products of both methods in turn would
    have the stored matrix put the matrices of the vertices out of the caches before each.
    """
    with Stopwatch() as setup:
        product, operations = make()
        product(v)
    result, timing = measure(partial(product, v))
    return result, {"operations": operations, "setup_seconds": setup.seconds, **timing.columns()}
