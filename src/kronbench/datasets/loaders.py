"""How each format of the registry is read, generated, or stood in for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module

from kronbench.datasets import (
    corpus_surrogates,
    drug_target,
    drug_target_surrogates,
    generators,
    lshtc,
    molecule_pairs,
    pair_tables,
    uci,
    wipo,
)
from kronbench.datasets.dataset import Loader
from kronbench.datasets.registry import Entry
from kronbench.errors import InputError

_MATRIX = drug_target_surrogates.surrogate_matrix
_SECTION = corpus_surrogates.surrogate_section
_INDEX_FILES = ("train", "test")  # of a collection of patents: the tree, the classes, the split

LOADERS: dict[str, Loader] = {
    "interactions": Loader("label matrix", drug_target.parse_interactions, _MATRIX),
    "affinities": Loader("label matrix", drug_target.parse_affinities, _MATRIX),
    "printed_curves": Loader("label matrix", drug_target.parse_printed_curves, _MATRIX),
    "printed_predictions": Loader("label matrix", drug_target.parse_printed_predictions, _MATRIX),
    "checkerboard": Loader("pairs", generate=generators.registered_checkerboard),
    "pairs": Loader("labelled pairs", pair_tables.parse_tables),
    "molecule-pairs": Loader(
        "pairs of texts", molecule_pairs.parse_split, molecule_pairs.surrogate_split
    ),
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


def loader_of(entry: Entry) -> Loader:
    """The `Loader` of an entry; ``module:NAME`` is one here, or in the folder of its own paper."""
    loader, named = LOADERS.get(entry.loader), f"{entry.name}: the loader '{entry.loader}'"
    if ":" in entry.loader:
        module, _, name = entry.loader.partition(":")
        try:
            of_paper = entry.folder and f"kronbench_suite.papers.{entry.folder.name}"
            loader = getattr(import_module(f"{of_paper or __package__}.{module}"), name)
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


def check_options(entry: Entry, maker: Callable, options: Mapping[str, object]) -> None:
    """InputError unless a function that makes arrays takes the options, and has all it needs."""
    try:
        inspect.signature(maker).bind(None, **options)
    except TypeError as error:
        raise InputError(f"{entry.name}: options do not fit '{entry.loader}': {error}") from None
