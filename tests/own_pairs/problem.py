"""Three small tables of pairs whose labels depend on both sides, and commands on them."""

import os

import numpy as np
import pandas as pd
import pytest

from kronbench_suite.cli import main


def tables(folder, seed=0, real=False):
    """Pairs, rows and cols as .csv in a folder; the frames."""
    rng = np.random.default_rng(seed)
    drugs = pd.DataFrame(rng.normal(3, 2, (14, 3)), columns=["mass", "logp", "rings"])
    targets = pd.DataFrame(rng.normal(size=(11, 2)), columns=["length", "charge"])
    drugs.insert(0, "drug", [f"D{i:02d}" for i in range(14)])
    targets.insert(0, "target", [f"0{i}" for i in range(11)])
    i, j = np.divmod(rng.permutation(14 * 11)[:120], 11)
    score = (drugs["mass"].to_numpy()[i] - 3) * targets["length"].to_numpy()[j]
    label = np.round(score + 7, 3) if real else (score > 0).astype(int)
    pairs = pd.DataFrame(
        {"drug": drugs["drug"].to_numpy()[i], "target": targets["target"].to_numpy()[j]}
    ).assign(active=label)
    for name, frame in (("pairs", pairs), ("rows", drugs), ("cols", targets)):
        frame.to_csv(folder / f"{name}.csv", index=False)
    return pairs, drugs, targets


def arguments(folder, **other):
    """The options that name the tables of a folder, or others."""
    found = []
    for name in ("pairs", "rows", "cols"):
        found += [f"--{name}", str(other.get(name, folder / f"{name}.csv"))]
    return found


def skip_without_mirror():
    if not os.path.isdir(os.environ.get("KRONBENCH_MIRROR", "")):
        pytest.skip("KRONBENCH_MIRROR names no folder with the real data")


def run(capsys, *argv):
    """Status, standard output and standard error of a command."""
    status = main([str(entry) for entry in argv])
    return status, *capsys.readouterr()


def fit(capsys, folder, solver, *options, **other):
    """The file of a model, fitted by the command to the tables of a folder, or to others."""
    model = folder / "m.kron"
    argv = ["fit", *arguments(folder, **other), "--solver", solver, *options, "-o", model]
    status, _, err = run(capsys, *argv)
    assert status == 0, err
    return model


def predict(capsys, model, pairs, *options, end="csv"):
    """The table that the command writes for the pairs of a file in the folder of a model."""
    out = model.with_name(f"predictions.{end}")
    argv = ["predict", model, "--pairs", model.with_name(pairs), *options, "-o", out]
    status, _, err = run(capsys, *argv)
    assert status == 0, err
    return pd.read_csv(out, sep="\t" if end == "tsv" else ",", dtype={"target": str})
