"""Learning curves of transfer between tasks: what labels of other drugs are worth for one drug.

Parameters
----------
sizes : numbers of training targets, by data set
repetitions : number of random splits
test : number of test targets, by data set
task_folds : folds of the tasks
regs : regularization weights to choose from
kronecker_in_d : sizes with a Kronecker model in setting D, by data set
"""

import functools
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import concordance_index, macro_auc, micro_auc
from kronbench.linalg.eigen import kernel_spectrum
from kronbench.pairs.leave_one_out import (
    kron_leave_one_out,
    ridge_leave_one_out,
    two_step_leave_one_out,
)
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

_AUC, _SQUARED_ERROR = "AUC", "squared error"

COLUMNS = Columns(
    key=("repetition", "labels", "size", "approach", "method", "selection", "criterion"),
    repeats=("repetition",),
)


def run(spec, data, rng):
    """One row for each repetition, size, curve and criterion (Stock et al. 2016, figure 7).

    ``score`` is the mean over target tasks. With ``size`` proteins, "independent-task" has the
    labels of the target, "multi-task" those of all tasks, "zero-shot" those of all but the target,
    "full zero-shot" the latter for the whole pool, "almost zero-shot" these and ``size`` of the
    target; a ridge regression over tasks imputes the missing ones, one over proteins follows.
    ``reg`` and ``reg_cols`` are medians of what ``criterion`` chose. Single tasks have a weight
    each, in "independent-task, one weight" one for all, as multi-task learning has. Of these three
    ``score_with_positive`` is the mean over the tasks with a positive label in training, which
    are ``share_with_positive`` of those in ``score``.
    """
    K, G, Y = kernels(data)
    name, regs = data.name.lower(), np.asarray(spec["regs"], dtype=float)
    binary = len(np.unique(Y)) == 2
    ways = {"rescaled": Y, "1 and 0": (Y > 0).astype(float)} if binary else {"real": Y}
    in_d = spec["kronecker_in_d"].get(name, ())
    tasks = kernel_spectrum(G, "G")
    rows = []
    for repetition in tqdm(range(spec["repetitions"]), desc=data.name, unit="repetition"):
        # A random split of the proteins (section 6.2), and all curves at every size.
        shared = Shared(K, G, tasks, Split.draw(spec, data, Y.shape, repetition))
        for labels, values in ways.items():
            problem = Transfer(shared, values, regs)
            for size in spec["sizes"][name]:
                for curve in problem.curves(size, kronecker_in_d=size in in_d):
                    row = {"repetition": repetition, "labels": labels, "size": size}
                    row |= dict(zip(curve._fields[:3], curve, strict=False))
                    row |= {"score": problem.score(curve.F), "measure": problem.measure}
                    if binary and not curve.approach.endswith("zero-shot"):
                        row |= problem.score_with_positive(curve.F, size)
                    # What was chosen: the median over tasks, and how often the end of a grid.
                    medians = np.quantile(curve.weights, 0.5, axis=1, method="lower")
                    row |= dict(zip(("reg", "reg_cols"), medians, strict=False))
                    on_edge = np.isin(curve.weights, [regs.min(), regs.max()]).any(axis=0).mean()
                    row |= {"share_on_edge": on_edge, "on_edge": int(on_edge >= 0.5)}
                    rows += [row | {"criterion": criterion} for criterion in curve.criteria]
    return pd.DataFrame(rows)


class Split(NamedTuple):
    """Training and test proteins of one repetition, and the fold of each task."""

    pool: np.ndarray  # a training size takes the first of them
    test: np.ndarray
    task_fold: np.ndarray

    @classmethod
    def draw(cls, spec, data, shape, repetition):
        """The split of one repetition."""
        rng = generator(spec["seed"], "transfer", data.name, repetition)
        proteins = rng.permutation(shape[0])
        n_test = spec["test"][data.name.lower()]
        folds = rng.permutation(np.arange(shape[1]) % spec["task_folds"])
        return cls(proteins[n_test:], proteins[:n_test], folds)


class Curve(NamedTuple):
    """One point of a curve: its names, predictions, and the weights of each task."""

    approach: str
    method: str
    selection: str
    criteria: tuple[str, ...]
    F: np.ndarray  # (t, q), for the test proteins
    weights: np.ndarray  # (w, q)


class Shared:
    """Kernels of one repetition and their eigenpairs, found once for all labels and weights."""

    def __init__(self, K, G, tasks, split):
        self.split, self.tasks = split, tasks
        self.across = K[np.ix_(split.test, split.pool)]
        self.folds = []  # of tasks: a mask (q,), the other tasks, the eigenpairs of their kernel
        for fold in np.unique(split.task_fold):
            others = np.flatnonzero(split.task_fold != fold)
            spectrum = kernel_spectrum(G[np.ix_(others, others)], "G")
            self.folds.append((split.task_fold == fold, others, spectrum))
        pool = K[np.ix_(split.pool, split.pool)]
        self.proteins = functools.cache(lambda size: kernel_spectrum(pool[:size, :size], "K"))


