"""Floor 0: kernel matrices, their low-rank factors, products with sampled Kronecker products."""

from kronbench.operators.gram import gram
from kronbench.operators.lowrank import KernelColumns, LowRankFactor, csi, incomplete_cholesky
from kronbench.operators.sampled import SampledKroneckerOperator
from kronbench.operators.tree import Tree

__all__ = [
    "KernelColumns",
    "LowRankFactor",
    "SampledKroneckerOperator",
    "Tree",
    "csi",
    "gram",
    "incomplete_cholesky",
]
