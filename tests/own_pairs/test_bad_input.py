"""Whatever is wrong with tables, parameters or model files: one sentence, nothing written."""

import csv
import errno
import gzip
import hashlib
import io
import os
import re
import shlex
import zipfile

import numpy as np
import pandas as pd
import pytest

from kronbench import InputError
from kronbench.own_pairs import model_file
from kronbench.own_pairs.commands import fit_files
from tests.own_pairs.problem import arguments, run, tables


@pytest.fixture
def folder(tmp_path):
    tables(tmp_path)
    return tmp_path


def refused(capsys, folder, sentence, *argv, ends=2):
    """The command ends with a status and one sentence, and leaves the folder as it was."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    status, out, err = run(capsys, *argv)
    last = err.replace("\r", "\n").strip().splitlines()[-1]
    assert status == ends, err
    assert out == ""
    assert last.startswith("kronbench: error: "), err
    assert sentence in last
    assert len(last) <= len("kronbench: error: ") + 400
    assert "Traceback" not in err
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def line(number, new):
    """An edit that writes a line of a table anew."""

    def edit(content):
        lines = content.splitlines()
        lines[number] = new
        return "\n".join(lines) + "\n"

    return edit


def similarity_table(rows, cols):
    """The similarities of some drugs with some."""
    lines = [",".join(["drug", *(f"D{k:02d}" for k in cols)])]
    for i in rows:
        lines.append(",".join([f"D{i:02d}", *(f"{1 / (1 + abs(i - k)):.4f}" for k in cols)]))
    return "\n".join(lines) + "\n"


def labels(value):
    def edit(content):
        head, *lines = content.splitlines()
        return "\n".join([head, *(f"{entry.rpartition(',')[0]},{value}" for entry in lines)])

    return edit


@pytest.fixture
def usual_limit():
    """That of a cell, in characters: other packages that the tests load raise it."""
    before = csv.field_size_limit(131072)
    yield
    csv.field_size_limit(before)


@pytest.mark.parametrize(
    ("table", "edit", "sentence"),
    [
        ("pairs", lambda text: "", "is empty"),
        ("pairs", lambda text: "drug,target,active\n", "no rows below its header"),
        ("pairs", lambda text: text.partition("\n")[2], "has no header: its first line, "),
        ("pairs", lambda text: "\0\1\2" + text, "bytes that are not text"),
        (
            "pairs",
            lambda text: text.replace("\n", ",1\n").replace("active,1", "active,note"),
            "the columns active, note besides the ids: name that of the labels with --label",
        ),
        ("pairs", line(0, "drug,target"), "as many cells"),
        ("pairs", line(0, "drug,drug,active"), "two columns 'drug'"),
        ("pairs", lambda text: text.replace(",", ";"), "not separated by commas"),
        ("pairs", line(3, "D99,01,1"), "pair 3: drug 'D99' is not in"),
        ("pairs", line(3, "D03,1,1"), "pair 3: target '1' is not in"),
        ("pairs", line(3, ",01,1"), "no id in pair 3"),
        ("pairs", line(3, "D03,01,"), "no number for the pair (D03, 01)"),
        ("pairs", line(3, "D03,01,nan"), "'nan' for the pair (D03, 01)"),
        ("pairs", line(3, "D03,01,maybe"), "'maybe' for the pair (D03, 01)"),
        ("pairs", line(3, "D03,01,1,1"), "line 4, saw 4"),
        ("pairs", labels("1"), "the label 1 for every pair"),
        ("pairs", labels("yes"), "'yes' for a label: give numbers"),
        ("pairs", lambda text: text + text.splitlines()[1] + "\n", "twice, as pairs 1 and 121"),
        ("pairs", lambda text: text + text.splitlines()[1] + ".5\n", "the median of replicates"),
        ("pairs", line(3, "D03,01," + "9" * 400), "...' for the pair (D03, 01)"),
        ("pairs", line(3, 'D03,01,"7,329"'), "a label, with a decimal point"),
        ("pairs", labels('"7,329"'), "or 7.329 with a decimal point"),
        ("pairs", line(3, '"D\n03\x1b[31m",01,1'), r"drug 'D\n03\x1b[31m' is not in"),
        ("pairs", line(3, f"{'D' * 200_000},01,1"), "DDD ... "),
        (
            "pairs",
            line(0, "drug,target," + ",".join(map(str, range(9000)))),
            "8999 besides the ids",
        ),
        ("rows", line(0, "drug,mass,mass,rings"), "two columns 'mass'"),
        ("rows", line(2, "D00,1,2,3"), "the id 'D00' twice"),
        ("rows", line(2, "D01,1,heavy,3"), "'heavy' for 'D01' in 'logp'"),
        ("rows", line(2, 'D01,1,"2,5",3'), "a number, with a decimal point"),
        ("rows", line(2, "D01,1," + "9" * 400 + ",3"), "'inf' for 'D01' in 'logp'"),
        ("rows", line(2, "D01,1,-1e308,3"), "'-1e+308' for 'D01' in 'logp': give a number, below"),
        ("rows", line(0, f"drug,{'m' * 140_000},logp,rings"), "has a header that cannot be read"),
        ("rows", line(2, "D01,1,,3"), "no number for 'D01' in 'logp'"),
        ("rows", line(2, "D01,1,NaN,3"), "'NaN' for 'D01' in 'logp'"),
        ("rows", line(2, "D01,1"), "for 'D01' in 'logp'"),
        ("rows", line(2, ",1,2,3"), "no id in row 2"),
        ("rows", lambda text: "drug\nD00\n", "has only ids"),
        ("cols", line(1, "99,1,2"), "'00' is not in"),
        (
            "rows",
            lambda text: "drug,formula\n" + "".join(f"D{k:02d},CC{k}O\n" for k in range(14)),
            "give numbers; the commands read texts alone in a column 'smiles', 'sequence', ",
        ),
        (
            "rows",
            lambda text: "drug,logp\n" + "".join(f'D{k:02d},"1,{k}"\n' for k in range(14)),
            "'1,0' for 'D00' in 'logp': give a number, with a decimal point",
        ),
        (
            "rows",
            lambda text: similarity_table(range(14), range(3, 9)),
            "14 rows and 6 columns, and 6 columns are named by its ids, as in similarities that "
            "lack rows or columns, such as a column 'D00': give one of each for every id, or",
        ),
        (
            "rows",
            lambda text: similarity_table(range(5, 14), range(14)),
            "has 9 rows and 14 columns, and 9 columns are named by its ids",
        ),
        ("cols", lambda text: "target,00,01\n00,1,2\n01,3,1\n", "the other way round"),
        ("cols", lambda text: "target,00,x\n00,1,2\n", "is not in"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "fit"])
def test_tables(folder, capsys, command, table, edit, sentence, usual_limit):
    path = folder / f"{table}.csv"
    path.write_text(edit(path.read_text()))
    argv = [command, *arguments(folder), "--solver", "KronRidge"]
    argv += ["-o", folder / "m.kron"] if command == "fit" else []
    refused(capsys, folder, sentence, *argv)


def zipped(head, size):
    """A zip of a table that unpacks to so many bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("pairs.csv", head + bytes(size))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("pairs.csv", bytes(range(256)) * 10, "not text in UTF-8"),
        ("pairs.csv", b"\x1f\x8b\x08\x00", "not text in UTF-8"),
        ("pairs.csv", zipped(b"drug,target,active\n", 50_000_000), "not text"),
        ("pairs.xlsx", b"PK\x03\x04", "give .csv, .tsv or .parquet"),
        ("pairs.parquet", b"PAR1", "parquet"),
        ("pairs.csv.gz", b"drug,target,active\n", "not a complete gzip file"),
        (
            "pairs.csv.gz",
            gzip.compress(b"drug,target,active\n" * 99)[:-9],
            "not a complete gzip file",
        ),
        ("pairs.xlsx.gz", gzip.compress(b"PK"), "give .csv, .tsv or .parquet"),
        ("missing.csv", None, "No such file"),
        ("pairs.csv/below.csv", None, "Not a directory"),
    ],
)
def test_files_that_are_no_tables(folder, capsys, name, content, sentence):
    path = folder / name
    if content is not None:
        path.write_bytes(content)
    argv = ["evaluate", *arguments(folder, pairs=path), "--solver", "KronRidge"]
    refused(capsys, folder, sentence, *argv)


