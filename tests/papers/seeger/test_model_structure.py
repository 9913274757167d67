"""Figure 1: the parts of a model belong together."""

import numpy as np

from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON, documents


def test_parts_of_the_model_belong_together():
    spec = COMMON | {"variances": [3.0, 4.0, 5.0]}
    frame = run_experiment("seeger.model_structure", spec, documents(), "ipc-d")
    parts = {
        part: rows.pivot_table("value", "row", "column", fill_value=0).to_numpy()
        for part, rows in frame.groupby("part")
    }
    # leaves below the nodes, sorted by depth
    assert parts["mixing"].sum(axis=0).tolist() == [6, 6, 3, 3, 3, 3, *[1] * 12]
    np.testing.assert_allclose(parts["mixing"] @ parts["functions"], parts["scores"], atol=1e-3)
    np.testing.assert_allclose(parts["probabilities"].sum(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(parts["coupling"].sum(axis=0), 0, atol=1e-3)
