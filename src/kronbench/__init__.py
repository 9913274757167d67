"""Kronbench: reproducible benchmarks of structured kernel methods."""

from kronbench.errors import InputError
from kronbench.pairs import PairData

__version__ = "0.1.0"
__all__ = ["InputError", "PairData", "__version__"]
