"""LSHTC, large scale hierarchical text classification: track 3 (Stock et al. 2016, 6.3) and sizes.

The challenge's files are put in place by hand; without them a corpus of the published size is
drawn. Feature values are word counts as they stand in the files, neither scaled nor weighted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from kronbench.datasets.corpus import CorpusLaw, Topics, random_tree, sizes_with_total
from kronbench.datasets.dataset import Loader
from kronbench.datasets.fetch import LocalFile
from kronbench.errors import InputError

# A label of more digits would lose the last of them: the reader takes labels for floats.
_LABEL_LIST = rb"[ \t]*\d{1,15}(?:[ \t]*,[ \t]*\d{1,15})*"
_WORD_COUNT = rb"[ \t]+\d{1,18}:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LABELS = re.compile(_LABEL_LIST + rb"(?=[ \t\r\n]|$)")
_RECORD = re.compile(
    _LABEL_LIST + rb"(?:" + _WORD_COUNT + rb")*[ \t\r\n]*(?:#.*)?", flags=re.DOTALL
)
_SIGNS = b"0123456789 \t\r\n,:.eE+-"  # all of a line before its comment
_PAIR = {
    separator: re.compile(rb"[ \t]*(\d{1,18})" + between + rb"(\d{1,18})[ \t\r\n]*")
    for separator, between in ((None, rb"[ \t]+"), (":", rb"[ \t]*:[ \t]*"))
}
_TAIL = 2.43  # exponent of the density of class sizes above 10, measured on LSHTC1


def parse_lshtc(
    files: Mapping[str, LocalFile], *, n_words: int, scale: float = 1.0
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Documents, classes and tree from the challenge's own files.

    Parameters
    ----------
    files : mapping
        ``train`` and ``novel``: lines ``label[, label ...] word:count ...`` with words from 1, in
        any order; a document with several labels counts for the smallest. A first line that does
        not begin with a number is a heading. ``novel`` holds the documents of classes that do
        not occur in ``train``, and may be empty.
        ``hierarchy``: lines ``parent child``; of several parents the one nearest the root counts.
    n_words : int
        Size of the vocabulary, V.
    scale : float
        Below 1: this share of the documents, the same ones each time.

    Returns
    -------
    dict
        ``X`` csr (n, V) float32 and ``y`` (n,) classes 0..C-1; ``X_novel`` and ``y_novel`` with
        classes from C on; ``parents`` (n_nodes,) the tree above the classes that occur.

    Raises
    ------
    InputError
        A line is not of that form, a word is out of range, a class is not a leaf of the hierarchy,
        or a novel class occurs in ``train``.
    """
    X, labels = _read_documents(files["train"], n_words, scale)
    X_novel, novel = _read_documents(files["novel"], n_words, scale)
    if len(labels) == 0:
        raise InputError(f"{files['train'].name} holds no document")
    classes, novel_classes = np.unique(labels), np.unique(novel)
    known = np.intersect1d(classes, novel_classes)
    if len(known):
        raise InputError(
            f"{files['novel'].name}: class {known[0]} also has documents in {files['train'].name}"
        )
    parents = _read_tree(files["hierarchy"], np.concatenate([classes, novel_classes]))
    return {
        "X": X,
        "y": np.searchsorted(classes, labels),
        "X_novel": X_novel,
        "y_novel": len(classes) + np.searchsorted(novel_classes, novel),
        "parents": parents,
    }


