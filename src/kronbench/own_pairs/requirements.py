"""Memory and time of long work on a user's pairs: told before it, refused where it does not fit.

Estimates are of the Kronecker models, whose sizes decide; of other solvers nothing is said.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import psutil

from kronbench.errors import InputError
from kronbench.io import check_readable, open_table, separator_of

if TYPE_CHECKING:
    from kronbench.own_pairs.recipe import Recipe
    from kronbench.pairs import PairData

_MIB = 1 << 20
# From which on work is announced.
_LONG_SECONDS, _LARGE_BYTES = 10, 1 << 30
# Bytes that a cell of a table takes while it is read: of numbers, and of pairs, with ids as text.
_NUMBER_CELL, _PAIR_CELL = 24, 70
_SAMPLE = 1 << 20  # bytes of a table in which cells are counted
# Arrays of the length of the pairs that a Krylov method and the sorted pairs hold, and those of
# one product.
_FIT_ARRAYS, _ARRAYS = 20, 6
# Operations of a product of matrices that a processor makes in a second (4e10 to 9e10 were found);
# what takes less than a second so is not told by its operations.
_OPERATIONS_A_SECOND = 5e10
_MANY = 30  # fits, from which on two more to time them are few
_NAMES = {"row": "row", "col": "column"}
# Of landmarks: copies of their features in a fit, where folds leave out vertices; candidates for
# each of them; vertices whose kernel values a thread holds, twice.
_COPIES, _CANDIDATES, _BLOCK = 2, 20, 4096


@dataclass(frozen=True)
class Work:
    """The sizes of one fit, or of one prediction.

    Attributes
    ----------
    train : (int, int, int)
        Row vertices, column vertices and pairs that train.
    asked : (int, int, int) or None
        Those of the pairs to predict; None of a fit.
    widths : (int, int)
        Features of a row and of a column vertex.
    """

    train: tuple[int, int, int]
    asked: tuple[int, int, int] | None
    widths: tuple[int, int]

    @classmethod
    def of(cls, train: PairData, asked: PairData | None = None) -> Work:
        """The work of a fit to pairs, or of scores for others."""
        widths = train.row_features.shape[1], train.col_features.shape[1]
        return cls(_used(train), None if asked is None else _used(asked), widths)

    @property
    def scored(self) -> tuple[int, int, int]:
        """Row vertices, column vertices and pairs of the scores: those that train, in a fit."""
        return self.asked or self.train

    def within(self, vertices: int, pairs: int) -> Work:
        """No more vertices on a side, and no more pairs, than these; of a prediction, its own."""
        rows, cols, n = self.scored
        smaller = min(rows, vertices), min(cols, vertices), min(n, pairs)
        if self.asked:
            return replace(self, asked=smaller)
        return replace(self, train=smaller)


def memory_of(recipe: Recipe, work: Work) -> dict[str, float]:
    """Bytes that a fit or a prediction takes beside its tables, by what takes them.

    Empty for a solver that is no Kronecker model.
    """
    if recipe.parameter("row_kernel") is None or recipe.parameter("product") is None:
        return {}
    parts = {}
    for side in _sides(recipe, work):
        size = 8.0 * side.vertices * side.features
        if side.rank:
            size *= (1 if work.asked else _COPIES) * (0.5 if _is_single(recipe) else 1)
            size += 16.0 * _BLOCK * side.rank * (os.cpu_count() or 1)
            size += 0 if work.asked else 8.0 * _CANDIDATES * side.rank**2
        parts[f"the {side.matrix}"] = size
    a, b, c, d, e, f = _shape(recipe, work)
    parts["products"] = 8.0 * max(b * c, d * a)
    arrays = _ARRAYS * (e + f) if work.asked else _FIT_ARRAYS * max(e, f)
    parts["vectors"] = 8.0 * arrays
    return parts


def seconds_of(recipe: Recipe, work: Work) -> float:
    """Seconds of a fit, or of a prediction, by the operations of its products; 0: unknown."""
    if not memory_of(recipe, work):
        return 0.0
    # here: tables that are no tables need no numba
    from kronbench.linalg.threads import processors
    from kronbench.pairs._cost_model import TYPICAL, Sizes

    products = 1 if work.asked else _products(recipe)
    sizes = Sizes(*_shape(recipe, work))
    values = sum(side.values for side in _sides(recipe, work))
    product = min(TYPICAL.sparse(sizes), TYPICAL.dense(sizes))
    seconds = (products * product + 2 * values) / (processors() * _OPERATIONS_A_SECOND)
    return seconds if seconds > 1 else 0.0


def announce(
    recipe: Recipe,
    work: Work,
    n_fits: int = 1,
    fit: Callable[[], object] | None = None,
    n_solves: int | None = None,
) -> None:
    """Say on standard error what long work takes.

    Parameters
    ----------
    recipe : Recipe
    work : Work
    n_fits : int
        How often it is done.
    fit : callable, optional
        Does it once. Many fits whose products take no time to speak of are timed by it, after one
        that compiles.
    n_solves : int, optional
        The fits that cost anything, where some come with others; all without.

    Raises
    ------
    InputError
        It needs more memory than there is: with the sizes that would fit.
    """
    parts = memory_of(recipe, work)
    needed, available = sum(parts.values()), available_memory()
    if needed > available:
        largest = max(parts, key=parts.__getitem__)
        raise InputError(
            f"{recipe.solver} for {_sizes(work)} needs about {_mib(needed)}, "
            f"{_mib(parts[largest])} of it for {largest}, and {_mib(available)} are available: "
            + _what_fits(recipe, work, available)
        )
    one = seconds_of(recipe, work)
    n_solves = n_fits if n_solves is None else n_solves
    if parts and not one and fit and n_solves >= _MANY:
        fit()
        began = time.perf_counter()
        fit()
        one = time.perf_counter() - began
    seconds = n_solves * one
    if seconds > _LONG_SECONDS or needed > _LARGE_BYTES:
        times = f"{n_fits:,} fits of " if n_fits > 1 else ""
        duration = f"about {_duration(seconds)} and " if seconds > 1 else ""
        print(
            f"{times}{recipe.solver} for {_sizes(work)}: {duration}{_mib(needed)} of memory",
            file=sys.stderr,
        )


def check_tables(tables: Mapping[str, str | Path | None]) -> None:
    """InputError where a table is not there, or takes more memory to read than there is.

    Parameters
    ----------
    tables : mapping
        Paths, among them "pairs", whose ids stay text; None where there is no table.
    """
    needed, available = {}, available_memory()
    for name in ("pairs", "rows", "cols"):
        path = tables.get(name)
        if path is not None:
            check_readable(path)
            cell = _PAIR_CELL if name == "pairs" else _NUMBER_CELL
            needed[path] = _table_bytes(Path(path), cell, available)
    if sum(needed.values()) > available:
        largest = max(needed, key=needed.__getitem__)
        share = available / sum(needed.values())
        raise InputError(
            f"{largest} has {_mib(os.path.getsize(largest))}, and to read the tables takes about "
            f"{_mib(sum(needed.values()))} where {_mib(available)} are available: "
            f"about {100 * share:.2g} % of them would fit"
        )


def available_memory(cgroups: Iterable[str | os.PathLike] = ("/sys/fs/cgroup",)) -> float:
    """Bytes that this process may still take: of the machine, within the quota of its container.

    Parameters
    ----------
    cgroups : folders
        Where Linux says what a container may use (cgroup v2); pages of files that it could give
        back count as free.
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


