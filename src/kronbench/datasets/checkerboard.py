"""The checkerboard simulation (Airola & Pahikkala 2018, section 5.1)."""

from __future__ import annotations

import numpy as np

from kronbench.errors import InputError
from kronbench.pairs import PairData


def checkerboard(
    m: int,
    rng: np.random.Generator,
    *,
    q: int | None = None,
    fraction: float = 0.25,
    flip: float = 0.2,
) -> tuple[PairData, np.ndarray]:
    """Labelled pairs of a noisy checkerboard, on m and q (= m unless given) vertices drawn afresh.

    A vertex has one feature, uniform on (0, 100). round(``fraction`` m q) distinct pairs, in
    row-major order, are +1 where floor(d) and floor(t) are both odd or both even, else -1; then
    the share ``flip`` of the labels is flipped. 25 bytes a pair, one for each of the m q.
    """
    q = m if q is None else q
    if m < 1 or q < 1:
        raise InputError(f"m is {m} and q is {q}: give at least one vertex on each side")
    for name, share in (("fraction", fraction), ("flip", flip)):
        if not 0 <= share <= 1:
            raise InputError(f"{name} is {share}: give a share between 0 and 1")
    features = rng.uniform(0, 100, (m, 1)), rng.uniform(0, 100, (q, 1))
    chosen = distinct(round(fraction * m * q), m * q, rng)
    rows = (chosen // q).astype(np.int32)
    cols = (chosen % q).astype(np.int32)
    row_odd, col_odd = (np.floor(side[:, 0]).astype(np.int8) % 2 for side in features)
    y = np.where(row_odd[rows] == col_odd[cols], 1.0, -1.0)
    y[distinct(round(flip * len(y)), len(y), rng)] *= -1
    return PairData(*features, rows, cols), y


def distinct(n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """N distinct integers out of 0..size-1, every subset equally likely, in increasing order."""
    # A byte for each candidate, where rng.choice would permute 8-byte integers: each round draws
    # as many as are still missing, so that the count never passes n and no draw is taken back.
    few = min(n, size - n)
    marked = np.zeros(size, dtype=bool)
    count = 0
    while count < few:
        marked[rng.integers(size, size=few - count)] = True
        count = np.count_nonzero(marked)
    return np.flatnonzero(marked if few == n else ~marked)


def generate(rng: np.random.Generator, *, m: int, fraction: float, flip: float) -> dict:
    """The arrays of a registered checkerboard: features, pairs, labels as int8."""
    pairs, y = checkerboard(m, rng, fraction=fraction, flip=flip)
    return {
        "row_features": pairs.row_features,
        "col_features": pairs.col_features,
        "rows": pairs.rows,
        "cols": pairs.cols,
        "labels": y.astype(np.int8),
    }
