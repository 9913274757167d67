"""The reciprocal 1 / (1 + kappa x s) as a sum of products of functions of x and of s."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numba import njit
from scipy.linalg import LinAlgWarning
from scipy.special import ellipk, ellipkm1

from kronbench.linalg.eigen import Spectrum

_EPS = np.finfo(np.float64).eps
# Where less than this is left of the leverage of left-out rows, features may be gone with them.
_MIN_LEVERAGE = 1e-4
# Beyond this product of rounding and condition number coordinates of K have lost their digits.
_LOST_DIGITS = 1e-5


def reciprocal_nodes(kappa: float, tol: float = _EPS) -> tuple[np.ndarray, np.ndarray]:
    """Nodes x_l, s_l in [0, 1] of a separable expansion of 1 / (1 + kappa x s) on [0, 1]^2.

    With g_l(z; c, p) = sqrt(kappa (1 + kappa)) / (1 + kappa c) * (z - c) / (1 + p z),
    p_l = kappa s_l and r_l = kappa x_l,

        1 / (1 + kappa x s) = sum_l (-1)^l (1 + kappa x_l s_l)
            * prod_{k<l} g_k(x; x_k, p_k) / (1 + p_l x) * prod_{k<l} g_k(s; s_k, r_k) / (1 + r_l s)

    telescopes whatever the nodes are; the relative error after N terms is the product of all
    g_l. |g_l| <= 1, so no sum here cancels. The nodes are Zolotarev's, best possible for the
    cross ratio 1 + kappa of the intervals x in [0, 1] and -1 / (kappa s) in [-inf, -1 / kappa]:
    they are the shifts of the alternating direction implicit method (Wachspress). There are
    O(log(1 + kappa) log(1 / tol)) of them: 12 for kappa = 1, 98 for kappa = 1e10.
    """
    kappa = max(kappa, 1e-8)  # more nodes than needed below this, and as exact
    # K and K' of modulus 1 / sqrt(1 + kappa): the decay of the Zolotarev number of this ratio
    decay = np.pi * ellipkm1(kappa / (1 + kappa)) / ellipkm1(1 / (1 + kappa))
    n = int(np.ceil(np.log(4 / tol) / decay))
    # A Moebius map takes both intervals to [h, 1] and [-1, -h], where Zolotarev's nodes are the
    # values of the elliptic function dn at equidistant points, with modulus sqrt(1 - h^2).
    h = (np.sqrt(kappa) + np.sqrt(1 + kappa)) ** -2
    quarter, other = ellipkm1(h * h), ellipk(h * h)
    u = (2 * np.arange(n) + 1) * quarter / (2 * n)
    # dn(u) as a sum of sech: library functions lose dn where its modulus is close to 1
    images = np.pi * np.abs(u[:, None] - 2 * quarter * np.arange(-40, 41)) / (2 * other)
    dn = np.pi / (2 * other) * (1 / np.cosh(np.minimum(images, 700.0))).sum(axis=1)
    # The map back, for the node dn of [h, 1] and the node -dn of [-1, -h]
    x = 2 * (dn - h) / ((1 + dn) * (1 - h))
    s = 2 * h * (1 - dn) / ((1 - h) * (dn + h))
    return np.clip(x, 0.0, 1.0), np.clip(s, 0.0, 1.0)


def reciprocal_factors(
    x: np.ndarray, s: np.ndarray, kappa: float
) -> tuple[np.ndarray, np.ndarray]:
    """Factors (N, m), (N, q) whose product L' R is 1 / (1 + kappa x s), for x (m,), s (q,).

    ``reciprocal_nodes`` for x and s in [0, 1], to a relative 1e-13 in each entry.
    """
    lefts, rights = [], []
    left, right = np.ones_like(x), np.ones_like(s)
    gain, sign = np.sqrt(kappa * (1 + kappa)), 1.0
    for c, d in np.transpose(reciprocal_nodes(kappa)):
        # Term l of the sum in reciprocal_nodes; then g_l, which all later terms have as a factor
        lefts.append(left / (1 + kappa * d * x))
        rights.append(sign * (1 + kappa * c * d) * right / (1 + kappa * c * s))
        left = lefts[-1] * (gain / (1 + kappa * c) * (x - c))
        right = right * (gain / (1 + kappa * d) * (s - d)) / (1 + kappa * c * s)
        sign = -sign
    return np.array(lefts), np.array(rights)


class HeldOutFactors:
    """The factors of ``reciprocal_nodes`` at K_{-i}, applied to k_i, for all left-out i at once.

    K_{-i} is a kernel matrix without its row and column i, k_i its column i. Vectors of length
    n - 1 have a zero inserted at i and are kept in coordinates of the eigenvectors of all of K,
    where a resolvent of K_{-i} is a diagonal matrix and a rank-one correction: O(n^2) a node for
    all i together. The spectrum of K is full; the factors are of K over its largest eigenvalue.
    With ``parts``, arrays of positions, the whole part of i is left out with it, and corrections
    have its rank: O(n^2 p) a node for parts of p positions.
    """

    def __init__(self, spectrum: Spectrum, kappa: float, parts: Sequence[np.ndarray] = ()):
        largest = spectrum.values[-1]
        self._scaled = spectrum.values / largest if largest > 0 else spectrum.values
        self._vectors = spectrum.vectors
        self._kappa, self._parts = kappa, parts
        # k_i, column i of K, without its entries in the part of i
        self._product = self._vectors * self._scaled
        if parts:
            self._without_parts(self._product)
        else:
            self._product -= (spectrum.squared @ self._scaled)[:, None] * self._vectors

    def next(self, center: float, pole: float) -> np.ndarray:
        """Coordinates (n, n) of the next factor, one row for each left-out i."""
        resolvent = 1.0 / (1.0 + pole * self._scaled)
        gain = np.sqrt(self._kappa * (1 + self._kappa)) / (1 + self._kappa * center)
        if not self._parts:
            factor = np.empty_like(self._product)
            _next_factors(
                self._product, factor, self._vectors, self._scaled, resolvent, center, pole, gain
            )
            return factor
        # As _next_factors, whose scalars are blocks of a part here. With W the resolvent of K, the
        # rows of a part are (W - W U' (U W U')^-1 U W) product: zero at the part itself.
        factor = self._product * resolvent
        for part in self._parts:
            U = self._vectors[part]
            above, below = factor[part] @ U.T, (U * resolvent) @ U.T
            factor[part] -= np.linalg.solve(below, above.T).T @ (U * resolvent)
        # The next product, in that of its two forms which does not cancel
        if pole > 1.0:
            self._product = gain / pole * (self._product - (1.0 + pole * center) * factor)
        else:
            step = self._scaled * factor
            self._without_parts(step)
            self._product = gain * (step - center * factor)
        return factor

    def _without_parts(self, vectors):
        """Set each row, in coordinates, to zero in the positions of its part."""
        for part in self._parts:
            U = self._vectors[part]
            vectors[part] -= (vectors[part] @ U.T) @ U


class HeldOutFeatures:
    """The same for eigenvectors U (n, k) of positive eigenvalues, as entries (n,) of vectors.

    With features Phi = U S these factors are Phi_{-i} times those of C = Phi_{-i}'Phi_{-i},
    applied to phi_i = S u_i. Vectors S z of features are kept as z, so that rounding is relative
    to the size of each feature; coordinates of K would round relative to its largest eigenvalue.
    For k < n the rows that are left must span the features, and C is regular.
    """

    def __init__(self, spectrum: Spectrum, kappa: float, parts: Sequence[np.ndarray]):
        self._scaled, self._vectors = spectrum.values / spectrum.values[-1], spectrum.vectors
        self._full, self._kappa, self._parts = spectrum.full, kappa, parts
        self._z = self._projected(self._vectors.copy())

    def next(self, center: float, pole: float) -> np.ndarray:
        """Entries (n, n) of the next factor, one row for each left-out i."""
        x, U = self._scaled, self._vectors
        resolvent = 1.0 / (1.0 + pole * x)
        gain = np.sqrt(self._kappa * (1 + self._kappa)) / (1 + self._kappa * center)
        # The resolvent of C, by the identity of Sherman, Morrison and Woodbury
        factor = self._corrected(self._z * resolvent, pole * x, resolvent, 1.0)
        factor = self._projected(factor)
        # Its entries at all rows; those of the left-out part are zero.
        image = (x * factor) @ U.T
        for part in self._parts:
            image[np.ix_(part, part)] = 0.0
        # The two forms of _next_factors; C S z has the coordinates S (image U)
        if pole > 1.0:
            step = (self._z - (1.0 + pole * center) * factor) / pole
        else:
            step = image @ U - center * factor
        self._z = self._projected(gain * step)
        return image

    def _corrected(self, z, inner, outer, null):
        """z, for the rows of each part plus W U' (null (I - U U') + U W U')^-1 U inner z."""
        for part in self._parts:
            U = self._vectors[part]
            rest = null * (np.eye(len(part)) - U @ U.T) + (U * outer) @ U.T
            z[part] += np.linalg.solve(rest, (U * inner) @ z[part].T).T @ (U * outer)
        return z

    def _projected(self, z):
        """For k = n less what is orthogonal to the features of the rows that are left."""
        return self._corrected(z, -1.0, 1.0 / self._scaled, 0.0) if self._full else z


