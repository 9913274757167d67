"""SMILES and sequences through the commands, against the transformers; ranked lists of them."""

import numpy as np
import pandas as pd
import pytest

from kronbench import PairData
from kronbench.models import KmerSpectrum, KronRidge, MorganFingerprints
from kronbench.own_pairs import model_file
from tests.own_pairs.problem import arguments, fit, predict, run, tables
from tests.own_pairs.test_bad_input import record, refused, rewritten

PARTS = ["C", "O", "N", "F", "C#N", "c1ccccc1", "C1CCCCC1"]
SMILES = [f"CC({one})CC{other}" for one in PARTS for other in PARTS]


LETTERS = np.array([*"ACDEFGHIKLMNPQRSTVWY"])


def sequence(rng):
    """One of a family, with some letters changed, so that its kernel with the others is not 0."""
    return "".join(np.where(rng.random(40) < 0.8, np.tile(LETTERS, 2), rng.choice(LETTERS, 40)))


@pytest.fixture
def folder(tmp_path):
    """Labelled pairs of the problem with molecules and sequences in place of numbers."""
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    tables(tmp_path, real=True)
    rng = np.random.default_rng(0)
    drugs = pd.DataFrame({"drug": [f"D{i:02d}" for i in range(14)], "smiles": SMILES[:14]})
    drugs.to_csv(tmp_path / "rows.csv", index=False)
    records = [f">0{j} a protein\n{sequence(rng)}\n" for j in range(11)]
    (tmp_path / "cols.fa").write_text("".join(records))
    more = pd.DataFrame({"drug": ["N0", "D03", "D05"], "SMILES": SMILES[20:22] + SMILES[5:6]})
    more.to_csv(tmp_path / "new-rows.csv", index=False)
    new = pd.DataFrame({"target": ["n0", "00"], "Sequence": [sequence(rng), sequence(rng)]})
    new.to_csv(tmp_path / "new-cols.csv", index=False)
    return tmp_path


@pytest.fixture
def model(folder, capsys):
    return fit(capsys, folder, "KronRidge", "--set=row_effect=0.3", cols=folder / "cols.fa")


def by_hand(folder):
    """The same model in Python; features of all molecules and sequences by their ids."""
    pairs = pd.read_csv(folder / "pairs.csv", dtype={"target": str})
    rows = pd.read_csv(folder / "rows.csv").set_index("drug")["smiles"]
    texts = (folder / "cols.fa").read_text().split()
    cols = pd.Series(texts[3::4], [name[1:] for name in texts[::4]])
    features = MorganFingerprints().transform(rows), KmerSpectrum().transform(cols)
    i, j = rows.index.get_indexer(pairs["drug"]), cols.index.get_indexer(pairs["target"])
    X = PairData(*features, i, j)
    ridge = KronRidge(row_kernel="tanimoto", row_effect=0.3, fit_intercept=True)
    return ridge.fit(X, pairs["active"].to_numpy()), X


def test_new_molecules_and_sequences_are_predicted_as_by_the_transformers(folder, model, capsys):
    ridge, X = by_hand(folder)
    old = predict(capsys, model, "pairs.csv")["prediction"]
    np.testing.assert_allclose(old, ridge.predict(X), rtol=1e-8)
    # both new; a molecule with an id of the model is another one, if its bits are others
    asked = pd.DataFrame({"drug": ["N0", "D03", "D05"], "target": ["n0", "00", "00"]})
    asked.to_csv(folder / "asked.csv", index=False)
    new = ["--rows", folder / "new-rows.csv", "--cols", folder / "new-cols.csv"]
    found = predict(capsys, model, "asked.csv", *new)["prediction"]
    rows = MorganFingerprints().transform(pd.read_csv(folder / "new-rows.csv")["SMILES"])
    cols = KmerSpectrum().transform(pd.read_csv(folder / "new-cols.csv")["Sequence"])
    expected = ridge.predict(PairData(rows, cols, [0, 1], [0, 1]))
    np.testing.assert_allclose(found[:2], expected, rtol=1e-8)
    # a known molecule keeps the effect that it has in training
    own = PairData(X.row_features, cols, [5], [1])
    np.testing.assert_allclose(found[2], ridge.predict(own)[0], rtol=1e-8)
    moved = ridge.predict(PairData(rows[2:], cols, [0], [1]))
    assert found[2] == pytest.approx(moved[0])  # that is known by its bits in Python, too