def without_end(folder, kind):
    """A path that ends as a table's does, and gives no end or no beginning of bytes."""
    path = folder / "endless.csv"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    return path


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("what", ["pairs", "rows", "model"])
def test_what_has_no_end_is_not_read(folder, capsys, model, kind, what):
    path = without_end(folder, kind)
    (folder / "m.kron").write_bytes(model)
    if what == "model":
        argv = ["predict", path, "--pairs", folder / "pairs.csv", "-o", folder / "out.csv"]
    else:
        argv = ["evaluate", *arguments(folder, **{what: path}), "--solver", "KronRidge"]
    refused(capsys, folder, "is a pipe or a device", *argv)


def similarity(folder, names, left_out=0):
    """The similarities of the row vertices, under names of columns made of their ids."""
    ids = [f"D{i:02d}" for i in range(14)]
    pd.DataFrame(np.eye(14), ids, map(names, ids)).iloc[:, left_out:].to_csv(folder / "rows.csv")


@pytest.mark.parametrize(("names", "left_out"), [(str.lower, 0), ("{} ".format, 0), (str, 1)])
def test_what_is_nearly_a_similarity_is_asked_about(folder, capsys, names, left_out):
    similarity(folder, names, left_out)
    argv = ["evaluate", *arguments(folder), "--solver", "KronRidge"]
    refused(capsys, folder, "none is 'D00': for similarities, name", *argv)


