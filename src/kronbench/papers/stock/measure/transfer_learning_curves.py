"""Learning curves of transfer between tasks: what labels of other drugs are worth for one drug."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import concordance_index, macro_auc
from kronbench.evaluation.ranking import LabelledEntries
from kronbench.linalg.eigen import Spectrum, kernel_spectrum
from kronbench.pairs.leave_one_out import (
    kron_leave_one_out,
    ridge_leave_one_out,
    two_step_leave_one_out,
)
from kronbench.pairs.zero_shot import kron_zero_shot, two_step_zero_shot
from kronbench.runner.columns import Columns, Parameter
from kronbench.runner.seeds import generator

_AUC, _SQUARED_ERROR = "AUC", "squared error"

COLUMNS = Columns(
    key=("repetition", "labels", "size", "approach", "method", "selection", "criterion"),
    repeats=("repetition",),
    counts=("on_edge",),
    numbers=("score", "reg", "reg_cols", "share_on_edge"),
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
        "criterion": ("AUC", "squared error"),
        "measure": ("macro AUC", "concordance index"),
        "reg": (Parameter(("regs",)),),
        "reg_cols": (Parameter(("regs",)),),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each repetition, size, curve and criterion (Stock et al. 2016, figure 7).

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

    ``criterion`` says by what the weights of pairwise models and of the imputation were chosen:
    the largest AUC over all left-out pairs, or the least squared error. Labels that are not
    binary have the latter alone. A ridge regression for one task always has it, since a task with
    labels of one class has no AUC; it stands under both. For the target tasks of one of
    ``task_folds`` folds the weights of zero-shot models and of the imputation are chosen on the
    tasks of the other folds, so that no label of the target has a part in them. Zero-shot
    Kronecker regression is chosen in setting D too, where the paper has no shortcut, at the sizes
    of ``spec["kronecker_in_d"]``.

    ``reg`` (of proteins, or the one weight) and ``reg_cols`` (of drugs) are the medians of the
    chosen weights over the target tasks, ``share_on_edge`` is the share of the tasks for which
    one of them lies at an end of the grid, and ``on_edge`` says that this is half or more.

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
    in_d = spec["kronecker_in_d"].get(name, ())
    tasks = kernel_spectrum(G, "G")
    rows = []
    for repetition in tqdm(range(spec["repetitions"]), desc=data.name, unit="repetition"):
        split = Split.draw(spec, data, Y.shape, repetition)
        shared = _Shared(K, G, tasks, split)
        for labels, (values, sizes) in ways.items():
            problem = _Transfer(shared, values, regs)
            for size in sizes:
                for curve, predicted in problem.curves(size, kronecker_in_d=size in in_d):
                    measured = {
                        "score": problem.score(predicted.F),
                        "measure": problem.measure,
                        **predicted.selected(regs),
                    }
                    rows += [
                        {
                            "repetition": repetition,
                            "labels": labels,
                            "size": size,
                            "approach": curve.approach,
                            "method": curve.method,
                            "selection": curve.selection,
                            "criterion": criterion,
                            **measured,
                        }
                        for criterion in curve.criteria
                    ]
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


@dataclass(frozen=True)
class _Curve:
    approach: str
    method: str
    selection: str
    criteria: tuple[str, ...]


@dataclass(frozen=True)
class _Predicted:
    """Predictions F (t, q) for the test proteins, and the weights (w, q) chosen for each task."""

    F: np.ndarray
    weights: np.ndarray

    def selected(self, grid):
        """The columns of a row that tell what was chosen."""
        medians = np.quantile(self.weights, 0.5, axis=1, method="lower")
        on_edge = np.isin(self.weights, [grid.min(), grid.max()]).any(axis=0).mean()
        return dict(zip(("reg", "reg_cols"), medians, strict=False)) | {
            "share_on_edge": on_edge,
            "on_edge": int(on_edge >= 0.5),
        }


class _Shared:
    """Kernels of one repetition and their eigenpairs, found once for all labels and weights.

    ``folds`` has for each fold of the tasks the targets, a mask (q,), the other tasks, and the
    eigenpairs of the kernel of these.
    """

    def __init__(self, K: np.ndarray, G: np.ndarray, tasks: Spectrum, split: Split):
        self.split, self.tasks = split, tasks
        self.across = K[np.ix_(split.test, split.pool)]
        self.folds = []
        for fold in np.unique(split.task_fold):
            others = np.flatnonzero(split.task_fold != fold)
            spectrum = kernel_spectrum(G[np.ix_(others, others)], "G")
            self.folds.append((split.task_fold == fold, others, spectrum))
        pool = K[np.ix_(split.pool, split.pool)]
        self.proteins = functools.cache(lambda size: kernel_spectrum(pool[:size, :size], "K"))


class _Transfer:
    """One repetition with labels Y (m, q): the predictions of every curve."""

    def __init__(self, shared: _Shared, Y: np.ndarray, grid: np.ndarray):
        self._shared, self._grid = shared, grid
        self._Y_pool, self._Y_test = Y[shared.split.pool], Y[shared.split.test]
        self._binary = len(np.unique(Y)) == 2
        self.criteria = (_AUC, _SQUARED_ERROR) if self._binary else (_SQUARED_ERROR,)

    def curves(
        self, size: int, kronecker_in_d: bool = False
    ) -> Iterator[tuple[_Curve, _Predicted]]:
        """Every curve with ``size`` training proteins."""
        Y, n_pool = self._Y_pool[:size], len(self._Y_pool)
        curve = _Curve("independent-task", "IT", "A", self.criteria)
        yield curve, self._single_tasks(size, Y)
        for criterion in self.criteria:
            imputed = self._imputed[criterion]
            second = self._single_tasks(n_pool, np.vstack([Y, imputed.F[size:]]))
            weights = np.vstack([second.weights, imputed.weights])
            curve = _Curve("almost zero-shot", "TS", "A", (criterion,))
            yield curve, _Predicted(second.F, weights)
        for (method, setting), chosen in self._multi_task(size, Y):
            for criterion, predicted in chosen.items():
                yield _Curve("multi-task", method, setting, (criterion,)), predicted
        whole_pool = self._full_zero_shot
        reduced = whole_pool if size == n_pool else self._zero_shot(size)
        if kronecker_in_d:
            reduced = reduced | self._zero_shot(size, ("KK",), "D")
        for approach, curves in (("zero-shot", reduced), ("full zero-shot", whole_pool)):
            for (method, setting, criterion), predicted in curves.items():
                yield _Curve(approach, method, setting, (criterion,)), predicted

    @property
    def measure(self) -> str:
        return "macro AUC" if self._binary else "concordance index"

    def score(self, F: np.ndarray) -> float:
        """Mean over tasks of the AUC or concordance index on the test proteins."""
        if self._binary:
            return macro_auc(self._Y_test, F, axis=0)
        indices = [concordance_index(y, f) for y, f in zip(self._Y_test.T, F.T, strict=True)]
        return np.nanmean(indices)

    def _single_tasks(self, size, labels):
        """Ridge regression for each task, with its own weight by squared error."""
        rows = self._shared.proteins(size)
        errors = [
            np.sum((F - labels) ** 2, axis=0)
            for F in ridge_leave_one_out(rows, labels, self._grid)
        ]
        regs = self._grid[np.argmin(errors, axis=0)]
        coef = rows.coordinates(labels) / (rows.values[:, None] + regs)
        return _Predicted(self._to_test(rows) @ coef, regs[None])

    def _multi_task(self, size, Y):
        """Yield (method, setting), and predictions by criterion."""
        rows, cols = self._shared.proteins(size), self._shared.tasks
        x, s = rows.values[:, None], cols.values
        coordinates, to_test = rows.coordinates(Y) @ cols.vectors, self._to_test(rows)
        filters = {
            "KK": lambda reg: s / (x * s + reg),
            "TS": lambda reg, reg_cols: s / ((x + reg) * (s + reg_cols)),
        }
        for method, settings in (("KK", "A"), ("TS", "AB")):
            for setting, chosen in self._selected(method, settings, rows, cols, Y).items():
                found = {}
                for criterion, weights in chosen.items():
                    filtered = filters[method](*weights) * coordinates
                    F = to_test @ filtered @ cols.vectors.T
                    found[criterion] = _Predicted(F, np.outer(weights, np.ones(len(s))))
                yield (method, setting), found

    def _to_test(self, rows):
        """Kernel values of the test proteins with the eigenvectors of the training proteins."""
        return self._shared.across[:, : len(rows.vectors)] @ rows.vectors

    @functools.cached_property
    def _full_zero_shot(self):
        return self._zero_shot(len(self._Y_pool))

    def _zero_shot(self, size, methods=("KK", "TS"), settings="AD"):
        """Predictions by method, setting and criterion; Kronecker in D only where asked for."""
        Y, rows = self._Y_pool[:size], self._shared.proteins(size)
        given = rows, self._shared.tasks, Y, self._shared.across[:, :size]
        found = {}
        for method in methods:
            way = kron_zero_shot if method == "KK" else two_step_zero_shot
            predicted = functools.cache(lambda *weights, way=way: way(*given, *weights))
            asked = settings if len(methods) == 1 or method == "TS" else "A"
            chosen = [
                (targets, self._selected(method, asked, rows, cols, Y[:, others]))
                for targets, others, cols in self._shared.folds
            ]
            for setting in asked:
                for criterion in self.criteria:
                    by_fold = [(targets, best[setting][criterion]) for targets, best in chosen]
                    F = np.empty(self._Y_test.shape)
                    for targets, weights in by_fold:
                        F[:, targets] = predicted(*weights)[:, targets]
                    found[method, setting, criterion] = _Predicted(F, self._by_task(by_fold))
        return found

    def _by_task(self, by_fold):
        """The weights (w, q) of each task."""
        every = np.empty((len(by_fold[0][1]), len(by_fold[0][0])))
        for targets, weights in by_fold:
            every[:, targets] = np.reshape(weights, (-1, 1))
        return every

    @functools.cached_property
    def _imputed(self):
        """Labels of the pool by criterion, each task's predicted from those of all other tasks."""
        labels = np.ascontiguousarray(self._Y_pool.T)

        @functools.cache
        def predicted(reg):
            return next(ridge_leave_one_out(self._shared.tasks, labels, [reg]))

        chosen = []
        for targets, others, cols in self._shared.folds:
            points = ridge_leave_one_out(cols, labels[others], self._grid)
            chosen.append((targets, self._best(_named("", points), labels[others], 1)[""]))
        found = {}
        for criterion in self.criteria:
            by_fold = [(targets, best[criterion]) for targets, best in chosen]
            imputed = np.empty_like(labels)
            for targets, (reg,) in by_fold:
                imputed[targets] = predicted(reg)[targets]
            found[criterion] = _Predicted(imputed.T, self._by_task(by_fold))
        return found

    def _selected(self, method, settings, rows, cols, Y):
        """By setting and criterion, the weights with the best leave-one-out predictions of Y."""
        found = {}
        for setting in settings:
            if method == "TS":
                points = two_step_leave_one_out(setting, rows, cols, Y, self._grid, self._grid)
                found |= self._best(((at, {setting: F}) for at, F in points), Y, 2)
                continue
            points = kron_leave_one_out(setting, rows, cols, Y, self._grid)
            found |= self._best(_named(setting, points), Y, 1)
        return found

    def _best(self, points, Y, n_weights):
        entries = LabelledEntries(Y) if self._binary else None
        by_column = np.asfortranarray(Y)  # the order of F: strided differences take four times
        scores = {}
        for point, of_settings in points:
            for setting, F in of_settings.items():
                of_criteria = scores.setdefault(setting, {})
                labels = by_column if F.flags.f_contiguous else Y
                found = {_SQUARED_ERROR: -np.sum((F - labels) ** 2)}
                if self._binary:
                    found[_AUC] = entries.area(F)
                for criterion, score in found.items():
                    shape = (len(self._grid),) * n_weights
                    of_criteria.setdefault(criterion, np.empty(shape))[point] = score
        return {
            setting: {
                criterion: tuple(
                    self._grid[i] for i in np.unravel_index(np.argmax(each), each.shape)
                )
                for criterion, each in of_criteria.items()
            }
            for setting, of_criteria in scores.items()
        }


def _named(setting, predictions):
    """The predictions for each of a grid as points of it, of this setting alone."""
    return ((i, {setting: F}) for i, F in enumerate(predictions))
