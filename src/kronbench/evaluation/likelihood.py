"""The likelihood of true classes under predicted probabilities."""

from __future__ import annotations

import sys

import numpy as np


def mean_log_loss(y: np.ndarray, proba: np.ndarray, floor: float = sys.float_info.min) -> float:
    """Mean over documents of minus the logarithm of the probability of the true class.

    ``y`` (n,) holds classes 0..C-1, ``proba`` (n, C) probabilities; those below ``floor`` count as
    ``floor``, so that a class that a model excludes does not make the mean infinite.
    """
    true = np.take_along_axis(proba, y[:, None], axis=1)
    return float(-np.log(np.maximum(true, floor)).mean())
