"""Similarities as they are published, indefinite, in percent or asymmetric, and distances."""

import json

import numpy as np
import pandas as pd
import pytest

from kronbench import PairData
from kronbench.datasets import load
from kronbench.datasets.drug_target import affinities
from kronbench.evaluation import SettingKFold
from kronbench.linalg import psd_part
from kronbench.models import KronRidge
from kronbench.own_pairs import model_file
from tests.docs.pages import DOCS
from tests.own_pairs.problem import arguments, fit, predict, run, skip_without_mirror, tables
from tests.own_pairs.test_bad_input import refused


def similarity(n, seed, unit=1.0):
    """An indefinite matrix: some of its magnitude, a tenth or so, is negative."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    noise = rng.normal(size=(n, n)) / 8
    S = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2) / 4) + np.triu(noise, 1) + np.triu(noise, 1).T
    np.fill_diagonal(S, 1.0)
    values = np.linalg.eigvalsh(S)
    assert 0.02 < -values[values < 0].sum() / np.abs(values).sum() < 0.2
    return unit * S


@pytest.fixture
def folder(tmp_path):
    """Pairs, and similarities of the rows in percent; two drugs are in no pair."""
    pairs, drugs, _ = tables(tmp_path, real=True)
    save(tmp_path, similarity(14, 1, unit=100.0), drugs["drug"])
    pairs[~pairs["drug"].isin(["D12", "D13"])].to_csv(tmp_path / "pairs.csv", index=False)
    return tmp_path


def save(folder, S, ids):
    pd.DataFrame(S, ids, ids).to_csv(folder / "rows.csv", index_label="drug")


def evaluated(capsys, folder, *options):
    words = ["evaluate", *arguments(folder), "--solver", "KronRidge", "--repeats", 1, *options]
    status, out, err = run(capsys, *words)
    assert status == 0, err
    assert "warning" not in err
    return out, err


def test_an_indefinite_table_in_percent_is_told_once_by_its_name_and_works(folder, capsys):
    values = np.linalg.eigvalsh(similarity(14, 1))
    share = -values[values < 0].sum() / np.abs(values).sum()
    out, err = evaluated(capsys, folder, "--json")
    (line,) = [line for line in err.splitlines() if "eigenvalues" in line]
    assert line.startswith(f"rows: {folder / 'rows.csv'}, similarities of 14 vertices")
    assert line.endswith(
        f"; divided by 100, the mean of the diagonal; {(values < 0).sum()} of 14 eigenvalues, "
        f"{100 * share:.2g} % of all in magnitude, are negative and set to zero"
    )
    assert line in json.loads(out)["taken"]
    evaluated(capsys, folder, "--select", "--setting", "B")
    evaluated(capsys, folder, "--set", "row_kernel=linear", "--set", "reg=1000", "--setting", "B")


@pytest.mark.parametrize(
    "solver",
    ["CompleteKronRidge", "IndependentRidge", "KronRidgeCV", "KronSVM", "PairKNN", "TwoStepRidge"],
)
def test_every_solver_takes_it(folder, capsys, solver):
    _, drugs, targets = tables(folder)
    save(folder, similarity(14, 1, unit=100.0), drugs["drug"])
    pairs = pd.merge(drugs[["drug"]], targets[["target"]], how="cross")
    pairs["active"] = np.random.default_rng(0).integers(2, size=len(pairs))
    pairs.to_csv(folder / "pairs.csv", index=False)
    words = ["--solver", solver, "--setting", "B", "--repeats", 1, "--splits", 2]
    status, _, err = run(capsys, "evaluate", *arguments(folder), *words)
    assert status == 0, err
    assert "of 14 eigenvalues" in err or solver == "PairKNN"


def test_predictions_are_those_of_the_positive_semidefinite_part(folder, capsys):
    S = similarity(14, 1)[:12, :12]  # of the vertices that train
    K, targets = psd_part(S), pd.read_csv(folder / "cols.csv", dtype={"target": str})
    T = targets.iloc[:, 1:].to_numpy()
    pairs = pd.read_csv(folder / "pairs.csv", dtype=str)
    rows = pairs["drug"].str.removeprefix("D").astype(int).to_numpy()
    X = PairData(K, T, rows, pairs["target"].astype(int).to_numpy())
    model = KronRidge(row_kernel="precomputed", fit_intercept=True, reg=0.5)
    expected = model.fit(X, pairs["active"].astype(float)).predict(X)
    kept = fit(capsys, folder, "KronRidge", "--set", "reg=0.5")
    assert "similarities of rows clipped" in run(capsys, "predict", kept, "--pairs",
        folder / "pairs.csv", "-o", folder / "p.csv")[1]  # fmt: skip
    found = predict(capsys, kept, "pairs.csv")["prediction"]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    # new vertices: one has the similarities of D03, given again, and one has its own
    rng = np.random.default_rng(5)
    own = S[3] + rng.normal(size=12) / 5
    more = np.ones(2)  # similarities with vertices that did not train
    names = [f"D{k:02d}" for k in range(14)]
    new = pd.DataFrame(100 * np.array([[*S[3], *more], [*own, *more]]), ["twin", "fresh"], names)
    new.to_csv(folder / "new-rows.csv", index_label="drug")
    (folder / "new.csv").write_text("drug,target\ntwin,04\nD03,04\nfresh,04\n")
    twin, known, fresh = predict(
        capsys, kept, "new.csv", "--rows", folder / "new-rows.csv"
    )["prediction"]  # fmt: skip
    assert twin == pytest.approx(known, abs=1e-9)
    values, vectors = np.linalg.eigh(S)
    inside = vectors[:, values > 0] @ vectors[:, values > 0].T @ own
    one = PairData(inside[None], T, np.zeros(1, int), np.array([4]))
    assert fresh == pytest.approx(model.predict(one)[0], abs=1e-6)
    raw = PairData(own[None], T, np.zeros(1, int), np.array([4]))
    assert abs(fresh - model.predict(raw)[0]) > 1e-3  # without the projection


def test_a_known_vertex_is_known_where_products_round_otherwise(folder, capsys):
    model = model_file.load_model(fit(capsys, folder, "KronRidge", "--set=row_effect=2"))
    expected = model.fitted.scores(model.data)
    model.fitted.before._projections["row"][2][:] *= 1 + 1e-14
    np.testing.assert_array_equal(model.fitted.scores(model.data), expected)
    copied = model.data.with_features(model.data.row_features.copy(), model.data.col_features)
    np.testing.assert_array_equal(model.fitted.scores(copied), expected)
    moved = model.data.with_features(model.data.row_features + 0.5, model.data.col_features)
    assert np.abs(model.fitted.scores(moved) - expected).min() > 1e-6


def test_a_training_set_does_not_see_the_similarities_of_the_test_vertices(folder, capsys):
    S = similarity(14, 1)[:12, :12]
    pairs, T = pd.read_csv(folder / "pairs.csv", dtype=str), pd.read_csv(folder / "cols.csv")
    rows = pairs["drug"].str.removeprefix("D").astype(int).to_numpy()
    y = pairs["active"].astype(float).to_numpy()
    X = PairData(S, T.iloc[:, 1:].to_numpy(), rows, pairs["target"].astype(int).to_numpy())
    errors = []
    for train, test in SettingKFold("B", 3, random_state=0).split(X, y):
        used = np.unique(rows[train])
        values, vectors = np.linalg.eigh(S[np.ix_(used, used)])
        K = np.zeros((12, 12))
        K[:, used] = S[:, used] @ vectors[:, values > 0] @ vectors[:, values > 0].T
        mended = X.with_features(K, X.col_features)
        model = KronRidge(row_kernel="precomputed", fit_intercept=True)
        found = model.fit(mended[train], y[train]).predict(mended[test])
        errors.append(np.mean((found - y[test]) ** 2))
    out, _ = evaluated(capsys, folder, "--setting", "B", "--json")
    _, error = json.loads(out)["settings"][0]["scores"]
    assert error["model"]["mean"] == pytest.approx(np.mean(errors), rel=1e-6)


def test_one_weight_means_the_same_in_percent(folder, capsys):
    out, _ = evaluated(capsys, folder, "--setting", "B")
    save(folder, similarity(14, 1), [f"D{k:02d}" for k in range(14)])
    assert evaluated(capsys, folder, "--setting", "B")[0] == out


def test_a_somewhat_asymmetric_table_is_averaged(folder, capsys):
    S = similarity(14, 1)
    S[2, 5] += 0.19
    save(folder, S, [f"D{k:02d}" for k in range(14)])
    out, err = evaluated(capsys, folder)
    assert "rows.csv, similarities of 14 vertices, kernel precomputed; the two entries of a" in err
    assert "which differ by up to 0.19, averaged" in err
    save(folder, (S + S.T) / 2, [f"D{k:02d}" for k in range(14)])
    assert evaluated(capsys, folder)[0] == out


def test_a_kernel_matrix_stays_as_it_is_in_silence(folder, capsys):
    K = psd_part(similarity(14, 1))
    save(folder, K / K.diagonal().mean(), [f"D{k:02d}" for k in range(14)])
    line = evaluated(capsys, folder)[1].splitlines()[1]
    assert line.endswith("similarities of 14 vertices, kernel precomputed")


@pytest.mark.parametrize("solver", ["KronRidge", "CompleteKronRidge"])
def test_distances_are_refused_by_the_name_of_their_file(folder, capsys, solver):
    S = similarity(14, 1)
    save(folder, 1 - S, [f"D{k:02d}" for k in range(14)])
    n_negative = (np.linalg.eigvalsh(1 - S) < 0).sum()
    wanted = (
        f"rows.csv is too far from a kernel matrix, since {n_negative} of 14 eigenvalues, 50 % "
        "of all in magnitude, are negative, as in a table of distances: give similarities, or "
        "--set row_kernel=linear, which takes its rows as features"
    )
    refused(capsys, folder, wanted, "evaluate", *arguments(folder), "--solver", solver)


def test_a_split_by_similarity_sees_the_table_as_it_is_given(folder, capsys):
    S = np.full((14, 14), -0.2)
    S[:7, :7], S[7:, 7:] = 0.45, 0.45
    S[0, 13] = S[13, 0] = 0.4  # which is .29 of the diagonal in the nearest kernel matrix
    np.fill_diagonal(S, 1.0)
    save(folder, S, [f"D{k:02d}" for k in range(14)])
    (folder / "pairs.csv").unlink()
    tables_of = tables(folder, real=True)
    save(folder, S, tables_of[1]["drug"])
    options = ["--setting", "B", "--similarity", "0.42", "--splits", 2]
    out, _ = evaluated(capsys, folder, *options)
    assert "B: 14 rows in 2 clusters at similarity 0.42; 0.4000 is left" in out


def test_the_published_tables_of_davis_go_through_every_command(tmp_path, capsys):
    skip_without_mirror()
    data = load("davis", policy="real")
    rows, cols = data["row_ids"], data["col_ids"]
    Y = pd.DataFrame(affinities(data), rows, cols)
    Y.stack().to_csv(tmp_path / "pairs.csv", index_label=["drug", "target"], header=["pKd"])
    pd.DataFrame(data["drug_similarity_ecfp4"], rows, rows).to_csv(tmp_path / "rows.csv")
    targets = pd.DataFrame(data["target_similarity_normalized"], cols, cols)
    targets.to_csv(tmp_path / "cols.csv")
    out, err = evaluated(capsys, tmp_path, "--json")
    text = (DOCS / "own-pairs.md").read_text(encoding="utf-8").replace("\n> ", " ")
    (line,) = [line for line in err.splitlines() if line.startswith("columns: ")]
    assert line.replace(f"{tmp_path}/cols.csv", "targets.csv") in text
    assert all(
        entry["scores"][0]["difference"]["mean"] > 0 for entry in json.loads(out)["settings"]
    )
    evaluated(capsys, tmp_path, "--select", "--setting", "B", "--splits", 2)
    # a known target, and its own row of the table as a new one
    kept = fit(capsys, tmp_path, "KronRidge")
    targets.iloc[3:4].rename(index={cols[3]: "new"}).to_csv(tmp_path / "new-cols.csv")
    (tmp_path / "new.csv").write_text(f"drug,target\n{rows[5]},{cols[3]}\n{rows[5]},new\n")
    options = ["--cols", tmp_path / "new-cols.csv"]
    known, new = predict(capsys, kept, "new.csv", *options)["prediction"]
    assert new == pytest.approx(known, abs=1e-6)
