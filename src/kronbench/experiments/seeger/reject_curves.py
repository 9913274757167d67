"""Test error against the share of points that may be rejected, for learned Gaussian kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.base import clone
from tqdm import tqdm

from kronbench.bench.clock import Stopwatch
from kronbench.bench.columns import Columns, Parameter
from kronbench.bench.seeds import generator
from kronbench.evaluation import even_folds
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV, OneAgainstRest

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

COLUMNS = Columns(
    key=("partition", "method", "predicted"),
    repeats=("partition",),
    clock=("learning_seconds",),
    counts=("hyperparameters", "evaluations"),
    numbers=(
        *("rejected", "error", "advantage", "nll", "psi", "products"),
        *("smallest_variance", "largest_variance", "smallest_gamma", "largest_gamma"),
    ),
    conditions=("learning_waiting",),
    values={
        "partition": (Parameter(("partitions",)),),
        "method": (Parameter(("methods",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """Rows along each curve, for each partition and method (Seeger 2006, figures 3 and 4).

    ``method``: mc-sep (a variance and a width for each class), mc-tied (one of each), 1rest (a
    binary model for each class, with its own). ``error`` is the number of errors among the
    ``predicted`` test points that are not rejected, those of the largest maximal probability,
    divided by the number of all test points; ``rejected`` is the share of the others;
    ``advantage`` is the error of 1rest minus that of the method, at the same place. ``psi`` is
    per training point; where ``coarse`` is given, hyperparameters are first learned on so many
    points, and then on all from there.

    Attributes are mapped to [-1, 1] by their range in the training part, as Hsu & Lin (2002) do.
    The start is v = 10, w = 1 / sum_j Var[x_j], a width gamma = w / (2 d).
    """
    train, test = ~data["is_test"], data["is_test"]
    X, y = _to_unit_range(data["X"], train), data["y"]
    rows = []
    bar = tqdm(
        [(p, m) for p in spec["partitions"] for m in spec["methods"]],
        desc=data.name,
        unit="method",
    )
    for partition, method in bar:
        draws = generator(spec["seed"], "partition", data.name, partition)
        folds = even_folds(train.sum(), spec["folds"], draws)
        coarse = None
        if spec["coarse"]:
            coarse = draws.permutation(train.sum())[: spec["coarse"]]
        with Stopwatch() as watch:
            model = _learned(spec, method, X[train], y[train], folds, coarse)
        log_proba = model.predict_log_proba(X[test])
        wrong = model.classes_[np.argmax(log_proba, axis=1)] != y[test]
        surest_first = np.argsort(-log_proba.max(axis=1), kind="stable")
        errors = np.concatenate([[0], np.cumsum(wrong[surest_first])]) / len(wrong)
        predicted = np.unique(np.linspace(0, len(wrong), spec["points"]).round().astype(int))
        rows.append(
            pd.DataFrame(
                {
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
            )
        )
    frame = pd.concat(rows, ignore_index=True)
    rest = frame[frame["method"] == "1rest"].set_index(["partition", "predicted"])["error"]
    places = pd.MultiIndex.from_frame(frame[["partition", "predicted"]])
    return frame.assign(advantage=rest.reindex(places).to_numpy() - frame["error"])


def _to_unit_range(X, train):
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    return 2 * (X - low) / (high - low) - 1


def _learned(spec, method, X, y, folds, coarse):
    width = 1 / X.var(axis=0).sum()
    # both functions of a binary model share their kernel: one variance, one width
    sharing = "node" if method == "mc-sep" else "all"
    model = HierarchicalNewtonCV(
        HierarchicalNewtonClassifier(
            kernel="gaussian",
            variance=spec["start"],
            gamma=width / (2 * X.shape[1]),
            bias_variance=spec["bias_variance"],
            dtype=spec["dtype"],
        ),
        sharing=sharing,
        gamma_sharing=sharing,
        noise=spec["noise"],
        max_iter=spec["max_evaluations"],
    )
    if method == "1rest":
        model = OneAgainstRest(model)
    start = None
    if coarse is not None:
        start = clone(model).fit(X[coarse], y[coarse], folds=folds[coarse])
    return model.fit(X, y, folds=folds, start=start)


def _learning(model, n):
    machines = getattr(model, "estimators_", [model])
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