class Transfer:
    """One repetition with labels Y (m, q): the predictions of every curve."""

    def __init__(self, shared, Y, grid):
        self._shared, self._grid = shared, grid
        self._Y_pool, self._Y_test = Y[shared.split.pool], Y[shared.split.test]
        self._binary = len(np.unique(Y)) == 2
        self._criteria = (_AUC, _SQUARED_ERROR) if self._binary else (_SQUARED_ERROR,)
        self.measure = "macro AUC" if self._binary else "concordance index"
        self._full_zero_shot = self._zero_shot(len(self._Y_pool))
        self._imputed = self._impute()

    def curves(self, size, kronecker_in_d=False):
        """Every curve with ``size`` training proteins."""
        # Labels of the target alone, by ridge regression with its own weight.
        Y, n_pool = self._Y_pool[:size], len(self._Y_pool)
        yield Curve("independent-task", "IT", "A", self._criteria, *self._single_tasks(size, Y))
        yield from self._one_weight(size, Y)
        # Missing labels of the target are imputed from other tasks, then used like the others.
        for criterion, (imputed, of_tasks) in self._imputed.items():
            F, weights = self._single_tasks(n_pool, np.vstack([Y, imputed[size:]]))
            weights = np.vstack([weights, of_tasks])
            yield Curve("almost zero-shot", "TS", "A", (criterion,), F, weights)
        yield from self._multi_task(size, Y)
        # Without labels of the target: of as many proteins, and of all in the pool.
        reduced = self._full_zero_shot if size == n_pool else self._zero_shot(size)
        if kronecker_in_d:
            reduced = reduced + self._zero_shot(size, [("KK", "D")])
        for approach, curves in (("zero-shot", reduced), ("full zero-shot", self._full_zero_shot)):
            for curve in curves:
                yield Curve(approach, *curve)

    def score(self, F):
        """Mean over tasks of the AUC or concordance index on the test proteins."""
        if self._binary:
            return macro_auc(self._Y_test, F, axis=0)
        indices = [concordance_index(y, f) for y, f in zip(self._Y_test.T, F.T, strict=True)]
        return np.nanmean(indices)

    def score_with_positive(self, F, size):
        """The score over tasks with a positive label in training, and their share, by column.

        The others rank proteins by labels that are all alike.
        """
        scored = (self._Y_test > 0).any(axis=0) & (self._Y_test <= 0).any(axis=0)
        known = scored & (self._Y_pool[:size] > 0).any(axis=0)
        score = macro_auc(self._Y_test[:, known], F[:, known], axis=0) if known.any() else np.nan
        share = known.sum() / max(scored.sum(), 1)
        return {"score_with_positive": score, "share_with_positive": share}

    def _single_tasks(self, size, labels):
        """Ridge regression for each task, with its own weight by squared error."""
        rows = self._shared.proteins(size)
        points = ridge_leave_one_out(rows, labels, self._grid)
        errors = [np.sum((F - labels) ** 2, axis=0) for F in points]
        regs = self._grid[np.argmin(errors, axis=0)]
        coef = rows.coordinates(labels) / (rows.values[:, None] + regs)
        return self._to_test(rows) @ coef, regs[None]

    def _one_weight(self, size, Y):
        """Ridge regression for each task, with one weight for all, chosen as that of "KK"."""
        rows = self._shared.proteins(size)
        coordinates, to_test = rows.coordinates(Y), self._to_test(rows)
        best = self._best(enumerate(ridge_leave_one_out(rows, Y, self._grid)), Y, 1)
        for criterion, (reg,) in best.items():
            F = to_test @ (coordinates / (rows.values[:, None] + reg))
            weights = np.full((1, Y.shape[1]), reg)
            yield Curve("independent-task, one weight", "IT", "A", (criterion,), F, weights)

    def _multi_task(self, size, Y):
        rows, cols = self._shared.proteins(size), self._shared.tasks
        x, s = rows.values[:, None], cols.values
        coordinates, to_test = rows.coordinates(Y) @ cols.vectors, self._to_test(rows)
        filters = {
            "KK": lambda reg: s / (x * s + reg),
            "TS": lambda reg, reg_cols: s / ((x + reg) * (s + reg_cols)),
        }
        for method, setting in (("KK", "A"), ("TS", "A"), ("TS", "B")):
            # Leave-one-out of pairs (A), or of proteins (B), chooses the weights.
            best = self._selected(method, setting, rows, cols, Y)
            for criterion, weights in best.items():
                F = to_test @ (filters[method](*weights) * coordinates) @ cols.vectors.T
                weights = np.outer(weights, np.ones(len(s)))
                yield Curve("multi-task", method, setting, (criterion,), F, weights)

    def _to_test(self, rows):
        """Kernel values of the test proteins with the eigenvectors of the training proteins."""
        return self._shared.across[:, : len(rows.vectors)] @ rows.vectors

    def _zero_shot(self, size, methods=(("KK", "A"), ("TS", "A"), ("TS", "D"))):
        """What a ``Curve`` has behind its approach, for methods and their settings."""
        Y, rows = self._Y_pool[:size], self._shared.proteins(size)
        arguments = rows, self._shared.tasks, Y, self._shared.across[:, :size]
        ways = {
            "KK": functools.cache(functools.partial(kron_zero_shot, *arguments)),
            "TS": functools.cache(functools.partial(two_step_zero_shot, *arguments)),
        }
        curves = []
        for method, setting in methods:
            # Weights are chosen without the fold of the target, since its labels are not known.
            chosen = [
                self._selected(method, setting, rows, cols, Y[:, others])
                for _, others, cols in self._shared.folds
            ]
            for criterion in self._criteria:
                of_folds = self._by_fold(ways[method], [best[criterion] for best in chosen])
                curves.append((method, setting, (criterion,), *of_folds))
        return curves

    def _impute(self):
        """Labels of the pool by criterion, each task's predicted from those of all other tasks."""
        labels = np.ascontiguousarray(self._Y_pool.T)

        @functools.cache
        def predict(reg):
            return next(ridge_leave_one_out(self._shared.tasks, labels, [reg])).T

        chosen = []
        for _, others, cols in self._shared.folds:
            points = ridge_leave_one_out(cols, labels[others], self._grid)
            chosen.append(self._best(enumerate(points), labels[others], 1))
        return {
            criterion: self._by_fold(predict, [best[criterion] for best in chosen])
            for criterion in self._criteria
        }

    def _by_fold(self, predict, weights):
        """Predictions of each fold of tasks with weights of its own, and these (w, q)."""
        F = np.empty_like(predict(*weights[0]))
        by_task = np.empty((len(weights[0]), F.shape[1]))
        for (targets, _, _), of_fold in zip(self._shared.folds, weights, strict=True):
            F[:, targets] = predict(*of_fold)[:, targets]
            by_task[:, targets] = np.reshape(of_fold, (-1, 1))
        return F, by_task

    def _selected(self, method, setting, rows, cols, Y):
        """By criterion, the weights with the best leave-one-out predictions of Y."""
        if method == "TS":
            grids = self._grid, self._grid
            return self._best(two_step_leave_one_out(setting, rows, cols, Y, *grids), Y, 2)
        points = enumerate(kron_leave_one_out(setting, rows, cols, Y, self._grid))
        return self._best(points, Y, 1)

    def _best(self, points, Y, n_weights):
        """By criterion, the weights of the best of the predictions over a grid."""
        by_column = np.asfortranarray(Y)  # the order of F: strided differences take four times
        scores = {name: np.empty((len(self._grid),) * n_weights) for name in self._criteria[::-1]}
        for point, F in points:
            labels = by_column if F.flags.f_contiguous else Y
            scores[_SQUARED_ERROR][point] = -np.sum((F - labels) ** 2)
            if self._binary:
                scores[_AUC][point] = micro_auc(Y, F)
        return {
            criterion: tuple(self._grid[i] for i in np.unravel_index(np.argmax(each), each.shape))
            for criterion, each in scores.items()
        }


