"""Classifiers with a class tree or without one, of this package and of others.

Parameters
----------
splits : number of random splits
most_documents : most training documents, by data set
components : latent dimensions of single data sets
weights : regularization weights to choose from
"""

from functools import partial

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from tqdm import tqdm

from kronbench.class_tree import Tree
from kronbench.evaluation import parent_accuracy, taxo_loss, two_thirds
from kronbench.evaluation.class_scores import some_subclasses
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench.solvers import SolverMissing, import_solver
from kronbench_suite.runner.clock import Stopwatch
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

_MANY_STEPS = 2000  # scikit-learn's hundred end before the optimum

COLUMNS = Columns(
    key=("split", "method"),
    repeats=("split",),
    clock=("choosing_seconds", "fitting_seconds"),
)


def run(spec, data, rng):
    """One row for each split and method; methods that are not installed are skipped.

    ``weight`` is C or the variance; ``on_edge`` says that it lies at an end of the grid.
    """
    drawn = generator(0, "subclasses", data.name)  # the same ones each time
    most = spec["most_documents"].get(data.name, spec["most_documents"]["others"])
    X, y, parents = some_subclasses(data["X"], data["y"], data["parents"], most, drawn)
    X, tree, components = normalize(X), Tree(parents), spec["components"].get(data.name)
    methods, skipped = installed_methods(tree, len(spec["weights"]))
    rows = []
    for split in tqdm(range(spec["splits"]), desc=data.name, unit="split"):
        draws = generator(spec["seed"], "thirds", data.name, split)
        train, test = two_thirds(len(y), draws)
        inner = two_thirds(len(train), draws)
        features = X
        if components:  # of the training part alone
            features = TruncatedSVD(components, random_state=split).fit(X[train]).transform(X)
        for method, model_of in methods.items():
            weights = [5.0] if method == _LEARNED else spec["weights"]
            model, chosen = _chosen(model_of, weights, features[train], y[train], inner)
            scores = tree_scores(y[test], np.asarray(model.predict(features[test])), tree)
            rows.append({"split": split, "method": method, **scores, **chosen})
    frame = pd.DataFrame(rows).assign(
        classes=tree.n_classes, nodes=tree.n_nodes, training=len(train), features=features.shape[1]
    )
    frame.attrs["skipped"] = skipped
    return frame


def installed_methods(tree, evaluations):
    """By method the function from a weight to its model, and sentences on what is missing."""
    parents, classes = tree.parents, np.arange(tree.n_classes)

    def newton(variance, of=None):
        return HierarchicalNewtonClassifier(
            of, classes=classes, variance=variance, dtype="float32"
        )

    def learned(variance):
        model = newton(variance, parents)
        return HierarchicalNewtonCV(
            model, sharing="level", cv=3, max_iter=evaluations, random_state=0
        )

    flat, skipped = _FLAT, []
    methods = {"logistic regression, flat": flat["logistic"], "LinearSVC, flat": flat["LinearSVC"]}
    for method, path in _HICLASS.items():
        local_of = flat[method.partition(", ")[2]]
        try:
            methods[method] = partial(_OnPaths, import_solver(path), local_of, tree)
        except SolverMissing as reason:
            skipped.append(f'{reason} (pip install "kronbench[rivals]")')
    methods |= {"Newton, flat": newton, "Newton, tree": partial(newton, of=parents)}
    return methods | {_LEARNED: learned}, skipped


_FLAT = {
    "logistic": lambda C: LogisticRegression(C=C, max_iter=_MANY_STEPS),
    "LinearSVC": lambda C: LinearSVC(C=C, random_state=0, max_iter=_MANY_STEPS),
}
_LEARNED = "Newton, tree, learned"
# per node HiClass asks for probabilities, which LinearSVC has not
_HICLASS = {
    "HiClass per parent, logistic": "hiclass.LocalClassifierPerParentNode",
    "HiClass per parent, LinearSVC": "hiclass.LocalClassifierPerParentNode",
    "HiClass per node, logistic": "hiclass.LocalClassifierPerNode",
}


class _OnPaths:
    """A classifier of whole paths, one column a level, of local ones of weight C, for leaves."""

    def __init__(self, hierarchical, local_of, tree, C):
        self.model, self.paths = hierarchical(local_of(C)), tree.paths
        self.leaf_class = {str(node): number for number, node in enumerate(tree.leaves)}

    def fit(self, X, y):
        paths = self.paths[y]
        self.model.fit(X, np.where(paths >= 0, paths.astype(str), ""))
        return self

    def predict(self, X):
        paths = self.model.predict(X)
        return [self.leaf_class[[node for node in path if node][-1]] for path in paths]


def _chosen(model_of, weights, X, y, inner):
    """The model of the best weight, fitted to all, with the choice and its seconds."""
    fit_to, held_out = inner
    with Stopwatch() as choosing:
        right = [
            np.mean(model_of(weight).fit(X[fit_to], y[fit_to]).predict(X[held_out]) == y[held_out])
            for weight in (weights if len(weights) > 1 else ())
        ]
    weight = weights[int(np.argmax(right))] if right else np.nan
    with Stopwatch() as fitting:
        model = model_of(weight if right else weights[0]).fit(X, y)
    return model, {
        "weight": weight,
        "on_edge": int(weight in (min(weights), max(weights))),
        "choosing_seconds": choosing.cpu_seconds,
        "fitting_seconds": fitting.cpu_seconds,
    }


def tree_scores(y, predicted, tree):
    """Accuracies at leaves and parents, taxonomy loss, hierarchical F (Kiritchenko et al. 2005).

    The last is 2 |both| / (|right| + |predicted|), of the nodes on the paths to both leaves.
    """
    true, found = tree.paths[y], tree.paths[predicted]
    both = ((true == found) & (true >= 0)).sum()
    return {
        "acc": float(np.mean(y == predicted)),
        "pacc": parent_accuracy(y, predicted, tree.parents),
        "hierarchical_f": float(2 * both / ((true >= 0).sum() + (found >= 0).sum())),
        "taxo": taxo_loss(y, predicted, tree.parents),
    }
