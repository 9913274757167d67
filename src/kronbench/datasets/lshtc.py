"""LSHTC, large scale hierarchical text classification, track 3 (Stock et al. 2016, 6.3).

The challenge's files are put in place by hand. Feature values are word counts as they stand in the
files, neither scaled nor weighted.
"""

from __future__ import annotations

import io

import numpy as np
from scipy import sparse

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files
from kronbench.errors import InputError


def parse_lshtc(files: Files, *, n_words: int, scale: float = 1.0) -> Arrays:
    """Documents, classes and tree from the challenge's own files.

    ``train`` and ``novel`` have lines ``label[, label ...] word:count ...`` with words from 1 to
    ``n_words``, in any order; a document with several labels counts for the smallest. A first line
    that does not begin with a number is a heading. ``novel`` holds the documents of classes that
    do not occur in ``train``, and may be empty. ``hierarchy`` has lines ``parent child``; of
    several parents the one nearest the root counts. A ``scale`` below 1 keeps this share of the
    documents, the same ones each time.
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


def _read_documents(file, n_words, scale):
    """Counts of words (n, V) of the documents of a file, and the smallest label of each."""
    # Imported here: every command that only plans imports this module, scikit-learn takes seconds.
    from sklearn.datasets import load_svmlight_file

    # Records as scikit-learn's reader wants them: labels joined by a bare comma, words in order.
    records = []
    with file.open() as stream:
        for number, line in enumerate(stream):
            record = line.partition(b"#")[0].replace(b", ", b",").split()
            if record and (number or record[0][:1].isdigit()):  # a heading does not begin with one
                words = sorted(record[1:], key=lambda word: int(word.partition(b":")[0]))
                records.append(b" ".join([record[0], *words]))
    text = io.BytesIO(b"\n".join(records))
    options = {"n_features": n_words, "multilabel": True, "zero_based": False}
    X, labels = load_svmlight_file(text, dtype=np.float32, **options)
    labels = np.array([min(label) for label in labels], dtype=np.int64)
    if not np.isfinite(X.data).all():
        raise InputError(f"{file.name} holds counts that are not finite numbers")
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    X = sparse.csr_array(parts, shape=(len(labels), n_words))
    if scale < 1:
        drawn = np.random.default_rng(0).permutation(len(labels))[: round(scale * len(labels))]
        drawn.sort()
        X, labels = X[drawn], labels[drawn]
    return X, labels


def _read_tree(file, classes):
    """Parents of the nodes above ``classes``: root, inner nodes by depth, the classes in order."""
    # Find the roots: parents that are no child.
    children = {}
    with file.open() as stream:
        edges = np.loadtxt(stream, dtype=np.int64, ndmin=2).tolist()
    for parent, child in edges:
        children.setdefault(parent, []).append(child)
    below = {child for group in children.values() for child in group}
    roots = sorted(set(children) - below)
    # Walk down by breadth, so that the parent nearest a root is met first. All roots hang below
    # node 0, which is the root itself where there is only one.
    parent_of = dict.fromkeys(roots, None)
    reached = list(roots)
    for node in reached:
        for child in children.get(node, ()):
            if child not in parent_of:
                parent_of[child] = node
                reached.append(child)
    # Keep the nodes above a class with documents, which are no classes themselves.
    inner = set()
    for leaf in classes.tolist():
        if leaf not in parent_of:
            raise InputError(f"{file.name}: class {leaf} is not below a root of the hierarchy")
        while (leaf := parent_of[leaf]) is not None and leaf not in inner:
            inner.add(leaf)
    mixed = inner.intersection(classes.tolist())
    if mixed:
        raise InputError(f"{file.name}: class {min(mixed)} has documents and classes below it")
    # Number the nodes: inner ones by depth, then the classes in their order.
    order = [node for node in reached if node in inner]
    if len(roots) > 1:
        order.insert(0, None)
    order += classes.tolist()
    position = {node: index for index, node in enumerate(order)}
    return np.array([-1, *(position[parent_of[node]] for node in order[1:])])
