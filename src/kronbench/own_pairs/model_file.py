"""Models in files: a zip of numpy's arrays and of ``model.json``, which says where each belongs.

Nothing is unpickled or imported by a name in the file: an object is one of the types below, with
its attributes. The last bytes are a magic word, the number of the format and the sha256 of all
before. This is written by hand since skops, whose format it was, loads every estimator of
scikit-learn on import: 2 of the 4.5 processor seconds in which two pairs were predicted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kronbench import __version__, evaluation, models
from kronbench.errors import InputError
from kronbench.files import replacing
from kronbench.io import check_readable
from kronbench.linalg import LowRankFactor
from kronbench.models._vertex_features import VertexFeatures
from kronbench.own_pairs import KEPT, REFITTED
from kronbench.own_pairs.recipe import Fitted, Recipe, check_memory
from kronbench.own_pairs.sides import TRANSFORMERS, has_its_transformer
from kronbench.pairs import PairData
from kronbench.pairs.frames import VertexTable

FORMAT = 4
_COMMENT = "kronbench model, format {:04d}, sha256 {}"
_TAIL = re.compile(rb"kronbench model, format ([0-9]{4}), sha256 ([0-9a-f]{64})")
_TAIL_BYTES = len(_COMMENT.format(FORMAT, "0" * 64))


@dataclass(frozen=True)
class Model:
    """All that predictions need: ``data`` are the training pairs over features as given.

    ``names`` are the columns of row ids, column ids and labels in the table of these pairs.
    A file of a solver that is fitted again has the labels ``y`` (n,) in place of ``fitted``. For
    intervals ``left_out`` has the errors of each setting (:mod:`.prediction_intervals`); files of
    before have none.
    """

    recipe: Recipe
    fitted: Fitted
    data: PairData
    sides: tuple[VertexTable, VertexTable]
    names: tuple[str, str, str]
    y: np.ndarray | None = None
    left_out: dict[str, tuple[int, np.ndarray]] | None = None


# The types that a model is made of, beside arrays, numbers and texts; estimators and the splits
# of their choice are imported when a file has one.
_TYPES: dict[str, type] = {
    of.__name__: of
    for of in (Model, Recipe, Fitted, PairData, VertexTable, LowRankFactor, VertexFeatures)
}
_TYPES_ON_DEMAND = {"SettingKFold": evaluation}
_TYPES_ON_DEMAND |= dict.fromkeys(
    (*KEPT, "VertexScaler", "Landmarks", *TRANSFORMERS.values()), models
)


def save_model(model: Model, path: str | Path) -> str:
    """Write a model, whole or not at all; the sha256 of its content."""
    left_out: Any = {"fitted" if model.recipe.solver in REFITTED else "y": None}
    model = replace(model, **left_out)
    arrays: dict[int, tuple[str, np.ndarray]] = {}
    described = json.dumps(_described(model, arrays))
    # The arrays go to the file one by one: they may be much of what memory there is.
    with replacing(path) as temporary:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **dict(arrays.values()))
        with zipfile.ZipFile(temporary, "a") as packed:
            packed.writestr("model.json", described)
        with temporary.open("r+b") as file:
            sha256 = hashlib.file_digest(file, "sha256")
            comment = _COMMENT.format(FORMAT, "").encode()
            sha256.update(comment)
            file.write(comment + sha256.hexdigest().encode())
    return sha256.hexdigest()


def load_model(path: str | Path) -> Model:
    """Read what ``save_model`` wrote; InputError where it is damaged, or has types of others."""
    check_readable(path)
    with Path(path).open("rb") as file:
        model = _read(path, file)
    # A closed form is fitted again to its labels.
    if model.y is not None:
        check_memory(model.recipe, model.data)
        model = replace(model, fitted=model.recipe.fit(model.data, model.y))
    return model


def _read(path, file):
    """The model in an open file."""
    # The tail says whether it is a model, of which format, and whether it is whole.
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - _TAIL_BYTES))
    tail = _TAIL.fullmatch(file.read())
    if not tail:
        raise InputError(f"{path} is not a model file of kronbench, or is truncated: fit again")
    if (form := int(tail[1])) != FORMAT:
        age, advice = ("a later", "update it") if form > FORMAT else ("an earlier", "fit anew")
        raise InputError(
            f"{path} is of format {form}, from {age} kronbench: this one, {__version__}, reads "
            f"format {FORMAT}; {advice}"
        )
    if _sha256(file, size - 64).encode() != tail[2]:
        raise InputError(
            f"{path} is damaged, since its sha256 differs: copy it again, or fit again"
        )
    try:
        # Refuse what unpacks to more than it says, then what is no model.
        with zipfile.ZipFile(file) as packed:
            entries = packed.infolist()
            if any(
                entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size
                for entry in entries
            ):
                raise ValueError("a member is compressed")
            if sum(entry.file_size for entry in entries) > size:
                raise ValueError("its members claim more bytes than it has")
            model = _rebuilt(json.loads(packed.read("model.json")), packed, {})
        _check_said(model)
        _check_arrays(model)
    except Exception as error:  # a file from anywhere may lead any step astray
        raise InputError(f"{path} is not a complete model ({error}): fit again") from None
    return model


def _sha256(file, size):
    """The sum of the first bytes of a file, which is read in parts."""
    sha256, part = hashlib.sha256(), 1 << 20
    file.seek(0)
    for start in range(0, size, part):
        sha256.update(file.read(min(part, size - start)))
    return sha256.hexdigest()


def _are_texts(parts):
    return {*map(type, parts)} == {str}


def _described(value, arrays):
    """JSON of a value, with the members of its arrays; ``arrays`` has those, by identity."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):  # one that stands in several places is one member
        return {"file": arrays.setdefault(id(value), (str(len(arrays)), value))[0] + ".npy"}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, tuple) and _are_texts(value):  # the ids of very many vertices
        return {"tuple": value}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_described(part, arrays) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[_described(part, arrays) for part in pair] for pair in value.items()]}
    if isinstance(value, sparse.csr_array):
        parts = value.data, value.indices, value.indptr, value.shape
        return {"csr": [_described(part, arrays) for part in parts]}
    if (name := type(value).__name__) not in (_TYPES | _TYPES_ON_DEMAND):
        raise TypeError(f"a model file has no {name}")
    return {"type": name, **{key: _described(part, arrays) for key, part in vars(value).items()}}


