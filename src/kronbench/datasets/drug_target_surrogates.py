"""A stand-in for drug-target data, where their files cannot be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.drug_target import MOLAR, label_matrix


def surrogate_matrix(
    rng: np.random.Generator,
    *,
    sizes: Sequence[int],
    similarities: Mapping[str, Sequence[float]],
    known: int,
    shares: Sequence[float],
    potencies: Sequence[float],
    unit: str | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
) -> Arrays:
    """Affinities of ``sizes`` drugs and targets, of which ``known`` are known, and similarities.

    ``similarities`` have, by the name of the array, the diagonal and the median beside it of the
    cosine. ``shares`` of the affinities are below each of the ``potencies``, linear between; with
    a ``unit`` these are negative logarithms of dissociation constants. Every drug and target has a
    known affinity, and one of the largest.
    """
    S, T = sides = [_similarity(rng, size) for size in sizes]
    # Another width of a Gaussian kernel is a power of it.
    arrays = {
        name: diagonal * sides[name.startswith("target")] ** -np.log(median)
        for name, (diagonal, median) in similarities.items()
    }
    m, q = sizes
    n_unknown = m * q - known
    # Some drugs and some targets are measured much more often than others.
    degrees = rng.normal(0, 2.0, (m, 1)) + rng.normal(0, 0.9, q)
    is_known = _ranks(degrees + rng.gumbel(size=(m, q))) >= n_unknown
    # A score is smooth over both sides, with an effect of each drug and target, and noise.
    smooth = (S - S.mean(axis=0)) @ rng.standard_normal((m, q)) @ (T - T.mean(axis=0))
    score = 2 * smooth / smooth.std() + rng.standard_normal((m, q))
    score += rng.standard_normal((m, 1)) + rng.standard_normal(q)
    # It gives the order of the affinities, and the published quantiles give their values.
    rank = _ranks(np.where(is_known, score, -np.inf)) - n_unknown
    values = np.interp((rank + 0.5) / known, shares, potencies)
    values = np.where(is_known, values if unit is None else 10.0**-values / MOLAR[unit], np.nan)
    drugs, targets = arrays["drug_similarity"], arrays["target_similarity"]
    return arrays | label_matrix(values, drugs, targets, at_least, at_most, above)


def _similarity(rng, n):
    """A Gaussian kernel of n vertices in families, with the median 1/e beside its diagonal."""
    from scipy.spatial.distance import pdist, squareform

    n_families = max(2, round(n**0.75 / 2))
    families = rng.standard_normal((n_families, 20))
    points = families[rng.integers(n_families, size=n)] + rng.standard_normal((n, 20))
    squares = pdist(points, "sqeuclidean")
    return np.exp(-squareform(squares) / np.median(squares))


def _ranks(scores):
    """The rank of each entry, from 0; the largest of each row and column come last."""
    first = (scores == scores.max(axis=0)) | (scores == scores.max(axis=1, keepdims=True))
    return np.argsort(np.argsort(scores + 1e3 * first, axis=None)).reshape(scores.shape)
