"""Extensions of the class model: low rank, learned coupling, uncertain targets.

Parameters
----------
repetitions : number of repetitions, by data set
large_repetitions : repetitions with all points
points : number of training points
few_points : the same in most repetitions
new_points : number of test points
folds : number of folds
gamma : width of the Gaussian kernel
variance : variance of each class
ranks : numbers of pivots
max_evaluations : evaluations of the criterion
vague : share of the labels that name a part of the tree
tree_variances : variance of each level of the tree
bias_variance : variance of the biases
"""

import itertools

import numpy as np
import pandas as pd

from kronbench.class_tree import Tree
from kronbench.class_tree.covariance import DualCovariance
from kronbench.class_tree.kernels import LowRankKernel
from kronbench.class_tree.posterior_mode import NewtonCG, run_alone
from kronbench.class_tree.softmax import SoftmaxLoss, softmax
from kronbench.evaluation import even_folds, hierarchy_scores, mean_log_loss, two_thirds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench_suite.papers.seeger.measure.reject_curves import to_unit_range
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("repetition", "extension", "variant", "rank", "training"),
    repeats=("repetition",),
)


def run(spec, data, rng):
    """One row for each repetition and variant (Seeger 2006, sections 7.2 to 7.4).

    Vectors without a tree have "low rank" and "coupling", documents "uncertain". ``deviation`` is
    the mean distance of the probabilities of new points from those of the exact kernel.
    """
    repetitions = spec["repetitions"].get(data.name, spec["repetitions"]["others"])
    cases = _uncertain if "parents" in data.arrays else _kernels
    rows = []
    for repetition in range(repetitions):
        draws = generator(spec["seed"], "extensions", data.name, repetition)
        rows += [{"repetition": repetition, **row} for row in cases(spec, data, draws, repetition)]
    return pd.DataFrame(rows)


def _kernels(spec, data, draws, repetition):
    """Yield rows of vectors without a tree: low rank and coupling."""
    # Points to learn from, few or many, and new ones.
    order = draws.permutation(len(data["y"]))
    X, y = to_unit_range(data["X"], slice(None)), data["y"]
    small, part = order[: spec["few_points"]], order[: spec["points"]]
    new = order[spec["points"] :][: spec["new_points"]]
    n_classes = y.max() + 1
    tree, variance = Tree.flat(n_classes), np.full(n_classes, spec["variance"])
    # Section 7.4: low-rank kernels, with the diagonal corrected or not.
    reference = _gaussian(spec).fit(X[part], y[part]).predict_proba(X[new])
    for rank, corrected in itertools.product(spec["ranks"], (True, False)):
        kernel = LowRankKernel(X[part], "gaussian", spec["gamma"], rank, corrected)
        covariance = DualCovariance(kernel, tree, variance, 1.0)
        mode = NewtonCG().mode(covariance, SoftmaxLoss(y[part], n_classes))
        mode = run_alone(mode, covariance)
        proba = softmax(covariance.cross(X[new], mode.coef))[0]
        variant = "corrected" if corrected else "not corrected"
        row = {"extension": "low rank", "variant": variant, "rank": rank}
        row["deviation"] = np.abs(proba - reference).mean()
        yield row | _error_and_loss(proba, y[new])
    # Section 7.2: dependencies between classes, on few points in most repetitions.
    for points in (small, part) if repetition < spec["large_repetitions"] else (small,):
        yield from _coupling(spec, X[points], y[points], X[new], y[new], draws)


def _gaussian(spec):
    return HierarchicalNewtonClassifier(
        kernel="gaussian", gamma=spec["gamma"], variance=spec["variance"], bias_variance=1.0
    )


def _coupling(spec, X, y, X_new, y_new, draws):
    """Yield a row without and with a learned coupling of the classes."""
    folds = even_folds(len(y), spec["folds"], draws)
    # The plain model gives the start of the one with a learned coupling.
    plain = HierarchicalNewtonCV(_gaussian(spec)).fit(X, y, folds=folds)
    coupling = np.sqrt(np.max(plain.variance_)) * np.eye(len(np.unique(y)))
    start = _gaussian(spec).set_params(
        gamma=float(np.max(plain.gamma_)), variance=1.0, coupling=coupling
    )
    learned = HierarchicalNewtonCV(start, learn_coupling=True, max_iter=spec["max_evaluations"])
    learned.fit(X, y, folds=folds)
    for variant, model in (("none", plain), ("learned", learned)):
        row = {"extension": "coupling", "variant": variant, "training": len(y)}
        row["psi"] = -model.cv_log_likelihood_ / len(y)
        yield row | _error_and_loss(model.predict_proba(X_new), y_new)


def _uncertain(spec, data, draws, repetition):
    """Yield a row for each way to learn from documents whose labels are partly vague."""
    tree, y = Tree(data["parents"]), data["y"]
    # Section 7.3: some labels are known up to the parent of their class alone.
    train, test = two_thirds(len(y), draws)
    X, X_test = data["X"][train], data["X"][test]
    leaves = tree.leaves[y[train]]
    vague = draws.random(len(train)) < spec["vague"]
    nodes = np.where(vague, tree.parents[leaves], leaves)

    def model():
        return HierarchicalNewtonClassifier(
            tree.parents,
            classes=np.arange(tree.n_classes),
            variance=np.asarray(spec["tree_variances"], float)[tree.levels],
            bias_variance=spec["bias_variance"],
            tol=1e-8,
        )

    # Three ways to learn: without vague labels, by EM, and with all labels known.
    em = model().fit_uncertain(X, nodes, tol=1e-7)
    variants = {
        "left out": model().fit(X[~vague], y[train][~vague]),
        "EM": em,
        "all known": model().fit(X, y[train]),
    }
    for variant, fitted in variants.items():
        proba = fitted.predict_proba(X_test)
        scores = hierarchy_scores(y[test], proba, tree.parents)
        row = {"extension": "uncertain", "variant": variant}
        row["iterations"] = len(em.objective_path_) if variant == "EM" else None
        row |= _error_and_loss(proba, y[test])
        yield row | {name: scores[name] for name in ("acc", "prec", "taxo", "pacc")}


def _error_and_loss(proba, y):
    error = float((np.argmax(proba, axis=1) != y).mean())
    return {"error": error, "nll": mean_log_loss(y, proba)}
