"""Data sets by name: ``load("GPCR")`` finds, checks and reads one, or draws its surrogate."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import logging
import os
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path

import numpy as np

from kronbench.datasets import (
    corpus_surrogates,
    drug_target,
    drug_target_surrogates,
    fetch,
    generators,
    lshtc,
    pair_tables,
    published_folds,
    registry,
    uci,
    wipo,
)
from kronbench.datasets.dataset import KINDS, Dataset, FileRecord, Loader
from kronbench.datasets.published_folds import Leak, PublishedFold
from kronbench.errors import InputError

__all__ = [
    "KINDS",
    "LOADERS",
    "Dataset",
    "FileRecord",
    "Leak",
    "Loader",
    "PublishedFold",
    "aliases",
    "describe",
    "folds",
    "load",
    "modules_of",
    "names",
    "own_sums",
    "own_tables",
]

_AFFINITIES = drug_target_surrogates.surrogate_affinities
_SECTION = corpus_surrogates.surrogate_section
_INDEX_FILES = ("train", "test")

LOADERS: dict[str, Loader] = {
    "interactions": Loader(
        "label matrix",
        drug_target.parse_interactions,
        drug_target_surrogates.surrogate_interactions,
    ),
    "affinities": Loader("label matrix", drug_target.parse_affinities, _AFFINITIES),
    "printed_curves": Loader("label matrix", drug_target.parse_printed_curves, _AFFINITIES),
    "printed_predictions": Loader(
        "label matrix", drug_target.parse_printed_predictions, _AFFINITIES
    ),
    "checkerboard": Loader("pairs", generate=generators.registered_checkerboard),
    "pairs": Loader("labelled pairs", pair_tables.parse_tables),
    "table": Loader("vectors", uci.parse_table, uci.surrogate_table),
    "ringnorm": Loader("vectors", generate=generators.ringnorm),
    "twonorm": Loader("vectors", generate=generators.twonorm),
    "waveform": Loader("vectors", generate=generators.waveform),
    "add10": Loader("vectors", generate=generators.add10),
    "wipo-index": Loader("classes", wipo.parse_index, corpus_surrogates.surrogate_index),
    "wipo-text": Loader("documents", wipo.parse_records, _SECTION, surrogate_files=_INDEX_FILES),
    "wipo-features": Loader(
        "vectors", wipo.parse_features, _SECTION, surrogate_files=_INDEX_FILES
    ),
    "ipc-titles": Loader("documents", wipo.parse_titles, corpus_surrogates.surrogate_titles),
    "lshtc": Loader("documents", lshtc.parse_lshtc, corpus_surrogates.surrogate_lshtc),
}

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
    loader = _loader(entry)
    _check_options(entry, loader.parse or loader.generate, entry.options)
    if not entry.files:
        return _dataset(entry, "generated", loader.generate(_rng(entry), **entry.options))
    if policy == "surrogate":
        return _surrogate(entry, loader, mirror, network=False)
    try:
        files = _obtain(entry, entry.files, mirror)
    except fetch.Unavailable as error:
        is_own = entry.folder and not error.entry.urls
        if is_own or policy == "real" or loader.surrogate is None:
            raise
        told = "SURROGATE DATA for %s: the real files are missing (%s)"
        _log.warning(told, entry.name, error.tried)
        return _surrogate(entry, loader, mirror, network=True)
    arrays = _parsed(entry, loader, files)
    return _dataset(entry, "own" if entry.own else _source(files), arrays, files)


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
        known = ", ".join(entry.folds) or "none"
        raise InputError(f"{entry.name} has no fold '{fold}'; it has: {known}")
    data = load(name, policy=policy, mirror=mirror) if data is None else data
    files, source = {}, "surrogate"
    if data.source != "surrogate":
        files = _obtain(entry, entry.folds[fold]["files"], mirror)
        source = _source(files)
    known = entry.folds[fold]
    return published_folds.published_fold(fold, known, data, files, source, _rng(entry))


def aliases(name: str) -> dict[str, dict[str, str]]:
    """Other spellings of the ids of a data set, to its own, by "rows" and "cols"."""
    known = registry.find(name).aliases
    return {side: dict(known.get(side, {})) for side in ("rows", "cols")}


def names() -> list[str]:
    """The names of all data sets, in the order of the registry."""
    return list(registry.entries())


def describe(name: str) -> dict:
    """What the registry says about a data set, ready for YAML or JSON."""
    entry = registry.find(name)
    parts = ("title", "shape", "options", "licence", "citation", "notes")
    parts += ("agreement", "other_data")
    known = {"name": entry.name, "kind": _loader(entry).kind}
    known |= {part: value for part in parts if (value := getattr(entry, part))}
    known["files"] = {
        key: {part: value for part, value in asdict(file).items() if value}
        for key, file in entry.files.items()
    }
    known["manual"] = {**(entry.manual or {}), "folder": str(fetch.manual_folder())}
    if entry.folds:
        known["folds"] = {
            key: {"title": fold["title"], "setting": fold["setting"]}
            | {**fold["counts"], "leak": fold.get("leak", {})}
            for key, fold in entry.folds.items()
        }
    return json.loads(json.dumps(known))  # lists for tuples


def modules_of(name: str) -> list[str]:
    """Import paths of the modules that parse a data set, draw its surrogate or generate it."""
    loader = _loader(registry.find(name))
    makers = (loader.parse, loader.surrogate, loader.generate)
    return sorted({maker.__module__ for maker in makers if maker is not None})


def own_sums(name: str, *, mirror: str | Path | None = None) -> dict[str, str]:
    """The sha256 of the files beside a user's registry, or beside the ``data.yaml`` of a paper.

    Files with urls are not among them: the registry has their checksums. ``Unavailable`` where
    one is missing, `InputError` where one has another checksum than its entry says.
    """
    entry = registry.find(name)
    beside = {key: file for key, file in entry.files.items() if entry.folder and not file.urls}
    found = _obtain(entry, beside, mirror, network=False)
    return {key: file.record.sha256 for key, file in found.items()}


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


def _obtain(entry, files, mirror, network=True):
    """Files of an entry; those of one's own are looked for beside their registry first."""
    places = entry.folder, os.environ.get("KRONBENCH_MIRROR"), mirror
    mirrors = [str(place) for place in places if place]
    try:
        return {key: fetch.obtain(file, mirrors, network=network) for key, file in files.items()}
    except fetch.Unavailable as error:
        advice = _advice(entry, error.entry, error.tried)
        raise fetch.Unavailable(error.entry, error.tried, advice) from None


