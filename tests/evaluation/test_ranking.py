"""Rankings scored against their definitions pair by pair, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import roc_auc_score

from kronbench.errors import InputError
from kronbench.evaluation import (
    concordance_index,
    macro_auc,
    micro_auc,
    ranking_areas,
    roc_auc,
)


def test_one_class_has_no_order():
    assert np.isnan(roc_auc([1, 1, 1], [0.1, 0.2, 0.3]))
    assert np.isnan(concordance_index([2.0, 2.0], [0.1, 0.2]))
    assert np.isnan(roc_auc([], []))
    assert np.isnan(concordance_index([], []))


cases = st.tuples(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 150),
    st.sampled_from([0.02, 0.5, 0.9]),
    st.sampled_from([0, 1, 3, 40]),
)


def draw(seed, m, q, share, levels):
    """Labels, and scores that tie often where ``levels`` is small and never where it is zero."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((m, q)) < share, 2.5, -0.5)
    scores = rng.normal(size=(m, q)) + 0.3 * labels
    return labels, np.round(scores * levels) / levels if levels else scores


@settings(max_examples=40, deadline=None)
@given(cases)
def test_macro_auc_is_the_mean_of_scikit_learns(case):
    labels, scores = draw(*case)
    for axis, Y, F in ((1, labels, scores), (0, labels.T, scores.T)):
        curves = [(y > 0, f) for y, f in zip(Y, F, strict=True) if 0 < (y > 0).sum() < len(y)]
        areas = [roc_auc_score(y, f) for y, f in curves]
        if areas and len(np.unique(labels)) == 2:
            assert macro_auc(labels, scores, axis) == pytest.approx(np.mean(areas), abs=1e-12)
        else:
            assert np.isnan(macro_auc(labels, scores, axis))


@settings(max_examples=40, deadline=None)
@given(cases)
def test_micro_auc_is_scikit_learns_of_all_entries(case):
    labels, scores = draw(*case)
    if len(np.unique(labels)) == 1:
        assert np.isnan(micro_auc(labels, scores))
        return
    expected = roc_auc_score(labels.ravel() > 0, scores.ravel())
    assert micro_auc(labels, scores) == pytest.approx(expected, abs=1e-12)
    assert micro_auc(labels.T, scores.T) == pytest.approx(expected, abs=1e-12)


def test_memory_order_does_not_matter():
    labels, scores = draw(4, 9, 40, 0.3, 3)
    for F in (np.asfortranarray(scores), scores[:, ::-1].copy()[:, ::-1], scores.astype("f4")):
        reference = scores if F.dtype == np.float64 else F.astype(np.float64)
        assert micro_auc(labels, F) == micro_auc(labels, reference)
        assert macro_auc(labels, F, 0) == macro_auc(labels, reference, 0)


def test_wrong_input():
    for metric in (roc_auc, concordance_index):
        with pytest.raises(InputError, match="shape"):
            metric([1, -1], [0.5, 0.2, 0.1])
    with pytest.raises(InputError, match="two"):
        roc_auc([0, 1, 2], [0.1, 0.2, 0.3])
    labels, scores = draw(7, 4, 5, 0.5, 0)
    with pytest.raises(InputError, match=r"shape \(4, 5\) and Y_score \(5, 4\)"):
        micro_auc(labels, scores.T)
    with pytest.raises(InputError, match="axis=2"):
        macro_auc(labels, scores, 2)
    with pytest.raises(InputError, match="NaN"):
        micro_auc(labels, np.full_like(scores, np.nan))
    with pytest.raises(InputError, match="Y_true holds NaN"):
        macro_auc(np.where(labels > 0, np.nan, 1.0), scores, 0)
    with pytest.raises(InputError, match="more than two"):
        macro_auc(np.arange(20.0).reshape(4, 5), scores, 0)
    assert np.isnan(micro_auc(np.empty((0, 3)), np.empty((0, 3))))


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
