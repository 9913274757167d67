"""K nearest neighbours of pairs, in the concatenated feature space."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Self

import numpy as np
from numba import njit, prange
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils._param_validation import StrOptions

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import as_floats
from kronbench.models._pair_classifier import (
    PairClassifier,
    concatenated,
    occurring,
    warn_of_rounded_squares,
)
from kronbench.models._parameters import COUNT, estimator, parameter
from kronbench.pairs import PairData

_BLOCK_BYTES = 2**26  # memory for distances, or features and neighbours, of a predicted block
_SMALLEST_FEATURE = 1e-150  # its square is in the range of double precision
# Rounding of squared distances, as a share of how far the vertices of a side lie apart
_LARGEST_DISTANCE_ROUNDING = 1e-4
_EMPTY_CELL = np.iinfo(np.int32).min
_MOST_PAIRS = 2**30  # twice the place of a pair, plus its label, is an int32
_MOST_CELLS = 2**31  # 8 GiB of index


class PairNeighborsClassifier(PairClassifier):
    """``_path(X, n_neighbors)`` has the decision values (n, L) for L increasing numbers."""

    def decision_path(self, X: PairData, n_neighbors: Sequence[int]) -> np.ndarray:
        """Decision values (n, L) for L numbers of neighbours, from one search.

        Column l is the ``decision_function`` of a model with ``n_neighbors[l]``.
        """
        X = self._checked_pairs(X)
        for number in n_neighbors:
            self._check_neighbors(number)
        # A search needs increasing numbers, each once.
        increasing, position = np.unique(n_neighbors, return_inverse=True)
        return self._path(X, increasing)[:, position]

    def _decision_function(self, X):
        return self._path(X, np.array([self.n_neighbors]))[:, 0]

    def _start_fit(self, X, y):
        signs = super()._start_fit(X, y)
        self._n_pairs = len(X)
        self._check_neighbors(self.n_neighbors)
        # Squares beyond the range of numbers would make vertices equal that are not.
        for side in ("row", "col"):
            features = as_floats(getattr(X, f"{side}_features"))
            largest = float(abs(features).max()) if 0 not in features.shape else 0.0
            if largest and not _SMALLEST_FEATURE < largest < 1 / _SMALLEST_FEATURE:
                raise InputError(
                    f"{side}_features has {largest:.3g} for the largest, and squared distances "
                    "leave the range of double precision: scale the features"
                )
        return signs

    def _check_neighbors(self, number):
        """InputError unless there are so many training pairs."""
        if not (isinstance(number, Integral) and 1 <= int(number) <= self._n_pairs):
            raise InputError(
                f"n_neighbors is {number} with {self._n_pairs} training pairs: "
                f"give a whole number from 1 to {self._n_pairs}"
            )


@estimator
class PairKNN(PairNeighborsClassifier):
    """Mean label of the nearest training pairs in the features [d, t].

    The result is that of scikit-learn's ``KNeighborsClassifier`` on concatenated features, with
    ties going to the lower (row vertex, column vertex, position) of the training pairs.
    The search uses that ||[d, t] - [d', t']||^2 = ||d - d'||^2 + ||t - t'||^2: it walks the
    training row vertices in order of their distance, within each the column vertices likewise, and
    stops as soon as no closer pair can follow. Fit needs 4 m q bytes for m and q training
    vertices. Prediction needs two distance matrices (test by training vertices) and at most
    O(m q + K log K) per pair.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours K.

    Attributes
    ----------
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    """

    n_neighbors: int = parameter(5, COUNT)

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Index the n training pairs of X with labels y (n,) of two values."""
        signs = self._start_fit(X, y)
        self._row_vertices, rows, self._col_vertices, cols = occurring(X)
        shape = len(self._row_vertices), len(self._col_vertices)
        if len(X) > _MOST_PAIRS or shape[0] * shape[1] > _MOST_CELLS:
            raise InputError(
                f"X has {len(X)} pairs of {shape[0]} x {shape[1]} vertices: PairKNN indexes at "
                f"most {_MOST_PAIRS} pairs and {_MOST_CELLS} cells; give fewer pairs, or use "
                "PairSklearnKNN, which knows no cells"
            )
        # Pairs are sorted by their cell, and then by their position in X, which settles ties.
        flat = rows * shape[1] + cols  # Positions have 64 bits.
        order = np.argsort(flat, kind="stable")
        flat = flat[order]
        # An entry is twice the place of a pair in this order, plus its label: what the search
        # meets first, the cell, then tells all it needs of a pair that is alone there.
        self._entries = (2 * np.arange(len(flat)) + (signs[order] > 0)).astype(np.int32)
        # ``_repeated`` says that the next pair is of the same cell. A cell holds the entry of its
        # only pair, -1 minus the entry of the first of several, or ``_EMPTY_CELL``.
        self._repeated = np.append(flat[1:] == flat[:-1], False)
        alone = ~self._repeated
        alone[1:] &= alone[:-1]
        first = np.append(True, ~self._repeated[:-1])
        self._cell = np.full(shape, _EMPTY_CELL, dtype=np.int32)
        self._cell.ravel()[flat[first]] = np.where(alone, self._entries, -1 - self._entries)[first]
        return self

    def _path(self, X, n_neighbors):
        scores = np.empty((len(X), len(n_neighbors)))
        row_vertices, rows, col_vertices, cols = occurring(X)
        col_order, col_distance = _nearest_first(col_vertices, self._col_vertices)
        # Test rows come in blocks whose distances fit; the pairs of a block are next to each
        # other in the order of rows.
        by_row = np.argsort(rows, kind="stable")
        for block in _blocks(len(row_vertices), len(self._row_vertices)):
            row_order, row_distance = _nearest_first(row_vertices[block], self._row_vertices)
            first, last = np.searchsorted(rows, [block.start, block.stop], sorter=by_row)
            pairs = by_row[first:last]
            _search(
                rows[pairs] - block.start, cols[pairs],
                row_order, row_distance, col_order, col_distance,
                self._cell, self._entries, self._repeated, n_neighbors, pairs, scores,
            )  # fmt: skip
        return scores


