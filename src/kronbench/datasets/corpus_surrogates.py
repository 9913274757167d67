"""Stand-ins for collections of texts, where their files cannot be had."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from kronbench.datasets import wipo
from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files

_DOCUMENTS_AT_ONCE = 8192  # whose words are drawn in one go, to bound the memory
_HEAPS = 0.55  # exponent of the growth of a vocabulary with the number of documents (Heaps' law)
_TOPIC_SHARE = 0.12  # share of the words of a document that its topics give, its language the rest
_TOPIC_WIDTH = 0.05  # share of the vocabulary that a topic has


def surrogate_index(
    rng: np.random.Generator,
    *,
    levels: Sequence[int],
    n_documents: int,
    median_size: float,
    n_test: int | None = None,
) -> Arrays:
    """A random tree with ``levels[l]`` nodes at depth l + 1, and log-normal class sizes."""
    parents, start = [np.array([-1])], 0
    for above, here in pairwise([1, *levels]):
        # Each node of the level above has a child; the others crowd below a few.
        crowded = above * rng.random(here - above) ** 2
        parents.append(start + np.sort([*range(above), *crowded.astype(int)]))
        start += above
    # The mean and the median of a log-normal distribution give its spread.
    spread = np.sqrt(2 * np.log(n_documents / levels[-1] / median_size))
    weights = rng.lognormal(0.0, spread, levels[-1])
    sizes = 1 + rng.multinomial(n_documents - levels[-1], weights / weights.sum())
    y = rng.permutation(np.repeat(np.arange(levels[-1]), sizes))
    arrays = {"y": y, "parents": np.concatenate(parents)}
    if n_test is not None:
        arrays["is_test"] = rng.permutation(n_documents) < n_test
    return arrays


def surrogate_section(
    rng: np.random.Generator,
    files: Files,
    *,
    section: str,
    n_features: int = 0,
    length: float = 240,
    n_words: float = 333,
    **sizes: Any,
) -> Arrays:
    """Drawn words on the real documents' labels and tree, or on those of ``surrogate_index``.

    The vocabulary has ``n_words`` for the first document, and grows by Heaps' law. With
    ``n_features``, ``X`` has that many leading singular directions of the words.
    """
    at_hand = {"train", "test"} <= files.keys()
    arrays = wipo.parse_index(files, section=section) if at_hand else surrogate_index(rng, **sizes)
    parents, y = arrays["parents"], arrays["y"]
    leaves = len(parents) - (y.max() + 1) + y
    vocabulary = round(n_words * len(y) ** _HEAPS)
    counts = _words(rng, parents, leaves, vocabulary, length).astype(np.float64)
    X = sparse.csr_array(wipo.unit_rows(counts))
    if n_features:
        from sklearn.decomposition import TruncatedSVD

        reduction = TruncatedSVD(n_features, random_state=int(rng.integers(2**31)))
        X = wipo.unit_rows(reduction.fit_transform(X))
    return {"X": X, **arrays}


def surrogate_titles(rng: np.random.Generator, **sizes: Any) -> Arrays:
    """Drawn titles of about eight words on a tree of ``surrogate_index``."""
    return surrogate_section(rng, {}, section="", length=8, n_words=50, **sizes)


def surrogate_lshtc(
    rng: np.random.Generator,
    *,
    n_words: int,
    n_documents: int,
    levels: Sequence[int],
    n_novel: int,
    scale: float = 1.0,
) -> Arrays:
    """A corpus with ``levels`` of nodes below the root, of which the last are the classes.

    Below the same nodes hang ``n_novel`` classes of two documents each, which ``X`` leaves out.
    At scale 1 it takes 12 processor seconds and 1.4 GiB.
    """
    n_words = round(n_words * scale**_HEAPS)
    n_documents, n_novel = round(n_documents * scale), round(n_novel * scale)
    levels = [max(2, round(size * scale)) for size in levels]
    median_size = 0.6 * n_documents / levels[-1]
    arrays = surrogate_index(rng, levels=levels, n_documents=n_documents, median_size=median_size)
    # The novel leaves come behind the others, below the nodes of the same level.
    n_inner = 1 + sum(levels[:-1])
    homes = rng.integers(n_inner - levels[-2], n_inner, n_novel)
    parents = np.concatenate([arrays["parents"], homes])
    y, y_novel = arrays["y"], levels[-1] + np.repeat(np.arange(n_novel), 2)
    X = _words(rng, parents, n_inner + np.concatenate([y, y_novel]), n_words, 200)
    arrays |= {"X": X[: len(y)], "X_novel": X[len(y) :], "y_novel": y_novel}
    return arrays | {"parents": parents}


def _words(rng, parents, leaves, n_words, length):
    """(n, V) float32 counts of words of documents, each of the class that is one of the leaves.

    All leaves of the tree are at the same depth.
    The word of rank r has a probability of about 1 / r (Zipf's law). A topic is a stretch of the
    vocabulary that begins at random, with the same law: one for each node below the root, so that
    classes that are close in the tree share words. The root's is the language, which has all.
    """
    first = rng.integers(n_words, size=len(parents))
    first[0], parts = 0, []
    for start in range(0, len(leaves), _DOCUMENTS_AT_ONCE):
        # The nodes of each document, from its class up to the root.
        path = [leaves[start : start + _DOCUMENTS_AT_ONCE]]
        while path[-1].any():
            path.append(parents[path[-1]])
        # Each token has a document, the language or a topic of its path, and a rank there, which
        # is V^u - 1 for uniform u. The matrix adds up equal words of a document.
        n = len(path[0])
        document = np.repeat(
            np.arange(n, dtype=np.int32), 1 + rng.poisson(rng.gamma(2, length / 2, n))
        )
        is_topic = rng.random(len(document)) < _TOPIC_SHARE
        level = np.where(is_topic, rng.integers(len(path) - 1, size=len(document)), -1)
        width = np.where(is_topic, max(1, _TOPIC_WIDTH * n_words), n_words)
        rank = (width ** rng.random(len(document))).astype(np.int64) - 1
        word = ((first[np.stack(path)[level, document]] + rank) % n_words).astype(np.int32)
        ones = np.ones(len(word), dtype=np.float32)
        parts.append(sparse.csr_array((ones, (document, word)), shape=(n, n_words)))
    return sparse.vstack(parts, format="csr")
