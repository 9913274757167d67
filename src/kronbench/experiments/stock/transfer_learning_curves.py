"""Learning curves of transfer between tasks: what labels of other drugs are worth for one drug."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.columns import Columns, Parameter
from kronbench.bench.seeds import generator
from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import concordance_index, macro_auc, micro_auc
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench.pairs.zero_shot import kron_zero_shot, two_step_zero_shot

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}

COLUMNS = Columns(
    key=("repetition", "labels", "size", "approach", "method", "selection"),
    repeats=("repetition",),
    numbers=("score",),
    texts=("measure",),
    values={
        "labels": ("real", "rescaled", "1 and 0"),
        "size": (Parameter(("sizes", "*")), Parameter(("binary_sizes", "*"))),
        "approach": (
            *("independent-task", "multi-task"),
            *("zero-shot", "full zero-shot", "almost zero-shot"),
        ),
        "method": ("IT", "KK", "TS"),
        "selection": ("A", "B", "D"),
        "measure": ("macro AUC", "concordance index"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each repetition, training size and curve (Stock et al. 2016, figure 7).

    Every drug in turn is the target task, all other drugs are auxiliary. ``score`` is the mean
    over target tasks of the AUC (binary labels) or concordance index over the test proteins of
    the repetition, of those tasks for which it is defined. ``approach``, ``method`` and
    ``selection`` (the leave-one-out setting in which weights were chosen) name a curve:

    - independent-task: ridge regression on ``size`` labels of the target task;
    - multi-task: ``size`` proteins with the labels of all tasks, the target included;
    - zero-shot: ``size`` proteins with the labels of all tasks but the target;
    - full zero-shot: the same with all proteins of the pool, whatever ``size``;
    - almost zero-shot: ``size`` labels of the target task, and those of the other tasks for the
      whole pool; a ridge regression over tasks imputes the target's missing labels, one over
      proteins follows.

    Pairwise models take the weights of the largest AUC over left-out pairs where labels are
    binary, those of the least squared error where they are not; a ridge regression for one task
    always the latter, since a task with labels of one class has no AUC. For the target tasks of
    one of ``task_folds`` folds the weights of zero-shot models and of the imputation are chosen on
    the tasks of the other folds, so that no label of the target has a part in them.

    ``labels`` are real; or, where they are binary, those of section 6.1, "rescaled", as in the
    paper, and beside them "1 and 0" at the sizes of ``spec["binary_sizes"]``. The negative label
    of the former is not zero, and ridge regression, which has no intercept, orders proteins even
    where no training label is positive.
    """
    K, G, Y = kernels(data)
    name, regs = data.name.lower(), np.asarray(spec["regs"], dtype=float)
    binary = len(np.unique(Y)) == 2
    ways = {"rescaled" if binary else "real": (Y, spec["sizes"][name])}
    if binary and name in spec["binary_sizes"]:
        ways["1 and 0"] = (Y > 0).astype(float), spec["binary_sizes"][name]
    rows = []
    for repetition in tqdm(range(spec["repetitions"]), desc=data.name, unit="repetition"):
        split = Split.draw(spec, data, Y.shape, repetition)
        for labels, (values, sizes) in ways.items():
            problem = _Transfer(K, G, values, split, regs)
            for size in sizes:
                for (approach, method, selection), F in problem.predictions(size):
                    rows.append(
                        {
                            "repetition": repetition,
                            "labels": labels,
                            "size": size,
                            "approach": approach,
                            "method": method,
                            "selection": selection,
                            "score": problem.score(F),
                            "measure": problem.measure,
                        }
                    )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Split:
    """Proteins of one repetition, and folds of the tasks.

    Attributes
    ----------
    pool : (m - t,) integer array
        Training proteins; a training size takes the first of them.
    test : (t,) integer array
    task_fold : (q,) integer array
    """

    pool: np.ndarray
    test: np.ndarray
    task_fold: np.ndarray

    @classmethod
    def draw(cls, spec: Mapping, data: Dataset, shape: tuple[int, int], repetition: int) -> Split:
        """The split of one repetition, from a seed of its own."""
        rng = generator(spec["seed"], "transfer", data.name, repetition)
        proteins = rng.permutation(shape[0])
        n_test = spec["test"][data.name.lower()]
        folds = rng.permutation(np.arange(shape[1]) % spec["task_folds"])
        return cls(proteins[n_test:], proteins[:n_test], folds)


