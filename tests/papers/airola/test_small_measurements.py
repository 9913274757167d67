"""Kernels and losses: section 5.1 and table 2."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kronbench.pairs import LOSSES
from kronbench_suite.papers.airola.measure import loss_derivatives
from kronbench_suite.papers.airola.plot import losses
from kronbench_suite.runner.job import run_measurement
from kronbench_suite.runner.seeds import generator


def test_kernel_entries_are_those_of_all_pairs_of_vertices(data):
    spec = {"shows": "gaussian_kernels", "gammas": [1e-9, 1e-2, 1e3], "seed": 5}
    frame = run_measurement("airola.small_tables", spec, data, data.name)
    for side, name in (("start", "drug_similarity"), ("end", "target_similarity")):
        part = frame[frame["side"] == side].set_index("gamma")
        entries = np.exp(-1e-2 * pdist(data[name]) ** 2)
        assert part.loc[1e-2, "mean"] == pytest.approx(entries.mean())
        assert part.loc[1e-2, "low"] == pytest.approx(np.quantile(entries, 0.05))
        # towards a matrix full of ones, and towards the identity
        assert part.loc[1e-9, "low"] > 0.99
        assert part.loc[1e3, "high"] < 0.01


def test_losses_agree_with_differences_and_with_the_printed_formulas():
    spec = {"repetitions": 2, "n": 30, "seed": 1}
    frame = run_measurement("airola.loss_derivatives", spec, None, "all")
    assert set(frame["loss"]) == set(LOSSES) == set(losses.FORMULAS)
    assert frame[["gradient_deviation", "hessian_deviation"]].max(axis=None) < 1e-8
    assert frame["printed_deviation"].max() < 1e-14
    table = losses.tabulate(frame, None, None)
    assert table["gradient against differences"].max() == frame["gradient_deviation"].max()


@pytest.mark.parametrize("part", ["gradient", "hessian_product", "value"])
def test_a_wrong_derivative_is_seen(part, monkeypatch):
    right = getattr(LOSSES["l2svm"], part)
    monkeypatch.setattr(LOSSES["l2svm"], part, lambda *arguments: 1.01 * right(*arguments))
    frame = loss_derivatives.run({"repetitions": 1, "n": 20}, None, generator(1))
    (row,) = frame[frame["loss"] == "l2svm"].to_dict("records")
    assert row["printed_deviation"] > 1e-3
    assert max(row["gradient_deviation"], row["hessian_deviation"]) > 1e-3