def surrogate_lshtc(
    rng: np.random.Generator,
    *,
    n_words: int,
    n_documents: int,
    levels: Sequence[int],
    n_novel: int,
    scale: float = 1.0,
) -> dict[str, np.ndarray | sparse.csr_array]:
    """A corpus of the published size, drawn in parts: seconds at ``scale`` 0.02, a minute at 1.

    Parameters
    ----------
    rng : numpy Generator
    n_words, n_documents : int
        V and n at scale 1; V shrinks with ``scale**0.55``.
    levels : list of int
        Nodes at each depth below the root, the last of them the classes.
    n_novel : int
        Classes of two documents each that hang below the same nodes, and that ``X`` leaves out.
    scale : float
        Shrinks documents, classes and inner nodes alike.
    """
    n_words = round(n_words * scale**0.55)
    n_documents, n_novel = round(n_documents * scale), round(n_novel * scale)
    levels = [max(2, round(size * scale)) for size in levels]
    n_classes, n_inner = levels[-1], 1 + sum(levels[:-1])
    homes = n_inner - levels[-2] + rng.integers(levels[-2], size=n_novel)
    parents = np.concatenate([random_tree(rng, [1, *levels]), homes])
    law = CorpusLaw(
        n_words=n_words,
        exponent=1.1,
        shift=2.7,
        log_length=5.15,
        spread=0.75,
        shares=(0.80, 0.03, 0.05, 0.05, 0.04, 0.03),
        supports=(3000, 1500, 700, 300, 100),
    )
    topics = Topics(rng, parents, law)
    sizes = _class_sizes(rng, n_classes, n_documents, 2.6, 1.15, tail=0.05)
    y = rng.permutation(np.repeat(np.arange(n_classes), sizes))
    y_novel = np.repeat(n_classes + np.arange(n_novel), 2)
    return {
        "X": topics.draw(rng, n_inner + y),
        "y": y,
        "X_novel": topics.draw(rng, n_inner + y_novel),
        "y_novel": y_novel,
        "parents": parents,
    }


def parse_class_sizes(files: Mapping[str, LocalFile]) -> dict[str, np.ndarray]:
    """Documents of each class, from lines ``class:count``.

    Returns
    -------
    dict
        ``class_ids`` (C,), and an array (C,) of counts under the key of each file.

    Raises
    ------
    InputError
        A line is not of that form.
    """
    counts = {key: dict(_pairs(file, ":")) for key, file in files.items()}
    class_ids = sorted(set().union(*counts.values()))
    arrays = {key: np.array([known.get(c, 0) for c in class_ids]) for key, known in counts.items()}
    return {"class_ids": np.array(class_ids), **arrays}


def surrogate_class_sizes(
    rng: np.random.Generator, *, n_classes: int, n_train: int, n_valid: int
) -> dict[str, np.ndarray]:
    """Log-normal sizes with the mean and spread of logarithms measured on the real ones."""
    class_ids = np.arange(1, n_classes + 1)
    train, valid = (
        _class_sizes(rng, n_classes, total, 1.78, 0.88, tail=0.02) for total in (n_train, n_valid)
    )
    return {"class_ids": class_ids, "train": np.sort(train), "valid": np.sort(valid)}


LOADERS = {
    "lshtc": Loader("documents", parse=parse_lshtc, surrogate=surrogate_lshtc),
    "class-sizes": Loader("classes", parse=parse_class_sizes, surrogate=surrogate_class_sizes),
}


class _Lines:
    """A stream as scikit-learn's reader wants it: labels joined by a bare comma, no heading.

    ``in_order`` says that words come in increasing order; else they are sorted, which takes as
    long again.
    """

    def __init__(self, stream, in_order):
        self.read = stream.read
        self._stream, self._in_order = stream, in_order

    def __iter__(self):
        for number, line in enumerate(self._stream, start=1):
            if _is_heading(number, line):
                continue
            line = line.split(b"#")[0].replace(b" ,", b",").replace(b", ", b",")
            # The reader knows more forms: 1.5 and nan as labels, 1_0, qid:1.
            if line.strip() and (line.translate(None, _SIGNS) or not _LABELS.match(line)):
                raise ValueError("a line of another form")
            yield line if self._in_order else _sorted_words(line)


def _is_heading(number, line):
    return number == 1 and not line.lstrip()[:1].isdigit()


def _sorted_words(line):
    labels, *words = line.split() or [b""]
    return b" ".join([labels, *sorted(words, key=_word)]) + b"\n"


def _word(pair):
    word = pair.split(b":")[0]
    return int(word) if word.isdigit() else 0


