"""Figure 1: the parts of a model belong together."""

import numpy as np

from kronbench.bench.job import run_experiment
from tests.small_classes import COMMON, documents


def test_parts_of_the_model_belong_together():
    spec = COMMON | {"variances": [3.0, 4.0, 5.0], "bias_variance": 0.1}
    frame = run_experiment("model_structure", spec, documents(), "ipc-d")
    parts = {part: _matrix(rows) for part, rows in frame.groupby("part")}
    np.testing.assert_allclose(parts["mixing"] @ parts["functions"], parts["scores"], atol=1e-3)
    np.testing.assert_allclose(parts["probabilities"].sum(axis=0), 1, atol=1e-3)
    np.testing.assert_allclose(parts["coupling"].sum(axis=0), 0, atol=1e-3)
    assert frame["deviation"].iloc[0] < 1e-9


def _matrix(rows):
    shape = tuple(int(size) for size in rows["shape"].iloc[0].split(" x "))
    out = np.zeros(shape)
    out[rows["row"], rows["column"]] = rows["value"]
    return out
