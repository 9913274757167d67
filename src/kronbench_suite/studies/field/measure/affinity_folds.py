"""Affinities on published folds: floors, controls and models chosen on training folds alone.

Parameters
----------
folds : names of the published folds
methods : model of each method, and its options
kernels : arrays and combinations of kernels, by data set
regs : regularization weights to choose from
max_iter : iterations of ridge regression
dtypes : precision of single data sets, else float64
repeated : methods that are also trained on each part of the training pairs
by_leak : methods that are also scored without test pairs near training ones
"""

import functools
import itertools

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import folds
from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.errors import InputError
from kronbench.evaluation import additive_scores, affinity_scores
from kronbench.models import KronRidge, KronRidgeCV
from kronbench.pairs import PairData
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator
from kronbench_suite.studies.field.measure.stored_best import best_of, candidates

COLUMNS = Columns(
    key=("setting", "method", "trained_on", "pairs"),
    repeats=("trained_on",),
)

_SCORES = ("ci", "ci_ties_zero", "mse", "rm2", "aupr", "interaction")
_NEAR_SIMILARITY = 0.9  # from which vertices are nearly identical


def run(spec, data, rng):
    """One row for each published setting, method, training set and part of the test pairs.

    ``repeated`` methods are trained on all training parts, and on all but each one. ``pairs`` are
    "all" test pairs, or, for methods ``by_leak``, "twin", "near" and "other" ones.
    """
    names = spec["kernels"][data.name.lower()]
    kernels = {}
    for name in {*names["drugs"], *names["targets"]}:
        array, _, squared = names["arrays"][name].partition(", ")
        kernels[name] = unit_kernel(data[array], bool(squared))
    rows, skipped = [], []
    for name in tqdm(spec["folds"], desc=data.name, unit="fold"):
        try:
            # A fold whose files cannot be had is skipped, with the reason.
            fold = folds(data.name, name, data=data)
        except InputError as error:
            skipped.append(f"{data.name}, {name}: {error}")
            continue
        rows += _of_fold(_Problem(data, fold, kernels, spec))
    if not rows:
        raise InputError(f"no fold of {data.name} is at hand: {skipped[0]}")
    frame = pd.DataFrame(rows)
    frame.attrs["skipped"] = skipped
    return frame


class _Problem:
    """A fold with its affinities, and Kronecker ridge regression on kernels of its vertices."""

    def __init__(self, data, fold, kernels, spec):
        self.data, self.fold, self.kernels, self.spec = data, fold, kernels, spec
        self.choices = spec["kernels"][data.name.lower()]
        # The first part of the training pairs validates, all others train.
        Y = affinities(data)
        self.y = Y[fold.rows, fold.cols]
        self.validation, self.rest = fold.parts[0], np.concatenate(fold.parts[1:])
        # The control: kernels whose vertices are permuted.
        order = generator(spec["seed"], "permuted kernels", data.name)
        self.orders = [order.permutation(size) for size in Y.shape]
        # the pairs of the fold over vertices whose features are not read
        self.bare = PairData(*(np.zeros((size, 1)) for size in Y.shape), fold.rows, fold.cols)
        self.errors = functools.cache(self._errors)  # methods ask for the same

    def pairs(self, drugs, targets, permuted):
        sides = [self.kernels[drugs], self.kernels[targets]]
        if permuted:
            sides = [K[np.ix_(p, p)] for K, p in zip(sides, self.orders, strict=True)]
        return PairData(*sides, self.fold.rows, self.fold.cols)

    def ridge(self, effects, reg):
        dtype = self.spec["dtypes"].get(self.data.name.lower(), "float64")
        return ridge_with_effects(effects, self.spec["max_iter"], reg=reg, dtype=dtype)

    def _errors(self, drugs, targets, permuted, effects):
        """Squared errors on the validation part for each of ``regs``."""
        # One Krylov space for all weights; labels without their mean, which is added again.
        regs, train, validation = self.spec["regs"], self.rest, self.validation
        X, mean = self.pairs(drugs, targets, permuted), self.y[train].mean()
        path = self.ridge(effects, regs[0]).path(
            X[train], self.y[train] - mean, regs, X[validation]
        )
        off = self.y[validation] - mean - path.final_test_scores(0.0)
        return np.mean(off**2, axis=1).tolist()


def ridge_with_effects(effects, max_iter, **options):
    """Kronecker ridge regression on kernel matrices, with ``effects`` of rows and columns."""
    options |= {"row_kernel": "precomputed", "col_kernel": "precomputed"}
    options |= {"row_effect": effects[0], "col_effect": effects[1], "product": "dense"}
    return KronRidge(solver="minres", max_iter=max_iter, tol=1e-5, **options)


def _of_fold(problem):
    """Yield the rows of a fold."""
    fold, spec = problem.fold, problem.spec
    setting = f"setting {fold.name.rpartition('-')[2]}"
    similarities = problem.data["drug_similarity"], problem.data["target_similarity"]
    parts, counts, near_new = _leaks(fold, similarities)
    for method, entry in spec["methods"].items():
        if setting not in entry.get("settings", setting):
            continue
        # The model chooses once, on the first part.
        chosen, predict = _MODELS[entry["model"]](problem, entry)
        trainings = {"all parts": fold.train}
        if method in spec["repeated"]:
            # Trained on all parts, and on all but each one, whose scores give the ±.
            for k in range(len(fold.parts)):
                rest = fold.parts[:k] + fold.parts[k + 1 :]
                trainings[f"without part {k + 1}"] = np.concatenate(rest)
        if entry.get("without_near"):
            trainings = {"all parts": fold.train[~near_new[fold.train]]}
        for trained_on, train in trainings.items():
            # Scores of all test pairs, or also of those that are near training pairs.
            scores = predict(train, fold.test)
            row = {"setting": setting, "method": method, "trained_on": trained_on}
            row |= {"n_train": len(train), **chosen}
            by_leak = method in spec["by_leak"] and trained_on == "all parts"
            for name, part in parts.items() if by_leak else [("all", slice(None))]:
                test = fold.test[part]
                scored = {"n": len(test)}
                if len(test) > 1:
                    pairs = problem.y[test], scores[part], fold.rows[test], fold.cols[test]
                    scored |= affinity_scores(*pairs, fold.positive_above, _SCORES)
                yield {**row, "pairs": name, **scored, **(counts if by_leak else {})}


