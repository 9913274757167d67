"""Classification of texts with learned variances, with the class tree or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.evaluation import even_folds, hierarchy_scores, mean_log_loss, two_thirds
from kronbench.models import (
    HierarchicalNewtonClassifier,
    HierarchicalNewtonCV,
    TopDownClassifier,
)
from kronbench.papers.seeger.measure.printed_learning import learn_as_printed
from kronbench.runner.clock import Stopwatch
from kronbench.runner.columns import Columns, Parameter
from kronbench.runner.seeds import generator

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

# How often scikit-learn's solver may step: its default of 100 ends before the mode.
_MANY_STEPS = 20000

# Largest entry of the gradient of a document's loss where the reference stops: with the default
# of 1e-4, probabilities are off in the second digit.
_REFERENCE_TOL = 1e-8

# Relative duality gap of ours beside it.
_MODE_TOL = 1e-12

# Parameters that say what each data set has.
_BY_DATA_SET = ("splits", "further_splits", "most_documents", "solver")

COLUMNS = Columns(
    key=("split", "method", "variances"),
    repeats=("split",),
    clock=("learning_seconds",),
    counts=(
        *("n_variances", "evaluations", "on_edge"),
        *("classes", "nodes", "training", "documents"),
    ),
    numbers=(
        *("smallest_variance", "largest_variance", "bias_variance", "weight"),
        *("psi", "psi_start", "nll", "psi_over_nll", "products", "variance_factor"),
        *("acc", "prec", "taxo", "taxo01", "pacc", "pacc01", "taxo_gain", "pacc_gain"),
        "deviation",
    ),
    values={
        "method": (Parameter(("methods",)), "LogisticRegression", "top-down"),
        "variances": ("learned", "in few steps", "one"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each split, method and way to set the variances (Seeger 2006, table 1).

    ``method`` is F1, H1, F2 or H2; ``variances`` says whether they were "learned" from
    ``spec["start"]`` by the cross-validation likelihood of ``spec["folds"]`` folds, with fits that
    converge, or "in few steps", as many as ``spec["steps"]`` prints for a method, or are all
    "one". Two more methods: "LogisticRegression", the model F1 by scikit-learn, with the largest
    ``deviation`` of a probability, and "top-down", a logistic regression at each inner node, of
    the ``weight`` C of the largest likelihood of one fold. These and "in few steps" are made for
    the first splits, as many as ``spec["further_splits"]`` has.

    ``splits``, ``further_splits``, ``most_documents`` and ``solver`` (of
    :class:`~kronbench.models.HierarchicalNewtonClassifier`) are given by data set, or by the first
    word of its name, else by "others". Where words are drawn because the texts are not at hand,
    ``spec["drawn"]`` replaces them: such rows decide nothing.

    The ``bias_variance`` of a data set is that of the largest cross-validation likelihood of F1 at
    the start, on the first split, among ``spec["bias_variances"]``; one for all methods.
    ``on_edge`` counts the selections of a row that ended at the end of their grid. A
    collection of more than its ``most_documents`` is cut down to whole subclasses, drawn at
    random. ``psi`` and ``nll`` are per document; ``products`` those with the
    kernel, of all classes. ``taxo_gain`` and ``pacc_gain`` are what decisions of least expected
    loss gain over the most probable class; ``variance_factor`` is the largest factor between a
    variance learned in few steps and with fits that converge.
    """
    spec = {**spec, **{name: _of_data_set(spec[name], data) for name in _BY_DATA_SET}}
    if data.source == "surrogate":
        spec |= spec["drawn"]
    X, y, parents = some_subclasses(data, spec["most_documents"])
    tree = Tree(parents)
    rows, bias = [], None
    for split in tqdm(range(spec["splits"]), desc=data.name, unit="split"):
        draws = generator(spec["seed"], "thirds", data.name, split)
        train, test = two_thirds(len(y), draws)
        folds = even_folds(len(train), spec["folds"], draws)
        problem = _Problem(spec, tree, X[train], y[train], X[test], y[test], folds)
        bias = problem.likeliest_bias() if bias is None else bias
        for row in problem.rows(bias, further=split < spec["further_splits"]):
            rows.append({"split": split, "on_edge": 0, **row})
    frame = pd.DataFrame(rows)
    frame["classes"], frame["nodes"], frame["training"] = tree.n_classes, tree.n_nodes, len(train)
    frame["documents"] = data["X"].shape[0]
    frame["bias_variance"] = bias
    frame["on_edge"] += _at_an_end(bias, spec["bias_variances"])
    frame["taxo_gain"] = frame["taxo01"] - frame["taxo"]
    frame["pacc_gain"] = frame["pacc"] - frame["pacc01"]
    frame["psi_over_nll"] = frame["psi"] / frame["nll"]
    return frame


