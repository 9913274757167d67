"""Models in files: skops' format, a zip of arrays and JSON without pickle, of our types alone.

The last bytes of a file are a magic word, the number of the format and the sha256 of all before.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from skops import io as skops_io

from kronbench import __version__, models
from kronbench.errors import InputError
from kronbench.evaluation import SettingKFold
from kronbench.files import replacing
from kronbench.io import check_readable
from kronbench.linalg import LowRankFactor
from kronbench.models import _vertex_features
from kronbench.own_pairs.recipe import Fitted, Recipe, available_memory
from kronbench.pairs import PairData
from kronbench.pairs.frames import VertexTable

FORMAT = 2
_COMMENT = "kronbench model, format {:04d}, sha256 {}"
_TAIL = re.compile(rb"kronbench model, format ([0-9]{4}), sha256 ([0-9a-f]{64})")
_TAIL_BYTES = len(_COMMENT.format(FORMAT, "0" * 64))
KEPT = ("KronNewton", "KronRidge", "KronRidgeCV", "KronSVM", "PairSGD")


@dataclass(frozen=True)
class Model:
    """All that predictions need: ``data`` are the training pairs over features as given.

    ``names`` are the columns of row ids, column ids and labels in the table of these pairs.
    """

    recipe: Recipe
    fitted: Fitted
    data: PairData
    sides: tuple[VertexTable, VertexTable]
    names: tuple[str, str, str]


# The types that a model is made of, beside arrays, numbers and texts.
_TRUSTED = [
    *(Model, Recipe, Fitted, PairData, VertexTable, SettingKFold),
    *(np.dtype, sparse.csr_array),
    *(getattr(models, name) for name in (*KEPT, "VertexScaler")),
    *(LowRankFactor, _vertex_features.VertexFeatures),
]


def save(model: Model, path: str | Path) -> str:
    """Write a model, whole or not at all; the sha256 of its content."""
    with replacing(path) as temporary:
        content = skops_io.dumps(model) + _COMMENT.format(FORMAT, "").encode()
        digest = hashlib.sha256(content).hexdigest()
        temporary.write_bytes(content + digest.encode())
    return digest


def load(path: str | Path) -> Model:
    """Read what ``save`` wrote; InputError where that is damaged, or has other types than ours."""
    check_readable(path)
    content = Path(path).read_bytes()
    found = _TAIL.fullmatch(content[-_TAIL_BYTES:])
    if not found:
        raise InputError(f"{path} is not a model file of kronbench, or is truncated: fit again")
    if (form := int(found[1])) != FORMAT:
        age, advice = ("a later", "update it") if form > FORMAT else ("an earlier", "fit anew")
        raise InputError(
            f"{path} is of format {form}, from {age} kronbench: this one, {__version__}, reads "
            f"format {FORMAT}; {advice}"
        )
    if hashlib.sha256(content[:-64]).hexdigest().encode() != found[2]:
        raise InputError(
            f"{path} is damaged, since its sha256 differs: copy it again, or fit again"
        )
    try:
        # Refuse what unpacks to more than it says, and sparse matrices that are none.
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            entries = file.infolist()
            if any(
                entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size
                for entry in entries
            ):
                raise ValueError("a member is compressed")
            if sum(entry.file_size for entry in entries) > len(content):
                raise ValueError("its members claim more bytes than it has")
            for entry in entries:
                if entry.filename.endswith(".npz"):
                    _check_sparse(file.read(entry))
        model = skops_io.loads(content, trusted=_TRUSTED)
        _check_fit(model)
    except Exception as error:  # a file from anywhere may lead any step astray
        raise InputError(f"{path} is not a complete model ({error}): fit again") from None
    return model


def _check_sparse(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as parts:
        if sum(part.file_size for part in parts.infolist()) > available_memory():
            raise ValueError("a sparse matrix is larger than the memory")
    sparse.load_npz(io.BytesIO(packed)).check_format(full_check=True)


def _check_fit(model):
    """Refuse arrays that do not fit each other: compiled loops would read beyond their ends."""
    estimator, data = model.fitted.estimator, model.data
    inner = getattr(estimator, "best_estimator_", estimator)
    for X in (data, *(getattr(fit, "X_fit_", None) for fit in (estimator, inner))):
        if X is not None:
            PairData(X.row_features, X.col_features, X.rows, X.cols)
    for coefs in (getattr(fit, "dual_coef_", None) for fit in (estimator, inner)):
        if coefs is not None and coefs.shape != (len(data),):
            raise ValueError(f"dual_coef_ has shape {coefs.shape}")
    for side, X in zip(model.sides, (data.row_features, data.col_features), strict=True):
        if {side.features.shape, X.shape} != {(len(side.ids), len(side.columns))}:
            raise ValueError(f"{side.name} has features of shape {X.shape}")
        if len(set(side.ids)) != len(side.ids):
            raise ValueError(f"{side.name} has an id twice")
    if list(map(type, model.names)) != [str] * 3 or not str(model.recipe):
        raise ValueError("its columns have no names")
    if not np.isfinite(model.fitted.scores(data[:1])).all():
        raise ValueError("its predictions are not finite")
