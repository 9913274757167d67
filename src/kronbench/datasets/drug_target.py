"""Drug-target interactions: Yamanishi et al. (2008), Davis et al. (2011), Metz et al. (2011).

A loaded data set has m drugs and q targets:

- ``values`` (m, q) float64: interaction 0/1 (Yamanishi), Kd in nM (Davis), pKi with NaN where it
  is not known (Metz);
- ``labels`` (m, q) int8: +1, -1, or 0 where it is not known, by the registry's threshold;
- ``drug_similarity`` (m, m), ``target_similarity`` (q, q) float64, as published: neither always
  symmetric nor positive semidefinite; in percent for Metz, raw alignment scores of targets for
  Davis, which also has ``target_similarity_normalized`` (q, q) in percent.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize

from kronbench.datasets.checkerboard import distinct
from kronbench.datasets.dataset import Dataset, Loader
from kronbench.errors import InputError
from kronbench.pairs import PairData


def labelled_pairs(
    dataset: Dataset, rng: np.random.Generator | None = None, fraction: float | None = None
) -> tuple[PairData, np.ndarray]:
    """The known pairs of a data set with their labels, as Airola & Pahikkala use them.

    Parameters
    ----------
    dataset : Dataset
        Of this module (drugs are rows; features are the rows of the similarity matrices as
        published) or a checkerboard.
    rng : numpy.random.Generator, optional
        Draws the pairs; needed where ``fraction`` is below 1.
    fraction : float, optional
        Share of all m q pairs to draw, n = round(fraction m q); 2018, table 5 has 0.25. Data that
        are not complete (Ki, the checkerboards) keep all their known pairs whatever it is.

    Returns
    -------
    pairs : PairData
        In row-major order.
    y : (n,) float64 array of +1 and -1
    """
    if "rows" in dataset.arrays:
        features = dataset["row_features"], dataset["col_features"]
        pairs = PairData(*features, dataset["rows"], dataset["cols"])
        return pairs, dataset["labels"].astype(float)
    labels = dataset["labels"]
    known = np.flatnonzero(labels)
    if len(known) == labels.size and fraction is not None and fraction != 1:
        if not 0 < fraction < 1:
            raise InputError(f"fraction is {fraction}: give a share above 0 and at most 1")
        if rng is None:
            raise InputError("rng is None: give a generator to draw a fraction of the pairs")
        known = distinct(round(fraction * labels.size), labels.size, rng)
    rows, cols = np.divmod(known, labels.shape[1])
    pairs = PairData(dataset["drug_similarity"], dataset["target_similarity"], rows, cols)
    return pairs, labels.ravel()[known].astype(float)


def kernels(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kernel matrices and labels as Stock et al. (2016) use them: targets are rows.

    Parameters
    ----------
    dataset : Dataset
        Complete data of this module (Yamanishi or Davis).

    Returns
    -------
    K : (q, q) array
        Targets: similarity symmetrized, negative eigenvalues set to zero. Davis et al.: the
        normalized alignment score, from percent to 0..1.
    G : (m, m) array
        Drugs, the same.
    Y : (q, m) array
        Interactions as N/N+ and -N/N- (N pairs, N+ of them interactions; section 6.1);
        affinities as pKd = -log10(Kd / 1 M).

    Raises
    ------
    InputError
        Some pairs are not known.
    """
    values = dataset["values"].T
    if np.isnan(values).any():
        raise InputError(f"{dataset.name} has pairs that are not known; give complete data")
    if "unit" in dataset.options:
        Y = -np.log10(values * _MOLAR[dataset.options["unit"]])
    else:
        positive = np.count_nonzero(values)
        Y = np.where(values == 1, values.size / positive, -values.size / (values.size - positive))
    if "target_similarity_normalized" in dataset.arrays:
        target_similarity = dataset["target_similarity_normalized"] / 100
    else:
        target_similarity = dataset["target_similarity"]
    return _kernel(target_similarity), _kernel(dataset["drug_similarity"]), Y


_MOLAR = {"nM": 1e-9}


