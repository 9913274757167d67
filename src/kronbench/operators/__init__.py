"""Floor 1: kernel matrices, their low-rank factors, products with sampled Kronecker products."""

from kronbench.operators._cost_model import calibrate, rates_used
from kronbench.operators._factors import TOLERANCE
from kronbench.operators._matrix_products import multiply, one_blas_thread
from kronbench.operators.gram import dense, gram
from kronbench.operators.lowrank import KernelColumns, LowRankFactor, csi, incomplete_cholesky
from kronbench.operators.sampled import SampledKroneckerOperator
from kronbench.operators.tree import Tree

__all__ = [
    "TOLERANCE",
    "KernelColumns",
    "LowRankFactor",
    "SampledKroneckerOperator",
    "Tree",
    "calibrate",
    "csi",
    "dense",
    "gram",
    "incomplete_cholesky",
    "multiply",
    "one_blas_thread",
    "rates_used",
]