def test_numbers_in_order_are_no_names(folder, capsys):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(14, 5)))
    table.to_csv(folder / "rows.csv")  # ids from 0 to 13, columns from 0 to 4
    pairs = pd.read_csv(folder / "pairs.csv", dtype=str)
    pairs["drug"] = pairs["drug"].str.removeprefix("D").astype(int).astype(str)
    pairs.to_csv(folder / "pairs.csv", index=False)
    argv = ["evaluate", *arguments(folder), "--solver", "KronRidge", "--setting", "A"]
    status, _, err = run(capsys, *argv, "--repeats", 1)
    assert status == 0
    assert f"{folder}/rows.csv, 14 vertices of 5 features" in err


@pytest.mark.parametrize(("names", "left_out"), [(str, 0), ("x{}".format, 0), ("x{}".format, 8)])
def test_similarities_and_features_need_no_question(folder, capsys, names, left_out):
    similarity(folder, names, left_out)
    argv = ["evaluate", *arguments(folder), "--solver", "KronRidge", "--setting", "A"]
    status, _, err = run(capsys, *argv, "--repeats", 1)
    assert status == 0
    kind = "14 vertices of" if left_out or names("D") != "D" else "similarities of 14 vertices"
    assert f"{folder}/rows.csv, {kind}" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("KronRigde", "did you mean 'KronRidge'?"),
        ("CSILSSVM", "'CSILSSVM' is not a solver of pairs"),
        ("nowhere.Solver", "name its folder with --path"),
        ("sklaern.svm.SVC", "did you mean 'sklearn.svm.SVC'?"),
        ("kronbench.modls.KronSVM", "did you mean 'models'?"),
        ("kronbench.models.KronSMV", "did you mean 'KronSVM'?"),
        ("sklearn.svm.SVC", "sklearn.svm.SVC does not take pairs: it converts X"),
        ("sklearn.naive_bayes.CategoricalNB", "does not take pairs"),
        ("kronbench.models.Nothing", "has no 'Nothing'"),
        ("numpy.array", "not a scikit-learn estimator"),
        ("KronRidge --set rge=1", "did you mean 'reg'?"),
        ("KronRidge --set reg", "'reg' has no value: give reg=VALUE"),
        ("KronRidge --set reg=-1", "'reg' parameter of KronRidge must be a float"),
        ("KronRidge --set reg=none", "Got None instead"),
        ("KronRidge --set reg=much", "Got 'much' instead"),
        ("KronRidge --set dtype=half", "'dtype' parameter of KronRidge"),
        ("KronRidge --set row_kernel=gaussian", "row_gamma is missing"),
        ("KronRidge --set row_gamma=x", "the linear kernel has no width"),
        ("KronRidgeCV --select", "chooses its weights itself"),
        ("nope", "is not a solver of pairs: give one of CompleteKronRidge"),
        ("x" * 10_000, " ... "),
        ("KronRidge --set col_kernel=precomputed", "has no similarities"),
        ("KronRidge --set row_kernel=tanimoto --scale", "leave out --scale"),
        ("KronSVM --label drug --row active --col target", "not in"),
        ("KronSVM --row drug", "give both row and col"),
        ("KronSVM --row drug --col drug", "a different column of ids for each"),
        ("KronSVM --row drgu --col target", "did you mean 'drug'?"),
        ("KronSVM --label activ", "did you mean 'active'?"),
        ("KronSVM --label drug", "a column of ids"),
        ("PairKNN --select", "PairKNN has no reg to select"),
        ("KronSVM --select --set reg=1", "reg is set"),
        ("KronSVM --splits 1 --setting A", "--splits is 1"),
        ("KronSVM --splits 40 --setting B", "only 14 row vertices"),
        ("KronSVM --splits 40 --setting D", "only 14 row vertices"),
    ],
)
def test_options_of_evaluate(folder, capsys, options, sentence):
    argv = ["evaluate", *arguments(folder), "--solver", *shlex.split(options)]
    refused(capsys, folder, sentence, *argv)


