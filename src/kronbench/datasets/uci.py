"""Tables of the UCI and Delve archives: the rows of Bach & Jordan (2005), figure 2, and satimage.

A `Layout` says how the records of one source are written; the options of a registry entry say
which records and columns make the row of the paper. Nothing is scaled here: unit variance has
to be taken on the training part, which only the experiment knows. A column may be constant in a
training part (a rare category, a pixel that is nearly always off).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kronbench.datasets.dataset import Loader
from kronbench.datasets.fetch import LocalFile
from kronbench.errors import InputError


@dataclass(frozen=True)
class Layout:
    """How the records of one source file are written.

    Parameters
    ----------
    n_columns : int
        Fields of a record.
    target : int
        Position of the class label or the response (negative: from the end).
    labels : tuple of str, optional
        The class labels that may occur; None for a response that is a number.
    delimiter : str, optional
        Between fields; None is any white space.
    record_end : str
        Between records.
    header : int
        Leading records that are not data.
    arff : bool
        The file is in Weka's format, which says itself how its records are written.
    ignore : tuple of int
        Fields that are neither input nor target (identifiers).
    categorical : tuple of int
        Fields that become indicator columns, one a value, in alphabetical order.
    sequence, sequence_length : int
        A field that holds one letter a position: it is split, and each position is categorical.
    missing : frozenset of str
        Entries that mean "not known": the record is left out ("nan" for numbers in Weka's format).
    codes : dict
        Numbers for entries that are words.
    """

    n_columns: int
    target: int = -1
    labels: tuple[str, ...] | None = None
    delimiter: str | None = None
    record_end: str = "\n"
    header: int = 0
    arff: bool = False
    ignore: tuple[int, ...] = ()
    categorical: tuple[int, ...] = ()
    sequence: int | None = None
    sequence_length: int = 0
    missing: frozenset[str] = frozenset()
    codes: dict[str, float] = field(default_factory=dict)


def _numbered(first, last):
    return tuple(str(label) for label in range(first, last + 1))


_UNKNOWN = frozenset("?")
_DELVE = Layout(33)

LAYOUTS = {
    "abalone": Layout(9, delimiter=",", categorical=(0,)),
    "adult": Layout(15, delimiter=",", labels=("<=50K", ">50K"), missing=_UNKNOWN),
    "boston": Layout(14),
    "breast": Layout(11, delimiter=",", labels=("2", "4"), ignore=(0,), missing=_UNKNOWN),
    "census-house": Layout(17),
    "cmc": Layout(10, delimiter=",", labels=_numbered(1, 3), categorical=(6,)),
    "comp-activ": Layout(22),
    "delve-32": _DELVE,
    "dermatology": Layout(35, delimiter=",", labels=_numbered(1, 6), missing=_UNKNOWN),
    "hypothyroid": Layout(
        30,
        arff=True,
        labels=(
            "negative",
            "compensated_hypothyroid",
            "primary_hypothyroid",
            "secondary_hypothyroid",
        ),
        missing=frozenset({"?", "nan"}),
        codes={"F": 0.0, "M": 1.0, "f": 0.0, "t": 1.0},
    ),
    "ionosphere": Layout(35, delimiter=",", labels=("b", "g")),
    "isolet": Layout(618, delimiter=",", labels=tuple(f"{c}." for c in range(1, 27))),
    "liver": Layout(7, delimiter=",", labels=("1", "2")),
    # A question mark is the documented way to write an unknown stalk root, and counts as a value.
    "mushroom": Layout(
        23, target=0, delimiter=",", labels=("e", "p"), categorical=tuple(range(1, 23))
    ),
    "optdigits": Layout(65, delimiter=",", labels=_numbered(0, 9)),
    "page-blocks": Layout(11, labels=_numbered(1, 5)),
    "pendigits": Layout(17, delimiter=",", labels=_numbered(0, 9)),
    "pi-diabetes": Layout(9, delimiter=",", labels=("0", "1")),
    "satellite": Layout(37, labels=("1", "2", "3", "4", "5", "7")),
    "segmentation": Layout(20, labels=_numbered(1, 7)),
    "spambase": Layout(58, delimiter=",", labels=("0", "1")),
    "splice": Layout(
        3,
        target=0,
        delimiter=",",
        labels=("EI", "IE", "N"),
        ignore=(1,),
        sequence=2,
        sequence_length=60,
        missing=frozenset("DNSR"),
    ),
    "titanic": Layout(
        4,
        delimiter="\x1f",
        record_end="\x1e",
        header=2,
        labels=("no", "yes"),
        categorical=(0, 1, 2),
    ),
    "vehicle": Layout(19, labels=("bus", "opel", "saab", "van")),
    "vowel": Layout(14, labels=_numbered(0, 10), ignore=(0, 1, 2)),
    "yeast": Layout(
        10,
        labels=("CYT", "NUC", "MIT", "ME3", "ME2", "ME1", "EXC", "VAC", "POX", "ERL"),
        ignore=(0,),
    ),
}


def parse_table(
    files: Mapping[str, LocalFile],
    *,
    layout: str,
    n_points: int,
    n_features: int,
    classes: Sequence[Sequence[str]] | None = None,
    columns: Sequence[int] | None = None,
    drop_constant: bool = False,
    largest_variance: bool = False,
    median_split: bool = False,
    seed: int | None = None,
    test: str | None = None,
) -> dict[str, np.ndarray]:
    """Inputs and targets of the files' records, which follow each other in the order of ``files``.

    Parameters
    ----------
    files : mapping
        By key, objects with ``.name`` and ``.open()``.
    layout : str
        A key of `LAYOUTS`.
    n_points, n_features : int
        Records and columns that must come out.
    classes : list of lists of str, optional
        The labels of class 0, of class 1 ...; records with any other label are left out. None
        takes the labels of the layout one by one.
    columns : list of int, optional
        The fields that are inputs; None takes all but the target and ignored ones.
    drop_constant : bool
        Leave out columns with a single value over the records of the chosen classes.
    largest_variance : bool
        Keep the ``n_features`` columns of largest variance in the units of the file.
    median_split : bool
        Turn the response into two classes: at most its median (0), above it (1), over all records.
    seed : int, optional
        Draws ``n_points`` of more records without replacement, and keeps their order.
    test : str, optional
        The key of the file that is the test part: adds the array ``is_test`` (n,) of bool.

    Returns
    -------
    dict
        ``X`` (n, p) float64, numeric columns first, then the indicators of one field after the
        other; ``y`` (n,), float64 for regression, else int64 classes 0..C-1.

    Raises
    ------
    InputError
        A record has the wrong number of fields, an unknown label, an entry that is no finite
        number; or what is left is not ``n_points`` records of ``n_features`` columns.
    """
    # Here: it takes pandas, a tenth of a second that other formats do not need.
    from kronbench.datasets.uci_records import read_records

    X, y, origin = read_records(files, LAYOUTS[layout], classes, columns)
    if drop_constant:
        X = X[:, np.ptp(X, axis=0) > 0]
    if largest_variance and X.shape[1] > n_features:
        order = np.argsort(-X.var(axis=0), kind="stable")
        X = X[:, np.sort(order[:n_features])]
    if median_split:
        y = (y > np.median(y)).astype(np.int64)
    if seed is not None and len(y) > n_points:
        drawn = np.random.default_rng(seed).choice(len(y), n_points, replace=False)
        drawn.sort()
        X, y, origin = X[drawn], y[drawn], origin[drawn]
    if X.shape != (n_points, n_features):
        names = ", ".join(file.name for file in files.values())
        raise InputError(
            f"{names}: {X.shape[0]} points with {X.shape[1]} features are left, "
            f"{n_points} with {n_features} are expected"
        )
    arrays = {"X": np.ascontiguousarray(X), "y": y}
    if test is not None:
        arrays["is_test"] = origin == list(files).index(test)
    return arrays


def surrogate_table(
    rng: np.random.Generator,
    *,
    n_points: int,
    n_features: int,
    class_counts: Sequence[int] | None = None,
    blocks: Sequence[int] = (),
    n_test: int | None = None,
    **_parsing: object,
) -> dict[str, np.ndarray]:
    """Correlated inputs and a smooth noisy target, of the shape and class sizes of the real table.

    The covariance of the inputs has eigenvalues 1/k. The target is a sum of waves along ten random
    directions, with noise of a third of its standard deviation; classes are slices of its range.

    Parameters
    ----------
    rng : numpy Generator
    n_points, n_features : int
    class_counts : list of int, optional
        Points of each class; None for regression.
    blocks : list of int
        Columns in each group of indicators.
    n_test : int, optional
        Points of the test part, marked in ``is_test``.
    """
    n_numbers = n_features - sum(blocks)
    n_latent = n_numbers + len(blocks)
    rotation = np.linalg.qr(rng.standard_normal((n_latent, n_latent)))[0]
    latent = rng.standard_normal((n_points, n_latent)) / np.sqrt(np.arange(1, n_latent + 1))
    directions = rng.standard_normal((n_latent, 10)) / np.sqrt(n_latent)
    target = np.sin(3.0 * latent @ directions + rng.uniform(0, 2 * np.pi, 10)).sum(axis=1)
    target += rng.standard_normal(n_points) * target.std() / 3

    inputs = latent @ rotation
    groups = [inputs[:, :n_numbers]]
    for column, size in zip(inputs.T[n_numbers:], blocks, strict=True):
        counts = 1 + np.bincount(rng.integers(size, size=n_points - size), minlength=size)
        groups.append(_slices(column, counts)[:, None] == np.arange(size))
    arrays = {"X": np.hstack(groups, dtype=np.float64), "y": target}
    if class_counts is not None:
        arrays["y"] = _slices(target, class_counts)
    if n_test is not None:
        arrays["is_test"] = rng.permutation(n_points) < n_test
    return arrays


TABLE = Loader("vectors", parse=parse_table, surrogate=surrogate_table)


def _slices(values, counts):
    """Levels 0, 1, ... along increasing values, with ``counts[k]`` entries at level k."""
    levels = np.empty(len(values), dtype=np.int64)
    levels[np.argsort(values, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return levels
