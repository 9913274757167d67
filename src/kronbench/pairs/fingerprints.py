"""Fingerprints written in one column of text, as sparse matrices of their bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kronbench.errors import InputError
from kronbench.io import FINGERPRINTS

# A longer one is not folded, and a column for each of its bits is more than a table should have.
_MOST_BITS = 1 << 16


def read_fingerprints(
    kind: str, cells: Sequence[Any], ids: Sequence[str], name: str
) -> sparse.csr_array:
    """The bits (v, d) of v fingerprints of d bits: 1.0 where one is set, stored alone.

    "fp_hex" has hexadecimal digits as in the FPS format of chemfp: bytes in the order of the bits,
    the lowest bit of a byte first. "fp_bits" has zeros and ones. ``ids`` and ``name`` are for
    messages.
    """
    columns, length = [], 0
    for cell, entry in zip(cells, ids, strict=True):
        cell = cell.strip() if isinstance(cell, str) else cell
        if cell is None or isinstance(cell, float) or (isinstance(cell, str) and not cell):  # NaN
            raise InputError(f"{name} has no fingerprint for '{entry}' in '{kind}': give one")
        length = length or len(cell)
        if len(cell) != length:
            raise InputError(
                f"{name}: the fingerprint of '{entry}' has {len(cell)} characters, and that "
                f"of '{ids[0]}' {length}: give all the same length"
            )
        try:
            columns.append(_READ[kind](cell))
        except (TypeError, ValueError):
            text = str(cell)
            raise InputError(
                f"{name}: the fingerprint of '{entry}' in '{kind}' is not of "
                f"{FINGERPRINTS[kind]}: '{text if len(text) <= 20 else text[:20] + '...'}'"
            ) from None
    width = 4 * length if kind == "fp_hex" else length
    if width > _MOST_BITS:
        raise InputError(
            f"{name} has fingerprints of {width} bits: fold them to at most {_MOST_BITS}"
        )
    indices = np.concatenate(columns)
    ends = np.cumsum([0, *map(len, columns)])
    return sparse.csr_array((np.ones(len(indices)), indices, ends), (len(columns), width))


def _hex_positions(text):
    packed = bytes.fromhex(text)
    if 2 * len(packed) != len(text):  # blanks, which fromhex skips
        raise ValueError(text)
    return np.flatnonzero(np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little"))


def _bit_positions(text):
    bits = np.frombuffer(text.encode("ascii"), np.uint8) - ord("0")
    if bits.max() > 1:
        raise ValueError(text)
    return np.flatnonzero(bits)


_READ = {"fp_hex": _hex_positions, "fp_bits": _bit_positions}