def _kernel(similarity):
    eigenvalues, vectors = linalg.eigh((similarity + similarity.T) / 2)
    return (vectors * np.maximum(eigenvalues, 0)) @ vectors.T


def parse_interactions(files) -> dict[str, np.ndarray]:
    """Read a set of Yamanishi et al.: tab-separated tables with identifiers.

    ``files`` has "interactions" (targets x drugs, 0/1), "drugs" and "targets" (similarities).

    Raises
    ------
    InputError
        A line has too few or too many columns, an entry is no number, NaN, or not 0 or 1, or the
        identifiers of the files disagree.
    """
    table, targets, drugs = _labelled_table(files["interactions"])
    _check_entries(files["interactions"], table, (table == 0) | (table == 1), "0 or 1", header=1)
    similarities = {}
    for key, identifiers in (("drugs", drugs), ("targets", targets)):
        similarity, rows, cols = _labelled_table(files[key])
        for side, found in (("row", rows), ("column", cols)):
            _check_identifiers(files, key, side, found, identifiers)
        _check_finite(files[key], similarity, header=1)
        similarities[key] = similarity
    values = np.ascontiguousarray(table.T)
    return _arrays(values, values == 1, similarities["drugs"], similarities["targets"])


def parse_affinities(
    files, *, at_least: float | None = None, at_most: float | None = None, unit: str | None = None
) -> dict[str, np.ndarray]:
    """Read affinities (Davis et al., Metz et al.): tables of numbers, drugs are rows.

    Parameters
    ----------
    files : mapping
        "affinities" (m, q), "drugs" (m, m), "targets" (q, q), and where there is one
        "targets_normalized" (q, q), which becomes ``target_similarity_normalized``.
    at_least : float, optional
        Label +1 from this value on; unknown values (``nan``) are allowed then.
    at_most : float, optional
        Label +1 up to this value.
    unit : str, optional
        Of dissociation constants, for ``kernels``.

    Raises
    ------
    InputError
        A line has too few or too many columns, an entry is no number, a dissociation constant is
        not positive, a similarity is NaN, or the sizes of the files disagree.
    """
    if (at_least is None) == (at_most is None):
        raise InputError("options: give either at_least or at_most, the threshold of label +1")
    if unit is not None and unit not in _MOLAR:
        raise InputError(f"options: unit is '{unit}'; known are: {', '.join(_MOLAR)}")
    values = _table(files["affinities"])
    if at_most is None:
        positive = values >= at_least
        _check_entries(files["affinities"], values, ~np.isinf(values), "a number or nan")
    else:
        positive = values <= at_most
        allowed = (values > 0) & np.isfinite(values)
        _check_entries(files["affinities"], values, allowed, "a positive number")
    similarities = {key: _table(files[key]) for key in files if key != "affinities"}
    for key, similarity in similarities.items():
        size = values.shape[0 if key == "drugs" else 1]
        if similarity.shape != (size, size):
            raise InputError(
                f"{files[key].name} is {similarity.shape[0]} x {similarity.shape[1]}; "
                f"{files['affinities'].name} asks for {size} x {size}"
            )
        _check_finite(files[key], similarity)
    arrays = _arrays(values, positive, similarities["drugs"], similarities["targets"])
    if "targets_normalized" in similarities:
        arrays["target_similarity_normalized"] = similarities["targets_normalized"]
    return arrays


def _arrays(values, positive, drug_similarity, target_similarity):
    labels = np.where(positive, 1, -1).astype(np.int8)
    labels[np.isnan(values)] = 0
    return {
        "values": values,
        "labels": labels,
        "drug_similarity": drug_similarity,
        "target_similarity": target_similarity,
    }


def _labelled_table(file):
    """Numbers, row identifiers and column identifiers of a table with both."""
    header, *lines = _lines(file, "\t")
    numbers = _numbers(file, lines, len(header), first=1)
    return numbers, [line[0] for line in lines], header[1:]


def _table(file):
    lines = _lines(file, None)
    return _numbers(file, lines, len(lines[0]), first=0)


