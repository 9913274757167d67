from .data import PairData as PairData
from .losses import LOSSES as LOSSES, Loss as Loss
from .margin_preconditioner import MarginPreconditioner as MarginPreconditioner
from .newton import (
    Iterate as Iterate,
    NewtonResult as NewtonResult,
    newton_dual as newton_dual,
    newton_primal as newton_primal,
)
from .pairwise import PAIRWISE as PAIRWISE, PairwiseOperator as PairwiseOperator
from .screening import screen as screen
from .vec_trick import SampledKroneckerOperator as SampledKroneckerOperator
