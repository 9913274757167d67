"""Affinities on published folds: floors, controls and models chosen on training folds alone."""

import itertools

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import folds
from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.errors import InputError
from kronbench.evaluation import affinity_scores, aupr, margin_scores
from kronbench.models import KronRidge, KronRidgeCV, KronSVM, PairLibSVM
from kronbench.pairs import PairData
from kronbench.papers.field.measure.fold_leaks import Leaks
from kronbench.runner.columns import Columns
from kronbench.runner.field_best import best_of, candidates
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import scores_of

COLUMNS = Columns(
    key=("setting", "method", "trained_on", "pairs"),
    repeats=("trained_on",),
)

_SCORES = ("ci", "ci_ties_zero", "mse", "rm2", "aupr", "interaction")


def run(spec, data, rng):
    """One row for each published setting, method, training set and part of the test pairs.

    What a method has to choose it chooses on the first training part, with the others to train on:
    kernels, effects of both sides and weights by the mean squared error, machines that separate
    the positives their weight by the AUPR. Then it is trained on all parts, and ``repeated``
    methods on all but each one, as publications do.

    ``pairs`` are "all" test pairs, or, for methods ``by_leak``, those of which a training pair has
    ``twin`` vertices (equal rows of the similarity matrices) on both sides, those of which one has
    ``near`` ones (a similarity of at least 0.9), and ``other`` ones. ``with_twin`` and
    ``with_near`` count the ``new_vertices`` that have one among the training vertices.
    """
    names = spec["kernels"][data.name.lower()]
    kernels = {}
    for name in {*names["drugs"], *names["targets"]}:
        array, _, squared = names["arrays"][name].partition(", ")
        kernels[name] = unit_kernel(data[array], bool(squared))
    rows, skipped = [], []
    for name in tqdm(spec["folds"], desc=data.name, unit="fold"):
        try:
            fold = folds(data.name, name, data=data)
        except InputError as error:
            skipped.append(f"{data.name}, {name}: {error}")
            continue
        rows += _of_fold(_Problem(data, fold, kernels, spec), skipped)
    if not rows:
        raise InputError(f"no fold of {data.name} is at hand: {skipped[0]}")
    frame = pd.DataFrame(rows)
    frame.attrs["skipped"] = skipped
    return frame


class _Problem:
    """A fold with its affinities, and Kronecker ridge regression on kernels of its vertices."""

    def __init__(self, data, fold, kernels, spec):
        self.data, self.fold, self.kernels, self.spec = data, fold, kernels, spec
        self.name = data.name.lower()
        self.choices = spec["kernels"][self.name]
        Y = affinities(data)
        self.y = Y[fold.rows, fold.cols]
        self.positive = self.y > fold.positive_above
        self.labels = np.where(self.positive, 1.0, -1.0)
        order = generator(spec["seed"], "permuted kernels", data.name)
        self.orders = [order.permutation(size) for size in Y.shape]
        # the pairs of the fold over vertices whose features are not read
        self.bare = PairData(*(np.zeros((size, 1)) for size in Y.shape), fold.rows, fold.cols)
        self._errors = {}

    def pairs(self, drugs, targets, permuted):
        sides = [self.kernels[drugs], self.kernels[targets]]
        if permuted:
            sides = [K[np.ix_(p, p)] for K, p in zip(sides, self.orders, strict=True)]
        return PairData(*sides, self.fold.rows, self.fold.cols)

    def ridge(self, effects, reg):
        options = {"solver": "minres", "max_iter": self.spec["max_iter"], "tol": 1e-5}
        return KronRidge(**self.parameters(effects, reg), **options)

    def parameters(self, effects, reg):
        return {
            "reg": reg,
            "row_kernel": "precomputed",
            "col_kernel": "precomputed",
            "row_effect": effects[0],
            "col_effect": effects[1],
            "product": "dense",
            "dtype": self.spec["dtypes"].get(self.name, "float64"),
        }

    def errors(self, kernels, effects, validation, train):
        """Squared errors on the validation part for each of ``regs``; methods ask for the same."""
        key = kernels, tuple(effects)
        if key not in self._errors:
            regs = self.spec["regs"]
            X, mean = self.pairs(*kernels), self.y[train].mean()
            path = self.ridge(effects, regs[0]).path(
                X[train], self.y[train] - mean, regs, X[validation]
            )
            off = self.y[validation] - mean - path.final_test_scores(0.0)
            self._errors[key] = np.mean(off**2, axis=1).tolist()
        return self._errors[key]


