"""Lines and numbers of text files as others wrote them: nothing is read in a second meaning.

Python takes more for a line end, a blank or a digit than the formats of these files do: form
feeds, no-break spaces, digits of other scripts, ``1_0``. Here they are errors.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

import numpy as np

from kronbench.datasets.fetch import LocalFile
from kronbench.errors import InputError

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_NUMERAL_SIGNS = frozenset("0123456789+-.eE nNaAiIfFtTyY")  # also of nan and infinity


def text_lines(file: LocalFile, encoding: str) -> list[str]:
    """The lines of a file without their ends; control characters other than tabs are refused."""
    with file.open() as stream:
        content = stream.read()
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not text (byte {error.start})") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    strange = _CONTROL.search(text)
    if strange:
        line = text.count("\n", 0, strange.start()) + 1
        raise InputError(f"{file.name}, line {line}: the control character {strange[0]!r}")
    return text.removesuffix("\n").split("\n") if text else []


def excerpt(text: str) -> str:
    """The start of a text in quotes, for messages."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def as_number(text: str) -> float | None:
    """The number that a text is, or None."""
    try:
        return float(text) if _NUMERAL_SIGNS.issuperset(text) else None
    except ValueError:
        return None


def numbers(place: str, fields: Sequence[str], columns: Sequence[int]) -> np.ndarray:
    """(n,) float64 array of the numbers in ``columns`` of a record; ``place`` is for messages."""
    texts = [fields[column] for column in columns]
    with contextlib.suppress(ValueError):
        if _NUMERAL_SIGNS.issuperset("".join(texts)):
            return np.array(texts, dtype=np.float64)
    wrong = next(column for column in columns if as_number(fields[column]) is None)
    raise InputError(f"{place}, column {wrong + 1}: {excerpt(fields[wrong])} is not a number")
