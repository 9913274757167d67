import numpy as np
import pytest

from kronbench.datasets.words import stem, stems, unit_counts

# Examples of Porter (1980), by the step that they are given for; stems are those of all steps.
PAIRS = """
caresses caress  ponies poni  ties ti  caress caress  cats cat
feed feed  agreed agre  plastered plaster  bled bled  motoring motor  sing sing
conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall
hissing hiss  fizzed fizz  failing fail  filing file  happy happi  sky sky
relational relat  conditional condit  rational ration  valenci valenc  hesitanci hesit
digitizer digit  conformabli conform  radicalli radic  differentli differ  vileli vile
analogousli analog  vietnamization vietnam  predication predic  operator oper
feudalism feudal  decisiveness decis  hopefulness hope  callousness callous
formaliti formal  sensitiviti sensit  sensibiliti sensibl
triplicate triplic  formative form  formalize formal  electriciti electr  electrical electr
hopeful hope  goodness good
revival reviv  allowance allow  inference infer  airliner airlin  gyroscopic gyroscop
adjustable adjust  defensible defens  irritant irrit  replacement replac  adjustment adjust
dependent depend  adoption adopt  homologou homolog  communism commun  activate activ
angulariti angular  homologous homolog  effective effect  bowdlerize bowdler
probate probat  rate rate  cease ceas  controll control  roll roll
generalizations gener  oscillators oscil
""".split()


@pytest.mark.parametrize(("word", "expected"), list(zip(PAIRS[::2], PAIRS[1::2], strict=True)))
def test_stems_of_porters_examples(word, expected):
    assert stem(word) == expected


def test_short_words_stay():
    assert [stem(word) for word in ("is", "as", "by")] == ["is", "as", "by"]


def test_words_of_a_text():
    text = "The Weaving machines (1, 2a) of claim 3, wherein said MACHINE weaves."
    assert stems(text) == ["weav", "machin", "claim", "said", "machin", "weav"]


def test_numbers_signs_and_single_letters_are_no_words():
    assert stems("x = 12 %; a.b - 3C") == []


def test_counts_of_stems_are_rows_of_unit_norm_in_the_order_of_the_texts():
    X = unit_counts(iter(["Looms, a loom and yarn", "the of 12", "Yarns"]))
    expected = np.array([[2, 1], [0, 0], [0, 1]]) / np.array([[np.sqrt(5)], [1], [1]])
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-15)  # loom, yarn