def test_real_labels_are_for_regressions(folder, capsys):
    tables(folder, real=True)
    argv = ["evaluate", *arguments(folder), "--solver", "KronSVM"]
    refused(capsys, folder, "KronSVM needs two: give KronRidge", *argv)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("PairKNN", "PairKNN cannot be kept in a file"),
        ("nope", "'nope' is not a solver of pairs"),
        ("'KronRidge()'", "did you mean 'KronRidge'?"),
        ("''", "'' is not a solver of pairs"),
        ("os.system", "os.system cannot be kept in a file"),
        ("KronRidge -o pairs.csv", "pairs.csv is an input too"),
        ("KronRidge -o link.kron", "link.kron is an input too"),
        ("KronRidge -o /dev/null", "is a device"),
        (f"KronRidge -o {'m' * 300}", "File name too long; give a shorter name"),
        ("KronRidge -o nowhere/m.kron", "cannot be written: No such file"),
        ("KronRidge -o pairs.csv/m.kron", "cannot be written: Not a directory"),
        ("KronRidge -o .", "is a folder"),
        ("KronRidge -o /proc/m.kron", "cannot be written"),
        ("KronRidge --set reg=0", "Got 0 instead"),
    ],
)
def test_options_of_fit(folder, capsys, monkeypatch, options, sentence):
    monkeypatch.chdir(folder)
    (folder / "link.kron").symlink_to(folder / "rows.csv")
    out = [] if " -o " in options else ["-o", "m.kron"]
    argv = ["fit", *arguments(folder), "--solver", *shlex.split(options), *out]
    refused(capsys, folder, sentence, *argv)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tables(folder)
    given = {name: folder / f"{name}.csv" for name in ("pairs", "rows", "cols")}
    fit_files(given, folder / "m.kron", "KronRidge", scale=True)
    return (folder / "m.kron").read_bytes()


def predict(folder, *options):
    return [
        "predict", folder / "m.kron", "--pairs", folder / "pairs.csv", "-o", folder / "out.csv",
        *options,
    ]  # fmt: skip


def sealed(content, form=model_file.FORMAT):
    """Bytes that end as a model's do, with the right sum."""
    end = model_file._COMMENT.format(form, "").encode()
    content = content[: -len(end) - 64] + end
    return content + hashlib.sha256(content).hexdigest().encode()


def rewritten(content, change, compression=zipfile.ZIP_STORED):
    """The model with other members, sealed anew."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, member in members.items():
            file.writestr(name, member)
        file.comment = b"x" * model_file._TAIL_BYTES
    return sealed(out.getvalue())


def record(old, new):
    """The JSON of the model with another text at its places."""

    def change(members):
        schema = members["model.json"].decode()
        assert old in schema
        members["model.json"] = schema.replace(old, new).encode()

    return change


def file_of(members, name):
    """The member of the array that is an attribute of this name."""
    schema = members["model.json"].decode()
    return re.search(rf'"{name}": {{"file": "([^"]*)"', schema)[1]


def npy(values):
    """An array as numpy writes it."""
    out = io.BytesIO()
    np.save(out, values, allow_pickle=True)
    return out.getvalue()


def array(name, values):
    return lambda members: members.update({file_of(members, name): npy(values)})


def claims_ten_gigabytes(members):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        out, {"descr": "<f8", "fortran_order": False, "shape": (1_250_000_000,)}
    )
    members[file_of(members, "dual_coef_")] = out.getvalue()


def without(name):
    return lambda members: members.pop(file_of(members, name))


def bomb(content):
    zeros = {"zeros.npy": bytes(50_000_000)}
    return rewritten(content, lambda members: members.update(zeros), zipfile.ZIP_DEFLATED)


def minus_signs(members):
    """The header of an array has an expression of which Python's parser knows no end."""
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"-" * 8000 + b"1,)}\n"
    members[file_of(members, "dual_coef_")] = (
        b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head
    )


