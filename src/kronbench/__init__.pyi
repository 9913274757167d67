from . import (
    bench as bench,
)
from . import (
    classes as classes,
)
from . import (
    datasets as datasets,
)
from . import (
    evaluation as evaluation,
)
from . import (
    linalg as linalg,
)
from . import (
    models as models,
)
from . import (
    pairs as pairs,
)
from .errors import InputError as InputError
from .pairs.data import PairData as PairData

__version__: str
