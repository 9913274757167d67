"""Models in files: skops' format, a zip of arrays and JSON without pickle, of our types alone.

The last bytes of a file are a magic word, the number of the format and the sha256 of all before.
What a file names is compared with what there may be, before anything is made of it.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from skops import io as skops_io

from kronbench import __version__, models
from kronbench.errors import InputError
from kronbench.evaluation import SETTINGS, SettingKFold
from kronbench.files import replacing
from kronbench.io import check_readable
from kronbench.linalg import LowRankFactor
from kronbench.models import _vertex_features
from kronbench.own_pairs import KEPT, REFITTED
from kronbench.own_pairs.recipe import Fitted, Recipe, available_memory, check_memory
from kronbench.pairs import PairData
from kronbench.pairs.frames import VertexTable

FORMAT = 2
_COMMENT = "kronbench model, format {:04d}, sha256 {}"
_TAIL = re.compile(rb"kronbench model, format ([0-9]{4}), sha256 ([0-9a-f]{64})")
_TAIL_BYTES = len(_COMMENT.format(FORMAT, "0" * 64))


@dataclass(frozen=True)
class Model:
    """All that predictions need: ``data`` are the training pairs over features as given.

    ``names`` are the columns of row ids, column ids and labels in the table of these pairs.
    A file of a solver that is fitted again has the labels ``y`` (n,) in place of ``fitted``.
    """

    recipe: Recipe
    fitted: Fitted
    data: PairData
    sides: tuple[VertexTable, VertexTable]
    names: tuple[str, str, str]
    y: np.ndarray | None = None


# The types that a model is made of, beside arrays, numbers and texts.
_TRUSTED = [
    *(Model, Recipe, Fitted, PairData, VertexTable, SettingKFold),
    *(np.dtype, sparse.csr_array),
    *(getattr(models, name) for name in (*KEPT, "VertexScaler")),
    *(LowRankFactor, _vertex_features.VertexFeatures),
]
# How skops may make them. It also knows methods, functions and constructors.
_LOADERS = {
    *("ObjectNode", "NdArrayNode", "SparseMatrixNode", "DTypeNode", "TypeNode", "JsonNode"),
    *("BytesNode", "DictNode", "ListNode", "TupleNode"),
}


def save(model: Model, path: str | Path) -> str:
    """Write a model, whole or not at all; the sha256 of its content."""
    left_out: Any = {"fitted" if model.recipe.solver in REFITTED else "y": None}
    model = replace(model, **left_out)
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
                if (member := file.read(entry)).startswith(b"PK"):  # whatever its name is
                    _check_sparse(member)
            json.loads(file.read("schema.json"), object_hook=_check_made)
        model = skops_io.loads(content, trusted=_TRUSTED)
        _check_said(model)
        _check_arrays(model)
    except Exception as error:  # a file from anywhere may lead any step astray
        raise InputError(f"{path} is not a complete model ({error}): fit again") from None
    if model.y is not None:
        check_memory(model.recipe, model.data)
        model = replace(model, fitted=model.recipe.fit(model.data, model.y))
    return model


def _check_sparse(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as parts:
        if sum(part.file_size for part in parts.infolist()) > available_memory():
            raise ValueError("a sparse matrix is larger than the memory")
    sparse.load_npz(io.BytesIO(packed)).check_format(full_check=True)


def _check_made(node):
    """Refuse a node of skops' schema that would call something, which no model needs."""
    if (loader := node.get("__loader__", "DictNode")) not in _LOADERS:
        raise ValueError(f"it has a {loader}, which no model has")


def _check_said(model):
    """Refuse names and parameters that ``fit`` does not write, before a solver is made of them."""
    recipe, sides, names = model.recipe, model.sides, model.names
    if recipe.solver not in KEPT:
        raise ValueError(f"its solver is '{recipe.solver}', which no model file holds")
    names = [*names, *(name for side in sides for name in (side.name, *side.ids, *side.columns))]
    if len(model.names) != 3 or {*map(type, names)} != {str}:
        raise ValueError("its columns or ids have no names")
    # what is missing would have its default
    whole = all(vars(of).keys() == {field.name for field in fields(of)} for of in (recipe, *sides))
    plain = {*map(type, recipe.parameters.values())} <= {str, int, float, bool, type(None)}
    plain &= {*map(type, recipe.scaled)} == {bool} and recipe.setting in (None, *SETTINGS)
    if not (whole and plain):
        raise ValueError("its recipe or a table of its vertices is not one")
    wanted = recipe.estimator()
    wanted._check_parameters()
    if model.y is None:
        estimator = model.fitted.estimator
        if type(estimator) is not type(wanted) or _chosen(estimator) != _chosen(wanted):
            raise ValueError(f"its solver is not {recipe}")
        for fit in (estimator, getattr(estimator, "best_estimator_", estimator)):
            if getattr(fit, "fitted_params_", _chosen(fit)) != _chosen(fit):
                raise ValueError("its parameters are not those of its fit")


def _chosen(estimator):
    return {key: value for key, value in estimator.get_params(deep=False).items() if key != "cv"}


def _check_arrays(model):
    """Refuse arrays that do not fit each other: compiled loops would read beyond their ends."""
    data, fits = model.data, []
    for side, X in zip(model.sides, (data.row_features, data.col_features), strict=True):
        if {side.features.shape, X.shape} != {(len(side.ids), len(side.columns))}:
            raise ValueError(f"{side.name} has features of shape {X.shape}")
        if len(set(side.ids)) != len(side.ids):
            raise ValueError(f"{side.name} has an id twice")
    if model.y is None:
        outer, before = model.fitted.estimator, model.fitted.before
        fits = [outer, getattr(outer, "best_estimator_", outer)]
        for name, moment in vars(before).items():
            width = len(model.sides[name.startswith("col")].columns)
            if name.endswith("_") and moment is not None and moment.shape != (width,):
                raise ValueError(f"{name} has shape {moment.shape}")
    elif model.recipe.solver not in REFITTED or model.y.shape != data.shape:
        raise ValueError(f"its labels have shape {model.y.shape}")
    sizes = (*(len(side.ids) for side in model.sides), len(data))
    for X in (data, *(fit.X_fit_ for fit in fits if hasattr(fit, "X_fit_"))):
        checked = PairData(X.row_features, X.col_features, X.rows, X.cols)
        same = all(
            vars(X)[name] is array for name, array in vars(checked).items() if name[:2] != "n_"
        )
        if not same or {(of.n_rows, of.n_cols, *of.shape) for of in (X, checked)} != {sizes}:
            raise ValueError("X_fit_ has other pairs or vertices than the tables")
    for name, fit in product(("dual_coef_", "y_fit_"), fits):
        if (given := getattr(fit, name, None)) is not None and given.shape != data.shape:
            raise ValueError(f"{name} has shape {given.shape}")
    _check_finite({"fitted": model.fitted, "y": model.y})
    if fits and not np.isfinite(model.fitted.scores(data[:1])).all():
        raise ValueError("its predictions are not finite")


def _check_finite(parts):
    """Refuse numbers that are complex, NaN or infinite; the record of a fit may hold any."""
    for name, part in parts.items():
        part = part.data if isinstance(part, sparse.csr_array) else part
        if isinstance(part, np.ndarray | np.generic | float):
            values = np.asarray(part)
            if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
                raise ValueError(f"{name} does not hold finite numbers")
        elif name not in ("objective_path_", "cv_results_"):
            inside = dict(enumerate(part)) if isinstance(part, list | tuple) else part
            _check_finite(inside if isinstance(inside, dict) else getattr(part, "__dict__", {}))