def _leaks(fold, similarities):
    """Masks of test pairs, counts, and the pairs with a vertex that is nearly a new one."""
    # Vertices that are nearly the same by their similarity, on each side.
    near = []
    for S in similarities:
        size = np.sqrt(np.diag(S))
        alike = S / np.outer(size, size) >= _NEAR_SIMILARITY
        np.fill_diagonal(alike, True)
        near.append(alike | alike.T)
    # A test pair is related to training if a pair of such vertices is in it.
    trained = np.zeros([len(S) for S in similarities], np.float32)
    trained[fold.rows[fold.train], fold.cols[fold.train]] = 1
    reach = near[0].astype(np.float32) @ trained @ near[1].astype(np.float32)
    related = reach[fold.rows[fold.test], fold.cols[fold.test]] > 0
    twins = fold.leak(*similarities)
    parts = {
        "all": np.ones(len(fold.test), bool),
        "twin": twins.pairs,
        "near": related & ~twins.pairs,
        "other": ~related & ~twins.pairs,
    }
    # Training pairs with a vertex that is nearly a new one, and how many new ones have such.
    new, with_near, near_new = (fold.new_rows, fold.new_cols), 0, np.zeros(len(fold.rows), bool)
    for alike, fresh, vertices in zip(near, new, (fold.rows, fold.cols), strict=True):
        with_near += alike[np.ix_(fresh, np.unique(vertices[fold.train]))].any(axis=1).sum()
        near_new |= alike[:, fresh].any(axis=1)[vertices]
    counts = {
        "new_vertices": sum(map(len, new)),
        "with_twin": int(twins.rows.sum() + twins.cols.sum()),
        "with_near": int(with_near),
    }
    return parts, counts, near_new


def _margins(problem, entry):
    """Row and column effects alone. A model is what it chose, and a function that predicts."""
    X, y = problem.bare, problem.y
    return {}, lambda train, test: additive_scores(X[train], y[train], X[test])


def _ridge(problem, entry):
    choices, regs, y = problem.choices, problem.spec["regs"], problem.y
    sides = choices["drugs"], choices["targets"]
    sides = entry.get("tabulated", {}).get(problem.data.name.lower(), sides)
    of_vertices = choices["effects"] if entry.get("effects", True) else [[0.0, 0.0]]
    permuted = entry.get("permuted", False)
    # All combinations of kernels, effects and weights, by their validation error.
    points = []
    for drugs, targets, effects in itertools.product(*sides, of_vertices):
        errors = problem.errors(drugs, targets, permuted, tuple(effects))
        for reg, mse in zip(regs, errors, strict=True):
            # the last effects are an end of their grid, none is no edge
            on_edge = reg in (min(regs), max(regs)) or effects == choices["effects"][-1]
            point = {"drug_kernel": drugs, "target_kernel": targets}
            point |= {"row_effect": effects[0], "col_effect": effects[1], "reg": reg}
            points.append(point | {"on_edge": int(on_edge), "validation_mse": mse})
    chosen = min(points, key=lambda point: point["validation_mse"])

    def predict(train, test):
        X = problem.pairs(chosen["drug_kernel"], chosen["target_kernel"], permuted)
        mean = y[train].mean()
        model = problem.ridge((chosen["row_effect"], chosen["col_effect"]), chosen["reg"])
        return model.fit(X[train], y[train] - mean).predict(X[test]) + mean

    return chosen, predict


def _cv(problem, entry):
    """KronRidgeCV with the same validation part: weights of all kernels by the gradient."""
    sides = [
        {name: problem.kernels[name] for name in problem.choices[side]}
        for side in ("drugs", "targets")
    ]
    X = problem.pairs(*(next(iter(side)) for side in sides), permuted=False)
    order = np.concatenate([problem.validation, problem.rest])
    # The validation part comes first in the order of the pairs.
    held_out, rest = np.split(np.arange(len(order)), [len(problem.validation)])
    model = KronRidgeCV(
        row_kernels=sides[0], col_kernels=sides[1], cv=[(rest, held_out)], **entry["parameters"]
    ).fit(X[order], problem.y[order])
    chosen = _weighted(model.best_params_, model.best_score_) | {"on_edge": len(model.on_edge_)}
    return chosen, lambda train, test: model.predict(X[test])  # it has been fitted to all parts


def _stored(problem, entry):
    """KronRidgeCV as it chose among more kernels, that of training labels too, in minutes."""
    best = best_of(problem.data.name, problem.fold.name)
    model = KronRidgeCV(**candidates(problem.data), **best["model"])
    X, y = problem.bare, problem.y

    def predict(train, test):
        return model.refit(X[train], y[train], best["parameters"]).predict(X[test])

    return _weighted(best["parameters"], best["error"]), predict


def _weighted(parameters, error):
    kernels = dict.fromkeys(("drug_kernel", "target_kernel"), "weighted sum")
    numbers = {name: parameters[name] for name in ("reg", "row_effect", "col_effect")}
    return kernels | {"validation_mse": error} | numbers


_MODELS = {"margins": _margins, "ridge": _ridge, "cv": _cv, "stored": _stored}
