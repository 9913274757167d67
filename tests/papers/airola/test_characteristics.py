"""Table 5 of Airola & Pahikkala: sizes of the pairwise data sets."""

import numpy as np
import pytest

from kronbench.runner.job import run_experiment


@pytest.mark.parametrize("fraction", [0.25, 1])
def test_sizes_are_counted_from_the_labelled_pairs(nr, fraction):
    spec = {"seed": 5, "time_cap": 1, "fraction": fraction}
    (row,) = run_experiment("airola.characteristics", spec, nr, "nr").to_dict("records")
    values = nr["values"]
    assert (row["start_vertices"], row["end_vertices"]) == values.shape
    assert row["edges"] == row["positive"] + row["negative"]
    assert row["edges"] == round(fraction * values.size)
    if fraction == 1:
        assert row["positive"] == np.count_nonzero(values > 0)
        assert row["vertices_with_edges"] == sum(values.shape)
