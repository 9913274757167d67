"""Coverage of intervals: what trains and what tests, on labels that are noise and effects."""

import numpy as np
import pytest

from kronbench.datasets import Dataset
from kronbench_suite.studies.field.measure.interval_coverage import run
from kronbench_suite.studies.field.plot.interval_coverage import tabulate

SPEC = {"draws": 4, "vertices": [40, 36], "held_out": 0.2, "reg": 0.1, "level": 0.8}


def test_a_quarter_of_each_side_is_new_and_unknown_pairs_take_no_part():
    rng = np.random.default_rng(0)
    D, T = 1 + np.eye(50), 1 + np.eye(36)  # products have effects of rows and of columns
    values = rng.normal(size=(50, 1)) + rng.normal(size=(1, 36)) + 0.1 * rng.normal(size=(50, 36))
    values[rng.random(values.shape) < 0.1] = np.nan
    arrays = {"values": values, "drug_similarity": D, "target_similarity": T}
    data = Dataset("small", "generated", "label matrix", arrays)
    frame = run(SPEC, data, np.random.default_rng(1))
    sizes = frame[frame["errors of"] == "own"].groupby("setting")["n"].mean()
    # 30 known and 10 new rows, 27 and 9 columns, of whose pairs nine tenths are known
    expected = {"A": 30 * 27 * 0.2, "B": 10 * 27, "C": 30 * 9, "D": 90}
    for setting, size in expected.items():
        assert sizes[setting] == pytest.approx(0.9 * size, rel=0.15)
    table = tabulate(frame.assign(dataset="small", source="generated"), None, None)
    found = table.set_index(["setting", "errors of"])["coverage"]
    assert found["A", "own"] == found["A", "usual"]
    for setting in "BCD":  # unrelated vertices have effects that only errors of new ones show
        assert found[setting, "usual"] < 0.5
        assert found[setting, "own"] == pytest.approx(0.8, abs=0.12)