def encrypted(content):
    """The flag of a member that needs a password."""
    content = bytearray(content)
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + at] |= 1
    return sealed(bytes(content))


def claims_more(content):
    """The central directory says that a member has 4 GB."""
    place = content.index(b"PK\x01\x02")
    return sealed(content[: place + 20] + b"\xf0\xff\xff\xff" * 2 + content[place + 28 :])


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda content: b"", "not a model file of kronbench"),
        (lambda content: b"drug,target\n", "not a model file of kronbench"),
        (lambda content: bytes(range(256)) * 100, "not a model file of kronbench"),
        (lambda content: content[:-1], "is truncated"),
        (lambda content: content[:500] + b"?" + content[501:], "is damaged"),
        (lambda content: sealed(content, 5), "is of format 5, from a later kronbench"),
        (lambda content: sealed(content, 1), "is of format 1, from an earlier kronbench"),
        (lambda content: sealed(bytes(1000)), "not a zip file"),
        (bomb, "a member is compressed"),
        (claims_more, "its members claim more bytes than it has"),
        (encrypted, "is encrypted, password required"),
    ],
)
def test_model_files(folder, capsys, model, damage, sentence):
    (folder / "m.kron").write_bytes(damage(model))
    refused(capsys, folder, sentence, *predict(folder))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (minus_signs, "is not a complete model"),
        (claims_ten_gigabytes, "is not a complete model"),
        (lambda members: members.pop("model.json"), "model.json"),
        (without("rows"), "is not a complete model"),
        (record('"solver": "KronRidge"', '"solver": "\\u001b[31m"'), "not a complete model"),
        (record('"type": "KronRidge"', '"type": "X"'), "it has {'type': 'X', "),
        (record('"type": "Recipe"', '"type": "Popen"'), "it has {'type': 'Popen', "),
        (record('["row_kernel", ', '["x", '), "'x'"),
        (record('"offset": 0.0', '"offset": NaN'), "not a complete"),
        (array("rows", np.array([object()])), "Object arrays cannot be loaded"),
        (array("rows", np.full(120, 14)), "out of range"),
        (array("dual_coef_", np.ones(3)), "shape (3,)"),
        (array("dual_coef_", np.full(120, np.nan)), "finite"),
        (array("row_features", np.ones((2, 3))), "complete model"),
    ],
)
def test_model_files_with_other_members(folder, capsys, model, change, sentence):
    (folder / "m.kron").write_bytes(rewritten(model, change))
    refused(capsys, folder, sentence, *predict(folder))


@pytest.mark.parametrize(
    "change", [without("coef_"), array("coef_", np.ones(5)), array("_pivots", np.ones((2, 3)))]
)
def test_arrays_of_a_primal_model_that_do_not_fit_each_other(folder, capsys, change):
    given = {name: folder / f"{name}.csv" for name in ("pairs", "rows", "cols")}
    parameters = ["form=primal", "col_kernel=gaussian", "col_gamma=0.3"]
    fit_files(given, folder / "m.kron", "KronRidge", parameters)
    model = (folder / "m.kron").read_bytes()
    (folder / "m.kron").write_bytes(rewritten(model, change))
    refused(capsys, folder, "not a complete model", *predict(folder))


def test_any_byte_that_changes_and_any_end_that_is_missing_is_seen(tmp_path, model, rng):
    file = tmp_path / "m.kron"
    for place in [*rng.integers(len(model), size=200), len(model) - 1]:
        damaged = bytearray(model)
        damaged[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=str(file)):
            model_file.load_model(file)
        file.write_bytes(model[:place])
        with pytest.raises(InputError, match="not a model file of kronbench"):
            model_file.load_model(file)


