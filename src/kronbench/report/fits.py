"""Fits to measured points."""

from __future__ import annotations

import numpy as np


def exponent(sizes, values) -> float:
    """The power p of the law values ~ sizes^p, by least squares on logarithms.

    Parameters
    ----------
    sizes, values : (k,) arrays of positive numbers, k >= 2
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
