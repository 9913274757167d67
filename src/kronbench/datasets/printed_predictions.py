"""Davis et al. (2011) with predictions of its pairs that a publication stores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbench.datasets.dataset import Loader
from kronbench.datasets.drug_target_files import parse_affinities
from kronbench.datasets.drug_target_surrogates import surrogate_affinities
from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import as_number, text_lines
from kronbench.errors import InputError

_HEAD = "FOLD :"


def parse_printed_predictions(
    files: Mapping[str, LocalFile], *, col_aliases: Mapping[str, str], **options: object
) -> dict[str, np.ndarray]:
    """Read affinities, and blocks of predictions of the same pairs.

    Parameters
    ----------
    files : mapping
        As for ``parse_affinities`` with ids, and "predictions": blocks that begin with "FOLD : k",
        then lines of row id, column id, affinity and prediction with tabs between them.
    col_aliases : mapping
        Other spellings of column ids, to those of the data set.
    options
        Of ``parse_affinities``.

    Returns
    -------
    dict
        As ``parse_affinities``, and ``predictions`` (k, t) in the order of each block, with the
        vertices of its pairs in ``predicted_rows`` and ``predicted_cols``, and
        ``spelled_otherwise`` where the column is found by its alias.

    Raises
    ------
    InputError
        As ``parse_affinities``; or a line is no prediction, an id is unknown, or the blocks have
        other pairs.
    """
    files = dict(files)
    predictions = files.pop("predictions")
    arrays = parse_affinities(files, **options)
    rows = {name: place for place, name in enumerate(arrays["row_ids"])}
    cols = {name: place for place, name in enumerate(arrays["col_ids"])}
    blocks = []
    for number, line in enumerate(text_lines(predictions, "utf-8"), 1):
        if line.startswith(_HEAD):
            blocks.append([])
            continue
        parts = line.split("\t")
        value = as_number(parts[3]) if len(parts) == 4 else None
        if value is None or not blocks:
            raise InputError(f"{predictions.name}, line {number} is no prediction of a pair")
        col = col_aliases.get(parts[1], parts[1])
        if parts[0] not in rows or col not in cols:
            raise InputError(
                f"{predictions.name}, line {number}: {parts[0]} or {parts[1]} is not among the ids"
            )
        blocks[-1].append((rows[parts[0]], cols[col], parts[1] != col, value))
    pairs = [sorted(line[:2] for line in lines) for lines in blocks]
    if not pairs or any(other != pairs[0] for other in pairs):
        raise InputError(f"{predictions.name}: its blocks have not the same pairs")
    arrays["predictions"] = np.array([[line[3] for line in lines] for lines in blocks])
    for name, place in (("rows", 0), ("cols", 1)):
        arrays[f"predicted_{name}"] = np.array([[line[place] for line in b] for b in blocks])
    arrays["spelled_otherwise"] = np.array([[line[2] for line in lines] for lines in blocks])
    return arrays


def surrogate_printed_predictions(
    rng: np.random.Generator, *, col_aliases: Mapping[str, str], **options: object
) -> dict[str, np.ndarray]:
    """A stand-in for the affinities (``surrogate_affinities``); nothing is predicted of it."""
    return surrogate_affinities(rng, **options)


LOADERS = {
    "printed_predictions": Loader(
        "label matrix", parse=parse_printed_predictions, surrogate=surrogate_printed_predictions
    ),
}
