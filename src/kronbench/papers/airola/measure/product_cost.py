"""Operations and seconds of one product: the explicit matrix against the vec trick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.pairs import SampledKroneckerOperator
from kronbench.runner.clock import Stopwatch, measure
from kronbench.runner.columns import TIMING, Columns

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

# Entries of the stored matrix that are made at a time: beside it there is room for little else.
_BLOCK = 2**22

SETTINGS = ("independent", "dependent", "complete")

COLUMNS = TIMING | Columns(
    key=("setting", "n", "m", "q", "method"),
    clock=("setup_seconds",),
    counts=("operations", "cost"),
    numbers=("deviation",),
    texts=("way",),
    values={
        "setting": ("independent", "dependent", "complete"),
        "method": ("baseline", "proposed"),
        "way": ("stored matrix", "Algorithm 1", "double sum"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each setting, size and method (Airola & Pahikkala, tables 3 and 4).

    ``form`` "dual": R (G kron K) R' v with random K (m, m) and G (q, q); "primal": R (T kron D) w
    with random D (m, d) and T (q, r), d = r = ``features``. Each setting is a list of sizes
    [n, m, q]. ``method`` is "baseline", the stored n x n or n x dr matrix, or "proposed",
    Algorithm 1; ``way`` says how it is carried out, which for "independent" pairs in the dual is
    a double sum over pairs in place of Algorithm 1. ``operations`` are the multiplications and
    additions of one product, ``cost`` the argument of the paper's O() for the vertices that have
    a pair (of few pairs some have none, and cost nothing); ``setup_seconds`` is the time up to
    the end of the first product, ``deviation`` the largest difference of both products, relative
    to the largest entry.
    """
    rows, too_large = [], []
    for setting in SETTINGS:
        for n, m, q in tqdm(spec[setting], desc=setting, unit="size"):
            problem = _problem(spec["form"], n, m, q, spec["features"], rng)
            v = rng.standard_normal(len(problem.in_rows))
            sizes = {"setting": setting, "n": n, "m": m, "q": q}
            seen = len(np.unique(problem.rows)), len(np.unique(problem.cols))
            baseline, proposed = _costs(spec["form"], setting, n, *seen, spec["features"])
            made = {"proposed": (problem.vec_trick, proposed)}
            if 8 * n * len(v) > spec["explicit_mib"] * 2**20:
                too_large.append(f"{setting} n = {n}")
            else:
                made["baseline"] = (problem.explicit, baseline)
            measured = _measure({name: make for name, (make, _) in made.items()}, v)
            products = {name: product for name, (product, _) in measured.items()}
            for name, (product, row) in measured.items():
                if name == "proposed" and "baseline" in products:
                    expected = products["baseline"]
                    row["deviation"] = np.abs(product - expected).max() / np.abs(expected).max()
                way = _way(name, spec["form"], setting)
                rows.append(sizes | row | {"method": name, "way": way, "cost": made[name][1]})
    frame = pd.DataFrame(rows)
    if too_large:
        frame.attrs["skipped"] = [
            f"explicit matrices beyond {spec['explicit_mib']} MiB were not made: "
            + ", ".join(too_large)
        ]
    return frame


@dataclass(frozen=True)
class _Problem:
    """Entries (rows, in_rows) of one matrix times (cols, in_cols) of another."""

    row_matrix: np.ndarray
    col_matrix: np.ndarray
    rows: np.ndarray
    cols: np.ndarray
    in_rows: np.ndarray
    in_cols: np.ndarray

    def vec_trick(self):
        operator = SampledKroneckerOperator(
            self.row_matrix,
            self.col_matrix,
            self.rows,
            self.cols,
            self.in_rows,
            self.in_cols,
            method="sparse",
        )
        return operator.matvec, operator.flops

    def explicit(self):
        matrix = np.empty((len(self.rows), len(self.in_rows)))
        step = max(1, _BLOCK // len(self.in_rows))
        for start in range(0, len(matrix), step):
            part = slice(start, start + step)
            np.multiply(
                self.row_matrix[np.ix_(self.rows[part], self.in_rows)],
                self.col_matrix[np.ix_(self.cols[part], self.in_cols)],
                out=matrix[part],
            )
        return matrix.dot, 2 * matrix.size


def _way(method, form, setting):
    if method == "baseline":
        return "stored matrix"
    # as SampledKroneckerOperator does where Algorithm 1 saves nothing
    return "double sum" if (form, setting) == ("dual", "independent") else "Algorithm 1"


def _costs(form, setting, n, m, q, features):
    """What stands in the printed O() of the baseline and of the proposed method."""
    if form == "dual":
        return n**2, n**2 if setting == "independent" else (m + q) * n
    d = r = features
    if setting == "independent":
        return n * d * r, n * d * r
    return n * d * r, min(q * d * r + d * n, m * d * r + r * n)


def _problem(form, n, m, q, features, rng):
    cells = _pairs(n, m, q, rng)
    rows, cols = np.divmod(cells, q)
    if form == "dual":
        K, G = rng.standard_normal((m, m)), rng.standard_normal((q, q))
        return _Problem(K + K.T, G + G.T, rows, cols, rows, cols)
    D, T = rng.standard_normal((m, features)), rng.standard_normal((q, features))
    in_rows, in_cols = np.divmod(np.arange(features**2), features)
    return _Problem(D, T, rows, cols, in_rows, in_cols)


def _pairs(n, m, q, rng):
    """N cells of the m x q matrix; each vertex once where n = m = q."""
    if n == m == q:
        return np.arange(n) * q + rng.permutation(n)
    return np.sort(rng.choice(m * q, n, replace=False))


def _measure(made, v):
    """For each method its product, and what it took: set-up alone, then products in a row.

    An iterative solver makes one product after the other. Products of both methods in turn would
    have the stored matrix put the matrices of the vertices out of the caches before each.
    """
    found = {}
    for name, make in made.items():
        with Stopwatch() as setup:
            product, operations = make()
            product(v)
        result, timing = measure(partial(product, v))
        row = {"operations": operations, "setup_seconds": setup.seconds, **timing.columns()}
        found[name] = result, row
    return found
