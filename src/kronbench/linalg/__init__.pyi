from .csi_decomposition import (
    csi as csi,
)
from .eigen import psd_part as psd_part
from .gemm import (
    multiply as multiply,
    one_blas_thread as one_blas_thread,
)
from .gram_matrix import (
    dense as dense,
    gram as gram,
)
from .kernel_columns import (
    KernelColumns as KernelColumns,
)
from .krylov import (
    Solution as Solution,
    cg as cg,
    minres as minres,
    qmr as qmr,
)
from .lowrank import (
    LowRankFactor as LowRankFactor,
    incomplete_cholesky as incomplete_cholesky,
)
from .multishift import (
    ShiftedSolutions as ShiftedSolutions,
    multishift_minres as multishift_minres,
)
