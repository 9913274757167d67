"""From the name of a data set to its arrays: entry, files, loader, and the check of the shape."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import logging
import os
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kronbench.datasets import fetch, published_folds, registry
from kronbench.datasets.dataset import Dataset
from kronbench.datasets.loaders import check_options, loader_of
from kronbench.datasets.published_folds import PublishedFold
from kronbench.errors import InputError

# What a data set takes over from its entry, and a description too.
_DESCRIBED = ("options", "licence", "citation", "notes", "agreement", "other_data")

_log = logging.getLogger(__name__)


def load(name: str, *, policy: str = "auto", mirror: str | Path | None = None) -> Dataset:
    """One data set, checked against the registry; ``name`` as there, in any case.

    With the policy "auto" files come from a folder filled by hand, the cache, mirrors or URLs; if
    all fail, the surrogate is drawn with a warning. "real" instead raises an error that says what
    was tried and what to do; "surrogate" never uses the network. ``mirror`` is a folder or base
    url, tried after the one that ``KRONBENCH_MIRROR`` names.
    """
    if policy not in ("auto", "real", "surrogate"):
        raise InputError(f"policy is '{policy}'; give one of auto, real, surrogate")
    entry = registry.find(name)
    loader = loader_of(entry)
    # Options that do not fit are told before any file is looked for.
    check_options(entry, loader.parse or loader.generate, entry.options)
    if not entry.files:
        return _dataset(entry, loader, "generated", loader.generate(_rng(entry), **entry.options))
    if policy == "surrogate":
        return _surrogate(entry, loader, mirror, network=False)
    try:
        files = _obtain(entry, entry.files, mirror)
    except fetch.Unavailable as error:
        # A file of one's own that is missing is a mistake, and no reason for a surrogate.
        is_own = entry.folder and not error.entry.urls
        if is_own or policy == "real" or loader.surrogate is None:
            raise
        told = "SURROGATE DATA for %s: the real files are missing (%s)"
        _log.warning(told, entry.name, error.tried)
        return _surrogate(entry, loader, mirror, network=True)
    arrays = parsed_arrays(entry, loader, files)
    return _dataset(entry, loader, "own" if entry.own else _source(files), arrays, files)


def folds(
    name: str,
    fold: str,
    *,
    policy: str = "auto",
    mirror: str | Path | None = None,
    data: Dataset | None = None,
) -> PublishedFold:
    """A published split of a data set, such as ``folds("davis", "deepdta-1")``.

    Missing files are an error. Of surrogate data it is a random split of the same setting.
    ``data`` is the data set, if it is already loaded; else ``policy`` is that of loading it.
    """
    entry = registry.find(name)
    if fold not in entry.folds:
        offered = ", ".join(entry.folds) or "none"
        raise InputError(f"{entry.name} has no fold '{fold}'; it has: {offered}")
    data = load(name, policy=policy, mirror=mirror) if data is None else data
    files, source, registered = {}, "surrogate", entry.folds[fold]
    if data.source != "surrogate":
        files = _obtain(entry, registered["files"], mirror)
        source = _source(files)
    return published_folds.published_fold(fold, registered, data, files, source, _rng(entry))


def files(name: str, *keys: str, mirror: str | Path | None = None) -> fetch.Files:
    """Registered files of a data set, checked; all, or those of some ``keys``.

    ``files(name)[key].text()`` is the text of one, ``.open()`` a stream of its bytes. They are
    looked for as by :func:`load` with the policy "real".
    """
    entry = registry.find(name)
    if unknown := [key for key in keys if key not in entry.files]:
        raise InputError(f"{entry.name} has no file '{unknown[0]}': {', '.join(entry.files)}")
    return _obtain(entry, {key: entry.files[key] for key in keys or entry.files}, mirror)


def aliases(name: str) -> dict[str, dict[str, str]]:
    """Other spellings of the ids of a data set, to its own, by "rows" and "cols"."""
    spelled = registry.find(name).aliases
    return {side: dict(spelled.get(side, {})) for side in ("rows", "cols")}


def names() -> list[str]:
    """The names of all data sets, in the order of the registry."""
    return list(registry.entries())


def describe(name: str) -> dict:
    """What the registry says about a data set, ready for YAML or JSON."""
    entry = registry.find(name)
    described: dict[str, Any] = {"name": entry.name, "kind": loader_of(entry).kind}
    parts = ("title", "shape", *_DESCRIBED)
    described |= {part: value for part in parts if (value := getattr(entry, part))}
    described["files"] = {
        key: {part: value for part, value in asdict(file).items() if value}
        for key, file in entry.files.items()
    }
    described["manual"] = {**(entry.manual or {}), "folder": str(fetch.manual_folder())}
    if entry.folds:
        described["folds"] = {
            key: {"title": fold["title"], "setting": fold["setting"]}
            | {**fold["counts"], "leak": fold.get("leak", {})}
            for key, fold in entry.folds.items()
        }
    return json.loads(json.dumps(described))  # lists for tuples


class Record(NamedTuple):
    """What a prepared data set was made from, beside code that all data sets share.

    ``settings`` are the registry's, with the checksums of one's own files in ``sums``; ``modules``
    are import paths of what parses the data, draws the surrogate or generates them; ``missing``
    tells of a file of one's own that is not there.
    """

    settings: dict[str, Any]
    modules: list[str]
    missing: fetch.Unavailable | None


def record_of(name: str, *, mirror: str | Path | None = None) -> Record:
    """What decides about a data set, such as that a prepared one is out of date.

    The settings have neither advice on a missing file nor its folder, on which no result rests.
    Files beside a user's registry, or beside the ``data.yaml`` of a paper, count with the sum that
    they have: one that is edited, or gone, makes the data set stale. `InputError` where one has
    another checksum than its entry says.
    """
    entry = registry.find(name)
    left_out = ("manual", "folder")
    settings = {key: part for key, part in asdict(entry).items() if key not in left_out}
    beside = {key: file for key, file in entry.files.items() if entry.folder and not file.urls}
    missing = None
    try:
        if files := _obtain(entry, beside, mirror, network=False):
            settings["sums"] = {key: file.record.sha256 for key, file in files.items()}
    except fetch.Unavailable as error:
        missing = error
    loader = loader_of(entry)
    makers = filter(None, (loader.parse, loader.surrogate, loader.generate))
    return Record(settings, sorted({maker.__module__ for maker in makers}), missing)


def own_tables(name: str, *, mirror: str | Path | None = None) -> dict[str, str | Path | None]:
    """``pairs``, ``rows``, ``cols``: paths of the tables of a user's data set.

    With them the columns ``row``, ``col``, ``label`` that its entry names (None: by their order).
    """
    entry = registry.find(name)
    if entry.loader != "pairs":
        raise InputError(
            f"{entry.name} is not a data set of three tables: its loader is not 'pairs'"
        )
    paths = {key: file.name for key, file in _obtain(entry, entry.files, mirror).items()}
    return paths | {column: entry.options.get(column) for column in ("row", "col", "label")}


def parsed_arrays(entry: registry.Entry, loader: Any, files: fetch.Files) -> dict:
    """The arrays of the files; a fault of any kind is one sentence."""
    try:
        return loader.parse(files, **entry.options)
    except (InputError, MemoryError):  # the commands have advice for the last
        raise
    except Exception as error:  # parsers of many formats raise anything
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
        places = ", ".join(file.name for file in files.values())
        raise InputError(f"{entry.name} cannot be read: {said} (in {places})") from error


def _obtain(entry, files, mirror, network=True):
    """Files of an entry; those of one's own are looked for beside their registry first."""
    places = entry.folder, os.environ.get("KRONBENCH_MIRROR"), mirror
    mirrors = [str(place) for place in places if place]
    try:
        return {key: fetch.obtain(file, mirrors, network=network) for key, file in files.items()}
    except fetch.Unavailable as error:
        advice = _advice(entry, error.entry, error.tried)
        raise fetch.Unavailable(error.entry, error.tried, advice) from None


