"""Operations and predicted seconds of each way to carry out a product."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np

from kronbench.files import write_text
from kronbench.operators._routes import PairRoute, dense_flops
from kronbench.operators._sampling import Sampling
from kronbench.operators.gram import gram
from kronbench.operators.lowrank import incomplete_cholesky
from kronbench.resources import cache_folder


@dataclass(frozen=True)
class Sizes:
    """a x b row matrix, c x d column matrix, f outputs of e coefficients; used vertices only."""

    a: int
    b: int
    c: int
    d: int
    e: int
    f: int

    def sparse(self) -> tuple[int, int]:
        """Operations of the cheaper branch, and the side whose matrix it multiplies first.

        2 min(a e + d f, c e + b f): Theorem 1 of Airola & Pahikkala (2018), a multiplication and
        an addition each. Of equal branches the one with the cheaper second half, which zero
        coefficients leave as it is.
        """
        branches = [
            (self.a * self.e + self.d * self.f, self.d * self.f, 0),
            (self.c * self.e + self.b * self.f, self.b * self.f, 1),
        ]
        total, _, first = min(branches)
        return 2 * total, first

    def dense(self) -> int:
        """Operations of the cheaper order of the two matrix products."""
        return dense_flops(self.a, self.b, self.c, self.d)

    def lowrank(self, side, rank, middle_rank=None) -> tuple[int, int]:
        """Operations over the pairs and between them, with factors of the matrix of one side.

        ``middle_rank`` is that of the other matrix; None where it is multiplied as it is.
        """
        rows, columns = (self.c, self.d) if side == 0 else (self.a, self.b)
        over_pairs = 2 * rank * (self.e + self.f)
        if middle_rank is None:
            return over_pairs, 2 * rank * rows * columns
        return over_pairs, 2 * rank * middle_rank * (rows + columns)


@dataclass(frozen=True)
class Rates:
    """What this machine does in a second.

    Attributes
    ----------
    matrix_product : operations a second of the BLAS
    pair_product : operations a second of the loops over pairs
    pair_overhead : seconds a pair costs whatever the length of its rows
    factorization : operations a second of incomplete Cholesky, counted as n k^2
    """

    matrix_product: float
    pair_product: float
    pair_overhead: float
    factorization: float

    def sparse(self, sizes) -> float:
        return sizes.sparse()[0] / self.pair_product + self._overhead(sizes)

    def dense(self, sizes) -> float:
        return sizes.dense() / self.matrix_product + self._overhead(sizes)

    def lowrank(self, sizes, side, rank, middle_rank=None) -> float:
        over_pairs, middle = sizes.lowrank(side, rank, middle_rank)
        seconds = over_pairs / self.pair_product + middle / self.matrix_product
        return seconds + self._overhead(sizes)

    def factors(self, shape, rank) -> float:
        """Seconds to find factors of a matrix and to check them."""
        a, b = shape
        if a == b:
            return a * rank**2 / self.factorization + 2 * a * b * rank / self.matrix_product
        return 6 * a * b * rank / self.matrix_product

    def _overhead(self, sizes):
        return self.pair_overhead * (sizes.e + sizes.f)


class Operations:
    """The same predictions as :class:`Rates` in operations: products alone, all equally dear."""

    def sparse(self, sizes) -> float:
        return sizes.sparse()[0]

    def dense(self, sizes) -> float:
        return sizes.dense()

    def lowrank(self, sizes, side, rank, middle_rank=None) -> float:
        return sum(sizes.lowrank(side, rank, middle_rank))

    def factors(self, shape, rank) -> float:
        return 0


@functools.cache
def machine_rates(dtype, n_threads) -> Rates:
    """Rates of this machine, measured once (about a second) and kept in the cache folder.

    The folder is ``KRONBENCH_CACHE`` or the user's cache folder. Where it cannot be written, and
    where other programs took a part of the processors meanwhile, the rates hold for this process.
    """
    path = _rates_file(dtype, n_threads)
    try:
        return Rates(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # absent, or not what this version writes
        rates, undisturbed = _measure(dtype, n_threads)
    if undisturbed:
        with contextlib.suppress(OSError):
            write_text(path, json.dumps(asdict(rates), indent=1))
    return rates


_THREAD_SETTINGS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OPENBLAS_THREAD_TIMEOUT",
)


def _rates_file(dtype, n_threads) -> Path:
    machine = [
        llvmlite.binding.get_host_cpu_name(),
        os.cpu_count(),
        n_threads,
        *(os.environ.get(name) for name in _THREAD_SETTINGS),
        np.__version__,
        numba.__version__,
    ]
    key = hashlib.sha256(json.dumps(machine).encode()).hexdigest()[:12]
    return cache_folder() / "rates" / f"{np.dtype(dtype).name}-{key}.json"


# Length of the rows with which the two kinds of cost of a pair are told apart.
_LONG, _SHORT = 1024, 64

# Part of the processors' time that a measurement must have had for its rates to be kept.
_UNDISTURBED = 0.75


def _measure(dtype, n_threads) -> tuple[Rates, bool]:
    """The rates, and whether the processors were there for the measurement alone."""
    size = _LONG
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((size, size)).astype(dtype)
    rows, cols = np.nonzero(rng.random((size, size)) < 0.125)
    sampling = Sampling((rows.astype(np.int32), cols.astype(np.int32)), (size, size))
    v = rng.standard_normal((len(rows), 1)).astype(dtype)
    by_row, by_col = sampling.sorted(0), sampling.sorted(1)
    long = PairRoute(by_col, by_row, matrix, matrix)
    thin = np.ascontiguousarray(matrix[:, :_SHORT])
    short = PairRoute(by_row, by_row, thin, thin, middle=_turn)
    # Before the BLAS is called, whose threads go on spinning beside the loops over pairs
    long_seconds, share = _seconds(long, v)
    pair_product = 4 * size * len(rows) / long_seconds
    overhead = _seconds(short, v)[0] / (2 * len(rows)) - 2 * _SHORT / pair_product
    spectrum = gram(np.linspace(0, 40, size)[:, None], kernel="gaussian", gamma=1.0)
    rank = incomplete_cholesky(spectrum).rank
    rates = Rates(
        matrix_product=2 * size**3 / _seconds(np.matmul, matrix, matrix)[0],
        pair_product=pair_product,
        pair_overhead=max(overhead, 0.0),
        factorization=size * rank**2 / _seconds(incomplete_cholesky, spectrum)[0],
    )
    return rates, share > _UNDISTURBED * n_threads


def _turn(rows, _):
    return np.ascontiguousarray(rows.transpose(2, 1, 0))


def _seconds(function, *args):
    """The shortest of the runs of about a seventh of a second, and processors used meanwhile."""
    function(*args)
    shortest, begin, begin_cpu = np.inf, time.perf_counter(), time.process_time()
    while (elapsed := time.perf_counter() - begin) < 0.15:
        start = time.perf_counter()
        function(*args)
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, (time.process_time() - begin_cpu) / elapsed
