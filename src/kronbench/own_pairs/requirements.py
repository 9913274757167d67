"""Memory of work on a user's pairs: what does not fit is refused before it begins.

Only kernel matrices of Kronecker models are counted, which are the largest.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from kronbench.errors import InputError

if TYPE_CHECKING:
    from kronbench.own_pairs.recipe import Recipe
    from kronbench.pairs import PairData


def kernel_bytes(recipe: Recipe, train: PairData, asked: PairData | None = None) -> list[float]:
    """Bytes of the kernel matrix of each side, in a fit or in scores for other pairs.

    Zero for linear kernels in the primal form, and of other solvers.
    """
    known = recipe.estimator().get_params()
    if known.get("row_kernel") is None or known.get("product") is None:
        return [0.0, 0.0]
    kernels = known["row_kernel"], known["col_kernel"]
    counts = zip(_counts(train if asked is None else asked), _counts(train), strict=True)
    return [
        0.0 if known["form"] == "primal" and kernel == "linear" else 8.0 * scored * trained
        for kernel, (scored, trained) in zip(kernels, counts, strict=True)
    ]


def check_memory(recipe: Recipe, train: PairData, asked: PairData | None = None) -> None:
    """InputError where kernel matrices need more memory than there is."""
    found, available = kernel_bytes(recipe, train, asked), available_memory()
    if sum(found) > available:
        scores = f"{len(asked):,} pairs from " if asked is not None else ""
        rows, cols = _counts(train)
        side, advice = "row" if found[0] >= found[1] else "col", "give fewer vertices"
        kernel, form = (recipe.parameter(name) for name in (f"{side}_kernel", "form"))
        if kernel in ("gaussian", "tanimoto") and form is not None:
            advice += f", or approximate the {side} kernel by VertexNystroem in Python"
        raise InputError(
            f"the kernels of {recipe.solver} for {scores}{len(train):,} pairs of {rows:,} rows "
            f"and {cols:,} columns need {_mib(sum(found))}, and {_mib(available)} are available: "
            f"{advice}"
        )


def available_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes that this process may still take: of the machine, within the quota of its container.

    ``cgroup`` is where Linux says what a container may use (cgroup v2); pages of files that it
    could give back count as free.
    """
    available = float(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError, KeyError):  # no quota: "max" is no number
        limit = int((cgroup / "memory.max").read_text())
        stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        used = int((cgroup / "memory.current").read_text()) - int(stat["inactive_file"])
        available = min(available, max(0.0, limit - used))
    return available


def _counts(data):
    """How many row and column vertices are in pairs."""
    return [np.count_nonzero(np.bincount(index)) for index in (data.rows, data.cols)]


def _mib(n_bytes):
    return f"{n_bytes / (1 << 20):,.0f} MiB"
