"""Affinities on published folds: floors, controls and models chosen on training folds alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import affinities
from kronbench.errors import InputError
from kronbench.evaluation import affinity_scores, aupr, margin_scores
from kronbench.models import KronRidgeCV, KronSVM, PairLibSVM, TwoStepRidge
from kronbench.pairs import PairData
from kronbench.papers.field.measure.fold_leaks import Leaks
from kronbench.papers.field.measure.fold_libsvm import (
    OverCap,
    check_seconds,
    matrix_gigabytes,
    spread_rows,
)
from kronbench.papers.field.measure.fold_ridges import FoldRidges
from kronbench.papers.field.measure.inputs import published, unit_kernel
from kronbench.runner.columns import Columns, Parameter
from kronbench.runner.field_best import best_of, candidates
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import scores_of

COLUMNS = Columns(
    key=("setting", "method", "trained_on", "pairs"),
    repeats=("trained_on",),
    clock=("seconds", "choice_seconds"),
    counts=("n", "n_train", "on_edge", "new_vertices", "with_twin", "with_near"),
    numbers=(
        *("ci", "ci_ties_zero", "mse", "rm2", "aupr", "interaction"),
        *("reg", "gamma", "reg_rows", "reg_cols", "row_effect", "col_effect", "validation_mse"),
    ),
    texts=("drug_kernel", "target_kernel"),
    values={
        "setting": ("setting 1", "setting 2", "setting 3"),
        "method": (Parameter(("methods",)),),
        "trained_on": ("all parts", *(f"without part {k}" for k in (1, 2, 3, 4, 5))),
        "pairs": ("all", "twin", "near", "other"),
    },
)

_SCORES = ("ci", "ci_ties_zero", "mse", "rm2", "aupr", "interaction")


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each published setting, method, training set and part of the test pairs.

    The test fold of each of ``folds`` is predicted by ``methods``. What a method has to choose it
    chooses by the mean squared error on the first training part, with the others to train on: of
    ``kernels`` of its data set, of ``effects`` of both sides and of ``regs``; machines that
    separate the positives take their weight (of ``class_regs`` of the data set, or of ``regs``) by
    the AUPR there. Then it is trained on all parts, and for ``repeated`` methods on
    all but each one, as publications do. LibSVM is left out where its training would pass
    ``training_caps``.

    ``pairs`` are "all" test pairs, or, for methods ``by_leak``, those of which a training pair has
    ``twin`` vertices (equal rows of the similarity matrices) on both sides, those of which one has
    ``near`` ones (a similarity of at least 0.9), and ``other`` ones. ``new_vertices`` counts those
    that no training pair has, ``with_twin`` and ``with_near`` those of them that have one among
    the training vertices.
    """
    problem = _Problem(data, spec)
    frames = []
    skipped = []
    for name in tqdm(spec["folds"], desc=data.name, unit="fold"):
        try:
            fold = published(data, name)
        except InputError as error:
            skipped.append(f"{data.name}, {name}: {error}")
            continue
        setting = f"setting {name.rpartition('-')[2]}"
        frames += _of_fold(problem, fold, setting, spec, skipped)
    if not frames:
        raise InputError(f"no fold of {data.name} is at hand: {skipped[0]}")
    frame = pd.DataFrame(frames)
    frame.attrs["skipped"] = skipped
    return frame


class _Problem:
    """Affinities and kernels of a data set."""

    def __init__(self, data, spec):
        self.data, self.Y = data, affinities(data)
        self.choices = spec["kernels"][data.name.lower()]
        self.dtype = spec["dtypes"].get(data.name.lower(), "float64")
        self.names = self.choices["drugs"], self.choices["targets"]
        arrays = {name for names in self.names for name in names}
        self.kernel = {name: _kernel(data, self.choices["arrays"][name]) for name in arrays}
        order = generator(spec["seed"], "permuted kernels", data.name)
        self.orders = [order.permutation(size) for size in self.Y.shape]
        self.similarities = data["drug_similarity"], data["target_similarity"]

    def pairs(self, drugs, targets, rows, cols, permuted=False):
        sides = [self.kernel[drugs], self.kernel[targets]]
        if permuted:
            sides = [K[np.ix_(p, p)] for K, p in zip(sides, self.orders, strict=True)]
        return PairData(*sides, rows, cols)


