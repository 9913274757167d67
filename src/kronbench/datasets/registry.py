"""The registry: which files each data set is made of, where they come from, how they are checked.

``config/datasets.yaml``; the file named by ``KRONBENCH_REGISTRY``, and the ``data.yaml`` of a
paper from outside, which are checked against its schema, add entries of the same form, under names
of their own, whose files lie beside them.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kronbench.errors import InputError
from kronbench.resources import ADDED_REGISTRIES, config_path
from kronbench.yaml_files import read_yaml, validate

_UNREGISTERED_LIMIT = 1 << 32  # bytes; for files whose size is not registered


@dataclass(frozen=True)
class FileEntry:
    """One registered file; ``sha256`` and ``bytes`` are of the uncompressed file, or None."""

    mirror: str
    sha256: str | None = None
    git_blob: str | None = None
    bytes: int | None = None
    urls: tuple[str, ...] = ()

    @property
    def limit(self) -> int:
        """Bytes that no version of the file has: twice its size, and room for an error page."""
        return _UNREGISTERED_LIMIT if self.bytes is None else 2 * self.bytes + (1 << 16)


@dataclass(frozen=True)
class Entry:
    """One registered data set, as in ``config/datasets.yaml``."""

    name: str
    title: str
    loader: str
    licence: str
    citation: str
    options: Mapping = field(default_factory=dict)
    surrogate: Mapping = field(default_factory=dict)
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    shape: Mapping[str, tuple] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    agreement: str = ""
    other_data: Mapping[str, str] = field(default_factory=dict)
    manual: Mapping | None = None
    folds: Mapping[str, Mapping] = field(default_factory=dict)  # each with its ``files``
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by "rows" and "cols"
    own: bool = False  # an entry of ``KRONBENCH_REGISTRY``, of which no paper speaks
    folder: Path | None = None  # where its files are looked for first


def entries() -> dict[str, Entry]:
    """All registered data sets by name, in the order of the registry, then the user's own."""
    known = dict(_entries_of(config_path("datasets.yaml")))
    files = [file for file in ADDED_REGISTRIES if file.is_file()]
    own = os.environ.get("KRONBENCH_REGISTRY")
    # A name has one meaning, in any case of its letters.
    for file in [*files, Path(own).expanduser().absolute()] if own else files:
        lowered = {name.lower(): name for name in known}
        for name, entry in _entries_of(file).items():
            if taken := lowered.get(name.lower()):
                raise InputError(
                    f"{file}: {name} has the name of the shipped data set {taken}; give it "
                    "another name"
                )
            known[name] = replace(entry, own=file not in files, folder=file.parent)
    return known


def find(name: str) -> Entry:
    """The entry of a data set, matched without regard to case."""
    known = {entry.name.lower(): entry for entry in entries().values()}
    if entry := known.get(name.lower()):
        return entry
    close = [known[key].name for key in difflib.get_close_matches(name.lower(), known, cutoff=0.5)]
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise InputError(
        f"there is no data set '{name}'; {hint}'python -m kronbench data list' shows all"
    )


def _entries_of(path):
    """The entries of a file, read again when it has changed."""
    return _entries_of_unchanged(path, path.stat().st_mtime_ns if path.is_file() else None)


@functools.lru_cache(maxsize=8)
def _entries_of_unchanged(path, _stamp):
    content = read_yaml(path) or {}
    if path != config_path("datasets.yaml"):  # a test checks that one
        validate(content, "datasets", path)
    lowered = {name.lower(): name for name in content}
    if differ := set(content) - set(lowered.values()):
        name = min(differ)
        raise InputError(f"{path}: {name} and {lowered[name.lower()]} differ only in case")
    return {name: _entry_of(name, fields) for name, fields in content.items()}


def _file_entries(records, copies=()):
    """The files of an entry; ``copies`` are the folders of those that list no urls."""
    found = {}
    for key, record in records.items():
        name = record["mirror"].rpartition("/")[2]
        urls = record.get("urls", [folder + name for folder in copies])
        found[key] = FileEntry(**{**record, "urls": tuple(urls)})
    return found


def _entry_of(name, fields):
    known = {key: value for key, value in fields.items() if key != "copies"}
    known["files"] = _file_entries(known.get("files", {}), fields.get("copies", ()))
    known["shape"] = {key: tuple(dims) for key, dims in known.get("shape", {}).items()}
    known["notes"] = tuple(known.get("notes", ()))
    known["folds"] = {
        key: {**record, "files": _file_entries(record["files"])}
        for key, record in known.get("folds", {}).items()
    }
    return Entry(name=name, **known)
