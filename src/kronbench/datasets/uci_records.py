"""The records of one table of `kronbench.datasets.uci`: from its text to inputs and targets."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.io import arff

from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import are_numerals, as_number, excerpt
from kronbench.datasets.uci import Layout
from kronbench.errors import InputError

_FIELD = 100  # bytes that fields have on average at most


def read_records(
    files: Mapping[str, LocalFile],
    layout: Layout,
    classes: Sequence[Sequence[str]] | None = None,
    columns: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs and targets of all records of ``classes``, and the position of each one's file.

    Parameters
    ----------
    files : mapping
        Files of one layout.
    layout : Layout
    classes, columns
        As `kronbench.datasets.uci.parse_table` takes them.

    Returns
    -------
    X : (n, p) float64 array
        Numeric columns first, then the indicators of one field after the other.
    y : (n,) array
        float64 for regression, else int64 classes 0..C-1.
    origin : (n,) integer array

    Raises
    ------
    InputError
        A record has the wrong number of fields, an unknown label or an entry that is no finite
        number; or none has an expected class.
    """
    classes = classes or [[label] for label in layout.labels or ()]
    class_of = {label: c for c, group in enumerate(classes) for label in group}
    width = layout.n_columns
    target = layout.target % width
    positions = range(width) if columns is None else columns
    inputs = [c for c in positions if c not in (target, *layout.ignore)]
    words = [c for c in inputs if c in layout.categorical]
    numbers = [c for c in inputs if c not in (layout.sequence, *layout.categorical)]

    parts = [_records(file, layout) for file in files.values()]
    origin = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    table = pd.concat(parts)
    chosen = np.ones(len(table), dtype=bool)
    if layout.labels is not None:
        unknown = np.flatnonzero(~table[target].isin(layout.labels))
        if len(unknown):
            label = table[target].iloc[unknown[0]]
            raise InputError(
                f"{table.index[unknown[0]]}: unknown class {excerpt(label)}, "
                f"expected one of {', '.join(layout.labels)}"
            )
        chosen = table[target].isin(class_of).to_numpy()
    entries = table[words]
    if layout.sequence is not None:
        entries = entries.join(_letters(table[layout.sequence], layout))
    if layout.missing:
        used = table[numbers].join(entries)
        chosen = chosen & ~used.isin(layout.missing).any(axis=1).to_numpy()
    if not chosen.any():
        names = ", ".join(file.name for file in files.values())
        raise InputError(f"{names}: no record of the expected classes was found")

    table, entries = table[chosen], entries[chosen]
    groups = [_numbers(table[numbers], layout.codes)]
    for name in entries:
        column = entries[name].to_numpy(str)
        groups.append(column[:, None] == np.unique(column))
    if layout.labels is None:
        y = _numbers(table[[target]], layout.codes)[:, 0]
    else:
        y = table[target].map(class_of).to_numpy(np.int64)
    return np.hstack(groups, dtype=np.float64), y, origin[chosen]


def _records(file, layout):
    """The fields of all data records as text, under an index that names file and record."""
    with file.open() as stream:
        table = _weka(file, stream) if layout.arff else _delimited(file, stream, layout)
    kind = "record" if layout.arff or layout.record_end != "\n" else "line"
    table.index = [f"{file.name}, {kind} {number}" for number in table.index + 1]
    filled = (table != "").sum(axis=1)
    wrong = np.flatnonzero((filled != layout.n_columns) & (filled > 0))
    if len(wrong):
        raise InputError(
            f"{table.index[wrong[0]]}: {filled.iloc[wrong[0]]} columns, "
            f"expected {layout.n_columns}"
        )
    return table.loc[filled > 0, : layout.n_columns - 1]


def _delimited(file, stream, layout):
    content = stream.read()
    longest = max(map(len, content.split(layout.record_end.encode())))
    # A field of the archives has some ten letters; the reader takes minutes for 10^6 columns.
    if longest > _FIELD * layout.n_columns + layout.sequence_length:
        raise InputError(
            f"{file.name} is not a table of {layout.n_columns} columns: a record has "
            f"{longest} bytes"
        )
    try:
        # A first record that is too long gives a warning, which the error to come makes needless.
        with warnings.catch_warnings(action="ignore", category=pd.errors.ParserWarning):
            return pd.read_csv(
                io.BytesIO(content),
                sep=layout.delimiter or r"\s+",
                lineterminator=None if layout.record_end == "\n" else layout.record_end,
                header=None,
                # One column more shows a record that is too long: the reader would cut it.
                names=range(layout.n_columns + 1),
                index_col=False,
                dtype=object,
                na_filter=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                quoting=csv.QUOTE_NONE,
                encoding="latin-1",
            ).iloc[layout.header :]
    except pd.errors.ParserError as error:
        raise InputError(
            f"{file.name} is not a table of {layout.n_columns} columns: "
            f"{' '.join(str(error).split())}"
        ) from None


def _weka(file, stream):
    try:
        records, _ = arff.loadarff(io.TextIOWrapper(stream, encoding="latin-1"))
    except (arff.ArffError, ValueError, IndexError, StopIteration, NotImplementedError) as error:
        said = " ".join(str(error).split())[:200]
        raise InputError(f"{file.name} is not in Weka's format: {said}") from None
    # Words come as bytes, numbers as float64, whose text gives the same number again.
    columns = (records[name].tolist() for name in records.dtype.names)
    return pd.DataFrame(
        {
            position: [v.decode("latin-1") if isinstance(v, bytes) else repr(v) for v in column]
            for position, column in enumerate(columns)
        }
    )


def _letters(column, layout):
    """One column for each position of a sequence."""
    wrong = np.flatnonzero(column.str.len() != layout.sequence_length)
    if len(wrong):
        raise InputError(
            f"{column.index[wrong[0]]}: a sequence of {len(column.iloc[wrong[0]])} letters, "
            f"expected {layout.sequence_length}"
        )
    names = [f"letter {position}" for position in range(1, layout.sequence_length + 1)]
    return pd.DataFrame(list(map(list, column)), index=column.index, columns=names)


def _numbers(table, codes):
    """(n, k) float64 array of the fields of a table, correctly rounded."""
    entries = table.to_numpy(object, copy=True)
    sound = are_numerals(entry for entry in entries.flat if entry not in codes)
    for word, number in codes.items():
        entries[entries == word] = number
    try:
        values = entries.astype(np.float64) if sound else None
    except ValueError:
        values = None
    if values is None:
        read = (e if isinstance(e, float) else as_number(e) for e in entries.flat)
        values = np.array([np.nan if e is None else e for e in read]).reshape(entries.shape)
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        row, col = wrong[0]
        raise InputError(
            f"{table.index[row]}: {excerpt(entries[row, col])} is not a finite number"
        )
    return values
