"""Figure 7 of Stock et al. 2016: every curve is told what it may know, and no more."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kronbench.evaluation import micro_auc, roc_auc
from kronbench.linalg.eigen import kernel_spectrum
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench_suite.papers.stock.measure.transfer_learning_curves import (
    Shared,
    Split,
    Transfer,
    kron_zero_shot,
    two_step_zero_shot,
)
from tests.models.complete_problems import kron, make_kernel, two_step


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    K, G = make_kernel(rng, 20, "full"), make_kernel(rng, 6, "full")
    Y = (rng.random((20, 6)) < 0.3).astype(float)
    order = rng.permutation(20)
    return K, G, Y, Split(order[6:], order[:6], np.arange(6) % 3)


GRID = np.array([0.1, 1.0, 10.0])


def predicted(K, G, Y, split, size):
    """Curves by approach, method, selection and criterion."""
    transfer = Transfer(Shared(K, G, kernel_spectrum(G), split), Y, GRID)
    return {
        (*curve[:3], criterion): curve
        for curve in transfer.curves(size, kronecker_in_d=True)
        for criterion in curve.criteria
    }


def curves(*given):
    return {key: found.F for key, found in predicted(*given).items()}


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
    name = ("almost zero-shot", "TS", "A", "AUC")
    expected = curves(K, G, Y, split, 9)[name][:, 2]
    np.testing.assert_allclose(curves(K, G, unseen, split, 9)[name][:, 2], expected, atol=1e-12)
    assert not np.allclose(curves(K, G, seen, split, 9)[name][:, 2], expected)


def test_with_all_labels_almost_zero_shot_is_independent_task_learning(problem):
    K, G, Y, split = problem
    found = curves(K, G, Y, split, len(split.pool))
    for criterion in ("AUC", "squared error"):
        np.testing.assert_array_equal(
            found["almost zero-shot", "TS", "A", criterion],
            found["independent-task", "IT", "A", criterion],
        )
        np.testing.assert_array_equal(
            found["zero-shot", "KK", "A", criterion],
            found["full zero-shot", "KK", "A", criterion],
        )


@pytest.mark.parametrize("criterion", ["AUC", "squared error"])
@pytest.mark.parametrize(("method", "setting"), [("KK", "A"), ("TS", "A"), ("TS", "B")])
def test_multi_task_curves_are_the_models_with_the_best_left_out_pairs(
    problem, method, setting, criterion
):
    K, G, Y, split = problem
    used, kinds = split.pool[:9], {"row_kernel": "precomputed", "col_kernel": "precomputed"}
    given = K[np.ix_(used, used)], G, Y[used]

    def score(F):
        return micro_auc(Y[used] > 0, F) if criterion == "AUC" else -np.sum((F - Y[used]) ** 2)

    make, names = CompleteKronRidge, ["reg"]
    if method == "TS":
        make, names = TwoStepRidge, ["reg_rows", "reg_cols"]
    model = make(**kinds).fit_matrix(*given)
    scores = model.loo_grid(setting, *[GRID] * len(names), score=score)
    best = GRID[list(np.unravel_index(np.argmax(scores), scores.shape))]
    model = make(**kinds, **dict(zip(names, best, strict=True))).fit_matrix(*given)
    found = predicted(K, G, Y, split, 9)["multi-task", method, setting, criterion]
    np.testing.assert_array_equal(found.weights, np.repeat(best[:, None], 6, axis=1))
    expected = model.predict_matrix(K[np.ix_(split.test, used)], G)
    np.testing.assert_allclose(found.F, expected, atol=1e-9)


def test_single_tasks_choose_each_their_own_weight(problem):
    K, G, Y, split = problem
    used = split.pool[:9]
    found = predicted(K, G, Y, split, 9)["independent-task", "IT", "A", "AUC"]
    assert len(np.unique(found.weights)) > 1
    for task, reg in enumerate(found.weights[0]):
        model = IndependentRidge(reg=reg, row_kernel="precomputed")
        model.fit_matrix(K[np.ix_(used, used)], None, Y[used][:, [task]])
        expected = model.predict_matrix(K[np.ix_(split.test, used)])
        np.testing.assert_allclose(found.F[:, [task]], expected, atol=1e-9)


@pytest.mark.parametrize("criterion", ["AUC", "squared error"])
def test_one_weight_of_all_single_tasks_has_the_best_left_out_pairs(problem, criterion):
    K, G, Y, split = problem
    used = split.pool[:9]

    def fitted(reg, train, test):
        model = IndependentRidge(reg=reg, row_kernel="precomputed")
        model.fit_matrix(K[np.ix_(train, train)], None, Y[train])
        return model.predict_matrix(K[np.ix_(test, train)])

    def score(reg):
        left_out = [fitted(reg, np.delete(used, i), used[[i]]) for i in range(9)]
        F = np.concatenate(left_out)
        return micro_auc(Y[used] > 0, F) if criterion == "AUC" else -np.sum((F - Y[used]) ** 2)

    reg = max(GRID, key=score)
    name = "independent-task, one weight", "IT", "A", criterion
    found = predicted(K, G, Y, split, 9)[name]
    np.testing.assert_array_equal(found.weights, np.full((1, 6), reg))
    np.testing.assert_allclose(found.F, fitted(reg, used, split.test), atol=1e-9)


def test_tasks_with_a_positive_label_in_training_are_scored_apart(problem):
    K, G, _, split = problem
    F = np.random.default_rng(1).standard_normal((6, 6))
    # Task 0 has no positive label in training, task 1 none in the test, task 2 one in both.
    Y = np.zeros((20, 6))
    Y[split.test[:3]] = 1
    Y[split.test, 1] = 0
    Y[split.pool[:9], 1:] = np.arange(9)[:, None] < 4
    transfer = Transfer(Shared(K, G, kernel_spectrum(G), split), Y, GRID)
    known = [roc_auc(Y[split.test, task], F[:, task]) for task in (2, 3, 4, 5)]
    found = transfer.score_with_positive(F, 9)
    assert found["score_with_positive"] == pytest.approx(np.mean(known))
    assert found["share_with_positive"] == 4 / 5
    everywhere = [*known, roc_auc(Y[split.test, 0], F[:, 0])]
    assert transfer.score(F) == pytest.approx(np.mean(everywhere))


@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.integers(2, 5),
    st.sampled_from(["full", "deficient", "duplicate"]),
)
def test_zero_shot_predictions_are_those_of_models_trained_on_the_other_tasks(seed, m, q, kind):
    rng = np.random.default_rng(seed)
    K_all, G = make_kernel(rng, m + 3, kind), make_kernel(rng, q, "full")
    K, across, Y = K_all[:m, :m], K_all[m:, :m], rng.normal(size=(m, q))
    spectra = kernel_spectrum(K), kernel_spectrum(G)
    found = kron_zero_shot(*spectra, Y, across, 0.4)
    found_two_step = two_step_zero_shot(*spectra, Y, across, 0.4, 0.9)
    for t in range(q):
        others = np.delete(np.arange(q), t)
        given_others, g = (K, G[np.ix_(others, others)], Y[:, others]), G[[t]][:, others]
        expected = kron(*given_others, 0.4).predict_matrix(across, g)
        np.testing.assert_allclose(found[:, [t]], expected, atol=1e-7)
        expected = two_step(*given_others, (0.4, 0.9)).predict_matrix(across, g)
        np.testing.assert_allclose(found_two_step[:, [t]], expected, atol=1e-7)
