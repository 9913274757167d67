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
    assert (frame["repeats"] >= 3).all()
    assert (frame["seconds_low"] <= frame["seconds"]).all()
    assert (frame["seconds"] <= frame["seconds_high"]).all()
    assert frame.loc[frame["step"] == "total", "processors"].gt(0).all()