def held_out(
    spectrum: Spectrum, kappa: float, parts: Sequence[np.ndarray]
) -> tuple[HeldOutFactors | HeldOutFeatures, np.ndarray | None]:
    """The factors, and the basis (n, n) of their coordinates; None for entries.

    Coordinates of K, as long as they keep their digits; else those of features, if they can.
    """
    # The condition number that coordinates of K meet: about the smaller one of that of K and kappa
    most, least = spectrum.values[-1], spectrum.values[0] * spectrum.full
    spread = 1.0 / (least / most + 1.0 / kappa)
    if _EPS * spread > _LOST_DIGITS:
        # Features lose fewer, if every set of remaining rows spans them: its leverages tell.
        kept = spectrum.values > 0
        features = Spectrum(spectrum.values[kept], spectrum.vectors[:, kept])
        each = parts or list(np.arange(len(spectrum.vectors))[:, None])
        corners = (np.eye(len(U)) - U @ U.T for U in map(features.vectors.__getitem__, each))
        if features.full or min(np.linalg.eigvalsh(c)[0] for c in corners) > _MIN_LEVERAGE:
            return HeldOutFeatures(features, kappa, each), None
        warnings.warn(
            f"left-out predictions of setting 'D' lose digits to a condition number {spread:.1e}: "
            "scale the features, or give a larger reg",
            LinAlgWarning,
            stacklevel=6,
        )
    spectrum = spectrum.completed()
    return HeldOutFactors(spectrum, kappa, parts), spectrum.vectors


