"""Threads of numba that sleep when they have nothing to do.

With GNU's OpenMP they would spin for milliseconds after each parallel loop, a third of a fit's
processor time. It reads how they wait when it is loaded, and never again, so that numba's module
for it is loaded here, before a loop asks for it, with the variable set for that moment. A variable
that the user has set stays, and decides.
"""

import contextlib
import importlib
import os

_WAIT_POLICY = "OMP_WAIT_POLICY"


def load_openmp() -> None:
    """Load the OpenMP of numba with threads that sleep, unless the user says how they wait."""
    if _WAIT_POLICY in os.environ:
        return
    os.environ[_WAIT_POLICY] = "passive"
    try:
        with contextlib.suppress(ImportError):  # a numba without OpenMP
            importlib.import_module("numba.np.ufunc.omppool")
    finally:
        del os.environ[_WAIT_POLICY]
