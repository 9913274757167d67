"""Areas under many ROC curves against scikit-learn's, one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from kronbench.errors import InputError
from kronbench.evaluation.ranking import macro_auc, micro_auc

cases = st.tuples(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 150),
    st.sampled_from([0.02, 0.5, 0.9]),
    st.sampled_from([0, 1, 3, 40]),
)


def draw(seed, m, q, share, levels, stack=()):
    """Labels, and scores that tie often where ``levels`` is small and never where it is zero."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random((m, q)) < share, 2.5, -0.5)
    scores = rng.normal(size=(*stack, m, q)) + 0.3 * labels
    return labels, np.round(scores * levels) / levels if levels else scores


@settings(max_examples=80, deadline=None)
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


@settings(max_examples=60, deadline=None)
@given(cases)
def test_micro_auc_is_scikit_learns_of_all_entries(case):
    labels, scores = draw(*case)
    if len(np.unique(labels)) == 1:
        assert np.isnan(micro_auc(labels, scores))
        return
    expected = roc_auc_score(labels.ravel() > 0, scores.ravel())
    assert micro_auc(labels, scores) == pytest.approx(expected, abs=1e-12)
    assert micro_auc(labels.T, scores.T) == pytest.approx(expected, abs=1e-12)


def test_stacks_of_score_matrices():
    labels, scores = draw(3, 8, 30, 0.3, 3, stack=(2, 5))
    for measure in (lambda Y, F: macro_auc(Y, F, 0), lambda Y, F: macro_auc(Y, F, 1), micro_auc):
        together = measure(labels, scores)
        assert together.shape == (2, 5)
        for point in np.ndindex(2, 5):
            assert together[point] == measure(labels, scores[point])
    no_curve = macro_auc(np.ones((8, 30)), scores, 0)
    assert no_curve.shape == (2, 5) and np.isnan(no_curve).all()


def test_memory_order_does_not_matter():
    labels, scores = draw(4, 9, 40, 0.3, 3)
    for F in (np.asfortranarray(scores), scores[:, ::-1].copy()[:, ::-1], scores.astype("f4")):
        reference = scores if F.dtype == np.float64 else F.astype(np.float64)
        assert micro_auc(labels, F) == micro_auc(labels, reference)
        assert macro_auc(labels, F, 0) == macro_auc(labels, reference, 0)


@settings(max_examples=30, deadline=None)
@given(cases)
def test_only_the_order_counts(case):
    labels, scores = draw(*case)
    for measure in (lambda F: macro_auc(labels, F, 1), lambda F: micro_auc(labels, F)):
        area = measure(scores)
        np.testing.assert_equal(measure(np.arctan(scores / 4)), area)
        np.testing.assert_allclose(measure(-scores), 1 - area, atol=1e-12)


def test_constant_scores_are_worth_one_half():
    labels, scores = draw(5, 40, 300, 0.3, 0)
    assert micro_auc(labels, np.zeros_like(scores)) == 0.5
    assert macro_auc(labels, np.zeros_like(scores), 0) == 0.5


def test_more_entries_than_a_chunk():
    labels, scores = draw(6, 150, 150, 0.4, 40)
    expected = roc_auc_score(labels.ravel() > 0, scores.ravel())
    assert micro_auc(labels, scores) == pytest.approx(expected, abs=1e-12)


def test_wrong_input():
    labels, scores = draw(7, 4, 5, 0.5, 0)
    with pytest.raises(InputError, match=r"shape \(4, 5\) and Y_score \(5, 4\)"):
        micro_auc(labels, scores.T)
    with pytest.raises(InputError, match="axis=2"):
        macro_auc(labels, scores, 2)
    with pytest.raises(InputError, match="NaN"):
        micro_auc(labels, np.full_like(scores, np.nan))
    with pytest.raises(InputError, match="more than two"):
        macro_auc(np.arange(20.0).reshape(4, 5), scores, 0)
    with pytest.raises(InputError, match="empty"):
        micro_auc(np.empty((0, 3)), np.empty((0, 3)))
