"""Words of a text: letters only, stop words left out, stems by Porter (1980).

The stemmer is written out here because no locked dependency has one.
"""

from __future__ import annotations

import functools
import re

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

_WORD = re.compile(r"[a-z]{2,}")

# Suffixes in the order in which the paper tries them: the first that fits decides.
_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
    *("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stems(text: str) -> list[str]:
    """Stems of the words of ``text`` in their order, without English stop words."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS]


@functools.cache
def stem(word: str) -> str:
    """Stem of a lower-case word, by An algorithm for suffix stripping, Program 14(3), 1980."""
    if len(word) < 3:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2)
    word = _replace(word, _STEP_3)
    word = _strip(word)
    return _tidy(word)


def _shape(stem):
    """The stem with c for each consonant and v for each vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in stem:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(stem):
    """m in Porter's [C](VC)^m[V]."""
    return _shape(stem).count("vc")


def _has_vowel(stem):
    return "v" in _shape(stem)


def _double(stem):
    return stem[-1:] == stem[-2:-1] and _shape(stem).endswith("c")


def _short(stem):
    """Ends consonant, vowel, consonant, and the last is not w, x or y (Porter's *o)."""
    return _shape(stem).endswith("cvc") and stem[-1] not in "wxy"


def _plural(word):
    for suffix, kept in (("sses", 2), ("ies", 2), ("ss", 0), ("s", 1)):
        if word.endswith(suffix):
            return word[: len(word) - kept]
    return word


def _past(word):
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word:
            if not _has_vowel(stem):
                return word
            if stem.endswith(("at", "bl", "iz")):
                return stem + "e"
            if _double(stem) and stem[-1] not in "lsz":
                return stem[:-1]
            return stem + "e" if _measure(stem) == 1 and _short(stem) else stem
    return word


def _longest(word, suffixes):
    return max((suffix for suffix in suffixes if word.endswith(suffix)), key=len, default="")


def _replace(word, endings):
    suffix = _longest(word, endings)
    stem = word.removesuffix(suffix)
    return stem + endings[suffix] if suffix and _measure(stem) > 0 else word


def _strip(word):
    suffix = _longest(word, _STEP_4)
    stem = word.removesuffix(suffix)
    if _measure(stem) > 1 and (suffix != "ion" or stem.endswith(("s", "t"))):
        return stem
    return word


def _tidy(word):
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _short(stem)):
            word = stem
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
