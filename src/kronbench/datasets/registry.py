"""The registry: which files each data set is made of, where they come from, how they are checked.

``config/datasets.yaml``, checked against its schema; the file named by ``KRONBENCH_REGISTRY``, and
the ``data.yaml`` of a paper from outside, add entries of the same form, under names of their own,
whose files lie beside them.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kronbench.errors import InputError
from kronbench.resources import added_papers, config_path
from kronbench.settings import read_yaml, validate

_ANY_SIZE = 1 << 32  # bytes; for files whose size is not registered


@dataclass(frozen=True)
class Member:
    """A file inside the zip archive at a url."""

    url: str
    member: str

    def __str__(self) -> str:
        return f"{self.url} (its member {self.member})"


@dataclass(frozen=True)
class FileEntry:
    """One registered file; ``sha256`` and ``bytes`` are of the uncompressed file, or None."""

    mirror: str
    sha256: str | None = None
    git_blob: str | None = None
    bytes: int | None = None
    urls: tuple[str | Member, ...] = ()

    @property
    def limit(self) -> int:
        """Bytes that no version of the file has: twice its size, and room for an error page."""
        return _ANY_SIZE if self.bytes is None else 2 * self.bytes + (1 << 16)


@dataclass(frozen=True)
class FoldEntry:
    """A published split of a data set: its files, or the splitter that ``draw`` describes.

    ``counts`` are its pairs, ``leak`` the shares of new vertices and of test pairs that have a
    twin in training (:meth:`kronbench.datasets.PublishedFold.leak`); an affinity over
    ``positive_above`` is a positive.
    """

    name: str
    title: str
    setting: str
    files: Mapping[str, FileEntry]
    draw: Mapping
    counts: Mapping
    leak: Mapping[str, float]
    positive_above: float | None


@dataclass(frozen=True)
class Entry:
    """One registered data set, as in ``config/datasets.yaml``."""

    name: str
    title: str
    loader: str
    licence: str
    citation: str
    options: Mapping
    surrogate: Mapping
    files: Mapping[str, FileEntry]
    shape: Mapping[str, tuple]
    notes: tuple[str, ...]
    agreement: str
    other_data: Mapping[str, str]
    manual: Mapping | None
    folds: Mapping[str, FoldEntry]
    aliases: Mapping[str, Mapping[str, str]]  # other spellings of ids, by "rows" and "cols"
    own: bool = False  # an entry of ``KRONBENCH_REGISTRY``, of which no paper speaks
    folder: Path | None = None  # where its files are looked for first


def entries() -> dict[str, Entry]:
    """All registered data sets by name, in the order of the registry, then the user's own.

    Raises
    ------
    InputError
        A registry is not valid: the file, the place and the unknown key or wrong value; or an
        entry of one's own has the name of a shipped one, beside whose numbers its own would stand.
    """
    known = dict(_read(config_path("datasets.yaml")))
    files = [folder / "data.yaml" for folder in added_papers().values()]
    files = [file for file in files if file.is_file()]
    own = os.environ.get("KRONBENCH_REGISTRY")
    for file in [*files, Path(own).expanduser().absolute()] if own else files:
        lowered = {name.lower(): name for name in known}
        for name, entry in _read(file).items():
            if taken := lowered.get(name.lower()):
                raise InputError(
                    f"{file}: {name} has the name of the shipped data set {taken}, for which "
                    "papers print numbers; give it another name"
                )
            known[name] = replace(entry, own=file not in files, folder=file.parent)
    return known


def find(name: str) -> Entry:
    """The entry of a data set, matched without regard to case.

    Raises
    ------
    InputError
        There is no such data set: the closest names, and how to list all.
    """
    known = entries()
    lowered = {known_name.lower(): known_name for known_name in known}
    if name.lower() in lowered:
        return known[lowered[name.lower()]]
    close = [
        lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, cutoff=0.5)
    ]
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    raise InputError(
        f"there is no data set '{name}'; {hint}'python -m kronbench data list' shows all"
    )


def _read(path):
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"the registry {path} cannot be read: {error.strerror}") from None
    return _read_unchanged(path, stamp)


@functools.lru_cache(maxsize=8)
def _read_unchanged(path, _stamp):
    content = read_yaml(path) or {}
    validate(content, "datasets", path)
    lowered = {}
    for name in content:
        if name.lower() in lowered:
            raise InputError(f"{path}: {lowered[name.lower()]} and {name} differ only in case")
        lowered[name.lower()] = name
    return {name: _entry(name, fields) for name, fields in content.items()}


def _address(url):
    return url if isinstance(url, str) else Member(**url)


def _file(record):
    return FileEntry(**{**record, "urls": tuple(map(_address, record.get("urls", ())))})


def _fold(name, fields):
    return FoldEntry(
        name=name,
        title=" ".join(fields["title"].split()),
        setting=fields["setting"],
        files={key: _file(record) for key, record in fields.get("files", {}).items()},
        draw=fields.get("draw", {}),
        counts=fields["counts"],
        leak=fields.get("leak", {}),
        positive_above=fields.get("positive_above"),
    )


def _entry(name, fields):
    return Entry(
        name=name,
        title=fields["title"],
        loader=fields["loader"],
        licence=" ".join(fields["licence"].split()),
        citation=" ".join(fields["citation"].split()),
        options=fields.get("options", {}),
        surrogate=fields.get("surrogate", {}),
        files={key: _file(record) for key, record in fields.get("files", {}).items()},
        shape={key: tuple(dims) for key, dims in fields.get("shape", {}).items()},
        notes=tuple(" ".join(note.split()) for note in fields.get("notes", ())),
        agreement=fields.get("agreement", ""),
        other_data={
            paper: " ".join(text.split()) for paper, text in fields.get("other_data", {}).items()
        },
        manual=fields.get("manual"),
        folds={fold: _fold(fold, record) for fold, record in fields.get("folds", {}).items()},
        aliases=fields.get("aliases", {}),
    )
