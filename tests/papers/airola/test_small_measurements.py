"""Sizes, splits, kernels and losses: figure 1, tables 1, 2 and 5, sections 4.2 and 5.1."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from kronbench.pairs import LOSSES
from kronbench.papers.airola.draw import losses, notation
from kronbench.papers.airola.measure import loss_derivatives
from kronbench.runner.job import run_experiment
from kronbench.runner.seeds import generator

SPEC = {"fold": 4, "fraction": 0.25, "seed": 5}


def small_table(shows, data, **spec):
    return run_experiment("airola.small_tables", SPEC | {"shows": shows} | spec, data, data.name)


def test_sizes_are_counted_from_the_labelled_pairs(nr):
    (row,) = small_table("characteristics", nr).to_dict("records")
    assert (row["start_vertices"], row["end_vertices"]) == nr["values"].shape
    assert row["edges"] == row["positive"] + row["negative"] == round(nr["values"].size / 4)
    whole = small_table("characteristics", nr, fraction=1)
    assert whole["positive"].item() == np.count_nonzero(nr["values"] > 0)
    assert whole["vertices_with_edges"].item() == sum(nr["values"].shape)


def test_notation_counts_a_training_fold(data):
    (row,) = small_table("notation", data).to_dict("records")
    assert (row["d"], row["r"]) == (223, 95)
    # 148 or 149 of 223 drugs and 63 or 64 of 95 targets train, four ninths of all pairs.
    assert row["m"] in (148, 149)
    assert row["q"] in (63, 64)
    assert row["n"] == pytest.approx(4 / 9 * 5296, rel=0.1)
    assert row["n_test"] == pytest.approx(1 / 9 * 5296, rel=0.2)
    assert row["shared_start"] == row["shared_end"] == 0
    table = notation.tabulate(pd.DataFrame([row]), None, None)
    assert table["n / (m q)"].item() == pytest.approx(0.25, rel=0.1)


def test_drawn_blocks_are_those_of_the_split(nr):
    frame = small_table("split_structure", nr)
    train, test = (frame[frame["role"] == role] for role in ("train", "test"))
    assert len(test.groupby(["row_fold", "col_fold"])) == 1
    assert len(train.groupby(["row_fold", "col_fold"])) == 4
    for side in ("row", "col"):
        assert not set(train[side]) & set(test[side])
        # Sorted by fold, a fold is an interval of positions.
        folds = frame.drop_duplicates(side).sort_values(side)[f"{side}_fold"].to_numpy()
        assert np.all(np.diff(folds) >= 0)


def test_zeros_are_those_of_the_optimum(data):
    few, more = (
        small_table("svm_sparsity", data, pairs=150, reg=reg)["zeros"].item() for reg in (1, 1e4)
    )
    assert 0 <= more < few < 1  # with much regularization all pairs are within the margin


def test_kernel_entries_are_those_of_all_pairs_of_vertices(data):
    frame = small_table("gaussian_kernels", data, gammas=[1e-9, 1e-2, 1e3])
    for side, name in (("start", "drug_similarity"), ("end", "target_similarity")):
        part = frame[frame["side"] == side].set_index("gamma")
        entries = np.exp(-1e-2 * pdist(data[name]) ** 2)
        assert part.loc[1e-2, "mean"] == pytest.approx(entries.mean())
        assert part.loc[1e-2, "low"] == pytest.approx(np.quantile(entries, 0.05))
        # towards a matrix full of ones, and towards the identity
        assert part.loc[1e-9, "low"] > 0.99
        assert part.loc[1e3, "high"] < 0.01


def test_losses_agree_with_differences_and_with_the_printed_formulas():
    spec = {"draws": 2, "n": 30, "seed": 1}
    frame = run_experiment("airola.loss_derivatives", spec, None, "all")
    assert set(frame["loss"]) == set(LOSSES) == set(losses.FORMULAS)
    assert frame[["gradient_deviation", "hessian_deviation"]].max(axis=None) < 1e-8
    assert frame["printed_deviation"].max() < 1e-14
    table = losses.tabulate(frame, None, None)
    assert table["gradient against differences"].max() == frame["gradient_deviation"].max()


@pytest.mark.parametrize("part", ["gradient", "hessian_product", "value"])
def test_a_wrong_derivative_is_seen(part, monkeypatch):
    right = getattr(LOSSES["l2svm"], part)
    monkeypatch.setattr(LOSSES["l2svm"], part, lambda *arguments: 1.01 * right(*arguments))
    frame = loss_derivatives.run({"draws": 1, "n": 20}, None, generator(1))
    (row,) = frame[frame["loss"] == "l2svm"].to_dict("records")
    assert row["printed_deviation"] > 1e-3
    assert max(row["gradient_deviation"], row["hessian_deviation"]) > 1e-3
