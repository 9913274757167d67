"""One way to write a number, whoever asks."""

import math

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from kronbench_suite.report.numbers import format_number

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def said(text):
    """The number that a text says."""
    plain = text.replace("\N{THIN SPACE}", "").replace("\N{MINUS SIGN}", "-")
    return float(plain.replace("·10", "e").translate(RAISED))


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (0.942, {"decimals": 4}, "0.9420"),
        (-0.0004, {"decimals": 3}, "0.000"),
        (12345.6, {"decimals": 0}, "12\u2009346"),
        (12345.6, {"decimals": 0, "grouped": False}, "12346"),
        (0.09996, {}, "0.100"),
        (27.82, {}, "27.8"),
        (89531.2, {"grouped": False}, "89531"),
        (-1.234e-15, {"digits": 2}, "−1.2·10⁻¹⁵"),
        (9.996e-5, {}, "1.00·10⁻⁴"),
        (5e-324, {}, "4.94·10⁻³²⁴"),
        (0.0, {}, "0"),
        # what is exact with fewer digits needs no zeros: weights, counts, printed numbers
        (3, {}, "3"),
        (25.0, {}, "25"),
        (0.5, {"digits": 4}, "0.5"),
        (1e-4, {}, "1·10⁻⁴"),
        (float("nan"), {}, ""),
        (pd.NA, {}, ""),
        (-math.inf, {}, "−∞"),
        (True, {}, "yes"),
        ("7.81s", {}, "7.81s"),
    ],
)
def test_numbers_have_the_digits_that_were_asked_for(value, options, text):
    assert format_number(value, **options) == text


@pytest.mark.parametrize(
    ("pair", "texts"),
    [
        ((8e-4, 0.00179), ("0.00080", "0.00179")),
        ((1.25, 0.3), ("1.25", "0.30")),
        ((4.5e-5, 1.789e-4), ("0.45·10⁻⁴", "1.79·10⁻⁴")),
    ],
)
def test_a_number_and_its_spread_have_the_same_decimals(pair, texts):
    assert tuple(format_number(number, like=max(pair)) for number in pair) == texts


@given(st.floats(-1e300, 1e300), st.integers(2, 6))
def test_a_text_says_its_number_to_the_last_digit_that_it_has(value, digits):
    assert said(format_number(value, digits=digits)) == pytest.approx(
        value, rel=0.5001 * 10 ** (1 - digits), abs=1e-323
    )
