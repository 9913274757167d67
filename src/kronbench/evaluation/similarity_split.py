"""Cross-validation in which what is alike stays together, as drug design splits by scaffold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from kronbench.errors import InputError, check_positive
from kronbench.evaluation.splits import PairSplitter, check_count, vertex_blocks
from kronbench.linalg import gram
from kronbench.pairs import PairData

_SIDES = {"rows": ("row",), "cols": ("col",), "both": ("row", "col")}


class SimilarityLeak(NamedTuple):
    """One side of a split by similarity: ``largest`` is between two vertices of two folds."""

    vertices: int
    clusters: int
    largest: float


class SimilarityKFold(PairSplitter):
    """Cross-validation with test vertices less similar than a threshold to all training vertices.

    The similarity of two vertices is their kernel value over the root of those of each with
    itself, so that each is 1 to itself (the cosine, where the kernel is linear). Vertices that are
    linked by similarities of ``threshold`` or more form a cluster, which stays in one fold. These
    clusters, of single linkage, are the finest with this guarantee. They come in random order,
    larger first, each into the fold with the fewest vertices. Quadratic in the vertices of a side.
    DataSAIL (Joeres, Blumenthal & Kalinina 2025, Nature Communications 16) splits so too.

    Parameters
    ----------
    threshold : float in (0, 1], default 0.7
        Vertices at least this similar stay in one fold.
    side : {"rows", "cols", "both"}, default "rows"
        The side whose vertices are new; with "both", blocks as in `VertexDisjointKFold`.
    n_splits, n_repeats : int
        As in `SettingKFold`; "both" has the square of ``n_splits`` for test sets.
    row_kernel, col_kernel, row_gamma, col_gamma
        As in :func:`kronbench.linalg.gram`: "precomputed", the default, says that the features of
        the side are a matrix of similarities, "tanimoto" that they are fingerprints.
    random_state : int, RandomState or None
        With an int every call of ``split`` and ``leak`` uses the same folds.
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
            for (name, (similarity, _, _)), fold in zip(sides.items(), folds, strict=True):
                apart = fold[:, None] != fold
                between = float(similarity.max(where=apart, initial=-np.inf))
                largest[name] = max(largest[name], between)
        return {
            f"{name}s": SimilarityLeak(len(cluster), int(cluster.max()) + 1, largest[name])
            for name, (_, cluster, _) in sides.items()
        }

    def _split(self, X, y):
        sides = self._sides(X)
        for folds in self._folds(sides):
            positions = [position for _, _, position in sides.values()]
            of_pairs = [fold[position] for fold, position in zip(folds, positions, strict=True)]
            yield from vertex_blocks(of_pairs, (self.n_splits,) * len(sides))

    def _sides(self, X):
        """Of each side similarities (v, v) and clusters (v,) of the vertices that occur in pairs.

        Last comes the vertex of each pair.
        """
        if self.side not in _SIDES:
            raise InputError(f"side={self.side!r} is unknown: give 'rows', 'cols' or 'both'")
        if check_positive(self.threshold, "threshold") > 1:
            raise InputError(f"threshold={self.threshold}: similarities end at 1, give at most 1")
        check_count(self.n_splits, "n_splits", 2)
        check_count(self.n_repeats, "n_repeats", 1)
        sides = {}
        for name in _SIDES[self.side]:
            # Vertices without a pair are left out: they might link what nothing else links.
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
            K = np.asarray(K, dtype=float)
            # Kernel values are divided by the roots of the diagonal. A vertex of length 0 is like
            # none, not even itself.
            lengths = np.sqrt(np.maximum(np.diagonal(K), 0))
            scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            similarity = K * scale[:, None] * scale
            # Clusters of single linkage are the components of the graph of what is alike.
            alike = sparse.csr_array(similarity >= self.threshold)
            n_clusters, cluster = connected_components(alike, directed=False)
            if n_clusters < self.n_splits:
                raise InputError(
                    f"at similarity {self.threshold} the {len(used)} {name} vertices form "
                    f"{n_clusters} cluster{'s' * (n_clusters > 1)}, and n_splits is "
                    f"{self.n_splits}: give a larger threshold or fewer folds"
                )
            sides[name] = similarity, cluster, position
        return sides

    def _folds(self, sides) -> Iterator[list[np.ndarray]]:
        """Of each repeat the fold of each vertex of each side."""
        rng = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            folds = []
            for _, cluster, _ in sides.values():
                # Larger clusters come first, each into the smallest fold; equal ones are in random
                # order, as the sort is stable.
                sizes = np.bincount(cluster)
                order = rng.permutation(len(sizes))
                fold, filled = np.empty(len(sizes), np.intp), np.zeros(self.n_splits, np.intp)
                for k in order[np.argsort(-sizes[order], kind="stable")]:
                    fold[k] = filled.argmin()
                    filled[fold[k]] += sizes[k]
                folds.append(fold[cluster])
            yield folds
