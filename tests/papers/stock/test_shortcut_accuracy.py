"""Table 5.1 of Stock et al. 2016: shortcuts against retraining."""

import numpy as np
import pytest

from kronbench.papers.stock.draw import shortcut_accuracy as drawing
from kronbench.papers.stock.measure import shortcut_accuracy
from kronbench.runner.job import run_experiment

SHORT = {"seed": 5, "time_cap": 1, "regs": [0.5], "retrainings": 3}


def test_shortcuts_agree_with_retraining(nr):
    frame = run_experiment("stock.shortcut_accuracy", SHORT, nr, "nr")
    others = frame["model"].str.contains(",")
    assert others.sum() == 3 * 3
    # what the paper calls valid for every filter holds for ridge regression alone
    assert frame.loc[others, "deviation"].min() > 0.01
    frame = frame[~others]
    assert len(frame) == 9
    assert frame["deviation"].max() < 1e-10
    assert frame["reusing_deviation"].max() < 1e-10
    m, q = nr["values"].T.shape
    left_out = {"A": m * q, "B": m, "C": q, "D": m * q}
    assert dict(zip(frame["setting"], frame["left_out"], strict=True)) == left_out


@pytest.mark.parametrize("wrong", ["other setting", "not finite"])
def test_a_shortcut_that_is_wrong_deviates(nr, monkeypatch, wrong):
    model = shortcut_accuracy.TwoStepRidge
    right = model.loo

    def loo(self, setting):
        if setting == "D" and wrong == "not finite":
            return np.nan * right(self, setting)
        return right(self, "B" if setting == "D" else setting)

    monkeypatch.setattr(model, "loo", loo)
    frame = run_experiment("stock.shortcut_accuracy", SHORT, nr, "nr")
    table = drawing.tabulate(frame, None, None)
    deviation = table[table["speed-up"].notna()].set_index(["model", "setting"])[
        "largest deviation"
    ]
    assert not deviation["TS", "D"] < 1e-3
    assert deviation.drop(("TS", "D")).max() < 1e-10


def test_the_table_says_what_was_measured_and_what_was_extrapolated(nr):
    m, q = nr["values"].T.shape
    frame = run_experiment("stock.shortcut_accuracy", SHORT | {"retrainings": m}, nr, "nr")
    assert frame.loc[frame["model"] == "TS", "repeats"].ge(3).all()
    table = drawing.tabulate(frame, None, None).set_index(["model", "setting"])
    assert table.loc[("KK", "B"), "retraining is"] == "measured"
    sentence = f"extrapolated from {m} of {m * q} retrainings"
    assert table.loc[("TS", "A"), "retraining is"] == sentence
    assert (table["reusing, ms"] > 0).sum() == 9
