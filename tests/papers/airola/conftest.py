"""The data that the experiments of airola are tried on."""

import pytest

from kronbench.datasets import load
from kronbench.datasets.dataset import Dataset


@pytest.fixture(scope="package")
def data() -> Dataset:
    """Drugs and targets of the shape of GPCR."""
    return load("gpcr", policy="surrogate")
