"""The one error that users are meant to read, and the check of a weight or a width."""

from __future__ import annotations

from math import isfinite
from numbers import Real


class InputError(ValueError):
    """Something that the user gave is wrong.

    The message is one sentence: which file or argument, what is wrong, what would be right.
    The command line prints it without a traceback.
    """


def check_positive(value: object, name: str, *, or_zero: bool = False) -> float:
    """``value`` as a float; InputError unless it is finite and positive, or zero where allowed."""
    if not (isinstance(value, Real) and isfinite(value)) or value < 0 or not (value or or_zero):
        wanted = "nonnegative" if or_zero else "positive"
        raise InputError(f"{name}={value}: give a {wanted} number")
    return float(value)
