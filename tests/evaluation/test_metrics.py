"""Scores against brute force and other libraries."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import linregress
from sklearn.metrics import average_precision_score, mean_squared_error, roc_auc_score

from kronbench import InputError
from kronbench.evaluation import (
    AFFINITY_SCORES,
    affinity_scores,
    aupr,
    concordance_index,
    interaction_concordance,
    macro_auc,
    macro_concordance_index,
    mean_of_models,
    micro_auc,
    ranking_areas,
    rm2,
    roc_auc,
)

seeds = st.integers(0, 10_000)


def draw(seed, n=30, values=6):
    """Labels and scores with ties, and the vertices of distinct pairs of 6 x 8."""
    rng = np.random.default_rng(seed)
    rows, cols = np.divmod(rng.permutation(48)[:n], 8)
    return rng.integers(0, values, n) * 0.1, rng.integers(0, values, n) * 0.7, rows, cols


def brute_concordance(y, score, tie, later):
    found = [
        1.0 if score[i] > score[j] else tie if score[i] == score[j] else 0.0
        for i in range(len(y))
        for j in range(i if later else len(y))
        if y[i] > y[j]
    ]
    return np.mean(found) if found else np.nan


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(0, 40))
def test_all_four_concordance_indices_and_the_area_of_two_classes(seed, n):
    y, score, _, _ = draw(seed, n)
    for ties, tie in (("half", 0.5), ("zero", 0.0)):
        for pairs in ("all", "later"):
            expected = brute_concordance(y, score, tie, pairs == "later")
            found = concordance_index(y, score, ties=ties, pairs=pairs)
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    expected = brute_concordance(y > 0.2, score, 0.5, False)
    assert roc_auc(y > 0.2, score) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_concordance_of_each_vertex(seed):
    y, score, rows, cols = draw(seed)
    names, small = np.array(list("abcdef"))[rows], (cols - 128).astype("int8")
    for vertices in (rows, names, small):
        each = [
            brute_concordance(y[vertices == v], score[vertices == v], 0.5, False)
            for v in np.unique(vertices)
        ]
        found = macro_concordance_index(y, score, vertices)
        assert found == pytest.approx(np.nanmean(each), abs=1e-12)


def brute_interaction(y, score, rows, cols):
    Y, F = np.full((2, 6, 8), np.nan)
    Y[rows, cols], F[rows, cols] = y, score
    found = []
    for a, b in combinations(range(6), 2):
        for c, d in combinations(range(8), 2):
            true, guess = (np.round(M[a, c] - M[a, d] - M[b, c] + M[b, d], 9) for M in (Y, F))
            if np.isfinite(true) and true:
                found.append((1 + np.sign(true) * np.sign(guess)) / 2)
    return np.mean(found) if found else np.nan


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(4, 48))
def test_interaction_concordance_is_that_of_all_blocks(seed, n):
    y, score, rows, cols = draw(seed, n)
    expected = brute_interaction(y, score, rows, cols)
    for sides in ((rows, cols), (cols, rows)):
        found = interaction_concordance(y, score, *sides)
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_an_additive_model_has_one_half_exactly(seed):
    rng = np.random.default_rng(seed)
    rows, cols = np.divmod(rng.permutation(400)[:200], 20)
    additive = 5 + rng.normal(size=20)[rows] + 1e3 * rng.normal(size=20)[cols]
    assert interaction_concordance(rng.normal(size=200), additive, rows, cols) == 0.5


def test_both_rm2(rng):
    y = rng.normal(6, 1, 50)
    score = y + rng.normal(0.3, 0.5, 50)
    r2 = linregress(y, score).rvalue ** 2
    k = np.linalg.lstsq(score[:, None], y, rcond=None)[0][0]
    r02 = 1 - np.sum((y - k * score) ** 2) / np.sum((y - y.mean()) ** 2)
    assert rm2(y, score) == pytest.approx(r2 * (1 - np.sqrt(abs(r2**2 - r02**2))))
    assert rm2(y, score, variant="roy") == pytest.approx(r2 * (1 - np.sqrt(abs(r2 - r02))))
    assert rm2(y, y) == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 12))
def test_area_below_precision_and_recall(seed, values):
    y, score, _, _ = draw(seed, 30, values)
    positive = y > 0.2
    if positive.all() or not positive.any():
        assert np.isnan(aupr(positive, score))
        return
    expected = average_precision_score(positive, score)
    assert aupr(positive, score) == pytest.approx(expected, abs=1e-12)
    expected = by_small_steps(positive, score)
    assert aupr(positive, score, interpolated=True) == pytest.approx(expected, abs=1e-4)


def by_small_steps(positive, score):
    """Precision integrated over recall with false positives linear in true ones."""
    area = t = f = 0.0
    for threshold in np.unique(score)[::-1]:
        dt = float((positive & (score == threshold)).sum())
        df = float((~positive & (score == threshold)).sum())
        at = (np.arange(2000) + 0.5) / 2000
        true, false = t + at * dt, f + at * df
        area += dt * np.mean(true / (true + false)) if dt else 0.0
        t, f = t + dt, f + df
    return area / t


def test_all_scores_at_once():
    y, score, rows, cols = draw(5, 40)
    found = affinity_scores(y, score, rows, cols, positive_above=0.2)
    assert list(found) == list(AFFINITY_SCORES)
    assert np.isfinite(list(found.values())).all()
    assert found["mse"] == pytest.approx(mean_squared_error(y, score))
    without = affinity_scores(y, score, rows, cols)
    lacking = [name for name in found if np.isnan(without[name])]
    assert lacking == ["auc", "aupr", "aupr_interpolated"]
    some = affinity_scores(y, score, rows, cols, 0.2, names=("rm2", "ci"))
    assert some == {"ci": found["ci"], "rm2": found["rm2"]}


def test_wrong_input():
    y, score, rows, cols = draw(5, 40)
    for wrong in (
        lambda: affinity_scores(y, score, rows, cols, names=["cindex"]),
        lambda: concordance_index(y, score, ties="none"),
        lambda: concordance_index(y, score, pairs="half"),
        lambda: macro_concordance_index(y, score, rows[1:]),
        lambda: interaction_concordance(y, score, rows, rows * 0),
        lambda: interaction_concordance(y, score[1:], rows, cols),
        lambda: rm2(y, score, variant="other"),
        lambda: aupr(y > 0, np.full(40, np.nan)),
    ):
        with pytest.raises(InputError):
            wrong()


@pytest.mark.parametrize(("interaction", "expected"), [(1e-3, 1.0), (2e-6, 1.0), (5e-7, np.nan)])
def test_interactions_below_a_millionth_of_the_range_are_zero(interaction, expected):
    y = np.array([0.0, 0.0, 1.0, 1.0 + interaction])
    found = interaction_concordance(y, y, [0, 0, 1, 1], [0, 1, 0, 1])
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("value", [0.1, 0.7, 1.0, 1.1, 2.3, 5.1, 6.3, 7.7])
def test_constant_labels_or_scores_have_no_rm2(value):
    constant = np.full(6, value)
    assert np.isnan(rm2(constant, np.arange(6)))
    assert np.isnan(rm2(np.arange(6), constant))


@given(seeds)
def test_infinite_scores_are_tied_as_finite_ones_are(seed):
    y, score, _, _ = draw(seed, values=3)
    positive = np.append(y > 0.1, [True, False])
    score = np.append(score, [0.7, 0.7])
    infinite = np.where(score == 0, -np.inf, np.where(score == score.max(), np.inf, score))
    for interpolated in (False, True):
        finite = aupr(positive, score, interpolated=interpolated)
        assert aupr(positive, infinite, interpolated=interpolated) == finite
    assert aupr(positive, infinite) == pytest.approx(average_precision_score(positive, score))


@pytest.mark.parametrize(
    "values",
    [
        np.array([1 + 2j, 1, 3]),
        np.array([1.0, np.nan, 2.0]),
        np.array(["2020-01-01", "NaT", "2021-01-01"], "datetime64[D]"),
        np.array([1.0, np.nan, 2.0], dtype=object),
        np.array([1.0, None, 2.0], dtype=object),
        np.array(["a", "b", "c"]),
    ],
    ids=str,
)
def test_what_is_no_number_is_refused(values):
    for metric in (concordance_index, rm2, roc_auc, aupr):
        for y, score, name in ((values, np.arange(3), "y"), (np.arange(3) > 1, values, "score")):
            with pytest.raises(InputError, match=f"{name} (has dtype|holds)"):
                metric(y, score)


def draw_matrix(seed, m, q, share, levels):
    """Labels, and scores that tie often where ``levels`` is small and never where it is zero."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((m, q)) < share, 2.5, -0.5)
    scores = rng.normal(size=(m, q)) + 0.3 * labels
    return labels, np.round(scores * levels) / levels if levels else scores


