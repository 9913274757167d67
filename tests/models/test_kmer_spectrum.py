"""Spectra of sequences against counts by hand, and what is not a sequence."""

import pickle
import warnings
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from kronbench import InputError
from kronbench.models import KmerSpectrum

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
sequences = st.text(LETTERS, min_size=3, max_size=30)


def counted(sequence, k):
    return Counter(sequence[start : start + k] for start in range(len(sequence) - k + 1))


def by_hand(sequence, k):
    """Roots of the counts of all words, over their length."""
    counts = counted(sequence, k)
    root = np.sqrt([counts["".join(word)] for word in product(LETTERS, repeat=k)])
    return root / np.linalg.norm(root)


@settings(max_examples=30, deadline=None)
@given(st.lists(sequences, min_size=1, max_size=4), st.integers(1, 3))
def test_a_row_has_the_roots_of_the_counts_and_length_1(texts, k):
    found = KmerSpectrum(k=k).fit_transform(texts)
    assert found.dtype == np.float64
    assert found.has_canonical_format
    np.testing.assert_allclose(found.toarray(), [by_hand(text, k) for text in texts], atol=1e-15)


@settings(max_examples=30, deadline=None)
@given(st.lists(sequences, min_size=2, max_size=6), st.randoms())
def test_a_row_depends_on_its_sequence_alone_to_the_bit(texts, random):
    order = random.sample(range(len(texts)), len(texts))
    found = KmerSpectrum().transform(texts).toarray()
    again = KmerSpectrum().transform([texts[i] for i in order]).toarray()
    np.testing.assert_array_equal(again, found[order])


def test_small_letters_and_blanks_around_are_those_of_capitals():
    with warnings.catch_warnings(action="error"):  # of a blank, were it a letter
        found = KmerSpectrum().transform(np.array(["MKVLMKV", " mkvlmkv\n"])).toarray()
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("letter", [*"BJOUXZ*x"])
def test_a_word_with_another_letter_is_not_counted_and_one_sentence_says_which(letter):
    X = pd.Series(["MKVL", f"MKVA{letter}LLM", f"{letter}MKV"], ["P1", "P2", "P3"])
    with pytest.warns(UserWarning, match="2 of 3 sequences have letters of no amino") as told:
        found = KmerSpectrum().transform(X).toarray()
    assert len(told) == 1
    assert told[0].filename == __file__
    sentence = str(told[0].message)
    assert sentence.startswith("X, entry 2 of 'P2', ")
    assert " as letter 5: " in sentence
    parts = np.sqrt(by_hand("MKVA", 3) ** 2 * 2 / 3 + by_hand("LLM", 3) ** 2 / 3)
    np.testing.assert_allclose(found[1], parts, atol=1e-15)
    np.testing.assert_array_equal(found[2], by_hand("MKV", 3))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (["MKV", "MK"], "X, entry 2, 'MK', has no word of 3 amino acids: give a longer one"),
        (["MKV", ""], "X, entry 2, '', has no word"),
        (["MKXMK"], "X, entry 1, 'MKXMK', has no word"),
        *(
            (["MKVL", f"MXVA{c}L"], r"X, entry 2, .* as letter 5, which")
            for c in "-?1é\u4e2d\ud800"
        ),
        (
            pd.Series(["MKV", None], ["a", "b"], dtype=object),
            "X, entry 2 of 'b', None, is no text",
        ),
        ([1.5], "X, entry 1, 1.5, is no text: give one"),
        ("MKV", r"X has shape \(\): give a row of texts"),
        ([], r"X has shape \(0,\)"),
        (pd.DataFrame({"sequence": ["MKV"]}), r"X has shape \(1, 1\)"),
        (None, r"X has shape \(\)"),
    ],
)
def test_what_is_no_sequence_is_one_sentence(X, sentence):
    with warnings.catch_warnings(action="error"):
        with pytest.raises(InputError, match=sentence):
            KmerSpectrum().fit(X).transform(X)


def test_the_file_of_a_series_is_named():
    X = pd.Series(["MK"], ["P1"])
    X.attrs["file"] = "t.fasta"
    with pytest.raises(InputError, match=r"^t\.fasta, entry 1 of 'P1', 'MK', has no word"):
        KmerSpectrum().transform(X)


def test_it_learns_nothing_and_works_inside_scikit_learn():
    frame = pd.DataFrame({"one": ["MKVL", "ACDE"], "other": ["LLLL", "MKVL"]})
    model = clone(KmerSpectrum(k=2))
    assert model.get_params() == {"k": 2}
    check_is_fitted(model)
    expected = model.transform(frame["one"]).toarray()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).transform(frame["one"]).toarray(), expected
    )
    pipeline = make_pipeline(model).fit(frame["one"])
    np.testing.assert_array_equal(pipeline.transform(frame["one"]).toarray(), expected)
    both = make_column_transformer((model, "one"), (model, "other"), sparse_threshold=1)
    assert both.fit_transform(frame).shape == (2, 800)