def test_the_first_lines_say_what_was_made_and_the_file_keeps_it(folder, model, capsys):
    argv = ["evaluate", *arguments(folder, cols=folder / "cols.fa"), "--solver", "KronRidge"]
    _, _, err = run(capsys, *argv, "--setting", "B", "--repeats", 1, "--scale")
    assert err.splitlines()[1:3] == [
        f"rows: {folder}/rows.csv, 14 vertices of 2048 bits, made from 'smiles' by "
        "MorganFingerprints(radius=2, n_bits=2048), kernel tanimoto",
        f"columns: {folder}/cols.fa, 11 vertices of 8000 features, made from 'sequence' by "
        "KmerSpectrum(k=3), kernel linear",
    ]
    made = [vars(side.transformer) for side in model_file.load_model(model).sides]
    assert made == [{"radius": 2, "n_bits": 2048}, {"k": 3}]


@pytest.mark.parametrize("change", [('"n_bits": 2048', '"n_bits": 9'), ('"k": 3', '"k": true')])
def test_a_transformer_that_fit_does_not_write_is_refused(folder, model, capsys, change):
    model.write_bytes(rewritten(model.read_bytes(), record(*change)))
    argv = ["predict", model, "--pairs", folder / "pairs.csv", "-o", folder / "out.csv"]
    refused(capsys, folder, "its recipe or a table of its vertices is not one", *argv)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("rows.csv", "drug,smiles\nD00,CC\nD01,C1C\n", "entry 2 of 'D01', 'C1C', is one of 1 SM"),
        ("rows.csv", "drug,smiles\nD00,CC\nD01,\n", "entry 2 of 'D01', '', is one of 1 SMILES"),
        ("rows.csv", "drug,smiles,mass\nD00,CC,1\n", "texts in 'smiles' and another column 'ma"),
        ("cols.fa", ">00\nMKVLX\n>01\nMK1VL\n", "entry 2 of '01', 'MK1VL', has '1' as letter 3"),
        ("cols.fa", ">00\nMKVL\n>01\n", "cols.fa, line 3: '01' has no sequence"),
        ("cols.fa", ">00\nMKVL\n>00\nMKV\n", "cols.fa, line 3: '00' has no id of its own"),
        ("cols.fa", ">00\nMK\n", "has no word of 3 amino acids: give a longer one"),
        ("cols.fa", "target,length\n00,3\n", "does not begin with a line '>id'"),
    ],
)
def test_texts_that_cannot_be_read(folder, capsys, name, content, sentence):
    (folder / name).write_text(content)
    argv = [*arguments(folder, cols=folder / "cols.fa"), "--solver", "KronRidge"]
    refused(capsys, folder, sentence, "fit", *argv, "-o", folder / "out.kron")


@pytest.mark.parametrize("of_numbers", [False, True])
def test_vertices_of_another_form_than_the_models(folder, model, capsys, of_numbers):
    drugs = folder / "numbers.csv"
    pd.DataFrame({"drug": [f"D{i:02d}" for i in range(14)], "mass": range(14)}).to_csv(
        drugs, index=False
    )
    given, sentence = drugs, "numbers.csv has numbers, but the model was fitted with SMILES: give"
    if of_numbers:
        model = fit(capsys, folder, "KronRidge", rows=drugs, cols=folder / "cols.fa")
        given, sentence = folder / "cols.fa", "has sequences, but the model was fitted with numb"
    argv = ["screen", model, "--rows", given, "-o", folder / "out.csv"]
    refused(capsys, folder, sentence, *argv)


