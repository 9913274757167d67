"""Settings of all tests."""

import hypothesis
import pytest
from threadpoolctl import threadpool_limits

# Compiling a kernel takes longer than any deadline; nothing is random from run to run.
hypothesis.settings.register_profile("kronbench", deadline=None, derandomize=True)
hypothesis.settings.load_profile("kronbench")


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread():
    """Small matrices on a busy machine: threads of BLAS that wait for each other cost minutes."""
    with threadpool_limits(1, user_api="blas"):
        yield
