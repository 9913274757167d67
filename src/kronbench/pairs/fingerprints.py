"""Fingerprints written in one column of text, as sparse matrices of their bits."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from operator import index

import numpy as np
from scipy import sparse

from kronbench.errors import InputError
from kronbench.io import FINGERPRINTS

# Fingerprints whose bits are unpacked at a time.
_BLOCK = 4096
# A longer one is not folded, and a column for each of its bits is more than a table should have.
_MOST_BITS = 1 << 16
_APART = str.maketrans("[](){},;", " " * 8)


def read_fingerprints(
    kind: str, cells: Sequence[object], ids: Sequence[str], name: str
) -> sparse.csr_array:
    """The bits (v, d) of v fingerprints of d bits: 1.0 where one is set, stored alone.

    Parameters
    ----------
    kind : {"fp_hex", "fp_bits", "fp_on"}
        "fp_hex": hexadecimal digits, all of equal length, as in the FPS format of chemfp: bytes
        in the order of the bits, the lowest bit of a byte first. "fp_bits": zeros and ones, all
        of equal length. "fp_on": the positions of the bits that are set, from 0 on, between
        blanks, commas or semicolons, with or without brackets; or lists of integers. Here d is
        the smallest power of two that holds all of them, which is the length of a folded
        fingerprint.
    cells, ids : v fingerprints, and the ids of their vertices, for messages
    name : str
        Of the table, for messages.

    Raises
    ------
    InputError
        A fingerprint is missing, not written as said, of another length than the first, or has a
        bit beyond 65,535. The sentence names the id.
    """
    if kind not in FINGERPRINTS:
        raise ValueError(f"kind is {kind!r}")
    if kind == "fp_on":
        return _from_positions(cells, ids, name)
    texts = [cell.strip() if isinstance(cell, str) else "" for cell in cells]
    length, unpack = len(texts[0]), _HOW[kind]
    for text, entry in zip(texts, ids, strict=True):
        if not text:
            raise InputError(f"{name} has no fingerprint for '{entry}' in '{kind}': give one")
        if len(text) != length:
            raise InputError(
                f"{name}: the fingerprint of '{entry}' has {len(text)} characters, and that of "
                f"'{ids[0]}' {length}: write all in equal length"
            )
    blocks = []
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        try:
            bits = unpack("".join(block), len(block))
        except ValueError:  # some text of the block
            wrong = next(k for k, text in enumerate(block) if not _is_read(unpack, text))
            raise InputError(
                f"{name}: the fingerprint of '{ids[start + wrong]}' in '{kind}' is not of "
                f"{FINGERPRINTS[kind]}: '{_short(block[wrong])}'"
            ) from None
        blocks.append(sparse.csr_array(bits, dtype=np.float64))
    found = sparse.vstack(blocks, format="csr")
    _check_width(found.shape[1], name)
    return sparse.csr_array(found)


def _unpack_hex(text: str, count: int) -> np.ndarray:
    """The bits (count, d) of so many texts in one; ValueError where they are none."""
    packed = np.frombuffer(bytes.fromhex(text), np.uint8)
    if 2 * len(packed) != len(text):  # blanks, which fromhex skips
        raise ValueError(text)
    return np.unpackbits(packed.reshape(count, -1), axis=1, bitorder="little")


def _unpack_bits(text: str, count: int) -> np.ndarray:
    """The same of zeros and ones."""
    bits = np.frombuffer(text.encode("ascii"), np.uint8) - ord("0")
    if bits.max() > 1:
        raise ValueError(text)
    return bits.reshape(count, -1)


_HOW: dict[str, Callable[[str, int], np.ndarray]] = {
    "fp_hex": _unpack_hex,
    "fp_bits": _unpack_bits,
}


def _is_read(unpack, text):
    try:
        unpack(text, 1)
    except ValueError:
        return False
    return True


def _from_positions(cells, ids, name):
    columns, ends = array("i"), [0]  # lists of integers would take ten times the memory
    for cell, entry in zip(cells, ids, strict=True):
        text = isinstance(cell, str)
        if cell is None or (text and not cell.strip()) or isinstance(cell, float):  # NaN
            raise InputError(f"{name} has no fingerprint for '{entry}' in 'fp_on': give one")
        try:
            given = map(int, cell.translate(_APART).split()) if text else map(index, cell)
            bits = sorted(set(given))
        except (TypeError, ValueError):
            bits = [-1]
        if bits and bits[0] < 0:
            raise InputError(
                f"{name}: the fingerprint of '{entry}' in 'fp_on' is not of "
                f"{FINGERPRINTS['fp_on']}: '{_short(str(cell))}'"
            )
        if bits and bits[-1] >= _MOST_BITS:
            raise InputError(
                f"{name}: the fingerprint of '{entry}' has the bit {bits[-1]}, beyond "
                f"{_MOST_BITS - 1}: fold it to at most {_MOST_BITS} bits"
            )
        columns.extend(bits)
        ends.append(len(columns))
    indices = np.frombuffer(columns, np.int32) if columns else np.zeros(0, np.int32)
    width = 1 << int(indices.max(initial=0)).bit_length()
    return sparse.csr_array((np.ones(len(columns)), indices, ends), (len(ends) - 1, width))


def _check_width(width, name):
    if width > _MOST_BITS:
        raise InputError(
            f"{name} has fingerprints of {width} bits: fold them to at most {_MOST_BITS}"
        )


def _short(text):
    return text if len(text) <= 20 else f"{text[:20]}..."
