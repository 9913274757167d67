"""Drug-target data with what publications store of them.

Metz et al. (2011) with the curves of Viljanen, Airola & Pahikkala (2022), and Davis et al. (2011)
with predictions of its pairs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.drug_target import parse_affinities
from kronbench.datasets.fetch import Files

DOMAIN_KERNELS = ("Gaussian", "Linear")
PAIRWISE_KERNELS = ("Linear", "Poly2D", "Kronecker", "Cartesian")
SETTINGS = ("Setting 1", "Setting 2", "Setting 3", "Setting 4")
_HEAD = "FOLD :"
_AXES = {
    "Kernel (domain)": DOMAIN_KERNELS,
    "Kernel (pairwise)": PAIRWISE_KERNELS,
    "Setting": SETTINGS,
}


def parse_printed_curves(files: Files, *, above: float) -> Arrays:
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
    length = int(table["Iteration"].max())
    wanted = pd.MultiIndex.from_product([*_AXES.values(), range(1, length + 1)])
    table = table.set_index([*_AXES, "Iteration"])
    for name in ("train", "test"):
        values = table.loc[wanted, f"{name.title()} AUC"].to_numpy(float)
        arrays[f"printed_{name}"] = values.reshape(*map(len, _AXES.values()), length)
    return arrays


def parse_printed_predictions(
    files: Files, *, col_aliases: Mapping[str, str], **options: object
) -> Arrays:
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
    for line in predictions.text().splitlines():
        if line.startswith(_HEAD):
            blocks.append([])
            continue
        row, name, _, value = line.split("\t")
        col = col_aliases.get(name, name)
        blocks[-1].append((rows[row], cols[col], name != col, float(value)))
    by_column = [list(zip(*lines, strict=True)) for lines in blocks]
    names = ("predicted_rows", "predicted_cols", "spelled_otherwise", "predictions")
    for name, column in zip(names, zip(*by_column, strict=True), strict=True):
        arrays[name] = np.array(column)
    return arrays
