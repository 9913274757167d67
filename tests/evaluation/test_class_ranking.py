"""Rankings of many classes in blocks against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kronbench.evaluation import ranking_areas


@pytest.mark.parametrize("n_classes", [2, 9, 999, 1000, 1001, 2300])
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


def test_equal_scores_count_one_half():
    found = ranking_areas(np.ones((2, 1)), np.array([0, 3]), np.zeros((1, 5)))
    assert found == {"instance_auc": 0.5, "macro_auc": 0.5}
