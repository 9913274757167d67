"""Test error against the share of points that may be rejected, for learned Gaussian kernels.

Parameters
----------
methods : models
other_scalings : models with another scaling of the features, by scaling
partitions : number of random splits
points : number of points on a curve
folds : number of folds
coarse : training points of a first search, 0 for none
max_evaluations : evaluations of the criterion
start : variance at which the search begins
bias_variance : variance of the biases
noise : gains below this part of the criterion end the search
dtype : precision
"""

import copy
import itertools

import numpy as np
import pandas as pd
from sklearn.base import clone
from tqdm import tqdm

from kronbench.evaluation import even_folds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench_suite.runner.clock import Stopwatch
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("scaling", "partition", "method", "predicted"),
    repeats=("partition",),
    clock=("learning_seconds",),
    conditions=("learning_waiting",),
)


def run(spec, data, rng):
    """Rows along each curve, for each partition and method (Seeger 2006, figures 3 and 4).

    ``error`` counts errors among the ``predicted`` test points of the largest maximal probability
    and is divided by the number of all test points; ``advantage`` is the error of 1rest minus that
    of the method. ``psi`` is per training point.

    The start is v = 10, w = 1 / sum_j Var[x_j], a width gamma = w / (2 d). With ``coarse`` the
    first partition begins there on so many points and goes on from what it finds; every other
    partition and scaling begins at what the first one learned, widths in proportion to w.
    """
    train, test = ~data["is_test"], data["is_test"]
    y, y_test = data["y"][train], data["y"][test]
    classes = np.unique(y)
    # All partitions with the scaling of Hsu & Lin, and one with each other scaling.
    cases = list(itertools.product(["range"], range(spec["partitions"]), spec["methods"]))
    for scaling, methods in spec["other_scalings"].items():
        cases += [(scaling, 0, method) for method in methods]
    rows, first = [], {}
    for scaling, partition, method in tqdm(cases, desc=data.name, unit="fit"):
        X = _SCALINGS[scaling](data["X"], train)
        X, X_test = X[train], X[test]
        width = 1 / X.var(axis=0).sum()
        draws = generator(spec["seed"], "partition", data.name, partition)
        folds = even_folds(len(y), spec["folds"], draws)
        model = _model(spec, method, width / (2 * X.shape[1]))
        # 1rest is a binary machine for each class, with its own hyperparameters (section 8.1)
        targets = [(y == label).astype(int) for label in classes] if method == "1rest" else [y]
        starts = [None] * len(targets)
        with Stopwatch() as watch:
            if method in first:
                learned, width_there = first[method]
                starts = list(map(copy.copy, learned))
                for machine in starts:
                    machine.gamma_ = machine.gamma_ * (width / width_there)
            elif spec["coarse"]:
                part = draws.permutation(len(y))[: spec["coarse"]]
                few = [target[part] for target in targets]
                starts = learn(model, X[part], few, folds[part], starts)
                for machine in starts:
                    # the curvature of few points costs more evaluations than it saves
                    machine.inverse_hessian_ = None
            machines = learn(model, X, targets, folds, starts)
        if spec["coarse"]:
            first.setdefault(method, (machines, width))
        # The curve (footnote 11): errors among the surest k points over all points.
        log_proba = joint_log_proba(machines, X_test)
        wrong = classes[np.argmax(log_proba, axis=1)] != y_test
        surest_first = np.argsort(-log_proba.max(axis=1), kind="stable")
        errors = np.concatenate([[0], np.cumsum(wrong[surest_first])]) / len(wrong)
        predicted = np.unique(np.linspace(0, len(wrong), spec["points"]).round().astype(int))
        # Probabilities of one machine for each class do not sum to one.
        log_proba = log_proba - np.log(np.exp(log_proba).sum(axis=1, keepdims=True))
        curve = {"scaling": scaling, "partition": partition, "method": method}
        curve |= {"predicted": predicted, "rejected": 1 - predicted / len(wrong)}
        curve["error"] = errors[predicted]
        curve["nll"] = -np.take_along_axis(log_proba, y_test[:, None], axis=1).mean()
        curve |= {**_learning(machines, len(y)), "learning_seconds": watch.seconds}
        curve["learning_waiting"] = round(watch.timing().waiting, 4)
        rows.append(pd.DataFrame(curve))
    frame = pd.concat(rows, ignore_index=True)
    same = ["scaling", "partition", "predicted"]
    # Figure 4: what a method gains over 1rest on the same partition.
    rest = frame[frame["method"] == "1rest"].set_index(same)["error"]
    places = pd.MultiIndex.from_frame(frame[same])
    return frame.assign(
        advantage=rest.reindex(places).to_numpy() - frame["error"],
        # the criterion of 1rest is of binary labels
        psi_over_nll=(frame["psi"] / frame["nll"]).where(frame["method"] != "1rest"),
    )


def learn(model, X, targets, folds, starts):
    """A machine for each of the ``targets`` (n,), which begins at its start."""
    return [
        clone(model).fit(X, y, folds=folds, start=start)
        for y, start in zip(targets, starts, strict=True)
    ]


def joint_log_proba(machines, X):
    """(n_new, C) log probabilities of one machine, or of the right class by each of several."""
    each = [machine.predict_log_proba(X) for machine in machines]
    return each[0] if len(each) == 1 else np.stack([binary[:, 1] for binary in each], axis=1)


def to_unit_range(X, train):
    """Attributes of X (n, d) mapped to [-1, 1] by their range in the rows ``train``."""
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    return 2 * (X - low) / (high - low) - 1


_SCALINGS = {  # of the attributes; "range" is that of Hsu & Lin (2002)
    "range": to_unit_range,
    "variance": lambda X, train: (X - X[train].mean(axis=0)) / X[train].std(axis=0),
    "none": lambda X, train: X - X[train].mean(axis=0),
}


def _model(spec, method, gamma):
    classifier = HierarchicalNewtonClassifier(
        kernel="gaussian",
        variance=spec["start"],
        gamma=gamma,
        bias_variance=spec["bias_variance"],
        dtype=spec["dtype"],
    )
    # both functions of a binary model share their kernel: one variance, one width
    sharing = "node" if method == "mc-sep" else "all"
    return HierarchicalNewtonCV(
        classifier,
        sharing=sharing,
        gamma_sharing=sharing,
        noise=spec["noise"],
        max_iter=spec["max_evaluations"],
    )


def _learning(machines, n):
    """What was learned, at which cost: sums and extremes over the machines of a method."""
    paths = [machine.hyperparameter_path_ for machine in machines]
    return {
        "hyperparameters": sum(len(path[0]["parameters"]) for path in paths),
        "psi": np.mean([-machine.cv_log_likelihood_ / n for machine in machines]),
        "evaluations": sum(len(path) for path in paths),
        "products": sum(step["n_products"] for path in paths for step in path),
        "smallest_variance": min(np.min(machine.variance_) for machine in machines),
        "largest_variance": max(np.max(machine.variance_) for machine in machines),
        "smallest_gamma": min(np.min(machine.gamma_) for machine in machines),
        "largest_gamma": max(np.max(machine.gamma_) for machine in machines),
    }
