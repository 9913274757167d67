"""Section 8.2: sizes of sections, counted."""

import numpy as np

from kronbench.datasets.dataset import Dataset
from kronbench.runner.job import run_experiment
from tests.small_classes import COMMON


def test_sizes_of_sections():
    parents = np.array([-1, 0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 5])
    y = np.array([0, 0, 1, 2, 3, 4, 5, 5])
    data = Dataset("index", source="mirror", kind="classes", arrays={"y": y, "parents": parents})
    frame = run_experiment("seeger.collection_sizes", COMMON, data, "index").set_index("section")
    assert frame.loc["all", ["documents", "classes", "nodes"]].tolist() == [8, 6, 11]
    assert frame.loc["A", ["documents", "classes", "nodes", "children"]].tolist() == [4, 3, 5, 2]
    assert frame.loc["B", ["documents", "classes", "nodes", "children"]].tolist() == [4, 3, 4, 1]
    assert (frame["training"] == [6, 3, 3]).all()
    assert frame.loc["A", "levels"] == 2