def _of_fold(problem, skipped):
    fold, spec = problem.fold, problem.spec
    setting = f"setting {fold.name.rpartition('-')[2]}"
    leak = Leaks((problem.data["drug_similarity"], problem.data["target_similarity"]), fold)
    for method, entry in spec["methods"].items():
        if setting not in entry.get("settings", setting):
            continue
        n, most = len(fold.train), spec["libsvm_pairs"]
        if entry["model"] == "libsvm" and n > most:
            skipped.append(
                f"{fold.dataset}, {setting}: {method} would take too long from {n:,} training "
                f"pairs; at most {most:,} are allowed"
            )
            continue
        model = _MODELS[entry["model"]](problem, entry)
        model.choose(fold.parts[0], np.concatenate(fold.parts[1:]))
        trainings = {"all parts": fold.train}
        if method in spec["repeated"]:
            for k in range(len(fold.parts)):
                rest = fold.parts[:k] + fold.parts[k + 1 :]
                trainings[f"without part {k + 1}"] = np.concatenate(rest)
        if entry.get("without_near"):
            trainings = {"all parts": leak.unrelated(fold.train)}
        for trained_on, train in trainings.items():
            scores = model.predict(train, fold.test, model.chosen)
            row = {
                "setting": setting,
                "method": method,
                "trained_on": trained_on,
                "n_train": len(train),
                **model.chosen,
            }
            by_leak = method in spec["by_leak"] and trained_on == "all parts"
            for name, part in leak.parts.items() if by_leak else [("all", slice(None))]:
                found = _scored(problem, scores, part, entry)
                yield {**row, "pairs": name, **found, **(leak.counts if by_leak else {})}


def _scored(problem, scores, part, entry):
    fold, test = problem.fold, problem.fold.test[part]
    if len(test) < 2:
        return {"n": len(test)}
    found = affinity_scores(
        problem.y[test],
        scores[part],
        fold.rows[test],
        fold.cols[test],
        fold.positive_above,
        _SCORES,
    )
    if entry["model"] in ("svm", "ridge of classes", "libsvm"):  # their scores are no affinities
        found |= {"mse": np.nan, "rm2": np.nan}
    return {"n": len(test), **found}


class _Margins:
    """Row and column effects alone. A method chooses on a validation part, then predicts."""

    def __init__(self, problem, entry):
        self.problem, self.entry, self.spec = problem, entry, problem.spec
        self.fold, self.y = problem.fold, problem.y
        self.chosen = {}  # columns that say what has been chosen

    def choose(self, validation, train):
        pass

    def predict(self, train, test, chosen):
        X = self.problem.bare
        return margin_scores(X[train], self.y[train], X[test])

    def best_for_classes(self, points, validation, train):
        """The point of the largest AUPR on the validation part."""
        positive = self.problem.positive[validation]
        return max(
            points, key=lambda point: aupr(positive, self.predict(train, validation, point))
        )


class _Ridge(_Margins):
    def choose(self, validation, train):
        regs = self.spec["regs"]
        # the last effects are an end of their grid, none is no edge
        largest = list(self.problem.choices["effects"][-1])
        points = []
        for drugs, targets, effects in self._candidates():
            kernels = self._kernels(drugs, targets)
            errors = self.problem.errors(kernels, effects, validation, train)
            for reg, mse in zip(regs, errors, strict=True):
                point = {
                    "drug_kernel": drugs,
                    "target_kernel": targets,
                    "row_effect": effects[0],
                    "col_effect": effects[1],
                    "reg": reg,
                    "on_edge": int(_at_an_end(reg, regs) or list(effects) == largest),
                    "validation_mse": mse,
                }
                points.append(point)
        self.chosen = min(points, key=lambda point: point["validation_mse"])

    def _candidates(self):
        choices = self.problem.choices
        sides = choices["drugs"], choices["targets"]
        sides = self.entry.get("tabulated", {}).get(self.problem.name, sides)
        effects = choices["effects"] if self.entry.get("effects", True) else [[0.0, 0.0]]
        return itertools.product(*sides, effects)

    def _kernels(self, drugs, targets):
        return drugs, targets, self.entry.get("permuted", False)

    def predict(self, train, test, chosen):
        X = self.problem.pairs(*self._kernels(chosen["drug_kernel"], chosen["target_kernel"]))
        effects = chosen["row_effect"], chosen["col_effect"]
        return self._fitted(X, train, test, effects, chosen["reg"])

    def _fitted(self, X, train, test, effects, reg):
        mean = self.y[train].mean()
        model = self.problem.ridge(effects, reg).fit(X[train], self.y[train] - mean)
        return model.predict(X[test]) + mean


