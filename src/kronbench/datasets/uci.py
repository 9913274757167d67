"""Tables of the UCI and Delve archives: the rows of Bach & Jordan (2005), figure 2, and satimage.

The options of a registry entry say how the records of its source are written, a `Layout`, and
which records and columns make the row of the paper. Nothing is scaled here: unit variance has
to be taken on the training part, which only the experiment knows.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files
from kronbench.errors import InputError


@dataclass(frozen=True)
class Layout:
    """How the records of one source file are written: the option ``layout`` of an entry."""

    n_columns: int  # fields of a record
    target: int = -1  # position of the class label or the response (negative: from the end)
    labels: Sequence[str] | None = None  # that may occur; None for a response, a number
    delimiter: str | None = None  # between fields; None is blanks and tabs
    record_end: str = "\n"
    header: int = 0  # leading records that are not data
    arff: bool = False  # Weka's format, which says itself how its records are written
    ignore: Sequence[int] = ()  # fields that are neither input nor target (identifiers)
    categorical: Sequence[int] = ()  # fields that become indicators, one a value in order
    sequence: int | None = None  # a field of one letter a position, each of them categorical
    missing: Sequence[str] = ("?",)  # the record is left out ("nan" in Weka's)
    codes: Mapping[str, str] = field(default_factory=dict)  # numerals for words


def parse_table(
    files: Files,
    *,
    layout: Mapping[str, Any],
    n_points: int,
    n_features: int,
    classes: Sequence[Sequence[str]] | None = None,
    columns: Sequence[int] | None = None,
    drop_constant: bool = False,
    largest_variance: bool = False,
    median_split: bool = False,
    seed: int | None = None,
    test: str | None = None,
) -> Arrays:
    """Inputs and targets of the files' records, which follow each other in the order of ``files``.

    ``layout`` are the fields of a `Layout`.
    ``classes`` are the labels of class 0, of class 1 ... (None: those of the layout one by one);
    records with any other label are left out. ``columns`` are the fields that are inputs (None:
    all but the target and ignored ones); numbers come first, then the indicators of one field
    after the other. ``drop_constant`` leaves out columns with a single value over these records,
    and ``largest_variance`` keeps the ``n_features`` columns of largest variance in the units of
    the file. ``median_split`` makes two classes of the response: at most its median, above it.
    ``seed`` draws ``n_points`` of more records without replacement, and keeps their order.
    ``test`` is the key of the file that is the test part, marked in ``is_test``.
    """
    X, y, origin = _read_records(files, Layout(**layout), classes, columns)
    # Choose the columns, and cut the response, over all records.
    if drop_constant:
        X = X[:, np.ptp(X, axis=0) > 0]
    if largest_variance and X.shape[1] > n_features:
        order = np.argsort(-X.var(axis=0), kind="stable")
        X = X[:, np.sort(order[:n_features])]
    if median_split:
        y = (y > np.median(y)).astype(np.int64)
    # Draw the points, of which the shape is registered.
    if seed is not None and len(y) > n_points:
        drawn = np.random.default_rng(seed).choice(len(y), n_points, replace=False)
        drawn.sort()
        X, y, origin = X[drawn], y[drawn], origin[drawn]
    if X.shape != (n_points, n_features):
        raise InputError(
            f"{X.shape[0]} points with {X.shape[1]} features are left, {n_points} with "
            f"{n_features} are expected"
        )
    arrays = {"X": np.ascontiguousarray(X), "y": y}
    if test is not None:
        arrays["is_test"] = origin == list(files).index(test)
    return arrays


def _read_records(files, layout, classes, columns):
    """Inputs and targets of all records of ``classes``, and the position of each one's file."""
    classes = classes or [[label] for label in layout.labels or ()]
    class_of = {label: c for c, group in enumerate(classes) for label in group}
    # What each field is: the target, a number, or a word.
    width = layout.n_columns
    target = layout.target % width
    positions = range(width) if columns is None else columns
    inputs = [c for c in positions if c not in (target, *layout.ignore)]
    categorical = [c for c in inputs if c in layout.categorical]
    numeric = [c for c in inputs if c not in (layout.sequence, *layout.categorical)]
    # Keep the records of the classes that are asked for, unless an input is missing.
    missing = set(layout.missing)
    X, words, y, origin = [], [], [], []
    for position, file in enumerate(files.values()):
        for record in _records(file, layout):
            label = record[target]
            fields = [record[c] for c in categorical]
            fields += record[layout.sequence] if layout.sequence is not None else []
            wanted = layout.labels is None or label in class_of
            if wanted and missing.isdisjoint([*fields, *(record[c] for c in numeric)]):
                X.append([float(layout.codes.get(record[c], record[c])) for c in numeric])
                words.append(fields)
                y.append(class_of[label] if layout.labels else float(label))
                origin.append(position)
    # Each word of a field becomes an indicator, in alphabetical order.
    groups = [np.array(X)]
    for column in map(np.array, zip(*words, strict=True)):
        groups.append(column[:, None] == np.unique(column))
    return np.hstack(groups, dtype=np.float64), np.array(y), np.array(origin)


def _records(file, layout):
    """Yield the fields of each record of a file, as text."""
    with file.open() as stream:
        if layout.arff:
            from scipy.io import arff  # for one table

            records, _ = arff.loadarff(io.TextIOWrapper(stream, encoding="latin-1"))
            for record in records:
                # Words come as bytes, numbers as float64, whose text gives the same number again.
                yield [v.decode() if isinstance(v, bytes) else repr(float(v)) for v in record]
            return
        text = stream.read().decode("latin-1").replace("\r\n", "\n")
    for number, record in enumerate(text.split(layout.record_end)):
        # split() breaks at blanks and tabs; some archives end their records with a delimiter
        fields = [entry.strip() for entry in record.split(layout.delimiter)]
        if number >= layout.header and any(fields):
            yield fields[: layout.n_columns]


def surrogate_table(
    rng: np.random.Generator,
    *,
    n_points: int,
    n_features: int,
    class_counts: Sequence[int] | None = None,
    blocks: Sequence[int] = (),
    n_test: int | None = None,
) -> Arrays:
    """Correlated inputs and a smooth noisy target, of the shape and class sizes of the real table.

    The covariance of the numbers has eigenvalues 1/k; the last columns are indicators, ``blocks``
    of them at a time. The target is a sum of waves along ten random directions, with noise of a
    third of its standard deviation; classes are slices of its range.
    """
    n_numbers = n_features - sum(blocks)
    rotation = np.linalg.qr(rng.standard_normal((n_numbers, n_numbers)))[0]
    spread = 1 / np.sqrt(np.arange(1, n_numbers + 1))
    numbers = rng.standard_normal((n_points, n_numbers)) * spread @ rotation
    indicators = [np.eye(size)[rng.permutation(n_points) % size] for size in blocks]
    X = np.hstack([numbers, *indicators])
    directions = rng.standard_normal((n_features, 10)) / np.sqrt(n_features)
    y = np.sin(3.0 * X @ directions + rng.uniform(0, 2 * np.pi, 10)).sum(axis=1)
    y += rng.normal(0, y.std() / 3, n_points)
    if class_counts is not None:
        y = np.repeat(np.arange(len(class_counts)), class_counts)[np.argsort(np.argsort(y))]
    arrays = {"X": X, "y": y}
    if n_test is not None:
        arrays["is_test"] = rng.permutation(n_points) < n_test
    return arrays