@settings(max_examples=60, deadline=None)
@given(
    seeds,
    st.integers(1, 12),
    st.integers(1, 150),
    st.sampled_from([0.02, 0.5, 0.9]),
    st.sampled_from([0, 1, 3, 40]),
)
def test_areas_of_matrices_are_scikit_learns(seed, m, q, share, levels):
    labels, scores = draw_matrix(seed, m, q, share, levels)
    for axis, Y, F in ((1, labels, scores), (0, labels.T, scores.T)):
        curves = [(y > 0, f) for y, f in zip(Y, F, strict=True) if 0 < (y > 0).sum() < len(y)]
        areas = [roc_auc_score(y, f) for y, f in curves]
        if areas:
            assert macro_auc(labels, scores, axis) == pytest.approx(np.mean(areas), abs=1e-12)
        else:
            assert np.isnan(macro_auc(labels, scores, axis))
        if len(np.unique(Y)) == 2:
            expected = roc_auc_score(Y.ravel() > 0, F.ravel())
            assert micro_auc(Y, F) == pytest.approx(expected, abs=1e-12)
        else:
            assert np.isnan(micro_auc(Y, F))


def test_wrong_matrices():
    labels, scores = draw_matrix(7, 4, 5, 0.5, 0)
    assert np.isnan(micro_auc(np.empty((0, 3)), np.empty((0, 3))))
    for wrong, message in (
        (lambda: roc_auc([1, -1], [0.5, 0.2, 0.1]), "shape"),
        (lambda: concordance_index([1, -1], [0.5, 0.2, 0.1]), "shape"),
        (lambda: roc_auc([0, 1, 2], [0.1, 0.2, 0.3]), "two"),
        (lambda: micro_auc(labels, scores.T), r"shape \(4, 5\) and Y_score \(5, 4\)"),
        (lambda: macro_auc(labels, scores, 2), "axis=2"),
        (lambda: micro_auc(labels, np.full_like(scores, np.nan)), "Y_score holds NaN"),
        (lambda: macro_auc(np.where(labels > 0, np.nan, 1.0), scores, 0), "Y_true holds NaN"),
        (lambda: macro_auc(np.arange(20.0).reshape(4, 5), scores, 0), "more than two"),
    ):
        with pytest.raises(InputError, match=message):
            wrong()


