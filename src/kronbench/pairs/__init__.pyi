from .data import PairData as PairData
from .leave_one_out_by_retraining import (
    retrained_kron_leave_one_out as retrained_kron_leave_one_out,
)
from .losses import (
    LOSSES as LOSSES,
    Loss as Loss,
    get_loss as get_loss,
)
from .margin_preconditioner import MarginPreconditioner as MarginPreconditioner
from .newton import (
    Iterate as Iterate,
    NewtonResult as NewtonResult,
    newton_dual as newton_dual,
    newton_primal as newton_primal,
)
from .pairwise import (
    PAIRWISE as PAIRWISE,
    PairwiseOperator as PairwiseOperator,
)
from .vec_trick import SampledKroneckerOperator as SampledKroneckerOperator
