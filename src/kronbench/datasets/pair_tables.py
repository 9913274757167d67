"""A data set of one's own: tables of labelled pairs and of the features of their vertices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from kronbench.datasets.fetch import LocalFile
from kronbench.errors import InputError

FILES = ("pairs", "rows", "cols")


def parse_tables(
    files: Mapping[str, LocalFile],
    *,
    row: str | None = None,
    col: str | None = None,
    label: str | None = None,
    at_least: float | None = None,
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Read pairs with labels, and the features of both sides, by their ids.

    ``files`` are "pairs", "rows" and "cols", as :meth:`kronbench.PairData.from_frames` takes
    tables. ``row``, ``col`` and ``label`` name columns of the pairs, by default the first three.
    The label is +1 from ``at_least`` on, else -1; without it there must be two different labels.
    """
    # Here, because they load pandas, and most data sets have no use for it.
    from kronbench.io import check_columns, read_table
    from kronbench.pairs.frames import read_pairs, read_vertices

    if set(files) != set(FILES):
        raise InputError(
            f"a data set of pairs has the files {', '.join(FILES)}; these are registered: "
            f"{', '.join(files)}"
        )
    if packed := [file.name for file in files.values() if file.packed]:
        raise InputError(f"{packed[0]} is packed: give the table itself")
    if (row is None) != (col is None):
        raise InputError("options: give both row and col, or neither")
    frame = read_table(files["pairs"].path, ids=2 if row is None else [row, col])
    pairs = files["pairs"].name
    if row is None:
        row, col = frame.columns[:2]
    others = [name for name in frame.columns if name not in (row, col)]
    if label is None and not others:
        raise InputError(f"{pairs} has no column of labels beside the ids: give one")
    label = others[0] if label is None else label
    check_columns(pairs, others, [label])
    sides = [read_vertices(read_table(files[side].path), side) for side in ("rows", "cols")]
    (rows, cols), y = read_pairs(frame, sides, (row, col), label)
    if y.dtype.kind == "U":
        raise InputError(f"{pairs} has '{y[0]}' for a label: give numbers, such as 1 and 0")
    y = y.astype(np.float64)
    found = np.unique(y)
    if at_least is None and len(found) != 2:
        raise InputError(
            f"{pairs} has {len(found)} different labels in '{label}': give two, or the option "
            "at_least, from which on a label counts as positive"
        )
    positive = y >= (found[1] if at_least is None else at_least)
    if positive.all() or not positive.any():
        raise InputError(f"{pairs} has no label on one side of at_least={at_least:g}")
    return {
        "row_features": sides[0].features,
        "col_features": sides[1].features,
        "rows": rows,
        "cols": cols,
        "values": y,
        "labels": np.where(positive, 1, -1).astype(np.int8),
    }
