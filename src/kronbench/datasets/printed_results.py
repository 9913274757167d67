"""Drug-target data with what publications store of them.

Metz et al. (2011) with the curves of Viljanen, Airola & Pahikkala (2022), and Davis et al. (2011)
with predictions of its pairs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbench.datasets.drug_target_files import parse_affinities
from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import as_number, text_lines
from kronbench.errors import InputError

DOMAIN_KERNELS = ("Gaussian", "Linear")
PAIRWISE_KERNELS = ("Linear", "Poly2D", "Kronecker", "Cartesian")
SETTINGS = ("Setting 1", "Setting 2", "Setting 3", "Setting 4")
_HEAD = "FOLD :"
_AXES = {
    "Kernel (domain)": DOMAIN_KERNELS,
    "Kernel (pairwise)": PAIRWISE_KERNELS,
    "Setting": SETTINGS,
}


def parse_printed_curves(files: Mapping[str, LocalFile], *, above: float) -> dict[str, np.ndarray]:
    """Read affinities as ``parse_affinities`` does, and the printed AUC of each iteration.

    ``files`` also has "curves", a table with semicolons. The result also has ``printed_train``
    and ``printed_test`` (2, 4, 4, k), by domain kernel, pairwise kernel, setting and iteration.
    """
    import pandas as pd  # not for those that plan

    files = dict(files)
    curves = files.pop("curves")
    arrays = parse_affinities(files, above=above)
    with curves.open() as stream:
        table = pd.read_csv(stream, sep=";")
    columns = [*_AXES, "Iteration", "Train AUC", "Test AUC"]
    if lacking := set(columns) - set(table):
        raise InputError(f"{curves.name} lacks the column '{min(lacking)}'")
    length = int(table["Iteration"].max())
    wanted = pd.MultiIndex.from_product([*_AXES.values(), range(1, length + 1)])
    table = table.set_index([*_AXES, "Iteration"])
    if table.index.has_duplicates or not wanted.isin(table.index).all():
        raise InputError(f"{curves.name} does not have one line for each curve and iteration")
    for name in ("train", "test"):
        values = table.loc[wanted, f"{name.title()} AUC"].to_numpy(float)
        arrays[f"printed_{name}"] = values.reshape(*map(len, _AXES.values()), length)
    return arrays


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
            raise InputError(f"{predictions.name}, line {number} is not a prediction of a pair")
        col = col_aliases.get(parts[1], parts[1])
        if parts[0] not in rows or col not in cols:
            raise InputError(
                f"{predictions.name}, line {number}: {parts[0]} or {parts[1]} is not among the ids"
            )
        blocks[-1].append((rows[parts[0]], cols[col], parts[1] != col, value))
    pairs = [sorted(line[:2] for line in lines) for lines in blocks]
    if not pairs or not pairs[0] or any(other != pairs[0] for other in pairs):
        raise InputError(f"{predictions.name}: its blocks are empty or have different pairs")
    by_column = [list(zip(*lines, strict=True)) for lines in blocks]
    names = ("predicted_rows", "predicted_cols", "spelled_otherwise", "predictions")
    for name, column in zip(names, zip(*by_column, strict=True), strict=True):
        arrays[name] = np.array(column)
    return arrays
