"""Kronbench: reproducible benchmarks of structured kernel methods."""

from typing import TYPE_CHECKING

from kronbench.errors import InputError
from kronbench.modules import on_demand

if TYPE_CHECKING:
    from kronbench.pairs import PairData

__version__ = "0.1.0"
__all__ = ["InputError", "PairData", "__version__"]

# Pictures need no pairs, and scipy.sparse takes a tenth of a second.
__getattr__, __dir__ = on_demand(__name__)
