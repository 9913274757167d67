"""Likelihood of the true classes, against scikit-learn, and its floor."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from kronbench.evaluation import mean_log_loss


def test_it_is_scikit_learns_log_loss_where_no_probability_is_small():
    rng = np.random.default_rng(0)
    proba, y = rng.dirichlet(np.full(4, 5.0), size=30), rng.integers(4, size=30)
    assert mean_log_loss(y, proba) == pytest.approx(log_loss(y, proba, labels=range(4)), rel=1e-12)


def test_a_true_class_without_probability_counts_as_the_floor():
    y, proba = np.array([1, 0]), np.array([[1.0, 0.0], [1.0, 0.0]])
    assert mean_log_loss(y, proba) == pytest.approx(-np.log(np.finfo(float).tiny) / 2)
    assert mean_log_loss(y, proba, floor=0.1) == pytest.approx(np.log(10) / 2)
