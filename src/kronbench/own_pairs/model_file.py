"""Models in files: arrays and JSON in one zip, without pickle, refused when anything is off.

A file is an uncompressed zip of ``model.json`` and of ``.npy`` members, which ``numpy.load`` opens
as well. Its comment, the last bytes of the file, is a magic word, the number of the format and the
sha256 of all bytes before.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kronbench import __version__
from kronbench.errors import InputError
from kronbench.files import replacing
from kronbench.io import check_readable
from kronbench.own_pairs.recipe import Before, Fitted, Recipe

if TYPE_CHECKING:
    from kronbench.pairs import PairData
    from kronbench.pairs.frames import VertexTable

FORMAT = 1
_COMMENT = "kronbench model, format {:04d}, sha256 {}"
_TAIL = re.compile(rb"kronbench model, format ([0-9]{4}), sha256 ([0-9a-f]{64})")
_TAIL_BYTES = len(_COMMENT.format(FORMAT, "0" * 64))
_DATE = (1980, 1, 1, 0, 0, 0)  # the same model makes the same bytes
_HEADER_BYTES = 500  # of an array; Python's parser needs memory without end for some long ones
_SPARSE = ("data", "indices", "indptr")
_SCALES = ("row_mean_", "row_scale_", "col_mean_", "col_scale_")

# The fitted attributes that predictions come of, beside the maps of a primal form.
_FITTED = {
    "KronNewton": ("dual_coef_", "coef_", "intercept_", "classes_"),
    "KronRidge": ("dual_coef_", "coef_", "intercept_"),
    "KronRidgeCV": ("dual_coef_", "y_fit_"),
    "KronSVM": ("dual_coef_", "coef_", "intercept_", "classes_"),
    "PairSGD": ("row_coef_", "col_coef_", "intercept_", "classes_"),
}


@dataclass(frozen=True)
class Model:
    """What a file holds: all that predictions need.

    Attributes
    ----------
    recipe : Recipe
    fitted : Fitted
    data : PairData
        The training pairs, over features as given.
    sides : (VertexTable, VertexTable)
    names : (str, str, str)
        Columns of row ids, column ids and labels in the table of the training pairs.
    """

    recipe: Recipe
    fitted: Fitted
    data: PairData
    sides: tuple[VertexTable, VertexTable]
    names: tuple[str, str, str]


def check_keeps(solver: str) -> None:
    """InputError unless a fit of a solver, whose name is checked, can be kept in a file."""
    if solver not in _FITTED:
        raise InputError(f"{solver} cannot be kept in a file: give one of {', '.join(_FITTED)}")


def save(model: Model, path: str | Path) -> str:
    """Write a model, whole or not at all; the sha256 of its content."""
    arrays = {
        "rows": model.data.rows,
        "cols": model.data.cols,
        **_features_as_arrays("row_features", model.data.row_features),
        **_features_as_arrays("col_features", model.data.col_features),
    }
    for name in _FITTED[model.recipe.solver]:
        if hasattr(model.fitted.estimator, name):
            arrays[name] = np.asarray(getattr(model.fitted.estimator, name))
    maps = getattr(model.fitted.estimator, "feature_maps_", ())
    for side, map_ in zip(("row", "col"), maps, strict=False):  # none in the dual form
        for name, values in map_.arrays().items():
            arrays |= _features_as_arrays(f"{side}_map_{name}", values)
    before = model.fitted.before
    for name in _SCALES:
        if getattr(before.scaler, name, None) is not None:
            arrays[name] = getattr(before.scaler, name)
    if before.landmarks is not None:
        for name, values in before.landmarks._arrays().items():
            arrays |= _features_as_arrays(name, values)
    record = {
        "kronbench": __version__,
        "solver": model.recipe.solver,
        "parameters": dict(model.recipe.parameters),
        "scaled": list(model.recipe.scaled),
        "landmarks": list(model.recipe.landmarks),
        "seed": model.recipe.seed,
        "offset": model.fitted.offset,
        "chosen": getattr(model.fitted.estimator, "best_params_", None),
        "names": list(model.names),
        "sides": [
            {
                "name": Path(side.name).name,
                "ids": list(side.ids),
                "columns": list(side.columns),
                "similarity": side.similarity,
                "fingerprint": side.fingerprint,
            }
            for side in model.sides
        ],
        "arrays": sorted(arrays),
    }
    with replacing(path) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as file:
            _write(file, "model.json", json.dumps(record, indent=1).encode())
            for name in sorted(arrays):
                content = io.BytesIO()
                np.lib.format.write_array(content, arrays[name], allow_pickle=False)
                _write(file, f"{name}.npy", content.getbuffer())
            file.comment = _COMMENT.format(FORMAT, "0" * 64).encode()
        return _seal(temporary)


def load(path: str | Path) -> Model:
    """Read what ``save`` wrote.

    Raises
    ------
    InputError
        The file is no model, damaged, of a later format, or does not hold what it says.
    """
    path = Path(path)
    check_readable(path)
    content = path.read_bytes()
    found = _TAIL.fullmatch(content[-_TAIL_BYTES:])
    if not found:
        raise InputError(f"{path} is no model of kronbench, or its end is missing: fit it anew")
    if int(found[1]) > FORMAT:
        raise InputError(
            f"{path} is of format {int(found[1])}, from a later kronbench: this one, "
            f"{__version__}, reads format {FORMAT}; update it"
        )
    digest = hashlib.sha256(content[:-64]).hexdigest().encode()
    if int(found[1]) < FORMAT or digest != found[2]:
        raise InputError(
            f"{path} is damaged, for its sha256 is another: copy it anew, or fit again"
        )
    try:
        return _assembled(_members(content))
    except (
        zipfile.BadZipFile, ValueError, KeyError, IndexError, TypeError, AttributeError,
        EOFError, OverflowError, RuntimeError,
    ) as error:  # fmt: skip
        raise InputError(f"{path} is no whole model ({error}): fit it anew") from None


def _write(file, name, content):
    file.writestr(zipfile.ZipInfo(name, _DATE), content)


def _seal(path):
    """Put the sha256 of all bytes before it at the end."""
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        digest, left = hashlib.sha256(), size - 64
        while left:
            part = file.read(min(left, 1 << 20))
            digest.update(part)
            left -= len(part)
        file.seek(size - 64)
        file.write(digest.hexdigest().encode())
    return digest.hexdigest()


def _members(content):
    """The members by name; what is compressed, or claims more than the file has, is refused."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        entries = file.infolist()
        if any(
            entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size
            for entry in entries
        ):
            raise ValueError("a member is compressed")
        if sum(entry.file_size for entry in entries) > len(content):
            raise ValueError("its members claim more bytes than it has")
        return {entry.filename: file.read(entry) for entry in entries}


