"""Performance table 2: what shared products buy."""

import pytest

from kronbench_suite.runner.job import run_measurement

SPEC = {
    "fraction": 0.25,
    "fold": 0,
    "iterations": 5,
    "regs": [0.1, 1.0, 10.0],
    "seed": 7,
}


def test_ways_of_one_model_agree_and_ratios_are_of_the_first(data):
    frame = run_measurement("performance.shared_products", SPEC, data, "GPCR")
    auc = frame.set_index(["model", "way"])["auc"]
    assert auc["ridge", "all weights"] == pytest.approx(auc["ridge", "one weight"], abs=1e-9)
    assert auc["ridge", "all weights, every iterate"] == pytest.approx(auc["ridge", "one weight"])
    for _, part in frame.groupby("model"):
        assert part["ratio"].iloc[0] == 1
        expected = part["seconds"] / part["seconds"].iloc[0]
        assert part["ratio"].tolist() == pytest.approx(expected.tolist())