def _surrogate(entry, loader, mirror, network):
    """The surrogate of an entry, which may build on files that are at hand."""
    if loader.surrogate is None:
        raise InputError(f"{entry.name} has no surrogate; load it with the policy 'real'")
    files = {}
    for key in loader.surrogate_files:
        with contextlib.suppress(fetch.Unavailable):
            files |= _obtain(entry, {key: entry.files[key]}, mirror, network)
    # It gets the options that it names; the others are the parser's.
    named = inspect.signature(loader.surrogate).parameters
    options = {key: value for key, value in entry.options.items() if key in named}
    options |= entry.surrogate | ({"files": files} if loader.surrogate_files else {})
    check_options(entry, loader.surrogate, options)
    arrays = loader.surrogate(_rng(entry), **options)
    data = _dataset(entry, loader, "surrogate", arrays, files)
    return replace(data, options={**entry.options, **entry.surrogate})


def _rng(entry):
    """Seeded by the name alone: a surrogate is the same data set everywhere."""
    seed = int.from_bytes(hashlib.sha256(entry.name.lower().encode()).digest()[:8], "big")
    return np.random.default_rng(seed)


def _source(files):
    """The source of the weakest file: one put in place by hand makes a data set "manual"."""
    sources = {file.source for file in files.values()}
    return next(source for source in ("manual", "mirror", "download") if source in sources)


def _dataset(entry, loader, source, arrays, files=MappingProxyType({})):
    """The data set of arrays that have the registered shapes; InputError where one has not."""
    for key, dims in entry.shape.items():
        if key not in arrays:
            raise InputError(f"{entry.name}: there is no array '{key}', which is registered")
        shape = arrays[key].shape
        # The registry has None for a size that it leaves open.
        fits = [wanted in (None, size) for wanted, size in zip(dims, shape, strict=False)]
        if len(shape) != len(dims) or not all(fits):
            raise InputError(
                f"{entry.name}: {key} is {_sizes(shape)} where the registry has {_sizes(dims)}"
            )
    records = tuple(file.record for file in files.values())
    described = {part: getattr(entry, part) for part in ("title", *_DESCRIBED)}
    return Dataset(entry.name, source, loader.kind, arrays, records, **described)


def _sizes(dims):
    return " x ".join("?" if size is None else str(size) for size in dims)


def _advice(entry, file, tried):
    """What to do about a file that cannot be had, as one sentence."""
    if entry.folder and not file.urls:
        return (
            f"{entry.name} has no file {entry.folder / file.mirror}: put it there, or correct "
            "'mirror' in the registry"
        )
    if entry.manual:
        advice = f"{entry.manual['instructions'].rstrip('.')} ({entry.manual['url']})"
    else:
        advice = f"open {file.urls[0]}" if file.urls else "get it"
    place = fetch.manual_folder() / file.mirror
    return (
        f"{entry.name} is missing: {tried}; {advice} and put the file at {place}, or name a "
        "mirror that has it in KRONBENCH_MIRROR, or take a surrogate with the policy 'surrogate' "
        f"('python -m kronbench data describe {entry.name}' lists all files)"
    )