def _lines(file, delimiter):
    with file.open() as stream:
        content = stream.read()
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not text (byte {error.start})") from None
    if len(lines) < (1 if delimiter is None else 2):
        raise InputError(f"{file.name} is empty: a table of numbers was expected")
    return [line.split(delimiter) for line in lines]


def _numbers(file, lines, n_columns, first):
    """The numbers of a table whose first ``first`` lines and columns are identifiers."""
    numbers = np.empty((len(lines), n_columns - first))
    for position, line in enumerate(lines):
        if len(line) != n_columns:
            raise InputError(
                f"{file.name}, line {position + first + 1}: {len(line)} columns, "
                f"expected {n_columns}"
            )
        try:
            numbers[position] = line[first:]
        except ValueError:
            column = next(at for at in range(first, n_columns) if not _is_number(line[at]))
            raise InputError(
                f"{file.name}, line {position + first + 1}, column {column + 1}: "
                f"'{line[column]}' is not a number"
            ) from None
    return numbers


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_entries(file, table, allowed, expected, header=0):
    if not allowed.all():
        row, col = np.argwhere(~allowed)[0]
        raise InputError(
            f"{file.name}, line {row + header + 1}, column {col + header + 1}: "
            f"{table[row, col]:g} is not allowed, expected {expected}"
        )


def _check_finite(file, similarity, header=0):
    _check_entries(file, similarity, np.isfinite(similarity), "a finite similarity", header)


def _check_identifiers(files, key, side, found, identifiers):
    name, reference = files[key].name, files["interactions"].name
    if len(found) != len(identifiers):
        raise InputError(
            f"{name} has {len(found)} {side}s; {reference} has {len(identifiers)} {key}"
        )
    for position, (here, there) in enumerate(zip(found, identifiers, strict=True)):
        if here != there:
            raise InputError(
                f"{name}, {side} {position + 1} is '{here}' where {reference} has '{there}': "
                "the identifiers must agree and stand in the same order"
            )


def surrogate_interactions(
    rng: np.random.Generator,
    *,
    drugs: int,
    targets: int,
    interactions: int,
    drug_similarity: float,
    target_similarity: float,
) -> dict[str, np.ndarray]:
    """A stand-in for a set of Yamanishi et al.

    Parameters
    ----------
    drugs, targets, interactions : int
        The published sizes, kept exactly; every drug and every target has an interaction.
    drug_similarity, target_similarity : float
        Medians of the off-diagonal similarities.

    Notes
    -----
    Similarities are Tanimoto coefficients of fingerprints with a Zipf law, inherited in families:
    the spectrum has one large eigenvalue and a slow tail, as the published ones. The log-odds of
    an interaction are a bilinear function, smooth in both similarities, plus a propensity of each
    drug and target, which gives the degrees their heavy tail.
    """
    S = _similarity(rng, drugs, drug_similarity, _DRUG_INHERITANCE)
    T = _similarity(rng, targets, target_similarity, _TARGET_INHERITANCE)
    log_odds = 3.0 * _smooth(rng, S, T) + rng.gumbel(size=(drugs, targets))
    log_odds += rng.normal(size=(drugs, 1)) + rng.normal(size=targets)
    values = np.zeros(drugs * targets)
    values[_largest(log_odds, interactions)] = 1
    values = values.reshape(drugs, targets)
    return _arrays(values, values == 1, S, T)


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
    at_least: float | None = None,
    at_most: float | None = None,
    unit: str | None = None,
) -> dict[str, np.ndarray]:
    """A stand-in for the affinities of Davis et al. (``unit``: Kd) or Metz et al. (pKi).

    Parameters
    ----------
    drugs, targets, known : int
        The published sizes, kept exactly.
    shares, potencies : lists of float
        The published distribution function of the negative logarithm: share of the known pairs
        below each potency, linear between.
    drug_similarity, target_similarity : float
        Medians of the off-diagonal similarities, with a diagonal of 1.
    percent : bool
        Both similarities are in percent.
    raw_similarity, self_score : float, optional
        Targets also have raw alignment scores, whose cosines have this median, and this median
        self-score; the normalized ones are in percent then, as in Davis et al.

    Notes
    -----
    Similarities and structure as in ``surrogate_interactions``; which pairs are known follows
    propensities of drugs and targets with a heavy tail.
    """
    S = _similarity(rng, drugs, drug_similarity, _DRUG_INHERITANCE)
    seed = rng.integers(2**32)
    T = _similarity(np.random.default_rng(seed), targets, target_similarity, _TARGET_INHERITANCE)
    propensity = rng.normal(0, 2.0, (drugs, 1)) + rng.normal(0, 0.9, targets)
    chosen = _largest(propensity + rng.gumbel(size=(drugs, targets)), known)
    score = _smooth(rng, S, T) + rng.normal(size=(drugs, targets))
    score += rng.normal(size=(drugs, 1)) + rng.normal(size=targets)
    rank = np.empty(known)
    rank[np.argsort(score.ravel()[chosen])] = (np.arange(known) + 0.5) / known
    potency = np.interp(rank, shares, potencies)
    values = np.full(drugs * targets, np.nan)
    values[chosen] = potency if unit is None else 10.0**-potency / _MOLAR[unit]
    values = values.reshape(drugs, targets)
    positive = values >= at_least if at_most is None else values <= at_most
    if self_score is None:
        scale = 100 if percent else 1
        return _arrays(values, positive, scale * S, scale * T)
    # The same seed: the same families, with fingerprints of their own.
    cosine = _similarity(np.random.default_rng(seed), targets, raw_similarity, _TARGET_INHERITANCE)
    length = np.sqrt(self_score * rng.lognormal(0, 0.45, targets))
    arrays = _arrays(values, positive, S, length[:, None] * cosine * length)
    arrays["target_similarity_normalized"] = 100 * T
    return arrays


