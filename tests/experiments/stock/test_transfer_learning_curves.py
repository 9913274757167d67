"""Figure 7 of Stock et al. 2016: every curve is told what it may know, and no more."""

import numpy as np
import pytest

from kronbench.bench.job import run_experiment
from kronbench.datasets import load
from kronbench.experiments.stock.transfer_learning_curves import Split, _Transfer
from tests.models.complete_problems import make_kernel

SPEC = {
    "test": {"nr": 8},
    "sizes": {"nr": [5, 18]},
    "repetitions": 2,
    "task_folds": 3,
    "binary_sizes": {"nr": [18]},
    "regs": [0.1, 10.0],
    "seed": 3,
    "time_cap": 1,
}


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    K, G = make_kernel(rng, 20, "full"), make_kernel(rng, 6, "full")
    Y = (rng.random((20, 6)) < 0.3).astype(float)
    order = rng.permutation(20)
    return K, G, Y, Split(order[6:], order[:6], np.arange(6) % 3)


def curves(K, G, Y, split, size):
    return dict(_Transfer(K, G, Y, split, np.array([0.1, 1.0, 10.0])).predictions(size))


def test_zero_shot_learning_sees_no_label_of_its_target(problem):
    K, G, Y, split = problem
    changed = Y.copy()
    changed[:, 2] = 1 - changed[:, 2]
    before, after = curves(K, G, Y, split, 9), curves(K, G, changed, split, 9)
    for name, F in before.items():
        if name[0] in ("zero-shot", "full zero-shot"):
            np.testing.assert_allclose(F[:, 2], after[name][:, 2], atol=1e-12)
        else:
            assert not np.allclose(F[:, 2], after[name][:, 2])


def test_almost_zero_shot_learning_sees_the_first_labels_of_its_target_only(problem):
    K, G, Y, split = problem
    unseen, seen = Y.copy(), Y.copy()
    unseen[split.pool[9:], 2] = 1 - unseen[split.pool[9:], 2]
    seen[split.pool[:9], 2] = 1 - seen[split.pool[:9], 2]
    name = ("almost zero-shot", "TS", "A")
    expected = curves(K, G, Y, split, 9)[name][:, 2]
    np.testing.assert_allclose(curves(K, G, unseen, split, 9)[name][:, 2], expected, atol=1e-12)
    assert not np.allclose(curves(K, G, seen, split, 9)[name][:, 2], expected)


def test_independent_tasks_see_neither_other_tasks_nor_more_proteins(problem):
    K, G, Y, split = problem
    changed = 1 - Y
    changed[split.pool[:9], 2] = Y[split.pool[:9], 2]
    name = ("independent-task", "IT", "A")
    expected = curves(K, G, Y, split, 9)[name][:, 2]
    np.testing.assert_array_equal(curves(K, G, changed, split, 9)[name][:, 2], expected)


def test_with_all_labels_almost_zero_shot_is_independent_task_learning(problem):
    K, G, Y, split = problem
    found = curves(K, G, Y, split, len(split.pool))
    np.testing.assert_array_equal(
        found["almost zero-shot", "TS", "A"], found["independent-task", "IT", "A"]
    )
    np.testing.assert_array_equal(
        found["zero-shot", "KK", "A"], found["full zero-shot", "KK", "A"]
    )


def test_every_curve_has_a_score_for_each_size_and_repetition():
    data = load("nr", policy="surrogate")
    frame = run_experiment("stock.transfer_learning_curves", SPEC, data, "nr")
    assert len(frame) == 2 * (2 + 1) * 11
    curves = frame.groupby("labels")
    assert {name: set(part["size"]) for name, part in curves} == {
        "rescaled": {5, 18},
        "1 and 0": {18},
    }
    assert frame["score"].between(0, 1).all()
    assert set(frame["measure"]) == {"macro AUC"}
    again = run_experiment("stock.transfer_learning_curves", SPEC, data, "nr")
    np.testing.assert_array_equal(frame["score"], again["score"])


def test_rescaled_labels_are_an_affine_map_of_ones_and_zeros_that_single_tasks_feel():
    # negative labels that are not zero: ridge regression without intercept is another model
    data = load("nr", policy="surrogate")
    frame = run_experiment("stock.transfer_learning_curves", SPEC, data, "nr")
    at = frame[(frame["size"] == 18) & (frame["approach"] == "independent-task")]
    scores = at.set_index(["labels", "repetition"])["score"]
    assert (scores["rescaled"] - scores["1 and 0"]).abs().min() > 0


def test_real_labels_are_scored_by_concordance():
    data = load("davis", policy="surrogate")
    spec = SPEC | {"test": {"davis": 422}, "sizes": {"davis": [10]}, "repetitions": 1}
    frame = run_experiment("stock.transfer_learning_curves", spec, data, "davis")
    assert set(frame["measure"]) == {"concordance index"}
    assert set(frame["labels"]) == {"real"}
    assert frame["score"].between(0, 1).all()
