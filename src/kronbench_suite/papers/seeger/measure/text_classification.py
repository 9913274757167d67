"""Classification of texts with learned variances, with the class tree or without.

Parameters
----------
methods : models
splits : number of random splits, by data set
most_documents : most documents, by data set
drawn : what is different where not all documents are taken
folds : number of folds
start : variance at which the search begins
bias_variances : variances of the biases to choose from
noise : gains below this part of the criterion end the search
max_evaluations : evaluations of the criterion
solver : solver of the linear systems, by data set
dtype : precision
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.evaluation import even_folds, hierarchy_scores, mean_log_loss, two_thirds
from kronbench.evaluation.class_scores import some_subclasses
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("split", "method", "variances"),
    repeats=("split",),
)


def run(spec, data, rng):
    """One row for each split, method and way to set the variances (Seeger 2006, table 1).

    Variances are "learned" from ``start`` or are all "one". The ``bias_variance`` is that of the
    largest cross-validation likelihood of F1 at the start, on the first split; ``on_edge`` says
    that it lies at an end of its grid. ``psi`` and ``nll`` are per document; ``taxo_gain`` and
    ``pacc_gain`` are what decisions of least expected loss gain over the most probable class.
    """
    collection = data.name.partition("-")[0]
    for name in ("splits", "most_documents", "solver"):  # by data set, or by collection
        choices = spec[name]
        choice = choices.get(data.name, choices.get(collection, choices["others"]))
        spec = {**spec, name: choice}
    if data.source == "surrogate":  # words are drawn: such rows decide nothing
        spec |= spec["drawn"]
    # A large section is cut to some of its subclasses, the same ones each time.
    drawn = generator(0, "subclasses", data.name)
    X, y, parents = some_subclasses(
        data["X"], data["y"], data["parents"], spec["most_documents"], drawn
    )
    tree, grid = Tree(parents), spec["bias_variances"]
    rows, bias = [], None
    for split in tqdm(range(spec["splits"]), desc=data.name, unit="split"):
        draws = generator(spec["seed"], "thirds", data.name, split)
        # Two thirds train, and are divided into the folds of the criterion Psi (section 8.2).
        train, test = two_thirds(len(y), draws)
        folds = even_folds(len(train), spec["folds"], draws)
        if bias is None:
            starts = [text_model("F1", tree, spec, candidate)[0] for candidate in grid]
            likelihoods = [m.cv_log_likelihood(X[train], y[train], folds)[0] for m in starts]
            bias = grid[int(np.argmax(likelihoods))]
        for row in _rows(spec, tree, bias, (X[train], y[train], folds), (X[test], y[test])):
            rows.append({"split": split, **row})
    frame = pd.DataFrame(rows)
    return frame.assign(
        classes=tree.n_classes,
        nodes=tree.n_nodes,
        training=len(train),
        documents=data["X"].shape[0],
        bias_variance=bias,
        on_edge=int(len(grid) > 1 and bias in (min(grid), max(grid))),
        taxo_gain=frame["taxo01"] - frame["taxo"],
        pacc_gain=frame["pacc"] - frame["pacc01"],
        psi_over_nll=frame["psi"] / frame["nll"],
    )


def text_model(pattern, tree, spec, bias):
    """The model of F1, H1, F2 or H2 at its start, and the nodes whose variances it shares."""
    parents, sharing = sharing_pattern(pattern, tree.parents)
    model = HierarchicalNewtonClassifier(
        parents,
        classes=np.arange(tree.n_classes),
        variance=spec["start"],
        bias_variance=bias,
        dtype=spec["dtype"],
        solver=spec.get("solver", "cg"),
    )
    return model, sharing


def _rows(spec, tree, bias, training, new):
    """Yield the rows of one split: each method with learned variances, F1 and H1 also without."""
    (X, y, folds), (X_new, y_new) = training, new
    last, begun = "", None
    for method in spec["methods"]:
        start, sharing = text_model(method, tree, spec, bias)
        model = HierarchicalNewtonCV(
            start, sharing=sharing, noise=spec["noise"], max_iter=spec["max_evaluations"]
        )
        # at the start, where all variances are one, models of the same tree are the same
        begun = begun if method[0] == last[:1] else None
        model.fit(X, y, folds=folds, begun=begun)
        last, begun = method, model
        # What the search took, and what it gained on its start.
        path = pd.DataFrame(model.hyperparameter_path_)
        learned = {
            "n_variances": len(path["parameters"].iloc[0]),
            "psi": -model.cv_log_likelihood_ / len(y),
            "psi_start": -path["value"].iloc[0] / len(y),
            "evaluations": len(path),
            "products": path["n_products"].sum(),
        }
        fits = [("learned", model, model.variance_, learned)]
        # The advice of Cai & Hofmann: all variances are one.
        if method in ("F1", "H1"):
            ones = text_model(method, tree, spec | {"start": 1.0}, bias)[0].fit(X, y)
            fits.append(("one", ones, 1.0, {"n_variances": 0}))
        # The scores of table 1.
        for variances, fitted, variance, more in fits:
            proba = fitted.predict_proba(X_new)
            row = {"method": method, "variances": variances}
            row |= {"smallest_variance": np.min(variance), "largest_variance": np.max(variance)}
            row |= hierarchy_scores(y_new, proba, tree.parents)
            yield row | {"nll": mean_log_loss(y_new, proba), **more}
