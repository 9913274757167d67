"""The likelihood of true classes under predicted probabilities."""

from __future__ import annotations

import sys

import numpy as np


def mean_log_loss(y, proba, floor=sys.float_info.min) -> float:
    """Mean over documents of minus the logarithm of the true class's probability.

    Parameters
    ----------
    y : (n,) integer array of true classes 0..C-1
    proba : (n, C) array of class probabilities
    floor : float
        Probabilities below it count as this one, so that a class that a model excludes does not
        make the mean infinite.
    """
    true = np.take_along_axis(proba, y[:, None], axis=1)
    return float(-np.log(np.maximum(true, floor)).mean())
