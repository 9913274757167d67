"""Kernel methods for labelled pairs and for classes in a tree, by fast and exact products.

Ten names are enough to begin with:

- :class:`kronbench.PairData`: pairs of a row and a column vertex, with features
- :class:`kronbench.models.KronRidge`: regression on pairs
- :class:`kronbench.models.KronRidgeCV`: the same, which chooses its weight
- :class:`kronbench.models.KronSVM`: classification of pairs
- :class:`kronbench.models.TwoStepRidge`: regression where every pair is labelled
- :class:`kronbench.models.HierarchicalNewtonCV`: classes in a tree, with probabilities
- :class:`kronbench.evaluation.VertexKFold`: splits in which vertices of one side are new
- :class:`kronbench.evaluation.VertexDisjointKFold`: splits in which both vertices are new
- :func:`kronbench.evaluation.concordance_index`: the field's score of affinities
- :func:`kronbench.datasets.load`: a benchmark data set by its name
"""

import lazy_loader

__version__ = "0.2.0"
# Pictures need no pairs, and scipy.sparse takes a tenth of a second.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