def _of_data_set(numbers, data):
    collection = data.name.partition("-")[0]
    return numbers.get(data.name, numbers.get(collection, numbers["others"]))


def some_subclasses(
    data: Dataset, most_documents: int
) -> tuple[np.ndarray | sparse.csr_array, np.ndarray, np.ndarray]:
    """X, y, parents of whole subclasses (parents of leaves), the same ones each time.

    As many in a random order as have at most ``most_documents`` documents together. Nodes without
    documents do not occur.
    """
    X, y, parents = data["X"], data["y"], data["parents"]
    if len(y) <= most_documents:
        return X, y, parents
    tree = Tree(parents)
    home = tree.parents[tree.leaves][y]
    subclasses, counts = np.unique(home, return_counts=True)
    order = generator(0, "subclasses", data.name).permutation(len(subclasses))
    kept = subclasses[order[np.cumsum(counts[order]) <= most_documents]]
    rows = np.flatnonzero(np.isin(home, kept))
    used = np.unique(np.concatenate([[0], tree.paths[np.unique(y[rows])].ravel()]))
    used = used[used >= 0]
    position = np.full(len(tree.parents), -1)
    position[used] = np.arange(len(used))
    smaller = Tree(np.concatenate([[-1], position[tree.parents[used[1:]]]]))
    labels = np.searchsorted(used[smaller.leaves], tree.leaves[y[rows]])
    X = X[rows]
    if sparse.issparse(X):
        X = X[:, np.unique(X.indices)]
    return X, labels, smaller.parents