def _rebuilt(node, packed, known):
    """What JSON describes; ValueError of what no model has.

    ``known`` is filled with the arrays of members, and with tuples of texts: what stands in
    several places is one object.
    """

    def each(parts):
        return [_rebuilt(part, packed, known) for part in parts]

    match node:
        case None | bool() | int() | float() | str():
            return node
        case {"file": str(name), **rest} if not rest:
            if name not in known:
                with packed.open(name) as member:
                    known[name] = np.lib.format.read_array(member, allow_pickle=False)
            return known[name]
        case {"dtype": "float32" | "float64" as name, **rest} if not rest:
            return np.dtype(name)
        case {"list": list(parts), **rest} if not rest:
            return each(parts)
        case {"tuple": list(parts), **rest} if not rest:
            if _are_texts(parts):
                return known.setdefault(texts := tuple(parts), texts)
            return tuple(each(parts))
        case {"dict": list(pairs), **rest} if not rest:
            return dict(map(each, pairs))
        case {"csr": list(parts), **rest} if not rest:
            *arrays, shape = each(parts)
            matrix = sparse.csr_array(tuple(arrays), shape=shape)
            matrix.check_format(full_check=True)
            return matrix
        case {"type": str(name), **state} if name in (_TYPES | _TYPES_ON_DEMAND):
            of: Any = _TYPES.get(name) or getattr(_TYPES_ON_DEMAND[name], name)
            made = of.__new__(of)
            vars(made).update(zip(state, each(state.values()), strict=True))
            return made
    raise ValueError(f"it has {str(node)[:40]}, which no model has")


