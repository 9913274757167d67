"""Tables of similarities as kernels: their unit, their symmetry and their negative eigenvalues.

Published similarities are often indefinite (normalized Smith-Waterman scores), and not quite
symmetric (SIMCOMP). Negative eigenvalues are set to zero, the *clip* of Chen, Garcia, Gupta,
Rahimi & Cazzanti (2009), "Similarity-based classification: concepts and algorithms", JMLR 10. As
there, this is a projection P S of the similarities S of the training vertices on the eigenvectors
that are kept, and the similarities of other vertices with these are projected too: a model that
sees them as they are is far off (on Davis' targets the error trebles). Each training set has its
own projection. One of all vertices would know the test vertices, and scores of new targets of
Davis would be a twentieth too good.
"""

from __future__ import annotations

import numpy as np

from kronbench.errors import InputError
from kronbench.pairs.data import used_vertices
from kronbench.pairs.frames import VertexTable

# A negative eigenvalue below this share of the mean eigenvalue is rounding.
_EIGENVALUE_ROUNDING = 1e-6
# Negative eigenvalues may make up this share of all, in magnitude. Normalized alignment scores of
# 442 kinases have .09; distances, whose diagonal is zero, have .5.
_LARGEST_NEGATIVE_SHARE = 0.2


def as_kernel(table: VertexTable, kernel: str) -> tuple[np.ndarray, float, bool, str]:
    """Similarities (n, n), what they were divided by, whether to clip them, and that in words.

    They are symmetric, and the mean of their diagonal is 1, so that a regularization weight means
    the same for scores in percent or in bits. InputError where negative eigenvalues are large;
    ``kernel`` is the parameter that says what else may be done. O(n^3).
    """
    S, done = table.features, []
    # The two entries of a pair of vertices become their mean.
    if (apart := float(np.abs(S - S.T).max())) > 0:
        S = (S + S.T) / 2
    if apart > _EIGENVALUE_ROUNDING * np.abs(S).max():
        done.append(f"the two entries of a pair, which differ by up to {apart:.3g}, averaged")
    # Scores in percent or in bits get the scale of a kernel.
    unit = float(np.mean(np.diagonal(S)))
    if not (unit > 0 and abs(unit - 1) > _EIGENVALUE_ROUNDING):
        unit = 1.0
    else:
        S = S / unit
        done.append(f"divided by {unit:.4g}, the mean of the diagonal")
    # A Cholesky factor shows, without eigenvalues, that none of them is negative.
    least = _EIGENVALUE_ROUNDING * max(
        float(np.linalg.norm(S)) / np.sqrt(len(S)), np.finfo(float).tiny
    )
    try:
        np.linalg.cholesky(S + least * np.eye(len(S)))
        return S, unit, False, "; ".join(done)
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(S.astype(np.float64, copy=False))
    # Small negative eigenvalues are clipped; large ones say that this is no similarity.
    n_negative = np.count_nonzero(values < -least)
    share = -values[values < 0].sum() / np.abs(values).sum()
    some = f"{n_negative} of {len(S)} eigenvalues, {100 * share:.2g} % of all in magnitude,"
    if share > _LARGEST_NEGATIVE_SHARE:
        raise InputError(
            f"{table.name} is too far from a kernel matrix, since {some} are negative, as in a "
            f"table of distances: give similarities, or --set {kernel}=linear, which takes its "
            "rows as features"
        )
    done.append(f"{some} are negative and set to zero")
    return S, unit, True, "; ".join(done)


def clip(similarities: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The projection (n, n) that clips similarities (n, n) of the vertices in an index.

    Times it, similarities of these vertices are the positive semidefinite matrix nearest to
    theirs, and those of any other vertex follow. Columns of vertices that are not in the index are
    zero. O(n^3).
    """
    used, _ = used_vertices(index, len(similarities))
    used = np.arange(len(similarities))[used]
    values, vectors = np.linalg.eigh(similarities[np.ix_(used, used)])
    kept = vectors[:, values > 0]
    projection = np.zeros_like(similarities)
    projection[np.ix_(used, used)] = kept @ kept.T
    return projection
