"""Kronbench: reproducible benchmarks of structured kernel methods."""

import os

# Products alternate between the threads of numba (OpenMP) and those of OpenBLAS. By default the
# ones spin while the others work, which costs a product of 250,000 pairs two thirds of its time:
# let them sleep. Read when the libraries are loaded, so it is said before they are.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "12")  # 2^12 cycles, its default is 2^26

from kronbench.errors import InputError
from kronbench.pairs import PairData

__version__ = "0.1.0"
__all__ = ["InputError", "PairData", "__version__"]
