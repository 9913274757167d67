"""Statements of Stock et al. 2016 on real kernels that no test of a model shows.

Theorems 1 to 3 and 7, Corollaries 1 to 5 and Algorithms 1 and 2 are in ``tests/models``, Theorem 5
in ``tests/pairs/test_spectral_filters.py``.
"""

import numpy as np

from kronbench.datasets.drug_target import kernels
from kronbench.models import IndependentRidge, TwoStepRidge
from kronbench_suite.papers.stock.measure.kernels import PRECOMPUTED


def test_it_does_not_matter_whether_the_first_step_is_over_instances_or_tasks(nr):
    """Section 3.3."""
    K, G, Y = kernels(nr)
    tasks = IndependentRidge(reg=2.0, row_kernel="precomputed").fit_matrix(G, None, Y.T)
    rows = IndependentRidge(reg=0.3, row_kernel="precomputed")
    tasks_first = rows.fit_matrix(K, None, tasks.predict_matrix(G).T).predict_matrix(K)
    two_step = TwoStepRidge(reg_rows=0.3, reg_cols=2.0, **PRECOMPUTED).fit_matrix(K, G, Y)
    np.testing.assert_allclose(two_step.predict_matrix(K, G), tasks_first, atol=1e-10)


def test_least_squares_on_the_rescaled_labels_is_fishers_discriminant(nr):
    """Section 6.1, in 25 products of leading features; least squares has an intercept."""
    K, G, Y = kernels(nr)
    X, y = np.kron(leading_features(K), leading_features(G)), Y.ravel()
    centred = X - X.mean(axis=0)
    least_squares = np.linalg.solve(centred.T @ centred, centred.T @ y)
    parts = X[y > 0], X[y <= 0]
    within = sum(np.cov(part.T, bias=True) * len(part) for part in parts)
    fisher = np.linalg.solve(within, parts[0].mean(axis=0) - parts[1].mean(axis=0))
    directions = (w / np.linalg.norm(w) for w in (least_squares, fisher))
    np.testing.assert_allclose(*directions, atol=1e-8)


def leading_features(kernel):
    values, vectors = np.linalg.eigh(kernel)
    return vectors[:, -5:] * np.sqrt(values[-5:])