class _RidgeOfClasses(_Ridge):
    """A machine of the positives, with the kernels that ridge regression on affinities chooses."""

    def choose(self, validation, train):
        super().choose(validation, train)
        regs = self.spec["class_regs"].get(self.problem.name, self.spec["regs"])
        points = [self.chosen | {"reg": reg, "validation_mse": np.nan} for reg in regs]
        self.chosen = self.best_for_classes(points, validation, train)
        self.chosen["on_edge"] = _at_an_end(self.chosen["reg"], regs)

    def _fitted(self, X, train, test, effects, reg):
        machine = self._machine(effects, reg).fit(X[train], self.problem.labels[train])
        return scores_of(machine, X[test])

    def _machine(self, effects, reg):
        return self.problem.ridge(effects, reg)


class _Svm(_RidgeOfClasses):
    """KronSVM: the squared hinge loss."""

    def _machine(self, effects, reg):
        return KronSVM(**self.problem.parameters(effects, reg), solver="cg")


class _LibSvm(_Ridge):
    """LibSVM of the positives: a Gaussian kernel on rows of the kernels that ridge chooses."""

    def choose(self, validation, train):
        super().choose(validation, train)
        kernels = {name: self.chosen[name] for name in ("drug_kernel", "target_kernel")}
        features = (spread_rows(self.problem.kernels[name]) for name in kernels.values())
        self.X = PairData(*features, self.fold.rows, self.fold.cols)
        regs, gammas = self.entry["regs"], self.entry["gammas"]
        points = [
            kernels | {"validation_mse": np.nan, "reg": reg, "gamma": gamma}
            for gamma, reg in itertools.product(gammas, regs)
        ]
        self.chosen = self.best_for_classes(points, validation, train)
        at_ends = _at_an_end(self.chosen["reg"], regs), _at_an_end(self.chosen["gamma"], gammas)
        self.chosen["on_edge"] = max(at_ends)

    def predict(self, train, test, chosen):
        model = PairLibSVM(reg=chosen["reg"], gamma=chosen["gamma"], precompute=True)
        model.fit(self.X[train], self.problem.labels[train])
        return model.to_vec_trick().decision_function(self.X[test])


class _Cv(_Margins):
    """KronRidgeCV with the same validation part: weights of all kernels by the gradient."""

    def choose(self, validation, train):
        sides = [
            {name: self.problem.kernels[name] for name in self.problem.choices[side]}
            for side in ("drugs", "targets")
        ]
        first = (next(iter(side.values())) for side in sides)
        self.X = PairData(*first, self.fold.rows, self.fold.cols)
        order = np.concatenate([validation, train])
        held_out, rest = np.split(np.arange(len(order)), [len(validation)])
        self.model = KronRidgeCV(
            row_kernels=sides[0],
            col_kernels=sides[1],
            cv=[(rest, held_out)],
            **self.entry["parameters"],
        ).fit(self.X[order], self.y[order])
        error, on_edge = self.model.best_score_, len(self.model.on_edge_)
        self.chosen = _weighted(self.model.best_params_, error) | {"on_edge": on_edge}

    def predict(self, train, test, chosen):
        return self.model.predict(self.X[test])  # ``choose`` has fitted it to all parts


class _Stored(_Margins):
    """KronRidgeCV as it chose among more kernels, that of training labels too, in minutes."""

    def choose(self, validation, train):
        best = best_of(self.problem.data.name, self.fold.name)
        self.parameters = best["parameters"]
        self.model = KronRidgeCV(**candidates(self.problem.data), **best["model"])
        self.chosen = _weighted(self.parameters, best["error"])

    def predict(self, train, test, chosen):
        X = self.problem.bare
        model = self.model.refit(X[train], self.y[train], self.parameters)
        return model.predict(X[test])


def spread_rows(K: np.ndarray) -> np.ndarray:
    """The rows of a kernel matrix (m, m) as features whose mean squared distance is 1."""
    squares = np.einsum("ij,ij->", K, K) - np.square(K.sum(axis=0)).sum() / len(K)
    return K / np.sqrt(2 * squares / (len(K) - 1))


def _weighted(parameters, error):
    kernels = dict.fromkeys(("drug_kernel", "target_kernel"), "weighted sum")
    numbers = {name: parameters[name] for name in ("reg", "row_effect", "col_effect")}
    return kernels | {"validation_mse": error} | numbers


def _at_an_end(value, grid):
    return int(value in (min(grid), max(grid)))


_MODELS = {
    "margins": _Margins,
    "ridge": _Ridge,
    "cv": _Cv,
    "stored": _Stored,
    "svm": _Svm,
    "ridge of classes": _RidgeOfClasses,
    "libsvm": _LibSvm,
}
