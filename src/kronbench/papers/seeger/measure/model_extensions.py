"""Extensions of the class model: exact steps, low rank, uncertain targets, learned coupling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kronbench.class_tree import Tree
from kronbench.class_tree.covariance import DualCovariance
from kronbench.class_tree.kernels import LowRankKernel
from kronbench.class_tree.posterior_mode import NewtonCG, run as run_steps
from kronbench.class_tree.softmax import SoftmaxLoss, softmax
from kronbench.evaluation import even_folds, hierarchy_scores, mean_log_loss, two_thirds
from kronbench.linalg import gram
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV, fit_uncertain
from kronbench.papers.seeger.measure.exact_mode import exact_flat_mode
from kronbench.runner.columns import Columns, Parameter
from kronbench.runner.seeds import generator

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

COLUMNS = Columns(
    key=("repetition", "extension", "variant", "rank", "training"),
    repeats=("repetition",),
    counts=("iterations",),
    numbers=(
        *("deviation", "excess", "overshoot", "error", "nll", "psi"),
        *("acc", "prec", "taxo", "pacc", "posterior_fall", "likelihood_fall"),
    ),
    values={
        "extension": ("exact", "low rank", "coupling", "uncertain"),
        "variant": (
            *("iterative", "corrected", "not corrected", "none", "learned"),
            *("left out", "EM", "all known"),
        ),
        "rank": (Parameter(("ranks",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each repetition and variant (Seeger 2006, sections 7.2 to 7.4, appendix B).

    On vectors without a tree: "exact", the largest ``deviation`` of a probability between exact
    Newton steps and ours; "low rank" with ``rank`` pivots, with the diagonal corrected or not,
    its ``deviation`` from the exact kernel on new points, and the ``overshoot`` of the diagonal
    over the exact one; "coupling", a flat model with one kernel ("none"), and with the matrix
    between functions and scores learned by cross-validation, of few ``training`` points and, in
    the first ``spec["large_repetitions"]``, of many. On documents with a tree:
    "uncertain", half of the training documents have no class but its parent: ``variant`` "left
    out", "EM", or "all known"; for EM the log posterior and the log likelihood of each iteration,
    whose largest falls relative to their size are ``posterior_fall`` and ``likelihood_fall``.
    """
    rows = []
    repetitions = spec["repetitions"].get(data.name, spec["repetitions"]["others"])
    for repetition in range(repetitions):
        draws = generator(spec["seed"], "extensions", data.name, repetition)
        cases = _uncertain if "parents" in data.arrays else _kernels
        rows += [{"repetition": repetition, **row} for row in cases(spec, data, draws, repetition)]
    return pd.DataFrame(rows)


def _kernels(spec, data, draws, repetition):
    order = draws.permutation(len(data["y"]))
    low, high = data["X"].min(axis=0), data["X"].max(axis=0)
    X, y = 2 * (data["X"] - low) / (high - low) - 1, data["y"]
    small, part = order[: spec["exact_points"]], order[: spec["points"]]
    new = order[spec["points"] :][: spec["new_points"]]
    yield from _exact(spec, X[small], y[small])
    yield from _low_rank(spec, X[part], y[part], X[new], y[new])
    for points in (small, part) if repetition < spec["large_repetitions"] else (small,):
        yield from _coupling(spec, X[points], y[points], X[new], y[new], draws)


def _gaussian(spec, **options):
    return HierarchicalNewtonClassifier(
        kernel="gaussian",
        gamma=spec["gamma"],
        variance=spec["variance"],
        bias_variance=1.0,
        **options,
    )


def _exact(spec, X, y):
    K = spec["variance"] * gram(X, kernel="gaussian", gamma=spec["gamma"])
    n_classes = len(np.unique(y))
    _, exact, value = exact_flat_mode([K] * n_classes, y, 1.0)
    model = _gaussian(spec, tol=1e-12, max_inner=2000).fit(X, y)
    yield {
        "extension": "exact",
        "variant": "iterative",
        "deviation": np.abs(model.predict_proba(X) - exact).max(),
        "excess": abs(model.objective_path_[-1] / value - 1),
    }


def _low_rank(spec, X, y, X_new, y_new):
    n_classes = len(np.unique(y))
    reference = _gaussian(spec).fit(X, y).predict_proba(X_new)
    for rank in spec["ranks"]:
        for corrected in (True, False):
            kernel = LowRankKernel(X, "gaussian", spec["gamma"], rank, corrected)
            covariance = DualCovariance(
                kernel, Tree.flat(n_classes), np.full(n_classes, spec["variance"]), 1.0
            )
            mode = run_steps(NewtonCG().mode(covariance, SoftmaxLoss(y, n_classes)), covariance)
            proba = softmax(covariance.cross(X_new, mode.coef))[0]
            yield {
                "extension": "low rank",
                "variant": "corrected" if corrected else "not corrected",
                "rank": rank,
                "deviation": np.abs(proba - reference).mean(),
                "overshoot": -kernel.residual.min(),
                **_error_and_loss(proba, y_new),
            }


def _coupling(spec, X, y, X_new, y_new, draws):
    folds = even_folds(len(y), spec["folds"], draws)
    n_classes = len(np.unique(y))
    plain = HierarchicalNewtonCV(_gaussian(spec)).fit(X, y, folds=folds)
    start = HierarchicalNewtonClassifier(
        kernel="gaussian",
        gamma=float(np.max(plain.gamma_)),
        variance=1.0,
        bias_variance=1.0,
        coupling=np.sqrt(np.max(plain.variance_)) * np.eye(n_classes),
    )
    learned = HierarchicalNewtonCV(
        start, learn_coupling=True, max_iter=spec["max_evaluations"]
    ).fit(X, y, folds=folds)
    for variant, model in (("none", plain), ("learned", learned)):
        yield {
            "extension": "coupling",
            "variant": variant,
            "training": len(y),
            "psi": -model.cv_log_likelihood_ / len(y),
            **_error_and_loss(model.predict_proba(X_new), y_new),
        }


def _uncertain(spec, data, draws, repetition):
    tree, y = Tree(data["parents"]), data["y"]
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

    em = fit_uncertain(model(), X, nodes, tol=1e-7)
    variants = {
        "left out": model().fit(X[~vague], y[train][~vague]),
        "EM": em.estimator,
        "all known": model().fit(X, y[train]),
    }
    for variant, fitted in variants.items():
        proba = fitted.predict_proba(X_test)
        scores = hierarchy_scores(y[test], proba, tree.parents)
        row = {
            "extension": "uncertain",
            "variant": variant,
            **_error_and_loss(proba, y[test]),
            **{name: scores[name] for name in ("acc", "prec", "taxo", "pacc")},
        }
        if variant == "EM":
            row |= {
                "iterations": len(em.log_posterior_path),
                "posterior_fall": _largest_fall(em.log_posterior_path),
                "likelihood_fall": _largest_fall(em.log_likelihood_path),
            }
        yield row


def _largest_fall(path):
    return float(np.max(-np.diff(path)) / abs(path[0]))


def _error_and_loss(proba, y):
    return {
        "error": float((np.argmax(proba, axis=1) != y).mean()),
        "nll": mean_log_loss(y, proba),
    }
