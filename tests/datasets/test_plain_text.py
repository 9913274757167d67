"""Text files as others wrote them: line ends, encodings, and what a number is."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kronbench import InputError
from kronbench.datasets.plain_text import as_number, numbers, text_lines
from tests.helpers import in_memory


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\tb\n\nc", ["a\tb", "", "c"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        ("a\u2028b\u0085c\n".encode(), ["a\u2028b\u0085c"]),  # no ends of lines here
    ],
)
def test_lines(content, lines):
    assert text_lines(in_memory(a=content)["a"], "utf-8") == lines


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n\xff", r"a\.txt is not text \(byte 2\)"),
        (b"a\nb\x0cc\n", r"a\.txt, line 2: the control character '\\x0c'"),
        (b"a\n\n\x00", r"a\.txt, line 3: the control character '\\x00'"),
    ],
)
def test_what_is_no_text_is_named(content, message):
    with pytest.raises(InputError, match=message):
        text_lines(in_memory(a=content)["a"], "utf-8")


@given(st.floats() | st.integers(-(10**20), 10**20))
def test_printed_numbers_are_read_back(number):
    read = as_number(str(number))
    assert read == float(number) or (math.isnan(read) and math.isnan(number))


@pytest.mark.parametrize("text", ["", "1_0", "\u0661", "\xa01", "1\x0c", "0x1", "1e", "e", "1 2"])
def test_what_is_no_number(text):
    assert as_number(text) is None
    with pytest.raises(InputError, match=r"line 3, column 2: .* is not a number"):
        numbers("line 3", ["1", text, "x"], [0, 1])


def test_several_numbers():
    fields = ["1", "x", "nan", "1e-3"]
    np.testing.assert_array_equal(numbers("line 1", fields, [3, 0, 2]), [1e-3, 1, np.nan])
    assert numbers("line 1", fields, []).shape == (0,)
