"""The one error that users are meant to read, and what often raises it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from numbers import Real

LONGEST = 400  # characters of a message
WITH_ADVICE = 2000  # of one that says what was tried and what to do, with paths and addresses

# The modules of each extra of the package.
_EXTRAS = {
    "suite": (
        *("jinja2", "jsonschema", "libsvm", "matplotlib", "rocrate", "snakemake"),
        *("snakemake_interface_logger_plugins", "snowballstemmer"),
    ),
    "rivals": ("hiclass", "lightgbm", "networkx"),
    "parquet": ("pyarrow",),
    "chem": ("rdkit",),
}


class InputError(ValueError):
    """An input from the user is wrong.

    The message is one sentence: which file or argument, what is wrong, what would be right.
    The command line prints it without a traceback. It is one line of at most ``longest``
    characters: of a longer one the middle is left out, such as most of a list of columns.
    """

    def __init__(self, message: object = "", longest: int = LONGEST):
        text = printable(str(message))
        if len(text) > longest:
            end = longest // 2 - 3
            text = f"{text[:end]} ... {text[-end:]}"
        super().__init__(text)


def printable(text: str) -> str:
    """A text with an escape for each character that a terminal would act on, newlines too."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def check_positive(value: object, name: str, *, or_zero: bool = False) -> float:
    """``value`` as a float; InputError unless it is finite and positive, or zero where allowed."""
    if not (isinstance(value, Real) and isfinite(value)) or value < 0 or not (value or or_zero):
        wanted = "nonnegative" if or_zero else "positive"
        raise InputError(f"{name}={value}: give a {wanted} number")
    return float(value)


@contextmanager
def extra_for(what: str) -> Iterator[None]:
    """InputError where an import finds no module of an extra: which one ``what`` needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        for extra, modules in _EXTRAS.items():
            if package in modules:
                raise InputError(
                    f"{what} needs {package}, which is not installed: "
                    f"pip install 'kronbench[{extra}]'"
                ) from None
        raise
