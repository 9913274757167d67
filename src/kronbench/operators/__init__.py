"""Floor 0: kernel matrices, their low-rank factors, products with sampled Kronecker products."""

from kronbench.operators.gram import dense, gram
from kronbench.operators.lowrank import KernelColumns, LowRankFactor, csi, incomplete_cholesky
from kronbench.operators.sampled import SampledKroneckerOperator

__all__ = [
    "KernelColumns",
    "LowRankFactor",
    "SampledKroneckerOperator",
    "csi",
    "dense",
    "gram",
    "incomplete_cholesky",
]
