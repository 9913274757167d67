"""Figures 3 and 4: curves from nothing predicted to the test error."""

import numpy as np
from sklearn.base import clone

from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench.papers.seeger.measure.reject_curves import OneAgainstRest
from kronbench.runner.job import run_experiment
from tests.models.hierarchical_problems import clouds
from tests.small_classes import COMMON, pixels


def test_curves_end_at_the_test_error_and_start_at_zero():
    spec = COMMON | {
        "methods": ["mc-tied", "mc-sep", "1rest"],
        "partitions": 2,
        "other_scalings": {"variance": ["1rest"], "none": ["mc-tied", "1rest"]},
        "start": 10,
        "bias_variance": 1.0,
        "noise": 1e-3,
        "max_evaluations": 6,
        "coarse": 60,
        "points": 11,
    }
    frame = run_experiment("seeger.reject_curves", spec, pixels(), "satimage")
    assert len(frame) == (2 * 3 + 3) * 11
    counts = frame.groupby("method")["hyperparameters"].first()
    assert counts[["mc-tied", "mc-sep", "1rest"]].tolist() == [2, 6, 6]
    for _, curve in frame.groupby(["scaling", "partition", "method"]):
        assert curve["error"].iloc[0] == 0
        assert curve["error"].is_monotonic_increasing
        assert curve["predicted"].iloc[-1] == 80
    same = frame["scaling"] == "range"
    rest = frame[same & (frame["method"] == "1rest")]
    assert (rest["advantage"] == 0).all()
    tied = frame[same & (frame["method"] == "mc-tied")]
    np.testing.assert_allclose(
        tied["advantage"].to_numpy(), rest["error"].to_numpy() - tied["error"].to_numpy()
    )


def test_machines_of_one_against_rest_learn_each_for_itself_and_go_on_from_earlier_ones():
    X, y = clouds()
    y = 2 * y
    binary = HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.2, variance=3.0)
    search = HierarchicalNewtonCV(binary, max_iter=3)
    folds = np.arange(60) % 3
    learned = OneAgainstRest(search).fit(X, y, folds)
    assert len({float(machine.gamma_[0]) for machine in learned.estimators_}) == 5
    further = OneAgainstRest(search).fit(X, y, folds, start=learned)
    np.testing.assert_array_equal(further.classes_, [0, 2, 4, 6, 8])
    log_proba = further.predict_log_proba(X)
    for c, (before, after) in enumerate(
        zip(learned.estimators_, further.estimators_, strict=True)
    ):
        alone = clone(search).fit(X, y == 2 * c, folds=folds, start=before)
        np.testing.assert_array_equal(after.gamma_, alone.gamma_)
        expected = alone.predict_log_proba(X)[:, list(alone.classes_).index(True)]
        np.testing.assert_allclose(log_proba[:, c], expected, atol=1e-6)
        first = after.hyperparameter_path_[0]["parameters"]
        np.testing.assert_allclose(np.exp(first), [before.variance_[0], before.gamma_[0]])
