"""Floor 2: losses, Krylov methods and truncated Newton methods on linear operators."""

from kronbench.optim.krylov import (
    ShiftedSolutions,
    Solution,
    cg,
    minres,
    multishift_minres,
    qmr,
)
from kronbench.optim.losses import LOSSES, Loss, get_loss
from kronbench.optim.margin_preconditioner import MarginPreconditioner
from kronbench.optim.newton import Iterate, NewtonResult, newton_dual, newton_primal

__all__ = [
    "LOSSES",
    "Iterate",
    "Loss",
    "MarginPreconditioner",
    "NewtonResult",
    "ShiftedSolutions",
    "Solution",
    "cg",
    "get_loss",
    "minres",
    "multishift_minres",
    "newton_dual",
    "newton_primal",
    "qmr",
]
