"""Figure 1 of Stock et al. 2016: which pair belongs to which setting."""

from kronbench.runner.job import run_experiment
from tests.helpers import matrix


def test_a_setting_says_which_vertices_are_new(nr):
    spec = {"seed": 5, "time_cap": 1, "new_targets": 4, "new_drugs": 9, "withheld": 0.1}
    frame = run_experiment("stock.prediction_settings", spec, nr, "nr")
    role = matrix(frame, "role")
    assert role.shape == nr["values"].T.shape
    assert set(role[:-4, :-9].ravel()) == {"train", "A"}
    assert set(role[-4:, :-9].ravel()) == {"B"}
    assert set(role[:-4, -9:].ravel()) == {"C"}
    assert set(role[-4:, -9:].ravel()) == {"D"}
    assert frame["interacts"].sum() == nr["values"].sum()