def _kernel(data, of):
    name, _, squared = of.partition(", ")
    return unit_kernel(data[name], bool(squared))


def _of_fold(problem, fold, setting, spec, skipped):
    y = problem.Y[fold.rows, fold.cols]
    leak = Leaks(problem.similarities, fold)
    ridges = FoldRidges(problem, fold, y, spec)
    for method, entry in spec["methods"].items():
        if fold.dataset.lower() not in entry.get("datasets", [fold.dataset.lower()]):
            continue
        if setting not in entry.get("settings", setting):
            continue
        model = _MODELS[entry["model"]](ridges, entry)
        start = ridges.clock()
        try:
            chosen = model.choose(fold.parts[0], np.concatenate(fold.parts[1:]))
        except OverCap as reason:
            skipped.append(f"{fold.dataset}, {setting}: {method}: {reason}")
            continue
        choice_seconds = ridges.clock() - start
        trainings = {"all parts": fold.train}
        if method in spec["repeated"]:
            for k in range(len(fold.parts)):
                rest = fold.parts[:k] + fold.parts[k + 1 :]
                trainings[f"without part {k + 1}"] = np.concatenate(rest)
        if entry.get("without_near"):
            trainings = {"all parts": leak.unrelated(fold.train)}
        for trained_on, train in trainings.items():
            start = ridges.clock()
            scores = model.predict(train, fold.test)
            row = {
                "setting": setting,
                "method": method,
                "trained_on": trained_on,
                "n_train": len(train),
                "seconds": ridges.clock() - start,
                "choice_seconds": choice_seconds,
                **chosen,
            }
            by_leak = method in spec["by_leak"] and trained_on == "all parts"
            for name, part in leak.parts.items() if by_leak else [("all", slice(None))]:
                found = _scored(y, scores, fold, part, entry)
                yield {**row, "pairs": name, **found, **(leak.counts if by_leak else {})}


def _scored(y, scores, fold, part, entry):
    test = fold.test[part]
    if len(test) < 2:
        return {"n": len(test)}
    found = affinity_scores(
        y[test], scores[part], fold.rows[test], fold.cols[test], fold.positive_above, _SCORES
    )
    found = {name: found[name] for name in _SCORES}
    if entry["model"] in ("svm", "ridge of classes", "libsvm"):  # their scores are no affinities
        found |= {"mse": np.nan, "rm2": np.nan}
    return {"n": len(test), **found}


class _Model:
    """A method that chooses on a validation part, then predicts."""

    def __init__(self, ridges, entry):
        self.ridges, self.entry = ridges, entry
        self.problem, self.fold, self.y = ridges.problem, ridges.fold, ridges.y
        self.spec = ridges.spec
        self.chosen = {}

    def choose(self, validation, train):
        """Columns that say what has been chosen."""
        return self.chosen

    def bare_pairs(self):
        """The pairs of the fold over vertices whose features are not read."""
        features = (np.zeros((size, 1)) for size in self.problem.Y.shape)
        return PairData(*features, self.fold.rows, self.fold.cols)


class _Margins(_Model):
    def predict(self, train, test):
        X = self.bare_pairs()
        return margin_scores(X[train], self.y[train], X[test])


