"""Data sets by name: ``load("GPCR")`` finds, checks and reads one, or draws its surrogate."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
