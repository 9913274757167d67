"""Memory of work on a user's pairs: what does not fit is refused before it begins.

Estimates are of the Kronecker models, whose sizes decide; of other solvers nothing is said.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil

from kronbench.errors import InputError
from kronbench.io import check_readable, open_table, separator_of

if TYPE_CHECKING:
    from kronbench.own_pairs.recipe import Recipe
    from kronbench.pairs import PairData

# Bytes that a cell of a table takes while it is read: of numbers, and of pairs, with ids as text.
_CELL, _PAIR_CELL = 24, 70
_SAMPLE = 1 << 20  # bytes of a table in which cells are counted
# Arrays of the length of the pairs that a Krylov method and the sorted pairs hold, and those of
# one product.
_FIT_ARRAYS, _ARRAYS = 20, 6
# Of landmarks: copies of their features in a fit, where folds leave out vertices; candidates for
# each of them; vertices whose kernel values a thread holds, twice.
_COPIES, _CANDIDATES, _BLOCK = 2, 20, 4096


class Work(NamedTuple):
    """The sizes of one fit, or of one prediction.

    ``train`` and ``asked`` count row vertices, column vertices and pairs: those that train, and
    those to predict (None of a fit). ``widths`` are the features of a row and a column vertex.
    """

    train: tuple[int, int, int]
    asked: tuple[int, int, int] | None
    widths: tuple[int, int]

    @classmethod
    def of(cls, train: PairData, asked: PairData | None = None) -> Work:
        """The work of a fit to pairs, or of scores for others."""
        widths = train.row_features.shape[1], train.col_features.shape[1]
        return cls(_used(train), None if asked is None else _used(asked), widths)


def memory_of(recipe: Recipe, work: Work) -> dict[str, float]:
    """Bytes that a fit or a prediction takes beside its tables, by what takes them.

    Empty for a solver that is no Kronecker model.
    """
    if recipe.parameter("row_kernel") is None or recipe.parameter("product") is None:
        return {}
    primal, scored = recipe.parameter("form") == "primal", work.asked or work.train
    parts, widths = {}, []
    for k, (side, name) in enumerate((("row", "row"), ("col", "column"))):
        # the matrix of a side: features in the primal form, else kernel values
        rank, kept, width, extra = recipe.landmarks[k], f"{name} kernel", work.train[k], 0.0
        cell = 8.0
        if rank:
            kept, width = f"features of {name} landmarks", rank
            cell = 4.0 if recipe.parameter("dtype") == "float32" else 8.0
            extra = 16.0 * _BLOCK * rank * (os.cpu_count() or 1)
            if not work.asked:
                cell *= _COPIES
                extra += 8.0 * _CANDIDATES * rank**2
        elif primal and recipe.parameter(f"{side}_kernel") == "linear":
            kept, width = f"{name} features", work.widths[k]
        parts[f"the {kept}"] = cell * scored[k] * width + extra
        widths.append(width)
    coefs, outputs = widths[0] * widths[1] if primal else work.train[2], scored[2]
    parts["products"] = 8.0 * max(widths[0] * scored[1], widths[1] * scored[0])
    arrays = _ARRAYS * (coefs + outputs) if work.asked else _FIT_ARRAYS * max(coefs, outputs)
    parts["vectors"] = 8.0 * arrays
    return parts


def check_memory(recipe: Recipe, work: Work) -> None:
    """InputError where work needs more memory than there is, with what takes most of it."""
    parts = memory_of(recipe, work)
    needed, available = sum(parts.values()), available_memory()
    if needed > available:
        largest = max(parts, key=parts.__getitem__)
        asked = f"{work.asked[2]:,} pairs from " if work.asked else ""
        rows, cols, n = work.train
        raise InputError(
            f"{recipe.solver} for {asked}{n:,} pairs of {rows:,} rows and {cols:,} columns needs "
            f"about {_mib(needed)}, {_mib(parts[largest])} of it for {largest}, and "
            f"{_mib(available)} are available: give fewer vertices or pairs"
            + _landmarks(recipe, work)
        )


def _landmarks(recipe, work):
    """The option that needs no kernel matrix of the side with more vertices, where it has one."""
    scored = work.asked or work.train
    k = int(scored[0] < scored[1])
    side = ("row", "col")[k]
    if recipe.landmarks[k]:
        return ", or fewer landmarks"
    kernel = recipe.parameter(f"{side}_kernel")
    if kernel not in ("gaussian", "tanimoto") or recipe.parameter("form") is None:
        return ""
    return f", or fit on landmarks: --{side}-landmarks {min(500, work.train[k])}"


def check_tables(tables: Mapping[str, str | Path | None]) -> None:
    """InputError where a table is not there, or takes more memory to read than there is."""
    needed, available = {}, available_memory()
    for name in ("pairs", "rows", "cols"):
        if (path := tables.get(name)) is not None:
            check_readable(path)
            needed[path] = _bytes_to_read(Path(path), _PAIR_CELL if name == "pairs" else _CELL)
    if sum(needed.values()) > available:
        largest = max(needed, key=needed.__getitem__)
        raise InputError(
            f"{largest} has {_mib(os.path.getsize(largest))}, and reading the tables takes about "
            f"{_mib(sum(needed.values()))} where {_mib(available)} are available: give fewer rows"
        )


def _bytes_to_read(path, cell):
    """Bytes that it takes to read a table of text, by the cells at its beginning."""
    size, separator = path.stat().st_size, separator_of(path)
    if separator is None:
        return size
    with open_table(path) as file:
        sample = file.read(_SAMPLE)
        if path.suffix == ".gz":
            size = len(sample) + sum(map(len, iter(lambda: file.read(_SAMPLE), b"")))
    cells = sample.count(b"\n") + sample.count(separator.encode())
    return size * max(1.0, cell * cells / max(1, len(sample)))


def available_memory(cgroups: Iterable[str | os.PathLike] = ("/sys/fs/cgroup",)) -> float:
    """Bytes that this process may still take: of the machine, within the quota of its container.

    ``cgroups`` are the folders where Linux says what a container may use (cgroup v2); pages of
    files that it could give back count as free.
    """
    available = float(psutil.virtual_memory().available)
    for folder in map(Path, cgroups):
        with contextlib.suppress(OSError, ValueError, KeyError):  # no quota: "max" is no number
            limit = int((folder / "memory.max").read_text())
            lines = (folder / "memory.stat").read_text().splitlines()
            stat = dict(line.split() for line in lines)
            used = int((folder / "memory.current").read_text()) - int(stat["inactive_file"])
            available = min(available, max(0.0, limit - used))
    return available


def _used(data):
    counts = [np.count_nonzero(np.bincount(index)) for index in (data.rows, data.cols)]
    return *map(int, counts), len(data)


def _mib(n_bytes):
    return f"{n_bytes / (1 << 20):,.0f} MiB"