class _Ridge(_Model):
    def choose(self, validation, train):
        best = np.inf
        regs = self.spec["regs"]
        # the last ones; none is the other end, and no edge
        largest = list(self.problem.choices["effects"][-1])
        for drugs, targets, effects in self._candidates():
            kernels = self._kernels(drugs, targets)
            errors = self.ridges.errors(kernels, effects, validation, train)
            for reg, mse in zip(regs, errors, strict=True):
                if mse < best:
                    best = mse
                    self.chosen = {
                        "drug_kernel": drugs,
                        "target_kernel": targets,
                        "row_effect": effects[0],
                        "col_effect": effects[1],
                        "reg": reg,
                        "on_edge": int(reg in (min(regs), max(regs)) or list(effects) == largest),
                        "validation_mse": mse,
                    }
        return self.chosen

    def _candidates(self):
        choices = self.problem.choices
        sides = [self.entry.get(side, choices[side]) for side in ("drugs", "targets")]
        if self.fold.dataset.lower() in self.entry.get("tabulated", {}):
            sides = self.entry["tabulated"][self.fold.dataset.lower()]
        effects = choices["effects"] if self.entry.get("effects", True) else [[0.0, 0.0]]
        return itertools.product(*sides, effects)

    def _kernels(self, drugs, targets):
        return drugs, targets, self.entry.get("permuted", False)

    def _chosen_kernels(self):
        return self._kernels(self.chosen["drug_kernel"], self.chosen["target_kernel"])

    def predict(self, train, test):
        effects = self.chosen["row_effect"], self.chosen["col_effect"]
        kernels = self._chosen_kernels()
        return self.ridges.predictions(kernels, effects, self.chosen["reg"], train, test)


class _Cv(_Model):
    """KronRidgeCV with the same validation part: weights of all kernels by the gradient."""

    def choose(self, validation, train):
        sides = [
            {name: self.problem.kernel[name] for name in names} for names in self.problem.names
        ]
        order = np.concatenate([validation, train])
        positions = np.arange(len(order))
        cut = len(validation)
        vertices = self.fold.rows, self.fold.cols
        self.X = PairData(*(next(iter(side.values())) for side in sides), *vertices)
        self.model = KronRidgeCV(
            row_kernels=sides[0],
            col_kernels=sides[1],
            cv=[(positions[cut:], positions[:cut])],
            **self.entry["parameters"],
        ).fit(self.X[order], self.y[order])
        best = self.model.best_params_
        return {
            "drug_kernel": "weighted sum",
            "target_kernel": "weighted sum",
            "on_edge": len(self.model.on_edge_),
            "validation_mse": self.model.best_score_,
            **{name: best[name] for name in ("reg", "row_effect", "col_effect")},
        }

    def predict(self, train, test):
        # ``choose`` has fitted it to all parts
        return self.model.predict(self.X[test])


class _Stored(_Model):
    """KronRidgeCV as it chose among more kernels, that of training labels too, in minutes."""

    def choose(self, validation, train):
        data, fold = self.problem.data, self.fold
        best = best_of(data.name, fold.name)
        self.parameters = best["parameters"]
        self.X = self.bare_pairs()
        self.model = KronRidgeCV(**candidates(data), **best["model"])
        return {
            "drug_kernel": "weighted sum",
            "target_kernel": "weighted sum",
            "validation_mse": best["error"],
            **{name: self.parameters[name] for name in ("reg", "row_effect", "col_effect")},
        }

    def predict(self, train, test):
        model = self.model.refit(self.X[train], self.y[train], self.parameters)
        return model.predict(self.X[test])


class _OfClasses(_Ridge):
    """A machine of the positives, with the kernels that ridge regression on affinities chooses."""

    def choose(self, validation, train):
        super().choose(validation, train)
        best = -np.inf
        positive = self.y[validation] > self.fold.positive_above
        regs = self.spec["class_regs"].get(self.fold.dataset.lower(), self.spec["regs"])
        for reg in regs:
            self.chosen["reg"] = reg
            found = aupr(positive, self.predict(train, validation))
            if found > best:
                best, chosen = found, reg
        self.chosen |= {"reg": chosen, "on_edge": int(chosen in (min(regs), max(regs)))}
        self.chosen["validation_mse"] = np.nan
        return self.chosen

    def predict(self, train, test):
        effects = self.chosen["row_effect"], self.chosen["col_effect"]
        X = self.ridges.pairs(*self._chosen_kernels())
        labels = np.where(self.y > self.fold.positive_above, 1.0, -1.0)
        model = self.machine(effects, self.chosen["reg"])
        return scores_of(model.fit(X[train], labels[train]), X[test])


class _Svm(_OfClasses):
    """KronSVM: the squared hinge loss."""

    def machine(self, effects, reg):
        return KronSVM(**self.ridges.parameters(effects, reg), solver="cg")


class _RidgeOfClasses(_OfClasses):
    """KronRidge on the same labels: the squared loss."""

    def machine(self, effects, reg):
        return self.ridges.model(effects, reg)