def _loader(entry):
    """The `Loader` of an entry; ``module:NAME`` is one here, or in the folder of its own paper."""
    loader, named = LOADERS.get(entry.loader), f"{entry.name}: the loader '{entry.loader}'"
    if ":" in entry.loader:
        module, _, name = entry.loader.partition(":")
        try:
            of_paper = entry.folder and f"kronbench_suite.papers.{entry.folder.name}"
            loader = getattr(import_module(f"{of_paper or __name__}.{module}"), name)
        except Exception as error:  # whatever a file from outside does on import
            raise InputError(f"{named}: {type(error).__name__}: {error}") from None
    if not isinstance(loader, Loader):
        raise InputError(
            f"{entry.name}: there is no loader '{entry.loader}'; known are: {', '.join(LOADERS)}"
        )
    if not entry.files and loader.generate is None:
        raise InputError(f"{named} needs files; register them")
    if entry.files and loader.parse is None:
        raise InputError(f"{named} reads no files; remove them")
    return loader


def _parsed(entry, loader, files):
    """The arrays of the files; a fault of any kind is one sentence."""
    try:
        return loader.parse(files, **entry.options)
    except (InputError, MemoryError):  # the last has advice of its own in the commands
        raise
    except Exception as error:  # of parsers of many formats
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
        names = ", ".join(file.name for file in files.values())
        raise InputError(f"{entry.name} cannot be read: {said} (in {names})") from error


def _surrogate(entry, loader, mirror, network):
    if loader.surrogate is None:
        raise InputError(f"{entry.name} has no surrogate; load it with the policy 'real'")
    files = {}
    for key in loader.surrogate_files:
        with contextlib.suppress(fetch.Unavailable):
            files |= _obtain(entry, {key: entry.files[key]}, mirror, network)
    # Of the options, those that it names; the others are the parser's.
    named = inspect.signature(loader.surrogate).parameters
    given = {key: value for key, value in entry.options.items() if key in named}
    given |= entry.surrogate | ({"files": files} if loader.surrogate_files else {})
    _check_options(entry, loader.surrogate, given)
    data = _dataset(entry, "surrogate", loader.surrogate(_rng(entry), **given), files)
    return replace(data, options={**entry.options, **entry.surrogate})


def _check_options(entry, function, options):
    try:
        inspect.signature(function).bind(None, **options)
    except TypeError as error:
        raise InputError(f"{entry.name}: options do not fit '{entry.loader}': {error}") from None


def _rng(entry):
    """Seeded by the name alone: a surrogate is the same data set everywhere."""
    seed = int.from_bytes(hashlib.sha256(entry.name.lower().encode()).digest()[:8], "big")
    return np.random.default_rng(seed)


def _source(files):
    """Of the weakest file: one put in place by hand makes a shipped data set "manual"."""
    sources = {file.source for file in files.values()}
    return next(source for source in ("manual", "mirror", "download") if source in sources)


def _dataset(entry, source, arrays, files=None):
    for key, dims in entry.shape.items():
        if key not in arrays:
            raise InputError(f"{entry.name}: there is no array '{key}', which is registered")
        actual = arrays[key].shape
        if len(actual) != len(dims) or any(
            wanted not in (None, size) for wanted, size in zip(dims, actual, strict=True)
        ):
            raise InputError(
                f"{entry.name}: {key} is {_times(actual)} where the registry has {_times(dims)}"
            )
    described = ("name", "notes", "title", "licence", "citation", "options", "agreement")
    return Dataset(
        source=source,
        kind=_loader(entry).kind,
        arrays=arrays,
        files=tuple(file.record for file in (files or {}).values()),
        other_data=entry.other_data,
        **{part: getattr(entry, part) for part in described},
    )


def _times(dims):
    return " x ".join("?" if size is None else str(size) for size in dims)


def _advice(entry, file, tried):
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