def _array(content):
    """An array from the bytes of an ``.npy`` file, whose header may claim any size."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array is of another version")
    shape, column_major, dtype = np.lib.format.read_array_header_1_0(file, _HEADER_BYTES)
    if dtype.kind not in "fiu" or any(size < 0 for size in shape):
        raise ValueError(f"an array is of dtype {dtype} and shape {shape}")
    n_bytes = dtype.itemsize
    for size in shape:
        n_bytes *= int(size)
    if n_bytes != len(content) - file.tell():
        raise ValueError(f"an array of shape {shape} has {len(content) - file.tell()} bytes")
    values = np.frombuffer(content, dtype, offset=file.tell())
    values = values.reshape(shape, order="F" if column_major else "C")
    return values.copy()  # numba compiles anew for arrays that are read-only


def _assembled(members):
    from kronbench.pairs import PairData  # here: what is damaged needs neither pandas nor scipy
    from kronbench.pairs.frames import VertexTable

    record = json.loads(members["model.json"])
    arrays = {name: _array(members[f"{name}.npy"]) for name in record["arrays"]}
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{name} is not finite")
    if record["solver"] not in _FITTED:
        raise ValueError(f"its solver is {record['solver']!r}")
    recipe = Recipe(
        record["solver"],
        dict(record["parameters"]),
        tuple(record["scaled"]),
        # files of before there were landmarks and fingerprints
        tuple(record.get("landmarks", (None, None))),
        record.get("seed", 0),
    )
    sides = tuple(
        VertexTable(
            str(side["name"]),
            tuple(map(str, side["ids"])),
            tuple(map(str, side["columns"])),
            _features_of(arrays, f"{name}_features", len(side["ids"]), len(side["columns"])),
            bool(side["similarity"]),
            str(side.get("fingerprint", "")),
        )
        for name, side in zip(("row", "col"), record["sides"], strict=True)
    )
    for side in sides:
        if side.features.shape != (len(side.ids), len(side.columns)):
            raise ValueError(f"{side.name} has features of shape {side.features.shape}")
        if len(set(side.ids)) != len(side.ids):
            raise ValueError(f"{side.name} has an id twice")
    data = PairData(*(side.features for side in sides), arrays["rows"], arrays["cols"])
    before = _before(recipe, arrays, data)
    estimator = _restored(recipe, arrays, data, before, record.get("chosen"))
    fitted = Fitted(estimator, before, float(record["offset"]))
    if not np.isfinite(fitted.offset):
        raise ValueError("its offset is not finite")
    fitted.scores(recipe.compact(data[:1]))  # arrays that do not fit each other are refused here
    row, col, label = map(str, record["names"])
    return Model(recipe, fitted, data, sides, (row, col, label))


def _features_as_arrays(name, features):
    """Features by the names of their arrays in a file: one, or the three of a sparse matrix."""
    if isinstance(features, np.ndarray):
        return {name: features}
    return {f"{name}_{part}": getattr(features, part) for part in _SPARSE}


def _features_of(arrays, name, height, width):
    """The features again; ValueError where the arrays of a sparse matrix do not fit each other."""
    if name in arrays:
        return arrays[name]
    from scipy import sparse

    parts = [arrays[f"{name}_{part}"] for part in _SPARSE]
    matrix = sparse.csr_array(tuple(parts), (height, width))
    matrix.check_format(full_check=True)
    return matrix


def _before(recipe, arrays, data):
    """What is before the solver, as fitted."""
    scaler = landmarks = None
    if any(recipe.scaled):
        scaler = recipe.scaler()
        for name in _SCALES:
            setattr(scaler, name, arrays.get(name))
        scaler._done = {}
    if any(recipe.landmarks):
        found = {}
        for side, rank in zip(("row", "col"), recipe.landmarks, strict=True):
            if rank is not None:
                found[f"{side}_triangle"] = triangle = arrays[f"{side}_triangle"]
                found[f"{side}_landmarks"] = _features_of(
                    arrays, f"{side}_landmarks", len(triangle), _width(data, side)
                )
        landmarks = recipe.nystroem()._restore(found)
    return Before(scaler, landmarks)


def _width(data, side):
    return getattr(data, f"{side}_features").shape[1]


def _restored(recipe, arrays, data, before, chosen):
    estimator = recipe.estimator()
    if chosen is not None:
        X = before.transform(data)
        y, dual_coef = (_of_pairs(arrays, name, X) for name in ("y_fit_", "dual_coef_"))
        return estimator._restore(X, y, chosen, dual_coef)
    if "fit_intercept" in estimator.get_params():
        estimator.intercept_ = 0.0  # in files of before it was kept
    for name in _FITTED[recipe.solver]:
        if name in arrays:
            value = arrays[name]
            setattr(estimator, name, float(value) if value.ndim == 0 else value)
    if hasattr(estimator, "coef_"):
        estimator.feature_maps_ = tuple(
            _feature_map(recipe, estimator, arrays, data, side) for side in ("row", "col")
        )
        return estimator
    X = before.transform(data)
    if hasattr(estimator, "dual_coef_"):
        estimator.dual_coef_, estimator.X_fit_ = _of_pairs(arrays, "dual_coef_", X), X
    else:
        estimator._widths = X.row_features.shape[1], X.col_features.shape[1]
    return estimator


def _of_pairs(arrays, name, X):
    if arrays[name].shape != (len(X),):
        raise ValueError(f"{name} has shape {arrays[name].shape}")
    return arrays[name]


def _feature_map(recipe, estimator, arrays, data, side):
    """The map of one side of a primal form, from the features that come out of ``before``."""
    from kronbench.models._vertex_features import VertexFeatures

    kernel = getattr(estimator, f"{side}_kernel")
    height, width = getattr(data, f"{side}_features").shape
    if f"{side}_triangle" in arrays:  # of landmarks, whose features are as many
        width = len(arrays[f"{side}_triangle"])
    found = {}
    if kernel != "linear":
        found["triangle"] = triangle = arrays[f"{side}_map_triangle"]
        found["pivots"] = _features_of(arrays, f"{side}_map_pivots", len(triangle), width)
        if kernel == "precomputed" and found["pivots"].dtype.kind not in "iu":
            raise ValueError(f"{side}_map_pivots is of dtype {found['pivots'].dtype}")
    return VertexFeatures.restored(
        side, kernel, getattr(estimator, f"{side}_gamma"), estimator.coef_.dtype, (height, width),
        found,
    )  # fmt: skip