@njit(cache=True, fastmath={"reassoc", "contract"})
def _next_factors(product, factor, vectors, values, resolvent, center, pole, gain):
    """Factor = (1 + pole K)^-1 product, product = gain (K - center) factor, without row i each.

    The second has two forms. As a difference over ``pole`` it would cancel where the pole is
    small; through K its gain would blow up rounding where the pole is large.
    """
    n, k = vectors.shape
    # Row i in coordinates: W = (1 + pole K)^-1 is diagonal, u is row i of the eigenvectors
    for i in range(n):
        # The part of W product along u, over u'W u: the multiple of W u that makes entry i zero
        above, below = 0.0, 0.0
        for a in range(k):
            ru = resolvent[a] * vectors[i, a]
            above += product[i, a] * ru
            below += vectors[i, a] * ru
        ratio = above / below
        # ``entry`` is what K makes of the factor at i, which K without row i does not have.
        entry = 0.0
        for a in range(k):
            factor[i, a] = resolvent[a] * (product[i, a] - ratio * vectors[i, a])
            entry += values[a] * factor[i, a] * vectors[i, a]
        if pole > 1.0:
            for a in range(k):
                step = product[i, a] - (1.0 + pole * center) * factor[i, a]
                product[i, a] = gain / pole * step
        else:
            for a in range(k):
                step = (values[a] - center) * factor[i, a] - entry * vectors[i, a]
                product[i, a] = gain * step
