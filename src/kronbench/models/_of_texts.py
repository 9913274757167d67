"""What the transformers of texts, of molecules and of sequences, have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import TransformerMixin

from kronbench.errors import InputError
from kronbench.models._parameters import CheckedParameters


class OfTexts(TransformerMixin, CheckedParameters):
    """Base of transformers of a text for each vertex, which learn nothing.

    A class has ``_features(texts, refusal)``, which gives its number of features, and for each
    text the places and the values of those that are not zero. ``refusal(place, reason)`` is the
    InputError that names the text at a place.
    """

    _features: Any

    def fit(self, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Self:
        """The parameters are checked; X and y are ignored, and ``transform`` needs no fit."""
        self._check_parameters()
        return self

    def transform(self, X: ArrayLike) -> sparse.csr_array:
        """The features of n texts: an array, a list or a Series of them.

        Returns
        -------
        (n, d) sparse array of float64

        Raises
        ------
        InputError
            Of a text that cannot be read: its number from 1 on, its id in a Series, and itself.
        """
        self._check_parameters()
        width, rows = self._features(*_texts_of(X))
        places, values = zip(*rows, strict=True)
        ends = np.cumsum([0, *map(len, places)])
        entries = np.concatenate(values), np.concatenate(places), ends
        return sparse.csr_array(entries, (len(rows), width))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.string = True
        tags.input_tags.two_d_array = tags.requires_fit = False
        return tags


def _texts_of(X):
    """The texts of X without blanks around them, and what refuses the one at a place."""
    # One text, or anything else that numpy takes for a single object, has no dimension.
    given = np.asarray(X, dtype=object)
    if given.ndim != 1 or not len(given):
        raise InputError(f"X has shape {given.shape}: give a row of texts, as in frame['smiles']")

    def refusal(place, reason):
        file = getattr(X, "attrs", {}).get("file", "X")  # of read_table and read_fasta
        owner = f" of '{X.index[place]}'" if hasattr(X, "iloc") else ""
        return InputError(f"{file}, entry {place + 1}{owner}, {given[place]!r:.40}, {reason}")

    for place, text in enumerate(given):
        if not isinstance(text, str):
            raise refusal(place, "is no text: give one")
    return [text.strip() for text in given], refusal
