"""Table 5.1 of Stock et al. 2016: shortcuts against retraining, that against dense systems."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from kronbench_suite.papers.stock.measure import shortcut_accuracy
from kronbench_suite.papers.stock.measure.retraining import retrained_kron_leave_one_out
from kronbench_suite.papers.stock.plot import shortcut_accuracy as drawing
from kronbench_suite.runner.job import run_measurement
from tests.models.complete_problems import make_problem, problems, retrained, splits

SHORT = {"seed": 5, "regs": [0.5], "retrainings": 3}


def test_shortcuts_agree_with_retraining(nr):
    frame = run_measurement("stock.shortcut_accuracy", SHORT, nr, "nr")
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
    frame = run_measurement("stock.shortcut_accuracy", SHORT, nr, "nr")
    table = drawing.tabulate(frame, None, None)
    deviation = table[table["speed-up"].notna()].set_index(["model", "setting"])[
        "largest deviation"
    ]
    assert not deviation["TS", "D"] < 1e-3
    assert deviation.drop(("TS", "D")).max() < 1e-10


def test_the_time_of_all_retrainings_follows_from_those_that_were_made(nr, monkeypatch):
    clocked = shortcut_accuracy.time_interleaved
    seconds = {"shortcut": 0.5, "reusing": 1.0, "retraining": 2.0}

    def pretended(ways, **options):
        found = clocked(ways, **options)
        return {
            name: (result, dataclasses.replace(timing, seconds=seconds[name]))
            for name, (result, timing) in found.items()
        }

    monkeypatch.setattr(shortcut_accuracy, "time_interleaved", pretended)
    frame = run_measurement("stock.shortcut_accuracy", SHORT, nr, "nr")
    frame = frame[frame["retraining_seconds"].notna()]
    m, q = nr["values"].T.shape
    left_out = frame["setting"].map({"A": m * q, "B": m, "C": q, "D": m * q})
    assert len(frame) == 9
    assert frame["retraining_seconds"].tolist() == (2.0 * left_out / 3).tolist()
    table = drawing.tabulate(frame, None, None)
    assert table["speed-up"].tolist() == pytest.approx((4.0 * left_out / 3).tolist())


def test_the_table_says_what_was_measured_and_what_was_extrapolated(nr):
    m, q = nr["values"].T.shape
    frame = run_measurement("stock.shortcut_accuracy", SHORT | {"retrainings": m}, nr, "nr")
    assert frame.loc[frame["model"] == "TS", "repeats"].ge(3).all()
    table = drawing.tabulate(frame, None, None).set_index(["model", "setting"])
    assert table.loc[("KK", "B"), "retraining is"] == "measured"
    sentence = f"extrapolated from {m} of {m * q} retrainings"
    assert table.loc[("TS", "A"), "retraining is"] == sentence
    assert (table["reusing, ms"] > 0).sum() == 9


@pytest.mark.parametrize("setting", "BCD")
@given(problems)
def test_left_out_predictions_are_those_of_dense_systems(setting, problem):
    K, G, Y = make_problem(*problem)
    for reuse in (False, True):
        predicted = retrained_kron_leave_one_out(setting, K, G, Y, [0.2, 3.0], reuse=reuse)
        for reg, F in zip((0.2, 3.0), predicted, strict=True):
            expected = retrained(np.kron(K, G), reg, Y, splits(setting, None, Y.shape))
            np.testing.assert_allclose(F, expected, atol=1e-7)


@pytest.mark.parametrize("setting", "BCD")
def test_a_sample_is_a_block_of_the_whole(setting):
    K, G, Y = make_problem(6, 9, 7, "full", "clipped")
    rows, cols = [4, 0, 8], [6, 2]
    whole = retrained_kron_leave_one_out(setting, K, G, Y, [0.5, 2.0])
    sample = retrained_kron_leave_one_out(setting, K, G, Y, [0.5, 2.0], rows=rows, cols=cols)
    np.testing.assert_allclose(sample, whole[:, rows][:, :, cols], atol=1e-12)
    none = retrained_kron_leave_one_out(setting, K, G, Y, [0.5, 2.0], rows=rows, cols=[])
    assert none.shape == (2, 3, 0)
