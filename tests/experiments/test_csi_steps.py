"""Figure 1 of Bach & Jordan 2005: the time of each step of CSI."""

from kronbench.bench.seeds import generator
from kronbench.experiments import csi_steps


def test_csi_steps_account_for_the_whole():
    spec = {"sizes": [300, 600], "features": 4, "gamma": 1.0, "rank": 20, "lookahead": 8}
    frame = csi_steps.run(spec, None, generator(0))
    assert set(frame["step"]) == {*csi_steps.STEPS, "total"}
    assert (frame["seconds"] >= 0).all()
    assert (frame["columns"] <= 28).all()
    assert sorted(frame["n"].unique()) == [300, 600]
