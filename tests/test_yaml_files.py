"""Numbers out of the texts that options, overrides and cells of printed tables give."""

import math

import pytest

from kronbench.yaml_files import number_or_text


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-7", -7), ("+7", 7), ("0", 0), ("1e3", 1000.0), (".5", 0.5), ("0.790", 0.79),
     ("1.", 1.0), ("-2E-3", -0.002), ("inf", math.inf), ("-Inf", -math.inf)],
)  # fmt: skip
def test_a_number_is_a_whole_one_where_it_is_written_so(text, number):
    found = number_or_text(text)
    assert found == number
    assert type(found) is type(number)


@pytest.mark.parametrize(
    "text",
    ["", "007", "-007", "00.5", "1_000", "1_0.5", "\uff11\uff12", " 7", "7\n", "0x1f", "1e",
     "1,5", "\u22125", "1e400", "-1e400", "9" * 400, "9" * 5000, "infinity", "\u0131nf"],
)  # fmt: skip
def test_a_text_that_a_number_would_not_keep_stays(text):
    assert number_or_text(text) == text