class _Side(NamedTuple):
    """The matrix of one side: its name, shape, multiplications to fill it, and landmarks."""

    matrix: str
    vertices: int
    features: int
    values: float
    rank: int | None


def _sides(recipe, work):
    """The row and the column side: kernels between vertices, or features of a primal form."""
    found = []
    for k, side in enumerate(("row", "col")):
        new, old, width, rank = work.scored[k], work.train[k], work.widths[k], recipe.landmarks[k]
        kernel, name = recipe.parameter(f"{side}_kernel"), _NAMES[side]
        if rank:
            values = new * rank * (width + rank / 2)
            found.append(_Side(f"features of {name} landmarks", new, rank, values, rank))
        elif kernel == "linear" and _is_primal(recipe):
            found.append(_Side(f"{name} features", new, width, 0, None))
        else:
            values = 0 if kernel == "precomputed" else new * old * width
            found.append(_Side(f"{name} kernel", new, old, values, None))
    return found


def _shape(recipe, work):
    """A product: (a, b) row matrix, (c, d) column matrix, e coefficients, f outputs."""
    row, col = _sides(recipe, work)
    e = row.features * col.features if _is_primal(recipe) else work.train[2]
    return row.vertices, row.features, col.vertices, col.features, e, work.scored[2]


def _is_primal(recipe):
    return recipe.parameter("form") == "primal"


