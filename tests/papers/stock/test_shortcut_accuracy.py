"""Table 5.1 of Stock et al. 2016: shortcuts against retraining."""

import numpy as np

from kronbench.models import TwoStepRidge
from kronbench.papers.stock.draw import shortcut_accuracy as drawing
from kronbench.papers.stock.measure import shortcut_accuracy
from kronbench.runner.clock import Timing
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
    frame = run_experiment("stock.shortcut_accuracy", SHORT, nr, "nr")
    wrong = frame[frame["seconds"].notna()].set_index(["model", "setting"])["deviation"]
    assert wrong["TS", "D"] > 1e-3
    assert wrong.drop(("TS", "D")).max() < 1e-10


def test_a_shortcut_that_is_not_finite_is_no_agreement(nr, monkeypatch):
    right = TwoStepRidge.loo

    def broken(self, setting):
        F = right(self, setting)
        return F * np.nan if setting == "D" else F

    monkeypatch.setattr(shortcut_accuracy.TwoStepRidge, "loo", broken)
    frame = run_experiment("stock.shortcut_accuracy", SHORT, nr, "nr")
    deviation = frame.set_index(["model", "setting"])["deviation"]
    assert np.isnan(deviation["TS", "D"])
    table = drawing.tabulate(frame, None, None).set_index(["model", "setting"])
    assert np.isnan(table.loc[("TS", "D"), "largest deviation"])


def test_the_table_says_what_was_measured_and_what_was_extrapolated(nr):
    m, q = nr["values"].T.shape
    frame = run_experiment("stock.shortcut_accuracy", SHORT | {"retrainings": m}, nr, "nr")
    assert frame.loc[frame["model"] == "TS", "repeats"].ge(3).all()
    table = drawing.tabulate(frame, None, None).set_index(["model", "setting"])
    assert table.loc[("KK", "B"), "retraining is"] == "measured"
    sentence = f"extrapolated from {m} of {m * q} retrainings"
    assert table.loc[("TS", "A"), "retraining is"] == sentence
    assert (table["reusing, ms"] > 0).sum() == 9


def test_seconds_of_a_sample_stand_for_all_that_is_left_out(nr, monkeypatch):
    def in_turn(ways, **options):
        results = {name: way() for name, way in ways.items()}
        assert len(results["retraining"]) == 3
        timing = Timing(2.0, 2.0, 2.0, 1, 1.0, 0.0, 1)
        return {name: (result, timing) for name, result in results.items()}

    monkeypatch.setattr(shortcut_accuracy, "in_turn", in_turn)
    frame = run_experiment("stock.shortcut_accuracy", SHORT, nr, "nr")
    timed = frame[frame["seconds"].notna()]
    np.testing.assert_allclose(timed["retraining_seconds"], 2.0 * timed["left_out"] / 3)
