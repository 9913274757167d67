"""Words of a text: letters only, stop words left out, stems by Porter (1980)."""

from __future__ import annotations

import functools
import re

import snowballstemmer

_WORD = re.compile(r"[a-z]{2,}")
_PORTER = snowballstemmer.stemmer("porter")


def stems(text: str) -> list[str]:
    """Stems of the words of ``text`` in their order, without English stop words."""
    # Imported here: every command that only plans imports this module, scikit-learn takes seconds.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [stem(word) for word in _WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS]


@functools.cache
def stem(word: str) -> str:
    """Stem of a lower-case word, by An algorithm for suffix stripping, Program 14(3), 1980."""
    # Porter's own program leaves words of two letters alone; the paper's rules would cut "as".
    return _PORTER.stemWord(word) if len(word) > 2 else word
