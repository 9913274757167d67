"""Words of texts: stems by Porter (1980), counts scaled to rows of unit norm."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from kronbench.errors import extra_for

_WORD = re.compile(r"[a-z]{2,}")


def stems(text: str) -> list[str]:
    """Stems of the words of ``text``, letters only, in their order, without English stop words."""
    # Imported here: every command that only plans imports this module, scikit-learn takes seconds.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [stem(word) for word in _WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS]


@functools.cache
def stem(word: str) -> str:
    """Stem of a lower-case word, by An algorithm for suffix stripping, Program 14(3), 1980."""
    with extra_for("the text of documents"):
        import snowballstemmer
    # Porter's own program leaves words of two letters alone; the paper's rules would cut "as".
    return snowballstemmer.stemmer("porter").stemWord(word) if len(word) > 2 else word


def unit_counts(texts: Iterable[str]) -> sparse.csr_array:
    """(n, V) counts of the stems of ``texts``, in their order, in rows of unit norm or zero."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(analyzer=stems, dtype=np.float64).fit_transform(texts)
    return sparse.csr_array(unit_rows(counts))


def unit_rows(X: np.ndarray | sparse.csr_array) -> np.ndarray | sparse.csr_array:
    """Rows of Euclidean length one; rows of zeros stay."""
    from sklearn.preprocessing import normalize

    return normalize(X)