def _is_single(recipe):
    return recipe.parameter("dtype") == "float32"


def _used(data):
    rows, cols = (
        int(np.count_nonzero(np.bincount(index, minlength=1))) for index in (data.rows, data.cols)
    )
    return rows, cols, len(data)


def _products(recipe):
    """Products of a fit that makes all of its iterations; two each, of X and X', in the primal."""
    outer, inner = recipe.parameter("max_iter"), recipe.parameter("max_inner")
    outer = outer if isinstance(outer, int) else 1  # what is no number, fit refuses
    products = outer * (inner + 1 if isinstance(inner, int) else 1)
    return 2 * products if _is_primal(recipe) else products


def _what_fits(recipe, work, available):
    """The largest work of this kind that there is memory for, as the end of a sentence."""

    def fits(vertices, pairs):
        return sum(memory_of(recipe, work.within(vertices, pairs)).values()) <= available

    rows, cols, n = work.scored
    vertices = _largest(lambda v: fits(v, n), max(rows, cols))
    if vertices > 1:
        return f"about {vertices:,} vertices on a side would fit{_landmarks(recipe, work)}"
    pairs = _largest(lambda n: fits(1, n), n)
    return f"about {pairs:,} pairs would fit" if pairs else "none of it would fit"


def _landmarks(recipe, work):
    """The option that needs no kernel matrix of the side with more vertices, where it has one."""
    k = int(work.scored[0] < work.scored[1])
    side = ("row", "col")[k]
    if recipe.landmarks[k]:
        return ", or fewer landmarks"
    kernel = recipe.parameter(f"{side}_kernel")
    if kernel not in ("gaussian", "tanimoto") or recipe.parameter("form") is None:
        return ""
    return f", or fit on landmarks: --{side}-landmarks {min(500, work.train[k])}"


def _largest(fits, most):
    """The largest whole number up to ``most`` that fits; 0 where none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _table_bytes(path, cell, most):
    """Bytes that it takes to read a table of text, by the cells at its beginning.

    A packed one is unpacked to know its size, as far as ``most`` bytes.
    """
    size, separator = path.stat().st_size, separator_of(path)
    if separator is None:
        return size
    with open_table(path) as file:
        sample = file.read(_SAMPLE)
        if path.suffix == ".gz":
            size = len(sample)
            while size < most and (block := file.read(_SAMPLE)):
                size += len(block)
    cells = sample.count(b"\n") + sample.count(separator.encode())
    return size * max(1.0, cell * cells / max(1, len(sample)))


def _sizes(work):
    asked = f"{work.asked[2]:,} pairs from " if work.asked else ""
    rows, cols, n = work.train
    return f"{asked}{n:,} pairs of {rows:,} rows and {cols:,} columns"


def _mib(n_bytes):
    return f"{n_bytes / _MIB:,.0f} MiB"


def _duration(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.0f} hours"
