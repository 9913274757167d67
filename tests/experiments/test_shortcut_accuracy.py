"""Table 5.1 of Stock et al. 2016: shortcuts against retraining."""

import numpy as np

from kronbench.bench.job import run_experiment
from kronbench.experiments import shortcut_accuracy
from kronbench.models import TwoStepRidge

SHORT = {"seed": 5, "time_cap": 1, "regs": [0.5], "retrainings": 3}


def test_shortcuts_agree_with_retraining(nr):
    frame = run_experiment("shortcut_accuracy", SHORT, nr, "nr")
    assert len(frame) == 9
    assert frame["deviation"].max() < 1e-10
    m, q = nr["values"].T.shape
    assert dict(zip(frame["setting"], frame["left_out"], strict=True)) == {
        "A": m * q,
        "B": m,
        "C": q,
        "D": m * q,
    }


def test_a_shortcut_that_is_wrong_deviates(nr, monkeypatch):
    right = TwoStepRidge.loo
    monkeypatch.setattr(
        shortcut_accuracy.TwoStepRidge,
        "loo",
        lambda self, setting: right(self, "B" if setting == "D" else setting),
    )
    frame = run_experiment("shortcut_accuracy", SHORT, nr, "nr")
    wrong = frame.set_index(["model", "setting"])["deviation"]
    assert wrong["TS", "D"] > 1e-3
    assert wrong.drop(("TS", "D")).max() < 1e-10


def test_a_shortcut_that_is_no_number_stays_none(nr, monkeypatch):
    right = TwoStepRidge.loo

    def broken(self, setting):
        F = right(self, setting)
        return np.full_like(F, np.nan) if setting == "D" else F

    monkeypatch.setattr(shortcut_accuracy.TwoStepRidge, "loo", broken)
    frame = run_experiment("shortcut_accuracy", SHORT, nr, "nr")
    deviation = frame.set_index(["model", "setting"])["deviation"]
    assert np.isnan(deviation["TS", "D"])
    assert deviation.drop(("TS", "D")).max() < 1e-10