def _read_documents(file, n_words, scale):
    # Imported here: every command that only plans imports this module, scikit-learn takes seconds.
    from sklearn.datasets import load_svmlight_file

    for in_order in (True, False):
        with file.open() as stream:
            try:
                X, labels = load_svmlight_file(
                    _Lines(stream, in_order), dtype=np.float32, multilabel=True, zero_based=False
                )
                break
            except (ValueError, OverflowError) as error:
                if not in_order:
                    raise InputError(_bad_line(file, n_words, error)) from None
    if not all(labels):
        raise InputError(_bad_line(file, n_words, "a document has no label"))
    labels = np.array([min(label) for label in labels], dtype=np.int64)
    if X.shape[1] > n_words:
        document = np.searchsorted(X.indptr, X.indices.argmax(), side="right")
        raise InputError(
            f"{file.name}: document {document} has word {X.shape[1]}, the vocabulary ends at "
            f"{n_words}"
        )
    if not np.isfinite(X.data).all():
        raise InputError(f"{file.name} holds counts that are no finite numbers")
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    X = sparse.csr_array(parts, shape=(len(labels), n_words))
    if scale < 1:
        drawn = np.random.default_rng(0).permutation(len(labels))[: round(scale * len(labels))]
        drawn.sort()
        X, labels = X[drawn], labels[drawn]
    return X, labels


def _bad_line(file, n_words, error):
    """The first line that is not of the expected form, or what the reader said."""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            heading = _is_heading(number, line)
            if line.strip() and not heading and not _RECORD.fullmatch(line):
                shown = line[:40].decode("latin-1").strip()
                return (
                    f"{file.name}, line {number}: {shown!r} does not start a line of the form "
                    "label[, label ...] word:count ..."
                )
            words = [pair for pair in line.split(b"#")[0].split() if b":" in pair]
            if not heading and (largest := max(map(_word, words), default=0)) > n_words:
                return (
                    f"{file.name}, line {number} has word {largest}, the vocabulary ends at "
                    f"{n_words}"
                )
    return f"{file.name}: {error}"


def _read_tree(file, classes):
    """Parents of the nodes above ``classes``: root, inner nodes by depth, the classes in order."""
    children = {}
    for parent, child in _pairs(file, None):
        children.setdefault(parent, []).append(child)
    below = {child for group in children.values() for child in group}
    roots = sorted(set(children) - below)
    # All roots hang below node 0, which is the root itself where there is only one.
    parent_of = dict.fromkeys(roots, None)
    reached = list(roots)
    for node in reached:
        for child in children.get(node, ()):
            if child not in parent_of:
                parent_of[child] = node
                reached.append(child)
    inner = set()
    for leaf in classes.tolist():
        if leaf not in parent_of:
            raise InputError(f"{file.name}: class {leaf} is not below a root of the hierarchy")
        while (leaf := parent_of[leaf]) is not None and leaf not in inner:
            inner.add(leaf)
    mixed = inner.intersection(classes.tolist())
    if mixed:
        raise InputError(f"{file.name}: class {min(mixed)} has documents and classes below it")
    order = [node for node in reached if node in inner]
    if len(roots) > 1:
        order.insert(0, None)
    order += classes.tolist()
    position = {node: index for index, node in enumerate(order)}
    return np.array([-1, *(position[parent_of[node]] for node in order[1:])])


def _pairs(file, separator):
    """Two integers of each line."""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            found = _PAIR[separator].fullmatch(line)
            if found is None:
                shown = line[:40].decode("latin-1").strip()
                raise InputError(
                    f"{file.name}, line {number}: {shown!r} is not two whole numbers with "
                    f"{'a blank' if separator is None else repr(separator)} between them"
                )
            yield int(found[1]), int(found[2])


def _class_sizes(rng, n_classes, total, log_size, spread, tail):
    """Log-normal sizes; a share ``tail`` of them follows a power law from one spread above."""
    sizes = rng.lognormal(log_size, spread, n_classes)
    large = rng.permutation(n_classes)[: round(tail * n_classes)]
    start = np.exp(log_size + spread)
    sizes[large] = start * (1 - rng.random(len(large))) ** (-1 / (_TAIL - 1))
    return sizes_with_total(sizes, total)