class _Transfer:
    """One repetition: the predictions (t, q) of every curve for the test proteins."""

    def __init__(self, K, G, Y, split, regs):
        self._G, self._split, self._regs = G, split, regs
        self._K_pool = K[np.ix_(split.pool, split.pool)]
        self._K_test = K[np.ix_(split.test, split.pool)]
        self._Y_pool, self._Y_test = Y[split.pool], Y[split.test]
        self._binary = len(np.unique(Y)) == 2

    def predictions(self, size):
        """Yield ((approach, method, selection), predictions) with ``size`` training proteins."""
        K, across, Y = self._K_pool[:size, :size], self._K_test[:, :size], self._Y_pool[:size]
        G, grid = self._G, self._regs
        yield ("independent-task", "IT", "A"), _own_weights(K, across, Y, grid)
        completed = np.vstack([Y, self._imputed[size:]])
        curve = ("almost zero-shot", "TS", "A")
        yield curve, _own_weights(self._K_pool, self._K_test, completed, grid)

        (reg,) = self._selected(_fitted_kron(K, G, Y), "A", Y, [grid])
        curve = ("multi-task", "KK", "A")
        yield curve, _fitted_kron(K, G, Y, reg).predict_matrix(across, G)
        model = _fitted_two_step(K, G, Y)
        for setting in "AB":
            regs = self._selected(model, setting, Y, [grid, grid])
            curve = ("multi-task", "TS", setting)
            yield curve, _fitted_two_step(K, G, Y, *regs).predict_matrix(across, G)

        whole_pool = size == len(self._Y_pool)
        for (method, setting), F in (
            self._full_zero_shot if whole_pool else self._zero_shot(K, Y, across)
        ):
            yield ("zero-shot", method, setting), F
        for (method, setting), F in self._full_zero_shot:
            yield ("full zero-shot", method, setting), F

    @property
    def measure(self):
        return "macro AUC" if self._binary else "concordance index"

    def score(self, F):
        """Mean over tasks of the AUC or concordance index on the test proteins."""
        if self._binary:
            return macro_auc(self._Y_test, F, axis=0)
        indices = [concordance_index(y, f) for y, f in zip(self._Y_test.T, F.T, strict=True)]
        return np.nanmean(indices)

    @cached_property
    def _full_zero_shot(self):
        return list(self._zero_shot(self._K_pool, self._Y_pool, self._K_test))

    def _zero_shot(self, K, Y, across):
        for method, settings, n_weights, fitted, predicted in (
            ("KK", "A", 1, _fitted_kron, kron_zero_shot),
            ("TS", "AD", 2, _fitted_two_step, two_step_zero_shot),
        ):
            F = {setting: np.empty(self._Y_test.shape) for setting in settings}
            for targets, others in self._task_folds():
                model = fitted(K, self._G[np.ix_(others, others)], Y[:, others])
                grids = [self._regs] * n_weights
                for setting in settings:
                    regs = self._selected(model, setting, Y[:, others], grids)
                    F[setting][:, targets] = predicted(K, self._G, Y, across, *regs)[:, targets]
            for setting in settings:
                yield (method, setting), F[setting]

    @cached_property
    def _imputed(self):
        """Labels of the pool, each task's predicted from the labels of all other tasks."""
        labels = self._Y_pool.T
        imputed = np.empty_like(labels)
        for targets, others in self._task_folds():
            model = _fitted_ridge(self._G[np.ix_(others, others)], labels[others])
            (reg,) = self._selected(model, "A", labels[others], [self._regs])
            imputed[targets] = _fitted_ridge(self._G, labels, reg).loo("A")[targets]
        return imputed.T

    def _task_folds(self):
        for fold in np.unique(self._split.task_fold):
            yield self._split.task_fold == fold, np.flatnonzero(self._split.task_fold != fold)

    def _selected(self, model, setting, Y, grids):
        """The weights with the best leave-one-out predictions of labels Y."""
        scores = model.loo_grid(setting, *grids, score=lambda F: self._criterion(Y, F))
        best = np.unravel_index(np.argmax(scores), scores.shape)
        return [grid[i] for grid, i in zip(grids, best, strict=True)]

    def _criterion(self, Y, F):
        return micro_auc(Y > 0, F) if self._binary else -np.mean((F - Y) ** 2)


def _own_weights(K, across, labels, regs):
    """Ridge regression for each column of labels, with its own weight from leave-one-out."""
    errors = np.empty((len(regs), labels.shape[1]))
    for index, F in _fitted_ridge(K, labels).loo_grid("A", regs):
        errors[index] = np.sum((F - labels) ** 2, axis=0)
    best = np.argmin(errors, axis=0)
    F = np.empty((len(across), labels.shape[1]))
    for index in np.unique(best):
        tasks = best == index
        F[:, tasks] = _fitted_ridge(K, labels[:, tasks], regs[index]).predict_matrix(across)
    return F


def _fitted_ridge(K, Y, reg=1.0):
    return IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)


def _fitted_kron(K, G, Y, reg=1.0):
    return CompleteKronRidge(reg=reg, **PRECOMPUTED).fit_matrix(K, G, Y)


def _fitted_two_step(K, G, Y, reg=1.0, reg_cols=1.0):
    return TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
