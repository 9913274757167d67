"""Pairwise kernels as short sums of sampled products (Viljanen, Airola & Pahikkala 2022).

With K between row vertices and G between column vertices, the kernels of a pair (d, t) with a
pair (d', t') are

=============  ====================================================================
kronecker      K(d, d') G(t, t')
linear         K(d, d') + G(t, t')
poly2d         (K(d, d') + G(t, t'))^2
cartesian      K(d, d') [t = t'] + [d = d'] G(t, t')
symmetric      K(d, d') K(t, t') + K(d, t') K(t, d')
antisymmetric  K(d, d') K(t, t') - K(d, t') K(t, d')
mlpk           (K(d, d') - K(d, t') - K(t, d') + K(t, t'))^2
ranking        K(d, d') - K(d, t') - K(t, d') + K(t, t')
=============  ====================================================================

The last four are of two vertices of one set. No matrix of ones and no identity is ever formed: a
factor 1 is a sum over pairs, a factor [t = t'] a sum over the pairs of one vertex.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from kronbench.errors import InputError
from kronbench.pairs.vec_trick import SampledKroneckerOperator

# A product is a weight, left and right matrix, the vertices of an output and of a coefficient that
# they compare: r and c are the row and the column vertex of a pair; KK is the elementwise square.
# The square of "mlpk" has sixteen terms: four squares, and twelve that are six products, twice.
_PRODUCTS = {
    "kronecker": [(1, "K", "G", "rc", "rc")],
    "poly2d": [(2, "K", "G", "rc", "rc")],
    "symmetric": [(1, "K", "K", "rc", "rc"), (1, "K", "K", "rc", "cr")],
    "antisymmetric": [(1, "K", "K", "rc", "rc"), (-1, "K", "K", "rc", "cr")],
    "mlpk": [
        *((2, "K", "K", "rc", pairs) for pairs in ("rc", "cr")),
        *((-2, "K", "K", "rc", pairs) for pairs in ("rr", "cc")),
        *((-2, "K", "K", pairs, "rc") for pairs in ("rr", "cc")),
    ],
}
# A sum is a weight, matrix, vertex of an output and of a coefficient: the other factor is 1.
_SUMS = {
    "linear": [(1, "K", "r", "r"), (1, "G", "c", "c")],
    "poly2d": [(1, "KK", "r", "r"), (1, "GG", "c", "c")],
    "mlpk": [(1, "KK", out, in_) for out in "rc" for in_ in "rc"],
    "ranking": [(1 if out == in_ else -1, "K", out, in_) for out in "rc" for in_ in "rc"],
}
# A match is a matrix and its vertex: the other vertices are the same.
_MATCHES = {"cartesian": [("K", "r"), ("G", "c")]}

OF_ONE_SET = ("symmetric", "antisymmetric", "mlpk", "ranking")
PAIRWISE = ("kronecker", "linear", "poly2d", "cartesian", *OF_ONE_SET)
# Multiplications of a matrix product in the time of one number gathered by its index: 90 at
# Metz's size on one core with AVX2, fewer where matrices are small.
_OPERATIONS_A_GATHER = 50


def check_pairwise(pairwise: str | Mapping[str, float]) -> dict[str, float]:
    """Names of pairwise kernels with their weights in a sum; one name alone has weight 1."""
    weights = {pairwise: 1.0} if isinstance(pairwise, str) else pairwise
    if not isinstance(weights, Mapping) or not weights:
        raise InputError(
            f"pairwise is {pairwise!r}: give a name, or a mapping from names to weights"
        )
    for name, weight in weights.items():
        if name not in PAIRWISE:
            raise InputError(f"pairwise {name!r} is unknown: give one of {', '.join(PAIRWISE)}")
        if not (isinstance(weight, Real) and np.isfinite(weight) and weight > 0):
            raise InputError(
                f"pairwise {name!r} has the weight {weight!r}: give a positive number"
            )
    return dict(weights)


class PairwiseOperator(LinearOperator):
    """Product of the matrix of a pairwise kernel between pairs with vectors over pairs.

    Parameters
    ----------
    pairwise : str or mapping from str to float
        A kernel of the table above, or several with their weights in a sum.
    row_matrix : (a, b) array
        K between the row vertices of outputs and of coefficients.
    col_matrix : (c, d) array, optional
        G between the column vertices. None: both vertices of a pair are of one set, and K compares
        them all.
    rows, cols : (f,) integer arrays
        Row and column vertex of each output.
    in_rows, in_cols : (e,) integer arrays, optional
        The same for each coefficient; the output pairs when None.
    row_match, col_match : (a,), (c,) integer arrays, optional
        For each vertex of the outputs the same vertex of the coefficients, -1 for a new one. Only
        "cartesian" reads them. By default vertices of one number are the same.
    method : {"auto", "sparse", "dense", "lowrank"}
        How sampled Kronecker products are made (``SampledKroneckerOperator``).

    Notes
    -----
    A product costs what the sampled Kronecker products of its terms cost: one for "kronecker",
    "poly2d", "symmetric" and "antisymmetric", two for "mlpk", none for "linear" and "ranking",
    which take O(e + f + a b + c d). "cartesian" takes a sum over pairs that share a vertex.
    """

    def __init__(
        self,
        pairwise: str | Mapping[str, float],
        row_matrix: ArrayLike,
        col_matrix: ArrayLike | None,
        rows: ArrayLike,
        cols: ArrayLike,
        in_rows: ArrayLike | None = None,
        in_cols: ArrayLike | None = None,
        *,
        row_match: ArrayLike | None = None,
        col_match: ArrayLike | None = None,
        method: str = "auto",
    ):
        weights = check_pairwise(pairwise)
        one_set = col_matrix is None
        for name in weights:
            if (name in OF_ONE_SET) != one_set:
                sets = "two vertex sets: give both matrices"
                wanted = sets if one_set else "one vertex set: give row_matrix only"
                raise InputError(f"pairwise {name!r} is a kernel of {wanted}")
        K = np.asarray(row_matrix)
        G = K if one_set else np.asarray(col_matrix)
        # Vertices and matrices go by the letters of the tables above.
        out = {"r": _positions(rows), "c": _positions(cols)}
        in_ = out if in_rows is None else {"r": _positions(in_rows), "c": _positions(in_cols)}
        matrices = {"K": K, "G": G}
        # The squares of the matrices are made where a term reads them.
        if any("KK" in term for name in weights for term in _SUMS.get(name, ())):
            matrices |= {"KK": K * K, "GG": G * G}
        match = {
            "r": np.arange(len(K)) if row_match is None else np.asarray(row_match),
            "c": np.arange(len(G)) if col_match is None else np.asarray(col_match),
        }
        super().__init__(np.result_type(K, G), (len(out["r"]), len(in_["r"])))
        # The product is the sum of those of its parts. Each also has an adjoint (``turned``) and
        # can be cut down to the pairs of two masks.
        self._parts = [
            *_products(weights, matrices, out, in_, method),
            *_sums(weights, matrices, out, in_),
            *_matched(weights, matrices, out, in_, match),
        ]

    def _of_parts(self, parts, shape):
        """An operator of parts that exist, past ``__init__``, which makes them from matrices."""
        operator = PairwiseOperator.__new__(PairwiseOperator)
        LinearOperator.__init__(operator, self.dtype, shape)
        operator._parts = parts
        return operator

    def restrict(self, out: np.ndarray, in_: np.ndarray) -> PairwiseOperator:
        """The operator on the pairs of two boolean masks, sharing matrices."""
        parts = [part.restrict(out, in_) for part in self._parts]
        return self._of_parts(parts, (int(out.sum()), int(in_.sum())))

    def _matmat(self, X):
        X = np.ascontiguousarray(X, self.dtype)
        return sum(part.product(X) for part in self._parts)

    @cached_property
    def _turned(self):
        return self._of_parts([part.turned() for part in self._parts], self.shape[::-1])

    def _adjoint(self):
        return self._turned

    _transpose = _adjoint


@dataclass(frozen=True)
class _Products:
    """Terms of one sampled Kronecker product: outputs and coefficients below each other."""

    operator: LinearOperator
    outs: tuple[float, ...]  # weights
    ins: tuple[float, ...]

    def product(self, X):
        # One product sums over all in-terms, and has the outputs of each out-term one below the
        # other.
        stacked = self.operator.matmat(np.concatenate([weight * X for weight in self.ins]))
        parts = stacked.reshape(len(self.outs), -1, X.shape[1])
        return sum(weight * part for weight, part in zip(self.outs, parts, strict=True))

    def turned(self):
        return _Products(self.operator.T, self.ins, self.outs)

    def restrict(self, out, in_):
        masks = np.tile(out, len(self.outs)), np.tile(in_, len(self.ins))
        return _Products(self.operator.restrict(*masks), self.outs, self.ins)


@dataclass(frozen=True)
class _Sum:
    """weight * M[x, x'] for several weights: sums over pairs, one product with M."""

    matrix: np.ndarray
    outs: Mapping[str, np.ndarray]
    ins: Mapping[str, np.ndarray]
    terms: Sequence[tuple[float, str, str]]

    def product(self, X):
        size, width = self.matrix.shape[1], X.shape[1]
        # The coefficients of the pairs of each vertex are summed, for each side that a term reads.
        sums = {
            side: np.stack([np.bincount(index, x, size) for x in X.T], axis=1).astype(X.dtype)
            for side, index in self.ins.items()
            if any(side == in_ for _, _, in_ in self.terms)
        }
        # The terms of one output vertex are added before the product, which is linear.
        weighted: Any = defaultdict(lambda: np.zeros((size, width), X.dtype))
        for weight, out, in_ in self.terms:
            weighted[out] += X.dtype.type(weight) * sums[in_]
        # Both output vertices of a pair of one set are served by one product.
        images = self.matrix @ np.hstack(list(weighted.values()))
        result = np.zeros((len(self.outs["r"]), width), X.dtype)
        for out, image in zip(weighted, np.hsplit(images, len(weighted)), strict=True):
            result += image[self.outs[out]]
        return result

    def turned(self):
        terms = [(weight, in_, out) for weight, out, in_ in self.terms]
        return _Sum(self.matrix.T, self.ins, self.outs, terms)

    def restrict(self, out, in_):
        outs = {side: index[out] for side, index in self.outs.items()}
        ins = {side: index[in_] for side, index in self.ins.items()}
        return _Sum(self.matrix, outs, ins, self.terms)


@dataclass(frozen=True)
class _Matched:
    """M[x, x'] where the other vertices are the same: a sum over the pairs of that vertex."""

    matrix: np.ndarray
    out: tuple[np.ndarray, np.ndarray]  # the vertex that M compares, and the other as of inputs
    in_: tuple[np.ndarray, np.ndarray]
    size: int  # how many other vertices the inputs have

    @cached_property
    def _by_other(self):
        """Inputs by their other vertex: places, vertices, and where each begins."""
        rows, others = self.in_
        order = np.argsort(others, kind="stable")
        order = order[np.searchsorted(others, 0, sorter=order) :]  # without new vertices, -1
        bounds = np.zeros(self.size + 1, np.int64)
        np.cumsum(np.bincount(others[order], minlength=self.size), out=bounds[1:])
        return order, rows[order], bounds

    def product(self, X):
        rows, others = self.out
        # Each output sums over the pairs of its other vertex, which gathers about ``sums`` / size
        # numbers; the product with all pairs makes matrix.size * size multiplications.
        sums = len(rows) * len(self.in_[0])
        if self.matrix.size * self.size**2 >= _OPERATIONS_A_GATHER * sums:
            order, in_rows, bounds = self._by_other
            result = np.zeros((len(rows), X.shape[1]), X.dtype)
            _sums_over_matches(self.matrix, rows, others, in_rows, bounds, X[order], result)
            return result
        # A product with all pairs of vertices is faster than sums over those that are there.
        not_new = self.in_[1] >= 0
        place = self.in_[0][not_new] * np.intp(self.size) + self.in_[1][not_new]
        columns = []
        for x in X[not_new].T:
            table = np.bincount(place, x, self.matrix.shape[1] * self.size)
            image = self.matrix @ table.astype(x.dtype).reshape(-1, self.size)
            columns.append(np.where(others >= 0, image[rows, others], 0))
        return np.stack(columns, axis=1)

    def turned(self):
        return _Matched(np.ascontiguousarray(self.matrix.T), self.in_, self.out, self.size)

    def restrict(self, out, in_):
        outs, ins = tuple(i[out] for i in self.out), tuple(i[in_] for i in self.in_)
        return _Matched(self.matrix, outs, ins, self.size)


@njit(parallel=True, cache=True)
def _sums_over_matches(matrix, rows, others, in_rows, bounds, X, result):
    """result[h] = sum of matrix[rows[h], in_rows[e]] X[e] over the e of the vertex others[h]."""
    for h in prange(len(rows)):
        other = others[h]
        if other < 0:
            continue
        row = matrix[rows[h]]
        for e in range(bounds[other], bounds[other + 1]):
            factor = row[in_rows[e]]
            for v in range(X.shape[1]):
                result[h, v] += factor * X[e, v]


def _positions(index):
    """Positions that can index an array; what is no integer is refused later, by name."""
    index = np.asarray(index)
    return index.astype(np.intp, copy=False) if index.dtype.kind in "iu" else index


def _products(weights, matrices, out, in_, method):
    """The sampled products of a sum of kernels: terms with equal matrices and outputs are one."""
    # Terms of several kernels with the same matrices and vertices become one, by their weights.
    by_output: Any = defaultdict(lambda: defaultdict(float))
    for name, of_kernel in weights.items():
        for weight, left, right, out_pair, in_pair in _PRODUCTS.get(name, ()):
            by_output[left, right, out_pair][in_pair] += weight * of_kernel
    # Outputs with the same sum of coefficients share a product; a weight of zero needs none.
    by_input: Any = defaultdict(list)
    for (left, right, out_pair), ins in by_output.items():
        kept = tuple((pair, weight) for pair, weight in ins.items() if weight)
        if kept:
            by_input[left, right, kept].append(out_pair)
    for (left, right, ins), outs in by_input.items():
        operator = SampledKroneckerOperator(
            matrices[left],
            matrices[right],
            *(np.concatenate([out[pair[i]] for pair in outs]) for i in (0, 1)),
            *(np.concatenate([in_[pair[i]] for pair, _ in ins]) for i in (0, 1)),
            method=method,
        )
        yield _Products(operator, (1,) * len(outs), tuple(weight for _, weight in ins))


def _sums(weights, matrices, out, in_):
    """The terms with a factor 1, one part for each matrix."""
    by_matrix: Any = defaultdict(lambda: defaultdict(float))
    for name, of_kernel in weights.items():
        for weight, matrix, x, x_in in _SUMS.get(name, ()):
            by_matrix[matrix][x, x_in] += weight * of_kernel
    for matrix, terms in by_matrix.items():
        yield _Sum(matrices[matrix], out, in_, [(w, *sides) for sides, w in terms.items()])


def _matched(weights, matrices, out, in_, match):
    """The terms of "cartesian", with the other vertex of an output named as the inputs name it."""
    for name, weight in weights.items():
        for matrix, side in _MATCHES.get(name, ()):
            other = "c" if side == "r" else "r"
            size = int(max(in_[other].max(initial=-1), match[other].max(initial=-1))) + 1
            yield _Matched(
                np.ascontiguousarray(weight * matrices[matrix]),
                (out[side], match[other][out[other]]),
                (in_[side], in_[other]),
                size,
            )
