from . import (
    class_tree as class_tree,
    datasets as datasets,
    evaluation as evaluation,
    linalg as linalg,
    models as models,
    pairs as pairs,
)
from .errors import InputError as InputError
from .pairs.data import PairData as PairData

__version__: str