_DRUG_INHERITANCE = 4.0
_TARGET_INHERITANCE = 1.5


def _similarity(rng, n, median, inheritance):
    """Tanimoto coefficients of random fingerprints with the given off-diagonal median.

    A vertex takes the share Beta(inheritance, 1) of its fingerprint from its subfamily, which has
    most of its own from the family; family sizes follow a Zipf law.
    """
    n_bits = round(60 / median)
    law = (np.arange(n_bits) + 10.0) ** -0.6

    def frequency(log_scale):
        return np.minimum(np.exp(log_scale) * law, 0.95)

    def excess(log_scale):  # expected background coefficient, a little below the median
        bits = frequency(log_scale)
        return bits @ bits / (2 * bits.sum() - bits @ bits) - 0.9 * median

    bits = frequency(optimize.brentq(excess, -8, 12))
    n_families = max(2, round(n**0.75 / 2))
    weights = (np.arange(n_families) + 1.0) ** -0.7
    subfamily = 3 * rng.choice(n_families, n, p=weights / weights.sum()) + rng.integers(3, size=n)
    family_bits = np.repeat(rng.random((n_families, n_bits)) < bits, 3, axis=0)
    fresh_bits = rng.random((3 * n_families, n_bits)) < bits
    prototypes = np.where(rng.random(fresh_bits.shape) < 0.7, family_bits, fresh_bits)
    richness = rng.lognormal(0, 0.7, (n, 1))
    inherited = rng.random((n, n_bits)) < rng.beta(inheritance, 1, (n, 1))
    own_bits = rng.random((n, n_bits)) < richness * bits
    fingerprints = np.where(inherited, prototypes[subfamily], own_bits).astype(float)
    common = fingerprints @ fingerprints.T
    size = common.diagonal()
    similarity = common / np.maximum(size[:, None] + size - common, 1)
    np.fill_diagonal(similarity, 1)
    background = np.median(similarity[~np.eye(n, dtype=bool)])
    return similarity + (median - background) / (1 - background) * (1 - similarity)


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


LOADERS = {
    "interactions": Loader(parse=parse_interactions, surrogate=surrogate_interactions),
    "affinities": Loader(parse=parse_affinities, surrogate=surrogate_affinities),
}