def _nearest_first(vertices, training):
    """Training vertices in order of squared distance from each vertex, and those distances."""
    order = np.empty((len(vertices), len(training)), dtype=np.int32)
    distance = np.empty(order.shape)
    for rows in _blocks(*order.shape):
        distance[rows] = cdist(vertices[rows], training, "sqeuclidean")
        order[rows] = np.argsort(distance[rows], axis=1)
        distance[rows] = np.take_along_axis(distance[rows], order[rows], axis=1)
    return order, distance


def _blocks(n_rows, n_columns):
    """Slices of rows whose numbers, 8 bytes each, fit in a block."""
    step = max(1, _BLOCK_BYTES // (8 * n_columns))
    return [slice(start, start + step) for start in range(0, n_rows, step)]


@njit(cache=True, parallel=True)
def _search(
    rows, cols, row_order, row_distance, col_order, col_distance,
    cell, entries, repeated, n_neighbors, out_index, out,
):  # fmt: skip
    """Mean labels of the nearest training pairs, one row of ``out`` a test pair."""
    capacity, chunk = n_neighbors[-1], 256
    for c in prange((len(rows) + chunk - 1) // chunk):
        distances = np.empty(capacity)
        nearest = np.empty(capacity, np.int32)
        guess = np.inf
        for p in range(c * chunk, min((c + 1) * chunk, len(rows))):
            # The search is repeated with a wider bound until it has found enough pairs.
            i, j = rows[p], cols[p]
            size = 0
            while size < capacity:
                size = _fill_heap(
                    distances, nearest, guess, row_order[i], row_distance[i],
                    col_order[j], col_distance[j], cell, entries, repeated,
                )  # fmt: skip
                guess = 4.0 * guess if guess > 0.0 else np.inf
            # The last pair's K-th distance bounds the next search: without a bound the walk along
            # the first row would collect K pairs that are far away in the other feature.
            guess = 1.5 * distances[0]
            # The numbers of neighbours fall, and the farthest pairs leave the heap one by one.
            positive = 0
            for k in range(capacity):
                positive += nearest[k] & 1
            for column in range(len(n_neighbors) - 1, -1, -1):
                while size > n_neighbors[column]:
                    positive -= nearest[0] & 1
                    size -= 1
                    _sift_down(distances, nearest, size, distances[size], nearest[size])
                out[out_index[p], column] = 2.0 * positive / size - 1.0


@njit(cache=True)
def _fill_heap(
    distances, nearest, bound, row_order, row_distance, col_order, col_distance,
    cell, entries, repeated,
):  # fmt: skip
    """Put the nearest training pairs within ``bound`` into a heap; how many there are."""
    size, capacity = 0, len(distances)
    # Training rows come from the nearest on, and in each the columns likewise: neither loop
    # can find a closer pair once its distance is beyond the bound.
    for a in range(len(row_order)):
        if row_distance[a] + col_distance[0] > bound:
            break
        cells = cell[row_order[a]]
        for b in range(len(col_order)):
            d = row_distance[a] + col_distance[b]
            if d > bound:
                break
            entry = cells[col_order[b]]
            if entry == _EMPTY_CELL:
                continue
            # A cell of several pairs leads to the first of them, which the others follow.
            place = -1
            if entry < 0:
                entry = -1 - entry
                place = entry // 2
            while True:
                if size < capacity:
                    # It is added at the end, and nearer pairs above it move down: the root of the
                    # heap is the farthest pair, of equal distances the one of the larger entry.
                    node = size
                    while node > 0:
                        parent = (node - 1) // 2
                        if d < distances[parent] or (
                            d == distances[parent] and entry < nearest[parent]
                        ):
                            break
                        distances[node], nearest[node] = distances[parent], nearest[parent]
                        node = parent
                    distances[node], nearest[node] = d, entry
                    size += 1
                elif d < distances[0] or (d == distances[0] and entry < nearest[0]):
                    _sift_down(distances, nearest, size, d, entry)
                # A full heap bounds the search by its farthest pair.
                if size == capacity:
                    bound = min(bound, distances[0])
                if place < 0 or not repeated[place]:
                    break
                place += 1
                entry = entries[place]
    return size


@njit(cache=True)
def _sift_down(distances, nearest, size, d, entry):
    """Replace the root of a heap of ``size`` pairs by (d, entry)."""
    node = 0
    while True:
        child = 2 * node + 1
        if child >= size:
            break
        # The farther child moves up until the new pair is farther than both.
        right = child + 1
        if right < size and (
            distances[right] > distances[child]
            or (distances[right] == distances[child] and nearest[right] > nearest[child])
        ):
            child = right
        if d > distances[child] or (d == distances[child] and entry > nearest[child]):
            break
        distances[node], nearest[node] = distances[child], nearest[child]
        node = child
    distances[node], nearest[node] = d, entry


@estimator
class PairSklearnKNN(PairNeighborsClassifier):
    """``KNeighborsClassifier`` on the features [d, t], as a user of scikit-learn would call it.

    Training holds all n (d + r) features, made dense; ``PairKNN`` uses the shared parts.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours K.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default "auto"
        scikit-learn's search.

    Attributes
    ----------
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    """

    n_neighbors: int = parameter(5, COUNT)
    algorithm: str = parameter("auto", StrOptions({"auto", "ball_tree", "kd_tree", "brute"}))

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Build scikit-learn's search structure on the n pairs of X with two labels y (n,)."""
        self._signs = self._start_fit(X, y)
        self._search = KNeighborsClassifier(self.n_neighbors, algorithm=self.algorithm)
        vertices = occurring(X)
        self._search.fit(concatenated(*vertices), self._signs)
        # Pairs that share a vertex are apart in the features of the other side alone, so that
        # rounding counts beside the side that spreads less.
        if self._search._fit_method == "brute":
            spreads = [side.var(axis=0).sum() for side in vertices[::2]]
            least = min([spread for spread in spreads if spread > 0], default=np.inf)
            warn_of_rounded_squares(X, _LARGEST_DISTANCE_ROUNDING * least, "use PairKNN")
        return self

    def _path(self, X, n_neighbors):
        # One search finds the most neighbours, whose sorted labels are summed for the fewer.
        largest = n_neighbors[-1]
        scores = np.empty((len(X), len(n_neighbors)))
        step = max(1, _BLOCK_BYTES // (8 * max(self.n_features_in_, 2 * largest)))
        for start in range(0, len(X), step):
            pairs = slice(start, start + step)
            nearest = self._search.kneighbors(
                concatenated(*occurring(X[pairs])), n_neighbors=largest, return_distance=False
            )
            totals = np.cumsum(self._signs[nearest], axis=1)
            scores[pairs] = totals[:, n_neighbors - 1] / n_neighbors
        return scores
