"""What a data set is once it is read, and what a loader must offer to read it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy import sparse

from kronbench.errors import InputError
from kronbench.files import replacing_all

KINDS = {
    "pairs": "row_features, col_features; rows, cols, labels of each pair, drawn by a formula",
    "labelled pairs": "the same of one's own tables; values, the labels as given",
    "pairs of texts": "smiles, sequences; rows, cols, labels, parts of each pair",
    "label matrix": "values, labels (m, q); drug_similarity, target_similarity",
    "vectors": "X dense, y; perhaps a split is_test and a tree of classes parents",
    "documents": "X sparse counts of words, y, parents; perhaps is_test",
    "classes": "what is known of classes without any features: labels in a tree, or sizes",
}

Arrays: TypeAlias = dict[str, np.ndarray | sparse.csr_array]
_SPARSE_PARTS = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True)
class Loader:
    """How data sets of one format are read or drawn; functions get the registry's ``options``.

    ``kind`` is the kind of data, a key of `KINDS`. ``parse(files, **options)`` reads objects with
    a ``name`` for messages and ``open()``, a binary stream of the uncompressed bytes, by the
    registry's keys. ``surrogate(rng, **options, **surrogate)`` draws data of the published shape
    if the files cannot be obtained: it gets the options that it names, all of the registry's
    ``surrogate``, and as ``files`` those of ``surrogate_files`` that exist. ``generate(rng,
    **options)`` is the published formula of data sets that have no files. All give arrays by name.
    """

    kind: str
    parse: Callable[..., dict] | None = None
    surrogate: Callable[..., dict] | None = None
    generate: Callable[..., dict] | None = None
    surrogate_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileRecord:
    """A file that a data set was read from: mirror path, sum and size when uncompressed.

    ``origin`` is the address it was downloaded from, "cache" if that was earlier, "mirror folder"
    or "put in place by hand".
    """

    path: str
    sha256: str
    bytes: int
    origin: str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Named arrays with where they come from; ``dataset["values"]`` is one array.

    ``source`` is "download", "mirror", "manual", "own" (files of an entry that
    ``KRONBENCH_REGISTRY`` adds, wherever they lay), "surrogate" or "generated"; ``kind``, a key
    of `KINDS`, says which arrays there are; ``arrays`` maps names to dense arrays or
    ``scipy.sparse.csr_array``; ``options`` are the registry's (thresholds, sizes); ``agreement``
    is "exact", "matches n and p" or "relative" if the paper does not fully describe the row of
    these data, else ""; ``other_data`` says, by a paper's key, how the data differ from those of
    the paper.
    """

    name: str
    source: str
    kind: str
    arrays: Mapping[str, np.ndarray | sparse.csr_array]
    files: tuple[FileRecord, ...] = ()
    notes: tuple[str, ...] = ()
    title: str = ""
    licence: str = ""
    citation: str = ""
    options: Mapping = field(default_factory=dict)
    agreement: str = ""
    other_data: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        if self.kind not in KINDS:
            raise InputError(
                f"{self.name}: kind is {self.kind!r}; give one of {', '.join(map(repr, KINDS))}"
            )

    def __getitem__(self, name: str) -> np.ndarray | sparse.csr_array:
        try:
            return self.arrays[name]
        except KeyError:
            raise InputError(
                f"{self.name} has no array '{name}'; it has: {', '.join(self.arrays)}"
            ) from None

    def __repr__(self) -> str:
        sizes = ", ".join(f"{key} {value.shape}" for key, value in self.arrays.items())
        return f"Dataset({self.name}, source={self.source}, kind={self.kind}, {sizes})"

    @property
    def provenance(self) -> dict:
        """Everything but the numbers, ready for JSON."""
        known = {part.name: getattr(self, part.name) for part in fields(self)}
        known["files"] = [asdict(record) for record in self.files]
        known["arrays"] = {
            key: {"shape": list(map(int, value.shape)), "dtype": str(value.dtype)}
            for key, value in self.arrays.items()
        }
        return known

    def save(self, folder: str | Path) -> None:
        """Write ``data.npz`` and ``provenance.json`` into ``folder``: both, or none."""
        # A sparse matrix is stored in its parts, since numpy would pickle it.
        folder = Path(folder)
        stored = {}
        for key, value in self.arrays.items():
            if sparse.issparse(value):
                stored |= {
                    f"{key}.{part}": np.asarray(getattr(value, part)) for part in _SPARSE_PARTS
                }
            else:
                stored[key] = value
        if any(value.dtype.hasobject for value in stored.values()):
            raise InputError(f"{self.name} has an array of Python objects: give numbers or text")
        with replacing_all([folder / "data.npz", folder / "provenance.json"]) as (arrays, record):
            np.savez(arrays, **stored)
            record.write_text(json.dumps(self.provenance, indent=1), encoding="utf-8")

    @classmethod
    def open(cls, folder: str | Path) -> Dataset:
        """Read what ``save`` wrote."""
        folder = Path(folder)
        try:
            # The provenance says which arrays there are, with their shapes.
            known = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
            with np.load(folder / "data.npz", allow_pickle=False) as stored:
                arrays = {}
                for key, kind in known.pop("arrays").items():
                    if f"{key}.indptr" in stored:
                        *parts, shape = (stored[f"{key}.{part}"] for part in _SPARSE_PARTS)
                        arrays[key] = sparse.csr_array(tuple(parts), shape=tuple(shape))
                    else:
                        arrays[key] = stored[key]
                    if list(arrays[key].shape) != kind["shape"]:
                        raise ValueError(f"{key} has another shape than its provenance says")
            known["files"] = tuple(FileRecord(**record) for record in known["files"])
            known["notes"] = tuple(known["notes"])
            return cls(arrays=arrays, **known)
        except FileNotFoundError as error:
            raise InputError(
                f"{error.filename} is missing: {folder} does not hold a prepared data set"
            ) from None
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{folder} holds a data set that is damaged or of an earlier version "
                f"({error}): delete the folder and prepare the data again"
            ) from None
