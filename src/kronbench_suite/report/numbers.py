"""How numbers and names are written, in tables, pictures and verdicts; those of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from kronbench_suite.runner.items import Item

_MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Data sets by the names that papers give them; others keep their own.
_NAMES = {
    "davis": "Davis",
    "davis-ecfp4": "Davis, ECFP4",
    "human-cold": "Human, cold split",
    "human-random": "Human, random split",
    "ipc-d": "IPC titles, section D",
    "lshtc": "LSHTC",
    "lshtc-small": "LSHTC, small",
    "uscode": "United States Code",
    "wipo-d-lsa": "WIPO-alpha, section D",
} | {name: name.upper() for name in ("e", "gpcr", "ic", "nr")}


def format_number(
    value: object,
    decimals: int | None = None,
    digits: int = 3,
    grouped: bool = True,
    like: float | None = None,
) -> str:
    """A value as it is shown: with fixed ``decimals``, or with so many significant ``digits``.

    Texts stay what they are; nothing stands for a missing value. Digits left of the point are
    never dropped. Without ``decimals``, a number below 10^-3 or from 10^6 on has a power of ten,
    and one that is exact with fewer digits has no zeros behind them. ``grouped`` puts thin spaces
    between the thousands of numbers from 10,000 on. ``like`` is a number whose decimals and power
    of ten this one takes: the larger one of a pair such as 0.00080 ± 0.00179.
    """
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    if not math.isfinite(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    if decimals is not None:
        return _fixed(value, decimals, grouped)
    # The power of ten after rounding to these digits: 9.996 has that of 10.
    model = value if like is None else like
    size = int(f"{model:.{digits - 1}e}".partition("e")[2]) if model else 0
    powers = not -3 <= size < 6
    if powers:
        text = f"{Decimal(value).scaleb(-size):.{digits - 1}f}".replace("-", _MINUS)
    else:
        text = _fixed(value, max(0, digits - 1 - size), grouped)
    # An exact number has no zeros behind it, but where another one gives the digits.
    if like is None and "." in text and float(f"{value:.{digits - 1}e}") == value:
        text = text.rstrip("0").rstrip(".")
    return f"{text}·10{str(size).translate(_SUPERSCRIPTS)}" if powers else text


def _fixed(value, decimals, grouped):
    text = f"{value:,.{decimals}f}"
    # Four digits need no space, and a zero has no sign.
    if not grouped or abs(value) < 10_000:
        text = text.replace(",", "")
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return text.replace(",", "\N{THIN SPACE}").replace("-", _MINUS)


def format_entry(value: object, digits: int = 6) -> str:
    """An entry of a column as it stands: whole numbers in full, others with these digits.

    A count in a column with gaps is read as a float, and is a count all the same.
    """
    whole = is_number(value) and abs(value) < 1e15 and float(value).is_integer()
    return format_number(value, decimals=0 if whole else None, digits=digits)


def name_of(dataset: str) -> str:
    """What tables and pictures call a data set."""
    return _NAMES.get(dataset, dataset)


def is_missing(value: object) -> bool:
    """Whether it is None, NA or not a number."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def is_number(value: object) -> bool:
    """Whether it is a finite number, and no truth value."""
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)


def read_printed(item: Item, **options: Any) -> list[pd.DataFrame]:
    """The paper's numbers for an item, read with ``options`` of ``pandas.read_csv``."""
    return [pd.read_csv(file, **options) for file in item.printed_files]


def rows_by(
    frame: pd.DataFrame, keys: list[str], numbers: Callable[[pd.DataFrame], dict]
) -> pd.DataFrame:
    """One row a group: its keys, ``numbers`` of its rows, and where their data came from."""
    rows = []
    for names, part in frame.groupby(keys, sort=False, dropna=False):
        row = dict(zip(keys, names, strict=True))
        rows.append(row | numbers(part) | {"source": part["source"].iloc[0]})
    return pd.DataFrame(rows)