class _Problem:
    """One split: what is learned on its training part, and the scores on its test part."""

    def __init__(self, spec, tree, X, y, X_test, y_test, folds):
        self._spec, self._tree, self._folds = spec, tree, folds
        self._X, self._y, self._X_test, self._y_test = X, y, X_test, y_test

    def likeliest_bias(self):
        candidates = self._spec["bias_variances"]
        if len(candidates) == 1:
            return candidates[0]
        likelihoods = [
            self._model("F1", bias).cv_log_likelihood(self._X, self._y, self._folds)[0]
            for bias in candidates
        ]
        return candidates[int(np.argmax(likelihoods))]

    def rows(self, bias, further):
        last, begun = "", None
        for method in self._spec["methods"]:
            _, sharing = sharing_pattern(method, self._tree.parents)
            model = HierarchicalNewtonCV(
                self._model(method, bias),
                sharing=sharing,
                noise=self._spec["noise"],
                max_iter=self._spec["max_evaluations"],
            )
            # at the start, where all variances are one, models of the same tree are the same
            begun = begun if method[0] == last[:1] else None
            with Stopwatch() as watch:
                model.fit(self._X, self._y, folds=self._folds, begun=begun)
            last, begun = method, model
            path = pd.DataFrame(model.hyperparameter_path_)
            yield {
                "method": method,
                "variances": "learned",
                "n_variances": len(path["parameters"].iloc[0]),
                **_range_of(model.variance_),
                "psi": -model.cv_log_likelihood_ / len(self._y),
                "psi_start": -path["value"].iloc[0] / len(self._y),
                "evaluations": len(path),
                "products": path["n_products"].sum(),
                "learning_seconds": watch.seconds,
                **self._scores(model),
            }
            if further and method in self._spec["steps"]:
                yield self._in_few_steps(method, bias, model.variance_)
            if further and method == "F1":
                yield self._multinomial_regression(model.best_estimator_)
            if method in ("F1", "H1"):
                ones = self._model(method, bias).set_params(variance=1.0).fit(self._X, self._y)
                yield {
                    "method": method,
                    "variances": "one",
                    "n_variances": 0,
                    **_range_of(ones.variance),
                    **self._scores(ones),
                }
        if further:
            yield self._top_down()

    def _in_few_steps(self, method, bias, converged):
        with Stopwatch() as watch:
            learned = learn_as_printed(
                method,
                self._X,
                self._y,
                self._tree.parents,
                self._folds,
                steps=self._spec["steps"][method],
                start=self._spec["start"],
                bias_variance=bias,
                noise=self._spec["noise"],
                max_evaluations=self._spec["max_evaluations"],
            )
        return {
            "method": method,
            "variances": "in few steps",
            "n_variances": len(np.unique(learned.variance)),
            **_range_of(learned.variance),
            "variance_factor": np.exp(np.abs(np.log(learned.variance / converged)).max()),
            "psi": learned.value / len(self._y),
            "evaluations": learned.evaluations,
            "products": learned.products,
            "learning_seconds": watch.seconds,
            **self._scores(learned.model),
        }

    def _model(self, method, bias):
        parents, _ = sharing_pattern(method, self._tree.parents)
        return HierarchicalNewtonClassifier(
            parents,
            classes=np.arange(self._tree.n_classes),
            variance=self._spec["start"],
            bias_variance=bias,
            dtype=self._spec["dtype"],
            solver=self._spec["solver"],
        )

    def _scores(self, model):
        proba = model.predict_proba(self._X_test)
        return {
            **hierarchy_scores(self._y_test, proba, self._tree.parents),
            "nll": mean_log_loss(self._y_test, proba),
        }

    def _multinomial_regression(self, model):
        """The model F1 by another library, the intercept a feature of constant size."""
        variance = float(np.max(model.variance))
        bias = np.sqrt(model.bias_variance / variance)

        def with_bias(X):
            column = np.full((X.shape[0], 1), bias)
            if sparse.issparse(X):
                return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)]))
            return np.hstack([X, column])

        reference = LogisticRegression(
            C=variance, fit_intercept=False, tol=_REFERENCE_TOL, max_iter=_MANY_STEPS
        ).fit(with_bias(self._X), self._y)
        known = reference.classes_
        # classes without a training document take part in ours, and do not exist for scikit-learn
        ours = clone(model).set_params(
            classes=known, variance=variance, dtype="float64", tol=_MODE_TOL, max_inner=2000
        )
        ours = ours.fit(self._X, self._y).predict_proba(self._X_test)
        theirs = reference.predict_proba(with_bias(self._X_test))
        proba = np.zeros((len(self._y_test), self._tree.n_classes))
        proba[:, known] = theirs
        scored = np.isin(self._y_test, known)
        return {
            "method": "LogisticRegression",
            "variances": "learned",
            **hierarchy_scores(self._y_test, proba, self._tree.parents),
            "nll": mean_log_loss(self._y_test[scored], proba[scored]),
            "deviation": np.abs(ours - theirs).max(),
        }

    def _top_down(self):
        held_out = self._folds == 0

        def fitted(C, rows):
            node = LogisticRegression(C=C, max_iter=_MANY_STEPS)
            return TopDownClassifier(self._tree.parents, estimator=node).fit(
                self._X[rows], self._y[rows]
            )

        def loss(C):
            proba = fitted(C, ~held_out).predict_proba(self._X[held_out])
            return mean_log_loss(self._y[held_out], proba, floor=1e-10)

        weights = self._spec["top_down_weights"]
        weight = min(weights, key=loss)
        return {
            "method": "top-down",
            "variances": "learned",
            "weight": weight,
            "on_edge": _at_an_end(weight, weights),
            **self._scores(fitted(weight, slice(None))),
        }


def _range_of(variance):
    return {"smallest_variance": np.min(variance), "largest_variance": np.max(variance)}


def _at_an_end(chosen, grid):
    return int(len(grid) > 1 and chosen in (min(grid), max(grid)))