class _LibSvm(_Ridge):
    """LibSVM of the positives: a Gaussian kernel on rows of the kernels that ridge chooses."""

    def choose(self, validation, train):
        super().choose(validation, train)
        names = [self.chosen[f"{side}_kernel"] for side in ("drug", "target")]
        features = (spread_rows(self.problem.kernel[name]) for name in names)
        self.X = PairData(*features, self.fold.rows, self.fold.cols)
        regs, gammas = self.entry["regs"], self.entry["gammas"]  # increasing
        self.chosen = dict(zip(("drug_kernel", "target_kernel"), names, strict=True))
        self.chosen |= {"validation_mse": np.nan, "reg": regs[0], "gamma": gammas[-1]}
        draw = generator(self.spec["seed"], "parts of training pairs", self.fold.dataset)
        pairs = draw.permutation(np.concatenate([validation, train]))
        caps = self.spec["training_caps"]
        self.from_matrix = matrix_gigabytes(len(pairs)) <= caps["gigabytes"]
        check_seconds(self._fitted, pairs, self.entry["parts"], caps)
        best, chosen = -np.inf, {}
        positive = self.y[validation] > self.fold.positive_above
        for gamma, reg in itertools.product(gammas, regs):
            self.chosen |= {"reg": reg, "gamma": gamma}
            found = aupr(positive, self.predict(train, validation))
            if found > best:
                best, chosen = found, dict(self.chosen)
        at_ends = chosen["reg"] in (regs[0], regs[-1]), chosen["gamma"] in (gammas[0], gammas[-1])
        self.chosen = chosen | {"on_edge": int(any(at_ends))}
        return self.chosen

    def predict(self, train, test):
        return self._fitted(train).to_vec_trick().decision_function(self.X[test])

    def _fitted(self, train):
        labels = np.where(self.y[train] > self.fold.positive_above, 1.0, -1.0)
        point = {name: self.chosen[name] for name in ("reg", "gamma")}
        return PairLibSVM(**point, precompute=self.from_matrix).fit(self.X[train], labels)


class _TwoStep(_Ridge):
    """Two-step ridge regression, where all pairs of the training vertices are known."""

    def choose(self, validation, train):
        best, chosen = np.inf, {}
        regs = self.spec["two_step_regs"]
        for drugs, targets, _ in self._candidates():
            for reg_rows, reg_cols in itertools.product(regs, regs):
                self.chosen = {
                    "drug_kernel": drugs,
                    "target_kernel": targets,
                    "reg_rows": reg_rows,
                    "reg_cols": reg_cols,
                }
                error = self.y[validation] - self.predict(train, validation)
                mse = float(np.mean(error**2))
                if mse < best:
                    on_edge = {min(regs), max(regs)} & {reg_rows, reg_cols}
                    best = mse
                    chosen = {**self.chosen, "on_edge": int(bool(on_edge)), "validation_mse": mse}
        self.chosen = chosen
        return chosen

    def predict(self, train, test):
        chosen = self.chosen
        K, G = (self.problem.kernel[chosen[f"{side}_kernel"]] for side in ("drug", "target"))
        rows, of_row = np.unique(self.fold.rows[train], return_inverse=True)
        cols, of_col = np.unique(self.fold.cols[train], return_inverse=True)
        labels = np.full((len(rows), len(cols)), np.nan)
        labels[of_row, of_col] = self.y[train]
        mean = self.y[train].mean()
        model = TwoStepRidge(
            reg_rows=chosen["reg_rows"],
            reg_cols=chosen["reg_cols"],
            row_kernel="precomputed",
            col_kernel="precomputed",
        ).fit_matrix(K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], labels - mean)
        new = PairData(K[:, rows], G[:, cols], self.fold.rows[test], self.fold.cols[test])
        return model.predict(new) + mean


_MODELS = {
    "margins": _Margins,
    "ridge": _Ridge,
    "cv": _Cv,
    "stored": _Stored,
    "svm": _Svm,
    "ridge of classes": _RidgeOfClasses,
    "libsvm": _LibSvm,
    "two-step": _TwoStep,
}
