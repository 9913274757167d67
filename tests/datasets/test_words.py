import numpy as np
import pytest

from kronbench.datasets.wipo import stem, stems, unit_counts


@pytest.mark.parametrize(
    ("word", "expected"),
    [("caresses", "caress"), ("relational", "relat"), ("is", "is"), ("as", "as"), ("by", "by")],
)
def test_stems_are_porters_and_short_words_stay(word, expected):
    assert stem(word) == expected


def test_words_of_a_text():
    text = (
        "Weaving machines (1, 2a) of the claim 3; x = 12 %; a.b - 3C; wherein said MACHINE weaves"
    )
    assert stems(text) == ["weav", "machin", "claim", "said", "machin", "weav"]


def test_counts_of_stems_are_rows_of_unit_norm_in_the_order_of_the_texts():
    X = unit_counts(iter(["Looms, a loom and yarn", "the of 12", "Yarns"]))
    expected = np.array([[2, 1], [0, 0], [0, 1]]) / np.array([[np.sqrt(5)], [1], [1]])
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-15)  # loom, yarn
