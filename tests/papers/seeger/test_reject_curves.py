"""Figures 3 and 4: what the machines of a method learn."""

import numpy as np
from sklearn.base import clone

from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench_suite.papers.seeger.measure.reject_curves import joint_log_proba, learn
from kronbench_suite.runner.job import run_measurement
from tests.models.hierarchical_problems import clouds
from tests.small_classes import COMMON, pixels


def test_curves_of_other_scalings_begin_at_what_was_learned():
    spec = COMMON | {"methods": ["1rest"], "partitions": 1, "other_scalings": {"none": ["1rest"]}}
    spec |= {"start": 10, "bias_variance": 1.0, "noise": 1e-3, "max_evaluations": 6}
    spec |= {"coarse": 60, "points": 11}
    frame = run_measurement("seeger.reject_curves", spec, pixels(), "satimage")
    assert (frame["hyperparameters"] == 6).all()
    assert (frame["advantage"] == 0).all()
    # in the units of the file, tens, widths are hundreds of times smaller
    widths = frame.groupby("scaling")["largest_gamma"].first()
    assert 0 < widths["none"] < widths["range"] / 100


def test_machines_of_one_against_rest_learn_each_for_itself_and_go_on_from_earlier_ones():
    X, y = clouds()
    binary = HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.2, variance=3.0)
    search = HierarchicalNewtonCV(binary, max_iter=3)
    folds, targets = np.arange(60) % 3, [(y == label).astype(int) for label in range(5)]
    learned = learn(search, X, targets, folds, [None] * 5)
    assert len({float(machine.gamma_[0]) for machine in learned}) == 5
    further = learn(search, X, targets, folds, learned)
    log_proba = joint_log_proba(further, X)
    for c, (before, after) in enumerate(zip(learned, further, strict=True)):
        alone = clone(search).fit(X, y == c, folds=folds, start=before)
        np.testing.assert_array_equal(after.gamma_, alone.gamma_)
        expected = alone.predict_log_proba(X)[:, list(alone.classes_).index(True)]
        np.testing.assert_allclose(log_proba[:, c], expected, atol=1e-6)
        first = after.hyperparameter_path_[0]["parameters"]
        np.testing.assert_allclose(np.exp(first), [before.variance_[0], before.gamma_[0]])
