from .csi_decomposition import (
    csi as csi,
)
from .eigen import psd_part as psd_part
from .gemm import (
    multiply as multiply,
    one_blas_thread as one_blas_thread,
)
from .gram_matrix import (
    KernelColumns as KernelColumns,
    dense as dense,
    gram as gram,
)
from .krylov import (
    ShiftedSolutions as ShiftedSolutions,
    Solution as Solution,
    cg as cg,
    minres as minres,
    multishift_minres as multishift_minres,
    qmr as qmr,
)
from .lowrank import (
    LowRankFactor as LowRankFactor,
    incomplete_cholesky as incomplete_cholesky,
)