def _check_said(model):
    """Refuse names and parameters that ``fit`` does not write, before a solver is made of them."""
    recipe, sides, names = model.recipe, model.sides, model.names
    if recipe.solver not in KEPT:
        raise ValueError(f"its solver is '{recipe.solver}', which no model file holds")
    names = [*names, *(name for side in sides for name in (side.name, *side.ids, *side.columns))]
    if len(model.names) != 3 or {*map(type, names)} != {str}:
        raise ValueError("its columns or ids have no names")
    # An attribute that is missing would have the default of its class.
    whole = all(vars(of).keys() == {field.name for field in fields(of)} for of in (recipe, *sides))
    plain = {*map(type, recipe.parameters.values())} <= {str, int, float, bool, type(None)}
    plain &= {*map(type, (*recipe.scaled, *recipe.clipped))} == {bool}
    plain &= {*map(type, recipe.mended)} == {str} and recipe.setting in (None, *"ABCD")
    plain &= all(isinstance(unit, float) and unit > 0 for unit in recipe.units)
    # What makes features of texts is as a fit has it.
    plain &= all(map(has_its_transformer, sides))
    if not (whole and plain):
        raise ValueError("its recipe or a table of its vertices is not one")
    wanted = recipe.estimator()
    wanted._check_parameters()
    if model.y is None:
        estimator = model.fitted.estimator
        kinds = [(type(one), _parameters_of(one)) for one in (estimator, wanted)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"its solver is not {recipe}")
        for fit in (estimator, getattr(estimator, "best_estimator_", estimator)):
            # A file of before has no name of a parameter that is new.
            now = _parameters_of(fit)
            if now | getattr(fit, "fitted_params_", {}) != now:
                raise ValueError("its parameters are not those of its fit")


def _parameters_of(estimator):
    return {key: value for key, value in estimator.get_params(deep=False).items() if key != "cv"}


def _check_arrays(model):
    """Refuse arrays that do not fit each other: compiled loops would read beyond their ends."""
    data, fits = model.data, []
    # Tables have a row of features an id.
    for side, X in zip(model.sides, (data.row_features, data.col_features), strict=True):
        if {side.features.shape, X.shape} != {(len(side.ids), len(side.columns))}:
            raise ValueError(f"{side.name} has features of shape {X.shape}")
        if len(set(side.ids)) != len(side.ids):
            raise ValueError(f"{side.name} has an id twice")
    # What comes before the solver fits the columns of the tables.
    if model.y is None:
        outer, before = model.fitted.estimator, model.fitted.before
        fits = [outer, getattr(outer, "best_estimator_", outer)]
        for name, moment in vars(before).items():
            width = len(model.sides[name.startswith("col")].columns)
            if name.endswith("_") and moment is not None and moment.shape != (width,):
                raise ValueError(f"{name} has shape {moment.shape}")
        for side, matrices in before._projections.items():
            width = len(model.sides[side == "col"].columns)
            if [matrix.shape for matrix in matrices] != [(width, width)] * 3:
                raise ValueError(f"a projection of the {side}s has another shape than its table")
    elif model.recipe.solver not in REFITTED or model.y.shape != data.shape:
        raise ValueError(f"its labels have shape {model.y.shape}")
    # All pairs are of the same vertices, as PairData itself would make them of the arrays.
    sizes = (*(len(side.ids) for side in model.sides), len(data))
    for X in (data, *(fit.X_fit_ for fit in fits if hasattr(fit, "X_fit_"))):
        checked = PairData(X.row_features, X.col_features, X.rows, X.cols)
        checked.row_ids, checked.col_ids = ids = X.row_ids, X.col_ids
        same = all(
            vars(X)[name] is array for name, array in vars(checked).items() if name[:2] != "n_"
        )
        for of_side, size in zip(ids, sizes[:2], strict=True):  # what knows a vertex again
            same &= of_side is None or [*map(type, of_side)] == [str] * size
        if not same or {(of.n_rows, of.n_cols, *of.shape) for of in (X, checked)} != {sizes}:
            raise ValueError("X_fit_ has other pairs or vertices than the tables")
    # Coefficients are one a pair, and all numbers are finite, predictions too.
    for name, fit in product(("dual_coef_", "y_fit_"), fits):
        if (values := getattr(fit, name, None)) is not None and values.shape != data.shape:
            raise ValueError(f"{name} has shape {values.shape}")
    # Errors of intervals are sorted sizes, of some pairs or vertices.
    for setting, (units, errors) in (model.left_out or {}).items():
        plain = type(units) is int and units > 1 and errors.ndim == 1 and len(errors) > 0
        if setting not in (*"ABCD",) or not plain or np.diff(errors, prepend=0.0).min() < 0:
            raise ValueError(f"its errors of setting {setting} are none")
    _check_finite({"fitted": model.fitted, "y": model.y, "left_out": model.left_out})
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
        elif name not in ("objective_path_", "cv_results_", "ids", "row_ids", "col_ids"):
            inside = dict(enumerate(part)) if isinstance(part, list | tuple) else part
            _check_finite(inside if isinstance(inside, dict) else getattr(part, "__dict__", {}))
