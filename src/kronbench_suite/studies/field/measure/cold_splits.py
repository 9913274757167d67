"""How far scores vary over random splits, and where a published single split lies among them.

Parameters
----------
splits : number of random splits, by setting
test_sizes : size of a test set, by setting
folds : name of the published fold, by setting
kernels : arrays of the kernels
effects : weights of row and column effects
regs : regularization weights to choose from
max_iter : iterations of ridge regression
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import folds
from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.errors import InputError
from kronbench.evaluation import additive_scores, concordance_index, shuffle_split
from kronbench.pairs import PairData
from kronbench_suite.runner.columns import Columns
from kronbench_suite.studies.field.measure.affinity_folds import ridge_with_effects

COLUMNS = Columns(
    key=("setting", "split"),
    repeats=("split",),
)


def run(spec, data, rng):
    """One row for each setting and split, a random one or the published one of ``folds``.

    The weight is chosen for each split on a fifth of its training pairs or vertices, held out in
    the same setting. ``rank_ci`` and ``rank_mse`` are the shares of the random splits with a
    smaller value.
    """
    problem = _Problem(data, spec)
    frames = []
    for setting, number in spec["splits"].items():
        published = [spec["folds"][setting]] if setting in spec["folds"] else []
        # Random splits by number, then the published one.
        rows = []
        for name in tqdm([*range(number), *published], f"{data.name}, {setting}", unit="split"):
            if name in published:
                fold = folds(data.name, name, data=data)
                train, test = np.sort(fold.train), np.sort(fold.test)
            else:
                size = spec["test_sizes"][setting]
                train, test = shuffle_split(problem.X, setting, size, name)
            kind = "published" if name in published else "random"
            scores = problem.scored(setting, train, test)
            rows.append({"setting": setting, "split": str(name), "kind": kind, **scores})
        frame = pd.DataFrame(rows)
        # Where each score lies among those of the random splits.
        random = frame[frame["kind"] == "random"]
        for score in ("ci", "mse"):
            below = np.searchsorted(np.sort(random[score]), frame[score])
            frame[f"rank_{score}"] = below / len(random)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


class _Problem:
    """Complete affinities with the kernels of both sides, and what all splits share."""

    def __init__(self, data, spec):
        self.Y = affinities(data)
        if not np.isfinite(self.Y).all():
            raise InputError(f"{data.name} has pairs that are not known; give complete data")
        self.kernels = [unit_kernel(data[name]) for name in spec["kernels"]]
        self.effects = spec["effects"]
        self.X = PairData.complete(*self.kernels)
        self.y = self.Y.ravel()
        self.regs = np.array(spec["regs"])
        self.max_iter = spec["max_iter"]
        # a side whose vertices are all known is decomposed once for all splits
        everything = map(np.arange, self.Y.shape)
        self.whole = [self._spectrum(side, every) for side, every in enumerate(everything)]

    def _spectrum(self, side, vertices):
        K = self.kernels[side][np.ix_(vertices, vertices)]
        return np.linalg.eigh(K + self.effects[side] * np.eye(len(vertices)))

    def scored(self, setting, train, test):
        """Scores of one split with the weight that an inner split chooses."""
        # The weight by an inner split, then the score of the outer one, and of the baseline.
        inner = shuffle_split(self.X[train], setting, 0.2, 0)
        validation = train[inner[1]]
        errors = [
            np.mean((self.y[validation] - scores) ** 2)
            for scores in self._predictions(setting, train[inner[0]], validation, self.regs)
        ]
        best = int(np.argmin(errors))
        (scores,) = self._predictions(setting, train, test, self.regs[[best]])
        floor = additive_scores(self.X[train], self.y[train], self.X[test])
        y = self.y[test]
        on_edge = int(best in (0, len(self.regs) - 1))
        row = {"n": len(test), "n_train": len(train), "reg": self.regs[best], "on_edge": on_edge}
        for prefix, predicted in (("", scores), ("floor_", floor)):
            row[f"{prefix}ci"] = concordance_index(y, predicted)
            row[f"{prefix}mse"] = float(np.mean((y - predicted) ** 2))
        return row

    def _predictions(self, setting, train, test, regs):
        # Labels without their mean, which is added to all predictions.
        mean = self.y[train].mean()
        if setting == "A":
            model = ridge_with_effects(self.effects, self.max_iter)
            path = model.path(self.X[train], self.y[train] - mean, regs, self.X[test])
            yield from mean + path.final_test_scores(0.0)
            return
        # In the other settings the known vertices are a complete block: by its eigenvalues.
        values, vectors, tested, trained = [], [], [], []
        for side, of_pair in enumerate((self.X.rows, self.X.cols)):
            old = np.unique(of_pair[train])
            new, of_test = np.unique(of_pair[test], return_inverse=True)
            whole = len(old) == self.Y.shape[side]
            spectrum = self.whole[side] if whole else self._spectrum(side, old)
            cross = self.kernels[side][np.ix_(new, old)]
            cross += self.effects[side] * (new[:, None] == old)
            values.append(spectrum[0])
            vectors.append((spectrum[1], cross @ spectrum[1]))
            tested.append(of_test)
            trained.append(old)
        (U, left), (V, right) = vectors
        projected = U.T @ (self.Y[np.ix_(*trained)] - mean) @ V
        for reg in regs:
            filtered = projected / (np.multiply.outer(*values) + reg)
            yield mean + (left @ filtered @ right.T)[tuple(tested)]
