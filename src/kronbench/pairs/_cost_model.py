"""Operations and predicted seconds of each way to carry out a product."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np
import threadpoolctl
from numpy.typing import DTypeLike

from kronbench.errors import InputError
from kronbench.files import write_text
from kronbench.linalg.gram_matrix import gram
from kronbench.linalg.lowrank import incomplete_cholesky
from kronbench.linalg.matrix_products import multiply
from kronbench.pairs._routes import PairRoute, dense_flops
from kronbench.pairs._sampling import Sampling
from kronbench.resources import cache_folder

# Coefficients for an output, or outputs for a coefficient, from which the order of the many counts
_MOST_PAIRS = 8


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
        coefficients leave as it is; of nearly equal ones, where most pairs are on one side, the
        one that takes these by their row vertices, the order in which they mostly come.
        """
        totals = self.a * self.e + self.d * self.f, self.c * self.e + self.b * self.f
        if max(self.e, self.f) > _MOST_PAIRS * min(self.e, self.f) and near(*totals):
            return 2 * min(totals), int(self.e > self.f)
        branches = [(totals[0], self.d * self.f, 0), (totals[1], self.b * self.f, 1)]
        total, _, first = min(branches)
        return 2 * total, first

    def dense(self) -> int:
        """Operations of the cheaper order of the two matrix products."""
        return dense_flops(self.a, self.b, self.c, self.d)

    def lowrank(self, side: int, rank: int, middle_rank: int | None = None) -> tuple[int, int]:
        """Operations over the pairs and between them, with factors of the matrix of one side.

        ``middle_rank`` is that of the other matrix; None where it is multiplied as it is.
        """
        rows, columns = (self.c, self.d) if side == 0 else (self.a, self.b)
        over_pairs = 2 * rank * (self.e + self.f)
        if middle_rank is None:
            return over_pairs, 2 * rank * rows * columns
        return over_pairs, 2 * rank * middle_rank * (rows + columns)


def near(u: float, v: float) -> bool:
    """Whether the operations of two branches differ by less than it costs to permute pairs."""
    return max(u, v) <= 1.1 * min(u, v)


@dataclass(frozen=True)
class Rates:
    """What this machine does in a second.

    Attributes
    ----------
    matrix_product : operations a second of the BLAS, on the threads of numba
    pair_product : operations a second of the loops over pairs
    pair_overhead : seconds a pair costs whatever the length of its rows
    factorization : operations a second of incomplete Cholesky, counted as n k^2
    """

    matrix_product: float
    pair_product: float
    pair_overhead: float
    factorization: float

    def sparse(self, sizes: Sizes) -> float:
        return sizes.sparse()[0] / self.pair_product + self._overhead(sizes)

    def dense(self, sizes: Sizes) -> float:
        return sizes.dense() / self.matrix_product + self._overhead(sizes)

    def lowrank(self, sizes: Sizes, side: int, rank: int, middle_rank: int | None = None) -> float:
        over_pairs, middle = sizes.lowrank(side, rank, middle_rank)
        seconds = over_pairs / self.pair_product + middle / self.matrix_product
        return seconds + self._overhead(sizes)

    def factors(self, shape: tuple[int, int], rank: int) -> float:
        """Seconds to find factors of a matrix and to check them."""
        a, b = shape
        if a == b:
            return a * rank**2 / self.factorization + 2 * a * b * rank / self.matrix_product
        return 6 * a * b * rank / self.matrix_product

    def _overhead(self, sizes):
        return self.pair_overhead * (sizes.e + sizes.f)


class Operations:
    """The same predictions as :class:`Rates` in operations: products alone, all equally dear."""

    def sparse(self, sizes: Sizes) -> float:
        return sizes.sparse()[0]

    def dense(self, sizes: Sizes) -> float:
        return sizes.dense()

    def lowrank(self, sizes: Sizes, side: int, rank: int, middle_rank: int | None = None) -> float:
        return sum(sizes.lowrank(side, rank, middle_rank))

    def factors(self, shape: tuple[int, int], rank: int) -> float:
        return 0