@pytest.mark.parametrize("n_classes", [2, 1000, 1001, 2300])
def test_ranking_areas_in_blocks_are_those_of_all_scores(n_classes):
    rng = np.random.default_rng(n_classes)
    features, coef = rng.normal(size=(12, 3)), rng.normal(size=(3, n_classes))
    y = rng.integers(n_classes, size=12)
    y[:2] = 0, 1
    F = features.astype(np.float32) @ coef.astype(np.float32)
    hit = np.arange(n_classes) == y[:, None]
    found = ranking_areas(features, y, coef)
    instance = np.mean([roc_auc_score(h, f) for h, f in zip(hit, F, strict=True)])
    macro = np.mean([roc_auc_score(hit[:, c], F[:, c]) for c in np.unique(y)])
    assert found["instance_auc"] == pytest.approx(instance, abs=1e-5)
    assert found["macro_auc"] == pytest.approx(macro, abs=1e-5)
    equal = ranking_areas(np.ones((2, 1)), np.array([0, 1]), np.zeros((1, n_classes)))
    assert equal == {"instance_auc": 0.5, "macro_auc": 0.5}


def test_models_are_averaged_in_units_of_their_own_spread():
    scores = [[0.0, 1.0, 5.0], [2.0, 2.0, 2.0], [30.0, -10.0, 40.0]]
    np.testing.assert_allclose(mean_of_models(scores, standardized=False), np.mean(scores, axis=0))
    first, last = (np.subtract(s, np.mean(s)) / np.std(s) for s in (scores[0], scores[2]))
    np.testing.assert_allclose(mean_of_models(scores, standardized=True), (first + last) / 3)
