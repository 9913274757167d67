"""Stand-ins for collections of texts: documents mix a background of words and topics of a tree.

Every node below the root has a topic, a set of words with weights of its own, so that classes
which are close in the tree share words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from kronbench.datasets import wipo
from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files

_DOCUMENTS_AT_ONCE = 8192
_TAIL = 2.43  # exponent of the density of class sizes above 10, measured on LSHTC1


class CorpusLaw(NamedTuple):
    """How words fall into documents.

    The background gives the word of rank r the probability p ~ (r + 2.7)^-``exponent``. A document
    has LogNormal(``log_length``, ``spread``) words, of a mixture Dirichlet(6 ``shares``): of the
    background, then of the topics on its path from the root's child down. A topic at level l has
    ``supports[l]`` words, drawn without replacement with probability ~ p^0.5, and for them weights
    Gamma(0.3) p^0.5.
    """

    exponent: float
    log_length: float
    spread: float
    shares: tuple[float, ...]
    supports: tuple[int, ...]


_SECTION = CorpusLaw(1.05, 5.3, 0.6, (0.85, 0.04, 0.07, 0.04), (400, 200, 80))
_TITLES = _SECTION._replace(log_length=2.0, shares=(0.55, 0.10, 0.15, 0.20))
_LSHTC = CorpusLaw(
    1.1, 5.15, 0.75, (0.80, 0.03, 0.05, 0.05, 0.04, 0.03), (3000, 1500, 700, 300, 100)
)


class Topics:
    """The background of V words and a topic for each node of a tree, to draw documents from."""

    def __init__(self, rng, parents, n_words, law):
        self.parents, self.n_words, self.law = parents, n_words, law
        background = (np.arange(1, n_words + 1) + 2.7) ** -law.exponent
        roots = np.sqrt(background)
        root_law = np.cumsum(roots / roots.sum())
        words, laws = [np.arange(n_words)], [np.cumsum(background / background.sum())]
        for depth in depths(parents)[1:]:
            support = _distinct(rng, root_law, min(law.supports[depth - 1], n_words // 4))
            weights = rng.gamma(0.3, size=len(support)) * roots[support]
            words.append(support)
            laws.append(np.cumsum(weights / weights.sum()))
        # Topic t is the stretch of the axis between t and t + 1: one search serves all topics.
        self._words = np.concatenate(words).astype(np.int32)
        self._steps = np.concatenate([topic + law for topic, law in enumerate(laws)])
        self._last = np.cumsum([len(law) for law in laws]) - 1

    def draw(self, rng: np.random.Generator, nodes: np.ndarray) -> sparse.csr_array:
        """(n, V) float32 counts of words of documents of the leaves ``nodes`` (n,)."""
        law, n, most = self.law, len(nodes), _DOCUMENTS_AT_ONCE
        if n > most:  # in parts, so that memory beyond the result stays small
            parts = [self.draw(rng, nodes[at : at + most]) for at in range(0, n, most)]
            return sparse.vstack(parts, format="csr")
        # The topics that a document mixes: column 0 is the background, the last its class.
        paths = np.zeros((n, len(law.shares)), dtype=np.int64)
        for level in range(len(law.shares) - 1, 0, -1):
            paths[:, level] = nodes
            nodes = self.parents[nodes]
        mixture = rng.standard_gamma(6 * np.array(law.shares), size=paths.shape)
        mixture /= mixture.sum(axis=1, keepdims=True)
        lengths = np.rint(rng.lognormal(law.log_length, law.spread, size=n)).astype(np.int64)
        tokens = rng.multinomial(np.maximum(lengths, 1), mixture)
        # A word for each token; the matrix adds up equal words of a document.
        topics = np.repeat(paths.ravel(), tokens.ravel())
        places = np.searchsorted(self._steps, topics + rng.random(len(topics)), side="right")
        words = self._words[np.minimum(places, self._last[topics])]
        documents = np.repeat(np.arange(n, dtype=np.int32), tokens.sum(axis=1))
        ones = np.ones(len(words), dtype=np.float32)
        return sparse.csr_array((ones, (documents, words)), shape=(n, self.n_words))


def surrogate_index(
    rng: np.random.Generator,
    *,
    levels: Sequence[int],
    n_documents: int,
    n_test: int,
    median_size: float,
) -> Arrays:
    """A random tree with ``levels[l]`` nodes at depth l + 1, and log-normal class sizes."""
    parents = random_tree(rng, [1, *levels])
    spread = np.sqrt(2 * np.log(n_documents / levels[-1] / median_size))  # by mean and median
    sizes = sizes_with_total(rng.lognormal(0.0, spread, levels[-1]), n_documents)
    y = rng.permutation(np.repeat(np.arange(levels[-1]), sizes))
    return {"y": y, "parents": parents, "is_test": rng.permutation(n_documents) < n_test}


def surrogate_section(
    rng: np.random.Generator, files: Files, *, section: str, n_features: int = 0, **sizes: Any
) -> Arrays:
    """Drawn words on the real documents' labels and tree, or on those of ``surrogate_index``.

    With ``n_features``, ``X`` has that many leading singular directions of the words. A ridge
    classifier reaches 33 % in section D, where the paper has 40 %.
    """
    if {"train", "test"} <= files.keys():
        placed = wipo.parse_index(files, section=section)
    else:
        placed = surrogate_index(rng, **sizes)
    X = _unit_words(rng, placed, round(20000 * (len(placed["y"]) / 1710) ** 0.55), _SECTION)
    if n_features:
        from sklearn.decomposition import TruncatedSVD

        reduction = TruncatedSVD(n_features, random_state=int(rng.integers(2**31)))
        X = wipo.unit_rows(reduction.fit_transform(X))
    return {"X": X, **placed}


def surrogate_titles(rng: np.random.Generator, **sizes: Any) -> Arrays:
    """Drawn titles of about eight words on a tree of ``surrogate_index``."""
    placed = surrogate_index(rng, n_test=0, **sizes)
    del placed["is_test"]
    n_words = round(4000 * (len(placed["y"]) / 2900) ** 0.55)
    return {"X": _unit_words(rng, placed, n_words, _TITLES), **placed}


def surrogate_lshtc(
    rng: np.random.Generator,
    *,
    n_words: int,
    n_documents: int,
    levels: Sequence[int],
    n_novel: int,
    scale: float = 1.0,
) -> Arrays:
    """A corpus with ``levels`` of nodes below the root, the last the classes; a minute at scale 1.

    Below the same nodes hang ``n_novel`` classes of two documents each, which ``X`` leaves out.
    """
    n_words = round(n_words * scale**0.55)
    n_documents, n_novel = round(n_documents * scale), round(n_novel * scale)
    *upper, n_classes = levels = [max(2, round(size * scale)) for size in levels]
    n_inner = 1 + sum(upper)
    homes = n_inner - upper[-1] + rng.integers(upper[-1], size=n_novel)
    parents = np.concatenate([random_tree(rng, [1, *levels]), homes])
    topics = Topics(rng, parents, n_words, _LSHTC)
    # Log-normal class sizes; a twentieth of them follows a power law from one spread above.
    sizes = rng.lognormal(2.6, 1.15, n_classes)
    large = rng.permutation(n_classes)[: round(0.05 * n_classes)]
    sizes[large] = np.exp(2.6 + 1.15) * (1 - rng.random(len(large))) ** (-1 / (_TAIL - 1))
    sizes = sizes_with_total(sizes, n_documents)
    y = rng.permutation(np.repeat(np.arange(n_classes), sizes))
    y_novel = np.repeat(n_classes + np.arange(n_novel), 2)
    return {
        "X": topics.draw(rng, n_inner + y),
        "y": y,
        "X_novel": topics.draw(rng, n_inner + y_novel),
        "y_novel": y_novel,
        "parents": parents,
    }


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


def _unit_words(rng, placed, n_words, law):
    """Counts of drawn words for documents of a tree, in rows of unit norm."""
    parents, y = placed["parents"], placed["y"]
    n_inner = len(parents) - (y.max() + 1)
    counts = Topics(rng, parents, n_words, law).draw(rng, n_inner + y)
    return sparse.csr_array(wipo.unit_rows(counts.astype(np.float64)))


def _distinct(rng, law, size):
    """The first ``size`` different words of an endless sample from a cumulative law."""
    found = np.empty(0, dtype=np.int64)
    while len(found) < size:
        sample = np.searchsorted(law, rng.random(2 * size), side="right")
        found = np.concatenate([found, np.minimum(sample, len(law) - 1)])
        found = found[np.sort(np.unique(found, return_index=True)[1])]
    return found[:size]