@pytest.mark.parametrize("options", [(), ("--per-row", 2), ("--smallest", "--top", 7)])
def test_a_screen_is_the_sorted_predictions_of_all_pairs_that_are_not_known(
    folder, model, capsys, options
):
    new = ["--rows", folder / "new-rows.csv", "--cols", folder / "new-cols.csv"]
    trained = pd.read_csv(folder / "pairs.csv", dtype=str)
    # the vertices of two tables, of which some are known, and then those of the model
    for vertices, ids, known in (
        (new, [["N0", "D03", "D05"], ["n0", "00"]], [("N0", "00"), ("D01", "03")]),
        ([], [[f"D{i:02d}" for i in range(14)], [f"0{j}" for j in range(11)]], [("D01", "05")]),
    ):
        known = pd.DataFrame(known, columns=["drug", "target"]).assign(note="x")
        known.to_csv(folder / "known.csv", index=False)
        out = folder / "hits.tsv"
        argv = ["screen", model, *vertices, "--known", folder / "known.csv", *options, "-o", out]
        status, said, err = run(capsys, *argv)
        assert status == 0, err
        found = pd.read_csv(out, sep="\t", dtype={"target": str})
        pairs = pd.MultiIndex.from_product(ids, names=["drug", "target"])
        left_out = [pd.MultiIndex.from_frame(f[["drug", "target"]]) for f in (known, trained)]
        pairs = pairs.difference(left_out[0]).difference(left_out[1])
        pairs.to_frame(index=False).to_csv(folder / "all.csv", index=False)
        every = predict(capsys, model, "all.csv", *vertices)
        order = every.sort_values("prediction", ascending="--smallest" in options)
        if "--per-row" in options:
            order = order.groupby("drug").head(2)
        expected = order.head(7 if "--top" in options else 100).reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected, rtol=1e-9)
        assert f"the best {len(expected)} of {len(pairs)} pairs" in said


def test_a_ranked_list_in_parquet_or_where_that_cannot_be_written(folder, model, capsys):
    out = folder / "hits.parquet"
    argv = ["screen", model, "--top", 3, "-o"]
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        refused(capsys, folder, "pip install 'kronbench[parquet]'", *argv, out)
        return
    assert run(capsys, *argv, out)[0] == 0
    run(capsys, *argv, out.with_suffix(".csv"))
    expected = pd.read_csv(out.with_suffix(".csv"), dtype={"target": str})
    pd.testing.assert_frame_equal(pd.read_parquet(out), expected)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--known known.csv", "known.csv, pair 1: drug 'D99' is not in the model"),
        ("--rows new-rows.csv --known known.csv", "'D99' is not in new-rows.csv, nor in the"),
        ("--known new-rows.csv", "new-rows.csv has no column 'target'"),
        ("-o out.xlsx", "give .csv, .tsv or .parquet"),
        ("-o m.kron", "m.kron is no table that can be written"),
    ],
)
def test_what_cannot_be_screened(folder, model, capsys, monkeypatch, options, sentence):
    monkeypatch.chdir(folder)
    (folder / "known.csv").write_text("drug,target\nD99,00\n")
    refused(capsys, folder, sentence, "screen", model, "-o", "out.csv", *options.split())


def test_no_pair_is_left_or_asked_for(folder, model, capsys):
    (folder / "one-row.csv").write_text("drug,smiles\nN0,CCC\n")
    (folder / "one-col.fa").write_text(">n0\nMKVL\n")
    (folder / "known.csv").write_text("drug,target\nN0,n0\n")
    new = ["--rows", folder / "one-row.csv", "--cols", folder / "one-col.fa"]
    argv = ["screen", model, *new, "--known", folder / "known.csv", "-o", folder / "out.csv"]
    assert "the best 0 of 0 pairs (1 known ones left out) by" in run(capsys, *argv)[1]
    assert (folder / "out.csv").read_text() == "drug,target,prediction\n"
    with pytest.raises(SystemExit) as ended:
        run(capsys, *argv, "--top", 0)
    assert ended.value.code == 2
    assert "argument --top: '0' is not a number of at least 1" in capsys.readouterr().err
