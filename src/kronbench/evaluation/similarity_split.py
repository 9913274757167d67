"""Cross-validation in which what is alike stays together, as drug design splits by scaffold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from kronbench.errors import InputError, check_positive
from kronbench.evaluation.splits import PairSplitter, check_count, disjoint_blocks
from kronbench.linalg import gram
from kronbench.pairs import PairData

_SIDES = {"rows": ("row",), "cols": ("col",), "both": ("row", "col")}


class SimilarityLeak(NamedTuple):
    """One side of a split by similarity: ``largest`` is between two vertices of two folds."""

    vertices: int
    clusters: int
    largest: float


class _Side(NamedTuple):
    """Vertices that occur, their similarities and clusters, and the vertex of each pair."""

    similarity: np.ndarray
    cluster: np.ndarray
    position: np.ndarray


class SimilarityKFold(PairSplitter):
    """Cross-validation with test vertices less similar than a threshold to all training vertices.

    The similarity of two vertices is their kernel value over the root of those of each with
    itself, so that each is 1 to itself (the cosine, where the kernel is linear). Vertices that are
    linked by similarities of ``threshold`` or more form a cluster, which stays in one fold. These
    clusters, of single linkage, are the finest with this guarantee; complete linkage would
    separate similar vertices. Clusters come in random order, larger first, each into the fold with
    the fewest vertices. Time and memory are quadratic in the vertices of a side.

    Parameters
    ----------
    threshold : float in (0, 1], default 0.7
        Vertices at least this similar stay in one fold.
    side : {"rows", "cols", "both"}, default "rows"
        The side whose vertices are new; with "both", blocks as in `VertexDisjointKFold`.
    n_splits : int >= 2, default 5
        Number of parts of a side: "both" has its square for test sets.
    n_repeats : int >= 1, default 1
        Number of random splits of the clusters.
    row_kernel, col_kernel : str or callable, default "precomputed"
        As in :func:`kronbench.linalg.gram`: "precomputed" says that the features of the side are a
        matrix of similarities, "tanimoto" that they are fingerprints.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels.
    random_state : int, RandomState or None
        With an int every call of ``split`` and ``leak`` uses the same folds.

    References
    ----------
    Joeres, Blumenthal & Kalinina 2025 (DataSAIL, Nature Communications 16) split one side or both.
    """

    def __init__(
        self,
        threshold: float = 0.7,
        side: str = "rows",
        n_splits: int = 5,
        n_repeats: int = 1,
        row_kernel: str | Callable = "precomputed",
        col_kernel: str | Callable = "precomputed",
        row_gamma: float | None = None,
        col_gamma: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.threshold = threshold
        self.side = side
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.random_state = random_state

    @property
    def _n_tests(self):
        return self.n_repeats * self.n_splits ** len(_SIDES[self.side])

    def leak(self, X: PairData) -> dict[str, SimilarityLeak]:
        """Of "rows", "cols" or both: vertices, clusters, and the similarity that is left.

        The largest between a test vertex and one that trains, over all test sets; it is below
        ``threshold``. InputError as of ``split``.
        """
        sides = self._sides(X)
        largest = dict.fromkeys(sides, -np.inf)
        for folds in self._folds(sides):
            for name, fold in folds.items():
                apart = fold[:, None] != fold
                found = sides[name].similarity.max(where=apart, initial=-np.inf)
                largest[name] = max(largest[name], float(found))
        return {
            f"{name}s": SimilarityLeak(
                len(side.cluster), int(side.cluster.max()) + 1, largest[name]
            )
            for name, side in sides.items()
        }

    def _split(self, X, y):
        sides = self._sides(X)
        for folds in self._folds(sides):
            by_pair = [folds[name][side.position] for name, side in sides.items()]
            if len(by_pair) == 2:
                yield from disjoint_blocks(by_pair[0], by_pair[1], (self.n_splits, self.n_splits))
                continue
            for part in range(self.n_splits):
                yield np.flatnonzero(by_pair[0] != part), np.flatnonzero(by_pair[0] == part)

    def _sides(self, X):
        if self.side not in _SIDES:
            raise InputError(f"side={self.side!r} is unknown: give 'rows', 'cols' or 'both'")
        if check_positive(self.threshold, "threshold") > 1:
            raise InputError(f"threshold={self.threshold}: similarities end at 1, give at most 1")
        check_count(self.n_splits, "n_splits", 2)
        check_count(self.n_repeats, "n_repeats", 1)
        return {name: self._clustered(X, name) for name in _SIDES[self.side]}

    def _clustered(self, X, name):
        used, position = np.unique(getattr(X, f"{name}s"), return_inverse=True)
        features, kernel = getattr(X, f"{name}_features"), getattr(self, f"{name}_kernel")
        if kernel == "precomputed":
            if features.shape[0] != features.shape[1]:
                raise InputError(
                    f"{name}_features have shape {features.shape}, which is not a matrix of "
                    f"similarities: give another {name}_kernel"
                )
            features = features[:, used]
        K = gram(features[used], kernel=kernel, gamma=getattr(self, f"{name}_gamma"))
        similarity = _unit_diagonal(np.asarray(K, dtype=float))
        alike = sparse.csr_array(similarity >= self.threshold)
        n_clusters, cluster = connected_components(alike, directed=False)
        if n_clusters < self.n_splits:
            raise InputError(
                f"at similarity {self.threshold} the {len(used)} {name} vertices form "
                f"{n_clusters} cluster{'s' * (n_clusters > 1)}, and n_splits is {self.n_splits}: "
                "give a larger threshold or fewer folds"
            )
        return _Side(similarity, cluster, position)

    def _folds(self, sides) -> Iterator[dict[str, np.ndarray]]:
        """Of each repeat the fold of each vertex of each side."""
        rng = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            yield {name: _divide(side.cluster, self.n_splits, rng) for name, side in sides.items()}


def _unit_diagonal(K):
    """A kernel over the roots of its diagonal; a vertex of length 0 is like none."""
    lengths = np.sqrt(np.maximum(np.diagonal(K), 0))
    scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return K * scale[:, None] * scale


def _divide(cluster, n_splits, rng):
    """Fold of each vertex: larger clusters first, each into the smallest fold."""
    sizes = np.bincount(cluster)
    order = rng.permutation(len(sizes))
    fold, filled = np.empty(len(sizes), dtype=np.intp), np.zeros(n_splits, dtype=np.intp)
    for k in order[np.argsort(-sizes[order], kind="stable")]:
        fold[k] = filled.argmin()
        filled[fold[k]] += sizes[k]
    return fold[cluster]
