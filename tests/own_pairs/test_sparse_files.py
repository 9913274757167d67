"""Sparse features and large tables from files: the same model as of the small table of numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kronbench import InputError, PairData, io
from kronbench.own_pairs import model_file, recipe
from kronbench.own_pairs.recipe import Recipe, check_memory, needed_memory
from kronbench.own_pairs.sides import read_side, read_sparse
from tests.own_pairs.problem import arguments, fit, predict, run, tables
from tests.own_pairs.test_bad_input import refused

PRIMAL = "--set", "form=primal", "--set", "reg=0.1"


def save(path, features, ids):
    sparse.save_npz(path, features)
    path.with_suffix(".ids.txt").write_text("".join(f"{name}\n" for name in ids))


@pytest.fixture
def folder(tmp_path):
    """The problem with counts for the drugs, in a table and in a sparse file."""
    _, drugs, _ = tables(tmp_path)
    counts = np.random.default_rng(0).poisson(0.4, size=(14, 30)).astype(float)
    counts[3] = counts[5, 29] = 0  # a vertex without any
    pd.DataFrame(counts, drugs["drug"]).to_csv(tmp_path / "rows.csv")
    # As a hurried program writes it: each count in two halves, in falling order of the columns,
    # with a zero that is stored and places of 64 bits.
    lists = [np.repeat(np.flatnonzero(row)[::-1], 2) for row in counts]
    lists[5] = np.append(lists[5], 29)
    values = [row[of_row] / 2 for row, of_row in zip(counts, lists, strict=True)]
    values[5][-1] = 0
    parts = {"data": np.concatenate(values), "indices": np.concatenate(lists)}
    ends = np.cumsum([0, *map(len, lists)])
    np.savez(tmp_path / "rows.npz", **parts, indptr=ends, shape=counts.shape, format=b"csr")
    (tmp_path / "rows.ids.txt").write_text("".join(f"{name}\n" for name in drugs["drug"]))
    return tmp_path


def test_a_sparse_file_is_the_table_of_its_numbers(folder, capsys):
    table, stored = (read_side(folder / name, "--rows") for name in ("rows.csv", "rows.npz"))
    np.testing.assert_array_equal(stored.features.toarray(), table.features)
    assert stored.features.indices.dtype == np.int32
    assert (stored.ids, stored.columns) == (table.ids, table.columns)
    assert stored.features.nnz == np.count_nonzero(table.features)
    expected = fit(capsys, folder, "KronRidge", *PRIMAL)
    expected = predict(capsys, expected, "pairs.csv")["prediction"]
    model = fit(capsys, folder, "KronRidge", *PRIMAL, rows=folder / "rows.npz")
    assert sparse.issparse(model_file.load_model(model).data.row_features)
    # New vertices come in either form, and a known one is known again in both.
    for more in ([], ["--rows", folder / "rows.npz"], ["--rows", folder / "rows.csv"]):
        found = predict(capsys, model, "pairs.csv", *more)["prediction"]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.int8, bool])
def test_single_precision_stays_and_counts_become_numbers_that_do_not_overflow(tmp_path, kind):
    save(tmp_path / "f.npz", sparse.csc_array(np.full((3, 200), 1, kind)), "abc")
    features = read_sparse(tmp_path / "f.npz").features
    assert features.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert (features @ features.T).toarray()[0, 1] == 200


def change(**parts):
    """The file of a matrix whose parts are others."""

    def write(folder):
        path = folder / "rows.npz"
        with np.load(path) as file:
            np.savez(folder / "changed.npz", **{**file, **parts})
        (folder / "changed.npz").rename(path)

    return write


def texts(content):
    return lambda folder: (folder / "rows.ids.txt").write_bytes(content)


IDS = [f"D{k:02d}" for k in range(14)]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "rows.ids.txt").unlink(), "has no ids: write them to"),
        (texts(b"a\nb\n"), "has 2 lines and"),
        (texts("\n".join([*IDS[:13], "D00"]).encode()), "has the id 'D00' twice"),
        (texts("\n".join([*IDS[:13], ""]).encode() + b"\n"), "has no id in row 14"),
        (texts(b"\xff\xfe" * 9), "is not text in UTF-8"),
        (lambda folder: (folder / "rows.npz").write_bytes(b"PK"), "is not a sparse matrix of"),
        (change(indices=np.full(400, 30)), "is not a sparse matrix of"),
        (change(indptr=np.full(15, 10**9)), "is not a sparse matrix of"),
        (change(format=b"xyz"), "is not a sparse matrix of"),
    ],
)
def test_what_is_no_sparse_file_is_one_sentence(folder, capsys, damage, sentence):
    damage(folder)
    argv = arguments(folder, rows=folder / "rows.npz"), "--solver", "KronRidge"
    refused(capsys, folder, sentence, "evaluate", *argv[0], *argv[1:])


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e200])
def test_a_number_that_is_none_is_told_with_its_vertex_and_column(tmp_path, value):
    features = sparse.csr_array(np.eye(3, 4))
    features.data[1] = value
    save(tmp_path / "f.npz", features, "abc")
    told = re.escape(f"f.npz has {value} for 'b' in column 1: give a number below 1e+150")
    with pytest.raises(InputError, match=told):
        read_sparse(tmp_path / "f.npz")


def test_fingerprints_that_are_read_in_parts_are_those_of_the_whole(tmp_path, monkeypatch):
    ids, cells = [f"C{k}" for k in range(8)], [f"{k:02x}f{k:x}" for k in range(8)]
    path = tmp_path / "bits.csv"
    pd.DataFrame({"id": ids, "fp_hex": cells}).to_csv(path, index=False)
    whole = read_side(path, "--rows")
    monkeypatch.setattr(io, "_PART", 3)
    parts = read_side(path, "--rows")
    assert parts.ids == whole.ids == tuple(ids)
    np.testing.assert_array_equal(parts.features.toarray(), whole.features.toarray())
    assert io.read_table(path)["fp_hex"].tolist() == cells
    lines = path.read_text().splitlines()
    for entry, sentence in (("C0,00f0", "'C0' twice"), ("C7,00", "'C7' has 2 characters")):
        path.write_text("\n".join([*lines[:8], entry]))  # the last of its part
        with pytest.raises(InputError, match=sentence):
            read_side(path, "--rows")
    path.write_text("\n".join([*lines[:7], "C6,00", "C7,00"]))  # a part begins with another length
    with pytest.raises(InputError, match="'C6' has 8 bits, and that of 'C0' 16: give all the"):
        read_side(path, "--rows")


def test_parquet_is_the_same_table(folder, capsys, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.setattr(io, "_PART", 3)
    expected = predict(capsys, fit(capsys, folder, "KronRidge"), "pairs.csv")
    types = {"drug": str, "target": str}
    for name in ("pairs", "rows", "cols"):
        table = pd.read_csv(folder / f"{name}.csv", dtype=types)
        table.to_parquet(folder / f"{name}.parquet", index=False)
    files = {name: folder / f"{name}.parquet" for name in ("pairs", "rows", "cols")}
    found = predict(capsys, fit(capsys, folder, "KronRidge", **files), "pairs.parquet")
    pd.testing.assert_frame_equal(found, expected)
    cells = [f"{k:04x}" for k in range(14)]
    bits = pd.DataFrame({"drug": IDS, "fp_hex": cells})
    bits.to_csv(folder / "bits.csv", index=False)
    bits.to_parquet(folder / "bits.parquet", index=False)
    csv, parquet = (read_side(folder / f"bits.{end}", "--rows") for end in ("csv", "parquet"))
    assert csv.ids == parquet.ids
    np.testing.assert_array_equal(csv.features.toarray(), parquet.features.toarray())


def test_weights_of_the_primal_form_are_counted(monkeypatch):
    n = 5000
    i, j = np.arange(n) % 500, np.arange(n) % 20
    wide = PairData(sparse.eye_array(500, 40_000, format="csr"), np.eye(20, 50), i, j)
    primal = Recipe("KronRidge", {"form": "primal"})
    of_fit, of_path, of_scores = (
        needed_memory(primal, wide, asked, selects)[1]
        for asked, selects in ((None, False), (None, True), (wide, False))
    )
    assert of_scores < of_fit < of_path
    assert of_path > 100 * 8 * 40_000 * 50  # all iterates of a run
    assert of_scores >= 8 * 40_000 * 50
    monkeypatch.setattr(recipe, "available_memory", lambda: of_path - 1)
    check_memory(primal, wide)
    with pytest.raises(InputError, match="products of 40,000 and 50 features of KronRidge for 5,"):
        check_memory(primal, wide, selects=True)
    # Of kernels that do not fit the form that does is told, with what it takes.
    monkeypatch.setattr(recipe, "available_memory", lambda: 8.0 * 500**2 - 1)
    narrow = PairData(np.eye(500, 20), np.eye(20), i, j)
    with pytest.raises(InputError, match="form=primal with linear kernels, which takes 0 MiB"):
        check_memory(Recipe("KronRidge", {"row_kernel": "tanimoto"}), narrow)


def test_what_a_long_fit_takes_is_said_before_it(folder, capsys, monkeypatch):
    argv = ["fit", *arguments(folder), "--solver", "KronRidge", "--set", "solver=minres"]
    argv += ["-o", folder / "m.kron"]
    assert "a fit takes" not in run(capsys, *argv)[2]
    monkeypatch.setattr(recipe, "_OF_THE_PROCESS", 2.0**30)
    _, _, err = run(capsys, *argv)
    assert (
        "a fit takes about 1,024 MiB of memory, and its iterations at most about 0 s of a core\n"
        in err
    )
