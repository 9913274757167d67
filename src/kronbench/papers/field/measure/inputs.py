"""What experiments on published folds read: the fold itself, and kernels of its data set."""

import numpy as np

from kronbench.datasets import Dataset, PublishedFold, folds
from kronbench.linalg import psd_part


def published(data: Dataset, name: str) -> PublishedFold:
    """The fold as published; a stand-in only for data that are a stand-in themselves."""
    policy = "auto" if data.source == "surrogate" else "real"
    return folds(data.name, name, data=data, policy=policy)


def unit_kernel(similarity: np.ndarray, squared: bool = False) -> np.ndarray:
    """The nearest positive semidefinite matrix to a similarity (m, m), or its entries' squares.

    The similarity is scaled to a mean diagonal of 1.
    """
    S = similarity / np.diag(similarity).mean()
    return psd_part(S * S if squared else S)
