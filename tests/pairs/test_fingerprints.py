"""Fingerprints in a column of text: the same bits however they are written."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kronbench import InputError, PairData
from kronbench.io import read_table

# Bits 0, 9 and 15 of 16; none; and all of the first byte.
BITS = np.array([[0, 9, 15], [], list(range(8))], dtype=object)
ROWS = {
    "fp_hex": ["0182", "0000", "ff00"],
    "fp_bits": ["1000000001000001", "0" * 16, "1" * 8 + "0" * 8],
}
PAIRS = pd.DataFrame({"drug": ["a", "c"], "target": ["t", "t"]})
TARGETS = pd.DataFrame({"x": [1.0]}, index=["t"])


def dense():
    matrix = np.zeros((3, 16))
    for row, bits in zip(matrix, BITS, strict=True):
        row[list(bits)] = 1
    return matrix


@pytest.mark.parametrize("kind", ROWS)
def test_each_way_of_writing_gives_the_same_sparse_bits(tmp_path, kind):
    frame = pd.DataFrame({"id": ["a", "b", "c"], kind: ROWS[kind]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for rows in (frame, frame.set_index("id"), read_table(tmp_path / "rows.csv")):
        features = PairData.from_frames(PAIRS, rows, TARGETS).row_features
        assert sparse.issparse(features)
        assert features.nnz == 11
        np.testing.assert_array_equal(features.toarray(), dense())


@pytest.mark.parametrize(
    ("kind", "cells", "sentence"),
    [
        ("fp_hex", ["0182", "", "ff00"], "no fingerprint for 'b' in 'fp_hex'"),
        ("fp_hex", ["0182", "00", "ff00"], "of 'b' has 2 characters, and that of 'a' 4"),
        (
            "fp_hex",
            ["0182", "00xx", "ff00"],
            "'fp_hex' is not of hexadecimal digits: '00xx'",
        ),
        ("fp_hex", ["0182", "0 00", "ff00"], "'b' in 'fp_hex' is not of hexadecimal"),
        ("fp_hex", ["018", "000", "ff0"], "'a' in 'fp_hex' is not of hexadecimal"),
        ("fp_bits", ["0110", "0120", "0000"], "'b' in 'fp_bits' is not of zeros and ones: '0120'"),
        ("fp_bits", ["0110", "01é0", "0000"], "'b' in 'fp_bits' is not of zeros and ones"),
        ("fp_bits", ["1" * 65537] * 3, "fingerprints of 65537 bits: fold them to at most 65536"),
    ],
)
def test_what_is_no_fingerprint_is_named(tmp_path, kind, cells, sentence):
    file = tmp_path / "drugs.csv"
    pd.DataFrame({"id": ["a", "b", "c"], kind: cells}).to_csv(file, index=False)
    with pytest.raises(InputError) as caught:
        PairData.from_frames(PAIRS, read_table(file), TARGETS)
    assert sentence in str(caught.value)
    assert str(file) in str(caught.value)


def test_fingerprints_stand_alone():
    rows = pd.DataFrame({"id": ["a", "c"], "fp_hex": ["01", "02"], "mass": [1.0, 2.0]})
    with pytest.raises(InputError, match="'fp_hex' and another column 'mass'"):
        PairData.from_frames(PAIRS, rows, TARGETS)
