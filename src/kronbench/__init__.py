"""Kronbench: reproducible benchmarks of structured kernel methods."""

import lazy_loader

__version__ = "0.2.0"
# Pictures need no pairs, and scipy.sparse takes a tenth of a second.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
