"""Classification of texts with learned variances, with the class tree or without."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from tqdm import tqdm

from kronbench.class_tree import Tree, sharing_pattern
from kronbench.evaluation import even_folds, hierarchy_scores, mean_log_loss, two_thirds
from kronbench.evaluation.class_scores import some_subclasses
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

# Parameters that are given by data set, or by the first word of its name, else by "others".
_BY_DATA_SET = ("splits", "most_documents", "solver")

COLUMNS = Columns(
    key=("split", "method", "variances"),
    repeats=("split",),
)


def run(spec, data, rng):
    """One row for each split, method and way to set the variances (Seeger 2006, table 1).

    Variances are "learned" from ``start`` by the cross-validation likelihood or are all "one".

    Where words are drawn because the texts are not at hand, ``spec["drawn"]`` replaces parameters:
    such rows decide nothing. The ``bias_variance`` of a data set is that of the largest
    cross-validation likelihood of F1 at the start, on the first split; ``on_edge`` says that it
    lies at an end of its grid. A collection of more than ``most_documents`` is cut down to whole
    subclasses. ``psi`` and ``nll`` are per document; ``taxo_gain`` and ``pacc_gain`` are what
    decisions of least expected loss gain over the most probable class.
    """
    spec = {**spec, **{name: _of_data_set(spec[name], data) for name in _BY_DATA_SET}}
    if data.source == "surrogate":
        spec |= spec["drawn"]
    drawn = generator(0, "subclasses", data.name)  # the same ones each time
    X, y, parents = some_subclasses(
        data["X"], data["y"], data["parents"], spec["most_documents"], drawn
    )
    tree = Tree(parents)
    rows, bias = [], None
    for split in tqdm(range(spec["splits"]), desc=data.name, unit="split"):
        draws = generator(spec["seed"], "thirds", data.name, split)
        train, test = two_thirds(len(y), draws)
        folds = even_folds(len(train), spec["folds"], draws)
        problem = _Problem(spec, tree, X[train], y[train], X[test], y[test], folds)
        bias = problem.likeliest_bias() if bias is None else bias
        for row in problem.rows(bias):
            rows.append({"split": split, **row})
    frame = pd.DataFrame(rows)
    return frame.assign(
        classes=tree.n_classes,
        nodes=tree.n_nodes,
        training=len(train),
        documents=data["X"].shape[0],
        bias_variance=bias,
        on_edge=_at_an_end(bias, spec["bias_variances"]),
        taxo_gain=frame["taxo01"] - frame["taxo"],
        pacc_gain=frame["pacc"] - frame["pacc01"],
        psi_over_nll=frame["psi"] / frame["nll"],
    )


def _of_data_set(numbers, data):
    collection = data.name.partition("-")[0]
    return numbers.get(data.name, numbers.get(collection, numbers["others"]))


@dataclass
class _Problem:
    """One split: what is learned on its training part, and the scores on its test part."""

    spec: Mapping
    tree: Tree
    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    X_test: np.ndarray | sparse.csr_array
    y_test: np.ndarray
    folds: np.ndarray

    def likeliest_bias(self):
        candidates = self.spec["bias_variances"]
        likelihoods = [
            self._model("F1", bias).cv_log_likelihood(self.X, self.y, self.folds)[0]
            for bias in candidates
        ]
        return candidates[int(np.argmax(likelihoods))]

    def rows(self, bias):
        last, begun = "", None
        for method in self.spec["methods"]:
            _, sharing = sharing_pattern(method, self.tree.parents)
            model = HierarchicalNewtonCV(
                self._model(method, bias),
                sharing=sharing,
                noise=self.spec["noise"],
                max_iter=self.spec["max_evaluations"],
            )
            # at the start, where all variances are one, models of the same tree are the same
            begun = begun if method[0] == last[:1] else None
            model.fit(self.X, self.y, folds=self.folds, begun=begun)
            last, begun = method, model
            path = pd.DataFrame(model.hyperparameter_path_)
            found = {
                "n_variances": len(path["parameters"].iloc[0]),
                "psi": -model.cv_log_likelihood_ / len(self.y),
                "psi_start": -path["value"].iloc[0] / len(self.y),
                "evaluations": len(path),
                "products": path["n_products"].sum(),
            }
            yield self._row(method, "learned", model, model.variance_) | found
            if method in ("F1", "H1"):
                ones = self._model(method, bias).set_params(variance=1.0).fit(self.X, self.y)
                yield self._row(method, "one", ones, ones.variance) | {"n_variances": 0}

    def _model(self, method, bias):
        parents, _ = sharing_pattern(method, self.tree.parents)
        return HierarchicalNewtonClassifier(
            parents,
            classes=np.arange(self.tree.n_classes),
            variance=self.spec["start"],
            bias_variance=bias,
            dtype=self.spec["dtype"],
            solver=self.spec["solver"],
        )

    def _row(self, method, variances, model, variance):
        proba = model.predict_proba(self.X_test)
        return {
            "method": method,
            "variances": variances,
            "smallest_variance": np.min(variance),
            "largest_variance": np.max(variance),
            **hierarchy_scores(self.y_test, proba, self.tree.parents),
            "nll": mean_log_loss(self.y_test, proba),
        }


def _at_an_end(chosen, grid):
    return int(len(grid) > 1 and chosen in (min(grid), max(grid)))
