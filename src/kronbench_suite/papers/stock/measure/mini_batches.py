"""Learning curves of large-scale text classification from mini-batches of documents.

Parameters
----------
sizes : numbers of training documents, by data set
start : documents before the first batch, by data set
batch : documents of a batch
n_test : number of test documents
components : latent dimensions of the documents
min_documents : documents in which a word must be
tree_width : dimensions of a level of the tree
regs : weights of the documents to choose from
regs_cols : weights of the classes to choose from
left_out : documents that choose, each left out
"""

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.linalg import splu
from tqdm import tqdm

from kronbench.evaluation import ranking_areas
from kronbench.models import CanonicalCorrespondence, IndependentRidge
from kronbench_suite.runner.clock import Stopwatch
from kronbench_suite.runner.columns import Columns

_SMOOTHED_DOCUMENTS = 500

COLUMNS = Columns(
    key=("documents", "setting", "model"),
    clock=("update_seconds",),
)


def run(spec, data, rng):
    """One row for each number of training documents, setting and model (Stock et al. 2016, 6.3).

    Algorithm 1 is exact in fixed features: these and the weights are found on the first ``start``
    documents, so that no curve knows a document before it has seen it. ``instance_auc`` is the
    mean over documents of the share of other classes that score below the right one.
    """
    sizes = spec["sizes"][data.name]
    start = spec["start"].get(data.name, sizes[0])
    # Features and weights from the first documents alone.
    corpus = _Corpus(data, spec, start, rng)
    seen, watch, rows = start, Stopwatch(), []
    first = corpus.labelled(corpus.train[:seen])
    regs, tasks = _selected(corpus, spec, *first)
    ridges = {
        reg: IndependentRidge(reg=reg, keep_data=False).fit_matrix(*first)
        for reg in set(regs.values())
    }
    bar = tqdm(total=len(corpus.train), initial=seen, desc=data.name, unit="document")
    while True:
        # At these sizes each model is scored in the settings B and D.
        if seen in sizes or seen == len(corpus.train):
            coefs = {model: ridges[reg].coef_ for model, reg in regs.items()}
            for setting, model, areas in _evaluated(corpus, coefs, tasks):
                reg, reg_cols = regs[model], tasks.reg if model == "two-step" else 0
                on_edge = reg in (spec["regs"][0], spec["regs"][-1])
                on_edge += reg_cols in (spec["regs_cols"][0], spec["regs_cols"][-1])
                rows.append(
                    {"documents": seen, "setting": setting, "model": model}
                    | areas
                    | {"reg": reg, "reg_cols": reg_cols, "on_edge": on_edge}
                    | {"update_seconds": watch.seconds}
                )
        batch = corpus.train[seen : seen + spec["batch"]]
        if len(batch) == 0:
            bar.close()
            return pd.DataFrame(rows)
        # Algorithm 1: the next batch updates the first step of each weight.
        features, _, Y = corpus.labelled(batch)
        with watch:
            for ridge in ridges.values():
                ridge.partial_fit_rows(features, Y)
        seen += len(batch)
        bar.update(len(batch))


class _Corpus:
    """Documents in the order of training, with their features, classes and class features."""

    def __init__(self, data, spec, start, rng):
        self._X, self._y = data["X"], data["y"]
        # Documents in random order; test documents of classes that no training document has go.
        order = rng.permutation(len(self._y))
        test, self.train = order[: spec["n_test"]], order[spec["n_test"] :]
        test = test[np.isin(self._y[test], self._y[self.train])]
        first = self.train[:start]
        self._embedding = CanonicalCorrespondence(
            spec["components"],
            min_documents=spec["min_documents"],
            random_state=int(rng.integers(2**31)),
        )
        self._embedding.fit(self._X[first], self._y[first])
        self.test = self._features(self._X[test]), self._y[test]

        # Novel classes come after the others, and all are leaves of the tree.
        self.n_classes = self._y.max() + 1
        n_tasks = max(self.n_classes, data["y_novel"].max(initial=0) + 1)
        leaves = len(data["parents"]) - n_tasks + np.arange(n_tasks)
        features = path_features(data["parents"], leaves, spec["tree_width"])
        self.class_features = features[: self.n_classes]
        self.novel_features = features[self.n_classes :]
        self.novel = self._features(data["X_novel"]), data["y_novel"] - self.n_classes

    def labelled(self, documents):
        """Features, no task features, and one-hot labels (n, C), sparse."""
        y = self._y[documents]
        ones = (np.ones(len(y)), (np.arange(len(y)), y))
        Y = sparse.csr_array(ones, shape=(len(y), self.n_classes))
        return self._features(self._X[documents]), None, Y

    def _features(self, X):
        return np.column_stack([self._embedding.transform(X), np.ones(X.shape[0])])


