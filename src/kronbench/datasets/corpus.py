"""Surrogate corpora: documents drawn from a tree of topics over a background of all words.

Every node below the root has a topic, a set of words with weights of its own. A document mixes the
background with the topics on the path to its class, so that classes that are close in the tree
share words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

_DOCUMENTS_AT_ONCE = 8192


@dataclass(frozen=True)
class CorpusLaw:
    """How words fall into documents.

    Parameters
    ----------
    n_words : int
        Size of the vocabulary, V.
    exponent, shift : float
        The background gives the word of rank r = 1, 2, ... the probability
        p ~ (r + shift)^-exponent.
    log_length, spread : float
        Words of a document, repeats counted: LogNormal(log_length, spread).
    shares : tuple of float
        Mean mixture: the background, then the levels of the tree from the root's children down.
        A document's own mixture is Dirichlet(6 shares).
    supports : tuple of int
        Words of a topic at each level, drawn without replacement with probability ~ p^0.5; their
        weights are Gamma(0.3) p^0.5.
    """

    n_words: int
    exponent: float
    shift: float
    log_length: float
    spread: float
    shares: tuple[float, ...]
    supports: tuple[int, ...]


class Topics:
    """The background and one topic for each node of a tree, ready to draw words from.

    Parameters
    ----------
    rng : numpy Generator
    parents : (n_nodes,) int array
        The tree; ``parents[0] = -1`` is the root.
    law : CorpusLaw
    """

    def __init__(self, rng, parents, law):
        self.law = law
        self.parents = parents
        background = (np.arange(1, law.n_words + 1) + law.shift) ** -law.exponent
        roots = np.sqrt(background)
        root_law = np.cumsum(roots / roots.sum())
        depth = depths(parents)
        words, laws = [np.arange(law.n_words)], [np.cumsum(background / background.sum())]
        for node in range(1, len(parents)):
            size = min(law.supports[depth[node] - 1], law.n_words // 4)
            support = _distinct(rng, root_law, size)
            weights = rng.gamma(0.3, size=size) * roots[support]
            words.append(support)
            laws.append(np.cumsum(weights / weights.sum()))
        # Topic t is the stretch of the axis between t and t + 1: one search serves all topics.
        self._words = np.concatenate(words).astype(np.int32)
        self._steps = np.concatenate([topic + law for topic, law in enumerate(laws)])
        self._last = np.cumsum([len(law) for law in laws]) - 1

    def draw(self, rng: np.random.Generator, nodes: np.ndarray) -> sparse.csr_array:
        """Word counts of documents of the given leaves.

        Parameters
        ----------
        rng : numpy Generator
        nodes : (n,) int array
            The leaf of each document, a node of the tree.

        Returns
        -------
        csr_array (n, V) of float32
            Made in parts of 8192 documents, so that memory beyond the result stays small.
        """
        parts = [
            self._draw_part(rng, nodes[start : start + _DOCUMENTS_AT_ONCE])
            for start in range(0, len(nodes), _DOCUMENTS_AT_ONCE)
        ]
        lengths = np.concatenate([np.zeros(1, dtype=np.int32), *(part[2] for part in parts)])
        indices = np.concatenate([part[0] for part in parts] or [np.zeros(0, np.int32)])
        counts = np.concatenate([part[1] for part in parts] or [np.zeros(0, np.float32)])
        shape = (len(nodes), self.law.n_words)
        return sparse.csr_array((counts, indices, np.cumsum(lengths, dtype=np.int32)), shape=shape)

    def _draw_part(self, rng, nodes):
        law, n = self.law, len(nodes)
        paths = np.zeros((n, len(law.shares)), dtype=np.int64)
        for level in range(len(law.shares) - 1, 0, -1):
            paths[:, level] = nodes
            nodes = self.parents[nodes]
        mixture = rng.standard_gamma(6 * np.array(law.shares), size=paths.shape)
        mixture /= mixture.sum(axis=1, keepdims=True)
        lengths = np.rint(rng.lognormal(law.log_length, law.spread, size=n)).astype(np.int64)
        tokens = rng.multinomial(np.maximum(lengths, 1), mixture)
        topics = np.repeat(paths.ravel(), tokens.ravel())
        places = np.searchsorted(self._steps, topics + rng.random(len(topics)), side="right")
        words = self._words[np.minimum(places, self._last[topics])]
        documents = np.repeat(np.arange(n), tokens.sum(axis=1))
        keys = np.sort(documents * law.n_words + words)
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(first, append=len(keys)).astype(np.float32)
        keys = keys[first]
        rows = np.bincount(keys // law.n_words, minlength=n).astype(np.int32)
        return (keys % law.n_words).astype(np.int32), counts, rows


def depths(parents: np.ndarray) -> np.ndarray:
    """(n_nodes,) distances to the root of a tree in which parents come before their children."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for node in range(1, len(parents)):
        depth[node] = depth[parents[node]] + 1
    return depth


def random_tree(rng: np.random.Generator, level_sizes: Sequence[int]) -> np.ndarray:
    """Parent array of a tree with ``level_sizes[l]`` nodes at depth l, all leaves at the bottom.

    Every inner node has a child; the others fall on parents at random, with weights Gamma(1).
    """
    parents, start = [np.array([-1])], 0
    for above, here in pairwise(level_sizes):
        weights = rng.standard_gamma(1.0, size=above)
        extra = rng.choice(above, size=here - above, p=weights / weights.sum())
        parents.append(start + np.sort(np.concatenate([np.arange(above), extra])))
        start += above
    return np.concatenate(parents)


def sizes_with_total(sizes: np.ndarray, total: int) -> np.ndarray:
    """Positive integers proportional to ``sizes`` that add up to ``total``, each at least one."""
    wanted = sizes * ((total - len(sizes)) / sizes.sum())
    whole = np.floor(wanted).astype(np.int64)
    rest = total - len(sizes) - whole.sum()
    whole[np.argsort(whole - wanted, kind="stable")[:rest]] += 1
    return whole + 1


def _distinct(rng, law, size):
    """The first ``size`` different words of an endless sample from a cumulative law."""
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        sample = np.searchsorted(law, rng.random(2 * size), side="right")
        found = np.concatenate([found, np.minimum(sample, len(law) - 1)])
        found = found[np.sort(np.unique(found, return_index=True)[1])]
    return found[:size]
