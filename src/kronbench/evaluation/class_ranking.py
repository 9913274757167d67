"""Rankings of very many classes by linear models, a block of classes at a time."""

from __future__ import annotations

import numpy as np

from kronbench.evaluation.ranking import macro_auc

_SCORED_CLASSES = 1000  # at a time


def ranking_areas(features: np.ndarray, y: np.ndarray, coef: np.ndarray) -> dict[str, float]:
    """Areas under the ROC curves of the scores ``features @ coef``, a block of classes at a time.

    Parameters
    ----------
    features : (n, d) array
    y : (n,) integer array
        The right class of each document.
    coef : (d, C) array

    Returns
    -------
    dict
        "instance_auc", mean over documents of the curve over classes; "macro_auc", mean over the
        classes in ``y`` of the curve over documents.
    """
    features, coef = features.astype(np.float32), coef.astype(np.float32)
    own = np.einsum("ij,ij->i", features, coef[:, y].T)
    twice_below, macro, n_curves = np.zeros(len(y)), 0.0, 0
    for start in range(0, coef.shape[1], _SCORED_CLASSES):
        F = features @ coef[:, start : start + _SCORED_CLASSES]
        inside = np.flatnonzero((y >= start) & (y < start + F.shape[1]))
        classes = np.unique(y[inside]) - start
        if len(classes):
            positive = y[:, None] == classes + start
            macro += macro_auc(positive, F[:, classes], axis=0) * len(classes)
            n_curves += len(classes)
        # a document's own class is no competitor, whatever the rounding of its score
        F[inside, y[inside] - start] = np.inf
        twice_below += np.sum(F < own[:, None], axis=1) + np.sum(F <= own[:, None], axis=1)
    return {
        "instance_auc": np.mean(twice_below) / (2 * (coef.shape[1] - 1)),
        "macro_auc": macro / n_curves,
    }