def _selected(corpus, spec, features, _, Y):
    """The weight of each model, and the second step of two-step regression with its own."""
    grid, grid_cols = (np.asarray(spec[name], dtype=float) for name in ("regs", "regs_cols"))
    y = Y.indices
    # a class without documents has no label to predict: its first step is zero
    classes = np.unique(y)
    labels = Y[:, classes].toarray()
    n = min(spec["left_out"], len(y))  # documents are in random order
    tasks = [SecondStep(corpus.class_features, reg) for reg in grid_cols]
    # Squared errors of left-out documents, by weight of the first step and of both.
    errors, tree_errors = np.empty(len(grid)), np.zeros((len(grid), len(grid_cols)))
    ridge = IndependentRidge().fit_matrix(features, None, labels)
    for i, F in ridge.loo_grid("B", grid):
        errors[i] = np.sum((F[:n] - labels[:n]) ** 2)
        for start in range(0, n, _SMOOTHED_DOCUMENTS):
            part = slice(start, min(start + _SMOOTHED_DOCUMENTS, n))
            tree_errors[i] += [task.squared_error(F[part], classes, y[part]) for task in tasks]
    # The least error of each model.
    i, j = np.unravel_index(np.argmin(tree_errors), tree_errors.shape)
    regs = {"independent-task": grid[np.argmin(errors)], "two-step": grid[i]}
    return regs, tasks[j]


def _evaluated(corpus, coefs, tasks):
    """Yield (setting, model, areas) for the models that can be used in each setting."""
    yield "B", "independent-task", ranking_areas(*corpus.test, coefs["independent-task"])
    weights = tasks.weights(coefs["two-step"])
    yield "B", "two-step", ranking_areas(*corpus.test, (corpus.class_features @ weights.T).T)
    if len(corpus.novel[1]):
        yield "D", "two-step", ranking_areas(*corpus.novel, (corpus.novel_features @ weights.T).T)


class SecondStep:
    """The second step of two-step regression for very many tasks, with G = Psi Psi', Psi sparse.

    Predictions F (n, C) of a first step for the training tasks become F (G + reg I)^-1 G' for any
    tasks (Eqs. 10 and 11), by the inverse of Psi'Psi + reg I, which is factorized once. With
    :func:`path_features` as Psi (C, P) nothing fills in, and a row of F costs O(P).
    """

    def __init__(self, features, reg):
        self.reg, self._features = reg, features
        gram = features.T @ features
        self._factors = splu(
            (gram + reg * sparse.eye_array(gram.shape[0])).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def weights(self, F):
        """(F Psi) (Psi'Psi + reg I)^-1, (n, P), for F (n, C): its product with Psi' predicts."""
        return self._factors.solve((F @ self._features).T).T

    def squared_error(self, F, columns, y):
        """Sum of (F H - Y)^2 over (n, C) for one-hot labels Y, without the (n, C) product F H.

        H = (G + reg I)^-1 G. With B = F Psi and X = B (Psi'Psi + reg I)^-1 the squared norm of F H
        is <B, X> - reg <X, X>. F (n, p) has the ``columns`` of the first step that are not zero;
        ``y`` (n,) is the task that is labelled 1 in each row.
        """
        B = F @ self._features[columns]
        X = self._factors.solve(B.T).T
        hit = self._features[y].multiply(X).sum()
        return len(y) - 2 * hit + np.sum(B * X) - self.reg * np.sum(X * X)


def path_features(parents, node, width):
    """Features (C, P) whose inner products are exp(-d / width), d edges between two leaves.

    rho^d with rho = exp(-1 / width) is the covariance of the process z_v = rho z_parent + noise of
    variance 1 - rho^2 that starts with variance 1 at the root; a feature is the coefficient of one
    node's noise. ``node`` (C,) has the leaves; nodes come after their parents.
    """
    decay = np.exp(-1.0 / width)
    entries, row, weight = [], np.arange(len(node)), np.ones(len(node))
    shape = len(node), len(parents)
    while len(node):
        scale = np.where(node == 0, 1.0, np.sqrt(1.0 - decay**2))
        entries.append((row, node, weight * scale))
        below = node > 0
        row, node, weight = row[below], parents[node[below]], decay * weight[below]
    rows, cols, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    return sparse.csr_array((values, (rows, cols)), shape=shape)
