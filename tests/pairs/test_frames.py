"""Pairs from data frames with ids, and fingerprints in a column of text."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kronbench import InputError, PairData
from kronbench.io import read_table
from kronbench.pairs.frames import read_vertices

DRUGS = pd.DataFrame({"id": ["a", "b", "c"], "mass": [1.0, 2.0, 3.0], "acid": [True, False, True]})
TARGETS = pd.DataFrame({"length": [10, 20]}, index=[7, 8])
PAIRS = pd.DataFrame({"drug": ["c", "a"], "target": [8, 7], "y": [0, 1]})
DATES = ["2020-01-01", "2020-01-02", None]


def test_ids_become_positions():
    data, y = PairData.from_frames(PAIRS, DRUGS, TARGETS, label="y")
    assert (data.row_ids, data.col_ids) == (("a", "b", "c"), ("7", "8"))
    np.testing.assert_array_equal(data.rows, [2, 0])
    np.testing.assert_array_equal(data.cols, [1, 0])
    np.testing.assert_array_equal(data.row_features, [[1, 1], [2, 0], [3, 1]])
    np.testing.assert_array_equal(y, [0, 1])
    assert data[[1]].row_ids is data.row_ids
    again = PairData.from_frames(PAIRS, DRUGS.set_index("id"), TARGETS)
    np.testing.assert_array_equal(again.rows, data.rows)
    np.testing.assert_array_equal(again.row_features, data.row_features)


def test_a_square_table_named_by_its_ids_is_a_kernel_in_their_order():
    K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])
    table = pd.DataFrame(K, index=["a", "b", "c"], columns=["a", "b", "c"])[["c", "a", "b"]]
    data = PairData.from_frames(PAIRS, table, TARGETS)
    np.testing.assert_array_equal(data.row_features, K)


@pytest.mark.parametrize("labels", [["no", "yes"], [True, False]])
def test_labels_may_be_names_or_flags_that_pandas_calls_boolean(labels):
    column = pd.array(labels, "boolean") if labels[0] is True else labels
    _, y = PairData.from_frames(PAIRS.assign(y=column), DRUGS, TARGETS, label="y")
    assert y.tolist() == labels
    assert y.dtype.kind == ("b" if labels[0] is True else "U")


def named(frame):
    frame = frame.copy()
    frame.attrs["file"] = "the/file.csv"
    return frame


def drugs(**columns):
    return {"rows": named(DRUGS.assign(**columns))}


def pairs(frame):
    return {"pairs": named(frame)}


def similarity(K, columns):
    return {"rows": named(pd.DataFrame(K, index=["a", "b", "c"], columns=columns))}


# Of text in cells, as files have it, tests/own_pairs/test_bad_input.py has others.
@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            pairs(PAIRS.assign(drug=["c", "aa"])),
            "pair 2: drug 'aa' is not in rows: did you mean 'a'?",
        ),
        (pairs(PAIRS.assign(target=[8, 9])), "pair 2: target '9' is not in cols: it has '7', '8'"),
        (pairs(PAIRS.assign(drug=["c", None])), "no id in pair 2"),
        (pairs(PAIRS.assign(drug=[1.5, 2.5])), "has 1.5 where an id should be"),
        (pairs(PAIRS.drop(columns="target")), "no column 'target'"),
        (pairs(PAIRS.rename(columns={"y": "Y"})), "no column 'y'"),
        (pairs(PAIRS.iloc[:0]), "no pairs"),
        (pairs(PAIRS.assign(y=[1.0, np.nan])), "no number for the pair (a, 7) in 'y'"),
        (pairs(PAIRS.assign(y=[1.0, np.inf])), "'inf' for the pair (a, 7) in 'y'"),
        (pairs(PAIRS.assign(y=["no", None])), "no number for the pair (a, 7) in 'y'"),
        (pairs(PAIRS.assign(y=["no", ""])), "no number for the pair (a, 7) in 'y'"),
        (
            pairs(PAIRS.assign(y=pd.array([True, None], "boolean"))),
            "no number for the pair (a, 7) in 'y'",
        ),
        (pairs(PAIRS.assign(y=pd.to_datetime(DATES[:2]))), "'2020-01-01 00:00:00' for the pair"),
        (pairs(PAIRS.assign(y=[1, 10**400])), "00 ...' for the pair (a, 7) in 'y'"),
        (pairs(pd.concat([PAIRS, PAIRS["drug"]], axis=1)), "two columns 'drug'"),
        (pairs(pd.concat([PAIRS, PAIRS["y"]], axis=1)), "two columns 'y'"),
        (
            pairs(pd.concat([PAIRS, PAIRS.assign(y=[0, 0])])),
            "the pair (a, 7) twice, as pairs 2 and 4, with the labels 1.0 and 0.0",
        ),
        (drugs(id=[0.5, 1.5, 2.5]), "has 0.5 where an id should be"),
        (drugs(mass=[1, np.nan, 2]), "no number for 'b' in 'mass'"),
        (drugs(mass=[1, 2, -np.inf]), "'-inf' for 'c' in 'mass'"),
        (drugs(mass=pd.to_datetime(DATES)), "has '2020-01-01 00:00:00' for 'a' in 'mass'"),
        (drugs(mass=pd.PeriodIndex(["2020"] * 3, freq="Y")), "has '2020' for 'a' in 'mass'"),
        (drugs(mass=[0, 1, -(10**400)]), "00 ...' for 'c' in 'mass'"),
        ({"rows": named(DRUGS.iloc[:0])}, "no rows"),
        (similarity(np.eye(3), ["a", "b", "x"]), "similarity matrix without a column for 'c'"),
        (similarity(np.eye(3), ["x", "x", "y"]), "two columns 'x'"),
    ],
)
def test_bad_tables_are_one_sentence_that_names_the_id_and_the_file(tables, sentence):
    given = {"pairs": PAIRS, "rows": DRUGS, "cols": TARGETS} | tables
    with pytest.raises(InputError) as caught:
        PairData.from_frames(**given, label="y")
    assert sentence in str(caught.value)
    assert "the/file.csv" in str(caught.value)


def test_a_square_table_with_a_column_named_like_an_id_has_features():
    table = read_vertices(pd.DataFrame(np.eye(3), ["a", "b", "c"], ["a", "mass", "logp"]), "t.csv")
    assert not table.similarity
    assert table.columns == ("a", "mass", "logp")


def test_a_similarity_is_symmetric_to_the_digits_of_a_file():
    """1e-6 of its largest entry, here 100: what seven digits leave."""
    K = pd.DataFrame(100 * np.eye(3), list("abc"), list("abc"))
    K.loc["a", "b"] = 0.5e-4
    assert PairData.from_frames(PAIRS, K, TARGETS).row_features[0, 1] == 0.5e-4
    K.loc["a", "b"] = 2e-4
    with pytest.raises(InputError, match="the other way round"):
        PairData.from_frames(PAIRS, K, TARGETS)


@pytest.mark.parametrize("name", ["pairs", "rows", "cols"])
def test_what_is_no_frame_is_told_so(name):
    given = {"pairs": PAIRS, "rows": DRUGS, "cols": TARGETS} | {name: np.eye(2)}
    with pytest.raises(InputError, match=f"{name} is of type ndarray: give a pandas DataFrame"):
        PairData.from_frames(**given)


# Bits 0, 9 and 15 of 16; none; and all of the first byte.
BITS = np.array([[k in (0, 9, 15) for k in range(16)], [False] * 16, [k < 8 for k in range(16)]])
FINGERPRINTS = {
    "fp_hex": ["0182", "0000", "ff00"],
    "fp_bits": ["1000000001000001", "0" * 16, "1" * 8 + "0" * 8],
}


@pytest.mark.parametrize("kind", FINGERPRINTS)
def test_each_way_of_writing_gives_the_same_sparse_bits(tmp_path, kind):
    frame = pd.DataFrame({"id": ["a", "b", "c"], kind: FINGERPRINTS[kind]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for rows in (frame, frame.set_index("id"), read_table(tmp_path / "rows.csv")):
        features = PairData.from_frames(PAIRS, rows, TARGETS).row_features
        assert sparse.issparse(features)
        assert features.nnz == 11
        np.testing.assert_array_equal(features.toarray(), BITS)


@pytest.mark.parametrize(
    ("kind", "cells", "sentence"),
    [
        ("fp_hex", ["0182", "", "ff00"], "no fingerprint for 'b' in 'fp_hex'"),
        ("fp_hex", ["0182", "00", "ff00"], "of 'b' has 2 characters, and that of 'a' 4"),
        ("fp_hex", ["0182", "00xx", "ff00"], "'fp_hex' is not of hexadecimal digits: '00xx'"),
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
