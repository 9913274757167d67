"""Data that several experiments are tested on."""

import pytest

from kronbench.datasets import load


@pytest.fixture(scope="session")
def nr():
    """The smallest drug-target problem, as its surrogate."""
    return load("nr", policy="surrogate")


@pytest.fixture(scope="session")
def data():
    """Drugs and targets of the shape of GPCR."""
    return load("gpcr", policy="surrogate")