def test_the_damages_start_from_a_model_that_is_read(folder, capsys, model):
    (folder / "m.kron").write_bytes(rewritten(model, lambda members: None))
    assert run(capsys, *predict(folder))[0] == 0


@pytest.mark.parametrize(
    ("table", "content", "sentence"),
    [
        (
            "pairs",
            "drug,target\nD99,01\n",
            "'D99' is not in the model: give its features with --rows",
        ),
        (
            "pairs",
            "drug,target\nD01,99\n",
            "'99' is not in the model: give its features with --cols",
        ),
        ("pairs", "compound,target\nD01,01\n", "has no column 'drug'"),
        ("pairs", "drug,target\n", "no rows below its header"),
        ("rows", "drug,mass,logp\nD99,1,2\n", "no column 'rings'"),
        ("rows", "drug,mass,logp,rings,atoms\nD99,1,2,3,4\n", "a column 'atoms'"),
        ("rows", "drug,mass,logp,rings\nD99,1,2,x\n", "'x' for 'D99' in 'rings'"),
    ],
)
def test_tables_to_predict(folder, capsys, model, table, content, sentence):
    (folder / "m.kron").write_bytes(model)
    (folder / f"{table}.csv").write_text(content)
    options = [] if table == "pairs" else [f"--{table}", folder / f"{table}.csv"]
    refused(capsys, folder, sentence, *predict(folder, *options))


def test_an_id_in_another_unicode_form_is_told(folder, capsys, model):
    composed, apart = "D\u00e9", "De\u0301"
    for name, form in (("pairs", composed), ("rows", apart)):
        content = (folder / f"{name}.csv").read_text(encoding="utf-8")
        (folder / f"{name}.csv").write_text(content.replace("D00", form), encoding="utf-8")
    argv = [*arguments(folder), "--solver", "KronRidge", "-o", folder / "m.kron"]
    sentence = (
        f"drug '{composed}' is not in {folder}/rows.csv: it has '{apart}' in another Unicode"
    )
    refused(capsys, folder, sentence, "fit", *argv)
    given = {name: folder / f"{name}.csv" for name in ("pairs", "rows", "cols")}
    (folder / "pairs.csv").write_text((folder / "pairs.csv").read_text().replace(composed, apart))
    fit_files(given, folder / "m.kron", "KronRidge")
    (folder / "pairs.csv").write_text((folder / "pairs.csv").read_text().replace(apart, composed))
    sentence = f"drug '{composed}' is not in the model: it has '{apart}' in another Unicode form"
    refused(capsys, folder, sentence, *predict(folder))


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "make room on its disk"),
        (errno.EDQUOT, "make room within your quota"),
        (errno.EROFS, "choose a folder with write permission"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_disk_that_takes_no_more_leaves_what_was_there(
    folder, capsys, monkeypatch, model, command, number, sentence
):
    (folder / "m.kron").write_bytes(model)
    (folder / "out.csv").write_text("earlier predictions\n")

    def full(*arguments, **options):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("zipfile.ZipFile.writestr", full)
    monkeypatch.setattr("pandas.DataFrame.to_csv", full)
    fit = ["fit", *arguments(folder), "--solver", "KronRidge", "-o", folder / "m.kron"]
    argv = fit if command == "fit" else predict(folder)
    refused(capsys, folder, sentence, *argv, ends=1)


@pytest.mark.parametrize("out", ["new.csv", "link.csv", "m.csv"])
def test_predictions_replace_nothing_that_is_read(folder, capsys, model, out):
    (folder / "m.csv").write_bytes(model)
    (folder / "new.csv").write_text("drug,target\nD01,01\n")
    (folder / "link.csv").symlink_to(folder / "new.csv")
    argv = ["predict", folder / "m.csv", "--pairs", folder / "new.csv", "-o", folder / out]
    refused(capsys, folder, f"{out} is an input too", *argv)


@pytest.mark.parametrize("out", ["out.xlsx", "nowhere/out.csv", "pairs.csv/out.csv"])
def test_predictions_that_cannot_be_written(folder, capsys, model, out):
    (folder / "m.kron").write_bytes(model)
    refused(capsys, folder, out, *predict(folder)[:-1], folder / out)