def machine_rates(dtype: DTypeLike, n_threads: int) -> Rates:
    """Rates by which ``auto`` chooses: of ``KRONBENCH_RATES``, or those of :func:`calibrate`.

    The environment variable names a JSON file with the attributes of :class:`Rates`; it holds for
    every dtype and number of threads.

    Raises
    ------
    InputError
        That file is absent or does not hold exactly these numbers.
    """
    key = np.dtype(dtype).name, n_threads
    given = os.environ.get("KRONBENCH_RATES")
    if given:
        rates = _given_rates(given)
    elif key in _measured:
        rates = _measured[key]
    else:
        rates, _ = _kept(_rates_file(dtype, n_threads)) or (calibrate(dtype, n_threads), None)
        _measured[key] = rates
    _used[key] = rates
    return rates


def rates_used() -> list[dict]:
    """What ``auto`` relied on in this process: dtype, threads and rates, as JSON holds them."""
    return [
        {"dtype": dtype, "threads": n_threads, **asdict(rates)}
        for (dtype, n_threads), rates in sorted(_used.items())
    ]


def calibrate(dtype: DTypeLike, n_threads: int) -> Rates:
    """Measure this machine (about a second) and keep its rates in the cache folder.

    Call it before a clock starts: the first ``auto`` product that is worth measuring does where
    nothing is kept. Nothing is measured where undisturbed rates are kept. Where other programs
    take a part of the processors, the least disturbed of three measurements is kept, and each
    further call tries once more. The folder is ``KRONBENCH_CACHE`` or the user's cache folder;
    where it cannot be written, the rates hold for this process.

    Parameters
    ----------
    dtype : float32 or float64
    n_threads : int
        Threads of numba, which call the BLAS too.
    """
    path = _rates_file(dtype, n_threads)
    rates, processors = _kept(path) or (None, 0.0)
    if processors <= _UNDISTURBED * n_threads:
        again, more_processors = _least_disturbed(dtype, n_threads, 1 if rates else 3)
        if more_processors > processors:
            rates, processors = again, more_processors
            with contextlib.suppress(OSError):
                record = {"rates": asdict(rates), "processors": processors}
                write_text(path, json.dumps(record, indent=1))
    _measured[np.dtype(dtype).name, n_threads] = rates
    return rates


_measured, _used = {}, {}


def _kept(path) -> tuple[Rates, float] | None:
    """Rates and the processors that their measurement had."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return Rates(**record["rates"]), float(record["processors"])
    except (OSError, ValueError, TypeError, KeyError):  # absent, or not what this version writes
        return None


def _given_rates(path) -> Rates:
    try:
        numbers = json.loads(Path(path).read_text(encoding="utf-8"))
        return Rates(**{name: float(number) for name, number in numbers.items()})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        names = ", ".join(field.name for field in fields(Rates))
        raise InputError(
            f"KRONBENCH_RATES names {path}, which cannot be used ({error}): give a JSON file with "
            f"the numbers {names}"
        ) from error


def _least_disturbed(dtype, n_threads, attempts) -> tuple[Rates, float]:
    """The first undisturbed measurement, or of all attempts the one that had most processors."""
    measured = []
    before = numba.get_num_threads()
    numba.set_num_threads(min(n_threads, numba.config.NUMBA_NUM_THREADS))
    try:
        with threadpoolctl.threadpool_limits(n_threads, user_api="blas"):
            while len(measured) < attempts:
                measured.append(_measure(dtype))
                if measured[-1][1] > _UNDISTURBED * n_threads:
                    break
    finally:
        numba.set_num_threads(before)
    return max(measured, key=lambda pair: pair[1])


_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY")


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

# Part of the processors' time with which a measurement counts as undisturbed.
_UNDISTURBED = 0.75


def _measure(dtype) -> tuple[Rates, float]:
    """The rates, and the processors that the loops over pairs had, of those they asked for."""
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
    long_seconds, share = _seconds(long, v)
    pair_product = 4 * size * len(rows) / long_seconds
    overhead = _seconds(short, v)[0] / (2 * len(rows)) - 2 * _SHORT / pair_product
    spectrum = gram(np.linspace(0, 40, size)[:, None], kernel="gaussian", gamma=1.0)
    rank = incomplete_cholesky(spectrum).rank
    rates = Rates(
        matrix_product=2 * size**3 / _seconds(multiply, matrix, matrix)[0],
        pair_product=pair_product,
        pair_overhead=max(overhead, 0.0),
        factorization=size * rank**2 / _seconds(incomplete_cholesky, spectrum)[0],
    )
    return rates, share


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
