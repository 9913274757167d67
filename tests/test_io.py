"""Tables from files: ids stay text, and what is no table is one sentence."""

import gzip
import time

import pandas as pd
import pytest

from kronbench import InputError
from kronbench.io import _check_header, read_table


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


def test_a_wide_header_takes_linear_time():
    names = [f"x{k}" for k in range(200_000)]
    began = time.process_time()
    with pytest.raises(InputError, match="two columns 'x7'"):
        _check_header("t.csv", [*names, "x7"], ",")
    assert time.process_time() - began < 10  # where each name is counted, minutes


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
    ("name", "content", "sentence"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"id,x\n", "no rows below its header"),
        ("t.csv", b"id,x\n\xff\xfe\x00", "not text in UTF-8"),
        ("t.csv", bytes(range(256)), "t.csv "),
        ("t.csv", b"a\0b,c\n1,2\n", "bytes that are not text"),
        ("t.csv", gzip.compress(b"id,x\na,1\n"), "not text in UTF-8"),
        ("t.csv", b"id,x\na,1\nb,2,3\n", "line 3, saw 3"),
        ("t.csv", b"id,x\na,1,2\nb,2,3\n", "as many cells"),
        ("t.csv", b"id,x,x\na,1,2\n", "two columns 'x'"),
        ("t.csv", b"id;x\na;1\n", "not separated by commas"),
        ("t.csv", b"drug\na\n", "has 1 column: the first 2 are ids"),
        ("t.csv", b'id,x\n"a,1\n', "cells"),
        ("t.xlsx", b"PK", "give .csv, .tsv or .parquet"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(path, ids=2)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_and_columns_are_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read"):
        folder = tmp_path / "folder.csv"
        folder.mkdir()
        read_table(folder)
    path = tmp_path / "pairs.csv"
    path.write_text("drug,target\na,b\n")
    with pytest.raises(InputError, match=r"no column 'drgu': did you mean 'drug'\?"):
        read_table(path, ids=["drgu", "target"])
