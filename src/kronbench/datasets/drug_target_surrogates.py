"""Stand-ins for drug-target data, of the published sizes and medians of similarity."""

from __future__ import annotations

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.drug_target import MOLAR, label_matrix


def surrogate_interactions(
    rng: np.random.Generator,
    *,
    drugs: int,
    targets: int,
    interactions: int,
    drug_similarity: float,
    target_similarity: float,
) -> Arrays:
    """A stand-in for a set of Yamanishi et al., of exactly the published sizes.

    Every vertex has an interaction; the similarities have the given off-diagonal medians. The
    log-odds are a bilinear function, smooth in both similarities, plus a propensity of each drug
    and target, which gives the degrees their heavy tail.
    """
    S = _similarity(rng, drugs, drug_similarity)
    T = _similarity(rng, targets, target_similarity)
    log_odds = 3.0 * _smooth(rng, S, T) + rng.gumbel(size=(drugs, targets))
    log_odds += rng.normal(size=(drugs, 1)) + rng.normal(size=targets)
    values = np.zeros((drugs, targets))
    values.flat[_largest(log_odds, interactions)] = 1
    return label_matrix(values, S, T, at_least=1)


def surrogate_affinities(
    rng: np.random.Generator,
    *,
    drugs: int,
    targets: int,
    known: int,
    shares: list[float],
    potencies: list[float],
    drug_similarity: float,
    target_similarity: float,
    percent: bool = False,
    raw_similarity: float | None = None,
    self_score: float | None = None,
    ecfp4_similarity: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    unit: str | None = None,
) -> Arrays:
    """A stand-in for affinities, drawn as ``surrogate_interactions`` draws interactions.

    ``known`` pairs are known, by propensities with a heavy tail, and ``shares`` of them are below
    each of the ``potencies``, negative logarithms; linear between. The diagonal of a similarity is
    1, with ``percent`` 100. With ``raw_similarity``, the median of their cosines, and
    ``self_score`` targets also have raw alignment scores, and the normalized ones are in percent.
    """
    S = _similarity(rng, drugs, drug_similarity)
    T = _similarity(rng, targets, target_similarity)
    propensity = rng.normal(0, 2.0, (drugs, 1)) + rng.normal(0, 0.9, targets)
    chosen = _largest(propensity + rng.gumbel(size=(drugs, targets)), known)
    score = _smooth(rng, S, T) + rng.normal(size=(drugs, targets))
    score += rng.normal(size=(drugs, 1)) + rng.normal(size=targets)
    # The order is that of the score, the values are the published quantiles.
    rank = np.empty(known)
    rank[np.argsort(score.ravel()[chosen])] = (np.arange(known) + 0.5) / known
    potency = np.interp(rank, shares, potencies)
    values = np.full((drugs, targets), np.nan)
    values.flat[chosen] = potency if unit is None else 10.0**-potency / MOLAR[unit]
    threshold = at_least, at_most, above
    if self_score is None:
        scale = 100 if percent else 1
        return label_matrix(values, scale * S, scale * T, *threshold)
    cosine = T ** (np.log(raw_similarity) / np.log(target_similarity))  # the same vertices
    length = np.sqrt(self_score * rng.lognormal(0, 0.45, targets))
    arrays = label_matrix(values, S, length[:, None] * cosine * length, *threshold)
    arrays["target_similarity_normalized"] = 100 * T
    if ecfp4_similarity is not None:
        arrays["drug_similarity_ecfp4"] = _similarity(rng, drugs, ecfp4_similarity)
    return arrays


def _similarity(rng, n, median):
    """A Gaussian kernel of vertices in families, with the given off-diagonal median."""
    from scipy.spatial.distance import pdist, squareform

    n_families = max(2, round(n**0.75 / 2))
    families = rng.standard_normal((n_families, 20))
    points = families[rng.integers(n_families, size=n)] + rng.standard_normal((n, 20))
    squares = pdist(points, "sqeuclidean")
    return np.exp(np.log(median) / np.median(squares) * squareform(squares))


def _smooth(rng, S, T, rank=4):
    """A bilinear function of unit variance, and its margins, smooth over both similarities."""
    sides = []
    for similarity in (S, T):
        side = (similarity - similarity.mean(axis=0)) @ rng.normal(size=(len(similarity), rank))
        sides.append(side / side.std(axis=0))
    function = sides[0] @ sides[1].T + rank**0.5 * (sides[0][:, :1] + sides[1][:, 0])
    return function / function.std()


def _largest(scores, n):
    """Flat positions of n large scores, the largest of each row and column among them."""
    scores = scores.copy()
    scores[np.arange(len(scores)), scores.argmax(axis=1)] += 1e3
    best = scores.argmax(axis=0)
    scores[best, np.arange(scores.shape[1])] += 1e3
    return np.argpartition(scores, -n, axis=None)[-n:]
