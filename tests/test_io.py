"""Tables from files: ids stay text, and what is no table is one sentence."""

import gzip

import pandas as pd
import pytest

from kronbench import InputError
from kronbench.io import read_fasta, read_table


def test_ids_stay_text_and_numbers_are_numbers(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\ufeffid,mass,on\n007,1.5,1\nNA,2e3,0\n", encoding="utf-8")
    frame = read_table(path)
    assert frame["id"].tolist() == ["007", "NA"]
    assert frame["mass"].tolist() == [1.5, 2000.0]
    assert frame.attrs["file"] == str(path)
    named = read_table(path, ids=["on"])
    assert named["on"].tolist() == ["1", "0"]


def test_tabs_and_quotes(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text('drug\ttarget\ty\n"a, b"\t01\t1\n')
    frame = read_table(path, ids=2)
    assert frame.iloc[0].tolist() == ["a, b", "01", 1]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_packed_table_is_the_one_that_was_packed(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    path.write_text("\ufeffid,x\n007,1.5\n".replace(",", "," if suffix == ".csv" else "\t"))
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    pd.testing.assert_frame_equal(read_table(packed), read_table(path))


def test_a_message_is_one_line_of_at_most_400_characters():
    columns = ", ".join(f"column-{k}" for k in range(50_000))
    text = str(InputError(f"t.csv has the columns {columns}: say which\x1b[31m one\n is meant"))
    assert len(text) <= 400
    assert text.startswith("t.csv has the columns column-0, ")
    assert text.endswith(r": say which\x1b[31m one\n is meant")
    assert str(InputError(InputError(text))) == text


def test_parquet_keeps_ids_or_asks_for_its_package(tmp_path):
    path = tmp_path / "rows.parquet"
    try:
        pd.DataFrame({"id": ["007"], "x": [1.0]}).to_parquet(path)
    except ImportError:
        path.write_bytes(b"PAR1")
        with pytest.raises(InputError, match=r"needs pyarrow, .*kronbench\[parquet\]"):
            read_table(path)
        return
    assert read_table(path)["id"].tolist() == ["007"]
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_table(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"id,x\n\xff\xfe\x00", "not text in UTF-8"),
        (bytes(range(256)), ""),
        (b"drug\na\n", "has 1 column: the first 2 are ids"),
        (b'id,x\n"a,1\n', "cells"),
        (None, "cannot be read"),  # a folder
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path, content, sentence):
    """Others are in ``tests/own_pairs/test_bad_input.py``."""
    path = tmp_path / "t.csv"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(path, ids=2)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


FASTA = b">P1 kinase\r\nMKV\r\nLL mk\r\n\r\n>sp|P2|X_HUMAN\r\nACD\r\n"


@pytest.mark.parametrize("packed", [False, True])
def test_sequences_by_the_first_word_of_their_headers(tmp_path, packed):
    path = tmp_path / ("t.fa.gz" if packed else "t.fasta")
    path.write_bytes(gzip.compress(FASTA) if packed else b"\xef\xbb\xbf" + FASTA)
    found = read_fasta(str(path))
    assert found.to_dict() == {"P1": "MKVLLmk", "sp|P2|X_HUMAN": "ACD"}
    assert (found.name, found.index.name) == ("sequence", "id")
    assert found.attrs["file"] == str(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", " does not begin with a line '>id': give a FASTA file"),
        (b"id,sequence\nP1,MKV\n", " does not begin with a line '>id'"),
        (b"MKV\n>P1\nMKV\n", " does not begin with a line '>id'"),
        (b">P1\nMK\n\n>P2 text\n \n>P3\nMK\n", ", line 4: 'P2' has no sequence: give it one"),
        (b">P1\nMK\n>P2\n", ", line 3: 'P2' has no sequence"),
        (b">P1\nMK\n> \nMK\n", ", line 3: '' has no id of its own: give it one"),
        (b">P1\nMK\n>P2\nMK\n>P1 b\nML\n", ", line 5: 'P1' has no id of its own"),
        (b">P1\n\xff\xfe\n", " is not text in UTF-8"),
        (None, " is a folder"),
    ],
)
def test_what_is_no_fasta_is_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "t.fasta"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_fasta(path)
    assert str(caught.value).startswith(f"{path}{sentence}")


def test_a_packed_fasta_that_is_cut_is_one_sentence(tmp_path):
    path = tmp_path / "t.fasta.gz"
    path.write_bytes(gzip.compress(FASTA)[:-4])
    with pytest.raises(InputError, match="is not a complete gzip file"):
        read_fasta(path)
    with pytest.raises(InputError, match=r"none\.fasta cannot be read: No such file"):
        read_fasta(tmp_path / "none.fasta")
