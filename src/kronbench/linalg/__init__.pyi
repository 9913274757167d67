from .eigen import psd_part as psd_part
from .gram_matrix import (
    dense as dense,
)
from .gram_matrix import (
    gram as gram,
)
from .kernel_columns import (
    KernelColumns as KernelColumns,
)
from .krylov import (
    Solution as Solution,
)
from .krylov import (
    cg as cg,
)
from .krylov import (
    minres as minres,
)
from .krylov import (
    qmr as qmr,
)
from .lowrank import (
    LowRankFactor as LowRankFactor,
)
from .lowrank import (
    csi as csi,
)
from .lowrank import (
    incomplete_cholesky as incomplete_cholesky,
)
from .matrix_products import (
    multiply as multiply,
)
from .matrix_products import (
    one_blas_thread as one_blas_thread,
)
from .multishift import (
    ShiftedSolutions as ShiftedSolutions,
)
from .multishift import (
    multishift_minres as multishift_minres,
)