# Labels (t, q) of new rows, whose kernel values with the training rows are ``across`` (t, m), each
# task's predicted from those of all others; the spectra of both kernels are full.


def two_step_zero_shot(rows, tasks, Y, across, reg_rows, reg_cols):
    """``TwoStepRidge`` trained q times without one task, O(m^2 q + t q (m + q)) in all."""
    coef = rows.vectors @ (rows.coordinates(Y) / (rows.values + reg_rows)[:, None])
    predicted = np.ascontiguousarray((across @ coef).T)
    (left_out,) = ridge_leave_one_out(tasks, predicted, np.array([reg_cols]))
    return left_out.T


def kron_zero_shot(rows, tasks, Y, across, reg):
    """``CompleteKronRidge`` trained q times without one task, O(m^2 q + m q^2) in all.

    With K = U X U', the labels Y' u_a of direction a follow a ridge regression with the kernel
    x_a G, whose leave-one-task-out prediction is known in closed form; over x_a it is the
    coefficient of k' u_a.
    """
    kept = rows.values > 0
    x, U = rows.values[kept], rows.vectors[:, kept]
    inverse = 1.0 / (np.outer(x, tasks.values) + reg)
    Z = U.T @ Y
    held_out = Z - (inverse * (Z @ tasks.vectors)) @ tasks.vectors.T / (inverse @ tasks.squared.T)
    return (across @ U / x) @ held_out
