"""Test error against the share of points that may be rejected, for learned Gaussian kernels."""

import copy

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from tqdm import tqdm

from kronbench.evaluation import even_folds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from kronbench.runner.clock import Stopwatch
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

COLUMNS = Columns(
    key=("scaling", "partition", "method", "predicted"),
    repeats=("partition",),
    clock=("learning_seconds",),
    conditions=("learning_waiting",),
)


def run(spec, data, rng):
    """Rows along each curve, for each partition and method (Seeger 2006, figures 3 and 4).

    Methods: mc-sep (a variance and a width for each class), mc-tied (one of each), 1rest (a binary
    model for each class, with its own). ``error`` counts errors among the ``predicted`` test
    points of the largest maximal probability and is divided by the number of all test points;
    ``advantage`` is the error of 1rest minus that of the method. ``psi`` is per training point.

    ``scaling`` of the attributes: "range" maps them to [-1, 1] by their range in the training
    part, as Hsu & Lin (2002) do; "variance" divides them by their deviation there; "none" leaves
    the units of the file. The last two are made for the first partition.

    The start is v = 10, w = 1 / sum_j Var[x_j], a width gamma = w / (2 d). With ``coarse`` the
    first partition begins there on so many points and goes on from what it finds; every other
    partition and scaling begins at what the first one learned, widths in proportion to w.
    """
    train, test = ~data["is_test"], data["is_test"]
    y = data["y"]
    partitions = range(spec["partitions"])
    cases = [
        ("range", partition, method) for partition in partitions for method in spec["methods"]
    ]
    for scaling, methods in spec["other_scalings"].items():
        cases += [(scaling, 0, method) for method in methods]
    rows, first = [], {}
    for scaling, partition, method in tqdm(cases, desc=data.name, unit="fit"):
        X = _SCALINGS[scaling](data["X"], train)
        width = 1 / X[train].var(axis=0).sum()
        draws = generator(spec["seed"], "partition", data.name, partition)
        folds = even_folds(train.sum(), spec["folds"], draws)
        model = _model(spec, method, width / (2 * X.shape[1]))
        start = None
        with Stopwatch() as watch:
            if method in first:
                learned, width_there = first[method]
                start = _with_widths(learned, width / width_there)
            elif spec["coarse"]:
                part = draws.permutation(train.sum())[: spec["coarse"]]
                start = clone(model).fit(X[train][part], y[train][part], folds=folds[part])
                for machine in _machines(start):
                    # the curvature of few points costs more evaluations than it saves
                    machine.inverse_hessian_ = None
            model.fit(X[train], y[train], folds=folds, start=start)
        if spec["coarse"]:
            first.setdefault(method, (model, width))
        log_proba = model.predict_log_proba(X[test])
        wrong = model.classes_[np.argmax(log_proba, axis=1)] != y[test]
        surest_first = np.argsort(-log_proba.max(axis=1), kind="stable")
        errors = np.concatenate([[0], np.cumsum(wrong[surest_first])]) / len(wrong)
        predicted = np.unique(np.linspace(0, len(wrong), spec["points"]).round().astype(int))
        curve = {
            "scaling": scaling,
            "partition": partition,
            "method": method,
            "predicted": predicted,
            "rejected": 1 - predicted / len(wrong),
            "error": errors[predicted],
            "nll": _log_loss(log_proba, y[test]),
            **_learning(model, train.sum()),
            "learning_seconds": watch.seconds,
            "learning_waiting": round(watch.timing().waiting, 4),
        }
        rows.append(pd.DataFrame(curve))
    frame = pd.concat(rows, ignore_index=True)
    same = ["scaling", "partition", "predicted"]
    rest = frame[frame["method"] == "1rest"].set_index(same)["error"]
    places = pd.MultiIndex.from_frame(frame[same])
    # the criterion of 1rest is of binary labels
    joint = frame["method"] != "1rest"
    return frame.assign(
        advantage=rest.reindex(places).to_numpy() - frame["error"],
        psi_over_nll=(frame["psi"] / frame["nll"]).where(joint),
    )


class OneAgainstRest(BaseEstimator):
    """A copy of a binary model for each class, with its own hyperparameters (section 8.1)."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y, folds, start=None):
        """Fit to X (n, d) and classes y (n,); each copy begins at that of ``start``."""
        self.classes_ = np.unique(y)
        starts = [None] * len(self.classes_) if start is None else start.estimators_
        self.estimators_ = [
            clone(self.model).fit(X, (y == label).astype(int), folds=folds, start=first)
            for label, first in zip(self.classes_, starts, strict=True)
        ]
        return self

    def predict_log_proba(self, X):
        """(n_new, C) logarithms of each copy's probability; they do not sum to one."""
        return np.stack(
            [machine.predict_log_proba(X)[:, 1] for machine in self.estimators_], axis=1
        )


def to_unit_range(X, train):
    """Attributes of X (n, d) mapped to [-1, 1] by their range in the rows ``train``."""
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    return 2 * (X - low) / (high - low) - 1


_SCALINGS = {
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
    model = HierarchicalNewtonCV(
        classifier,
        sharing=sharing,
        gamma_sharing=sharing,
        noise=spec["noise"],
        max_iter=spec["max_evaluations"],
    )
    return OneAgainstRest(model) if method == "1rest" else model


def _machines(model):
    return getattr(model, "estimators_", [model])


def _with_widths(model, factor):
    """A fitted model to begin at, its widths in the units of other attributes."""
    other = copy.copy(model)
    if isinstance(model, OneAgainstRest):
        other.estimators_ = [_with_widths(machine, factor) for machine in model.estimators_]
    else:
        other.gamma_ = model.gamma_ * factor
    return other


def _learning(model, n):
    machines = _machines(model)
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


def _log_loss(log_proba, y):
    """Mean over points; those of one machine for each class are normalized first."""
    log_proba = log_proba - np.log(np.exp(log_proba).sum(axis=1, keepdims=True))
    return -np.take_along_axis(log_proba, y[:, None], axis=1).mean()
