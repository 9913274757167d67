"""Davis et al. (2011) with predictions of its pairs that a publication stores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbench.datasets.drug_target_files import parse_affinities
from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import as_number, text_lines
from kronbench.errors import InputError

_HEAD = "FOLD :"


def parse_printed_predictions(
    files: Mapping[str, LocalFile], *, col_aliases: Mapping[str, str], **options: object
) -> dict[str, np.ndarray]:
    """Read affinities with ids as ``parse_affinities`` does, and predictions of the same pairs.

    ``files`` also has "predictions": blocks that begin with "FOLD : k", then lines of row id,
    column id, affinity and prediction with tabs between them; ``col_aliases`` maps other spellings
    of column ids to those of the data set. The result also has ``predictions`` (k, t) in the order
    of each block, with the vertices of its pairs in ``predicted_rows`` and ``predicted_cols``, and
    ``spelled_otherwise`` where the column is found by its alias.
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
    if not pairs or not pairs[0] or any(other != pairs[0] for other in pairs):
        raise InputError(f"{predictions.name}: its blocks have not the same pairs, or none")
    by_column = [list(zip(*lines, strict=True)) for lines in blocks]
    names = ("predicted_rows", "predicted_cols", "spelled_otherwise", "predictions")
    for name, column in zip(names, zip(*by_column, strict=True), strict=True):
        arrays[name] = np.array(column)
    return arrays
