"""Affinities of many compounds, given as fingerprints, with targets: a recipe of any size."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kronbench.pairs import PairData

_BITS = 2048
_OF_SERIES = 30  # draws of bits that the compounds of a series share
_OF_COMPOUND = 20  # draws beside them
_LATENT = 8  # features of a target
_NOISE = 0.5


class FingerprintRecipe:
    """Series of compounds and a set of targets, from which pairs are drawn.

    A bit b = 1, 2, ..., 2048 is drawn with a probability in proportion to b^-1/2. The bits of a
    series are 30 draws; a compound is of a series at random and has its bits and 20 draws more, 48
    to 49 different bits in all. A target has eight standard normal features t. Bits contribute
    additively, as in Free & Wilson (1964): the affinity of a compound x is z't + N(0, 1/4) with z
    the sum of the weights W (2048, 8) ~ N(0, 1) of its bits, over the root of 8 times their
    number. Without noise affinities have about the variance 1.
    """

    def __init__(self, n_series: int, n_targets: int, rng: np.random.Generator):
        self._sums = np.cumsum(np.arange(1, _BITS + 1) ** -0.5)
        self._series = self._draw((n_series, _OF_SERIES), rng)
        self._weights = rng.standard_normal((_BITS, _LATENT))
        self.targets = rng.standard_normal((n_targets, _LATENT))

    def pairs(
        self, n_compounds: int, n: int, rng: np.random.Generator
    ) -> tuple[PairData, np.ndarray]:
        """New compounds, and the affinities y (n,) of pairs drawn independently.

        The row features are fingerprints (n_compounds, 2048) of zeros and ones, sparse.
        """
        mine = self._series[rng.integers(len(self._series), size=n_compounds)]
        bits = np.hstack([mine, self._draw((n_compounds, _OF_COMPOUND), rng)])
        places = np.arange(0, bits.size + 1, bits.shape[1])
        compounds = sparse.csr_array(
            (np.ones(bits.size, np.float32), bits.ravel(), places), (n_compounds, _BITS)
        )
        compounds.sum_duplicates()
        compounds.data[:] = 1
        latent = compounds @ self._weights
        latent /= np.sqrt(_LATENT * np.diff(compounds.indptr))[:, None]
        rows = rng.integers(n_compounds, size=n)
        cols = rng.integers(len(self.targets), size=n)
        y = np.einsum("ij,ij->i", latent[rows], self.targets[cols])
        y += _NOISE * rng.standard_normal(n)
        return PairData(compounds, self.targets, rows, cols), y

    def _draw(self, shape, rng):
        return np.searchsorted(self._sums, rng.random(shape) * self._sums[-1], side="right")
