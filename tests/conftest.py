"""Settings of all tests."""

import hypothesis
import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

# Compiling a kernel takes longer than any deadline; nothing is random from run to run.
hypothesis.settings.register_profile("kronbench", deadline=None, derandomize=True)
hypothesis.settings.load_profile("kronbench")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Problems of tests are small: waiting threads cost minutes on a busy machine."""
    numba.set_num_threads(1)
    with threadpool_limits(1):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)
