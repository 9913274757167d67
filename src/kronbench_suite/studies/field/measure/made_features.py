"""Features made of SMILES and sequences, beside matrices of similarities, on published folds.

Parameters
----------
fold_names : names of the published folds
effects : weights of row and column effects to choose from
regs : regularization weights to choose from
max_iter : iterations of ridge regression
resamples : resamples of the test set, for the intervals
"""

import itertools

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import folds
from kronbench.datasets.drug_target import affinities, unit_kernel
from kronbench.evaluation import affinity_scores
from kronbench.linalg import gram
from kronbench.models import KmerSpectrum, MorganFingerprints
from kronbench.pairs import PairData
from kronbench_suite.runner.clock import Stopwatch
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator
from kronbench_suite.studies.field.measure.affinity_folds import ridge_with_effects

COLUMNS = Columns(
    key=("setting", "molecules", "targets"),
    clock=("features_cpu", "kernels_cpu", "choosing_cpu", "fitting_cpu"),
)

_SCORES = ("ci", "mse", "rm2")
# By side: the texts of the vertices, what the library makes of them, and its kernel.
_SIDES = {
    "drug": ("SMILES", "row_texts", MorganFingerprints, "tanimoto"),
    "target": ("sequences", "col_texts", KmerSpectrum, "linear"),
}


def run(spec, data, rng):
    """One row for each fold and kernel of both sides: a "given matrix", or made of texts.

    Effects and weight have the smallest squared error on the first training part after training
    on the others; the model is then trained on all parts. ``*_half`` is half the 95 % interval
    over resampled test pairs, or resampled new vertices with all their test pairs. ``cost`` is
    what the C-index is below that of both given matrices, with the interval of that difference
    over the same resamples. ``*_cpu`` are processor seconds of both sides together.
    """
    drugs, targets = (_kernels(data, *side) for side in _SIDES.items())
    Y, rows, skipped = affinities(data), [], []
    if len(drugs) == 1:
        skipped.append(f"{data.name}: these data have no SMILES and no sequences")
    for name in spec["fold_names"]:
        fold = folds(data.name, name, data=data)
        draws = list(_resampled(fold, spec["resamples"], generator(spec["seed"], name)))
        y, given = Y[fold.rows, fold.cols], None
        for molecules, sequences in tqdm(list(itertools.product(drugs, targets)), desc=name):
            (K, *of_drugs), (G, *of_targets) = drugs[molecules], targets[sequences]
            X = PairData(K, G, fold.rows, fold.cols)
            chosen, scores, seconds = _fitted(spec, X, y, fold)
            # The scores of the test set come first, then those of each resample of it.
            draw_by_draw = [_scored(y[fold.test], scores, draw) for draw in (slice(None), *draws)]
            found = pd.DataFrame(draw_by_draw)
            given = found["ci"] if given is None else given
            found["cost"] = given - found["ci"]
            half = 1.96 * found[1:].std(ddof=0)
            row = {"setting": f"setting {name.rpartition('-')[2]}"}
            row |= {"molecules": molecules, "targets": sequences, "n_train": len(fold.train)}
            row |= {"n_test": len(fold.test), **chosen, **found.loc[0], **half.add_suffix("_half")}
            for end, sign in (("low", -1), ("high", 1)):
                row[f"cost_{end}"] = row["cost"] + sign * row["cost_half"]
            spent = (*np.add(of_drugs, of_targets).tolist(), *seconds)
            rows.append(row | dict(zip(COLUMNS.clock, spent, strict=True)))
    frame = pd.DataFrame(rows)
    frame.attrs["skipped"] = skipped
    return frame


def _kernels(data, side, made):
    """By name, a kernel, and the processor seconds of its features and of itself."""
    name, texts, transformer, kernel = made
    with Stopwatch() as watch:
        K = unit_kernel(data[f"{side}_similarity"])
    kernels = {"given matrix": (K, 0.0, watch.cpu_seconds)}
    if texts in data.arrays:  # surrogates have none
        with Stopwatch() as features:
            X = transformer().transform(data[texts])
        with Stopwatch() as watch:
            K = gram(X, kernel=kernel)
        kernels[name] = K, features.cpu_seconds, watch.cpu_seconds
    return kernels


def _fitted(spec, X, y, fold):
    """What was chosen, the scores of the test pairs, and the seconds of choice and fit."""
    validation, rest = fold.parts[0], np.concatenate(fold.parts[1:])
    _ridge(spec, spec["effects"][0], spec["regs"][0]).fit(X[:9], y[:9])  # loads what is compiled
    points, mean = [], y[rest].mean()
    with Stopwatch() as choosing:
        for effects in spec["effects"]:
            # One Krylov space for all weights; labels without their mean, which is added again.
            model = _ridge(spec, effects, spec["regs"][0])
            path = model.path(X[rest], y[rest] - mean, spec["regs"], X[validation])
            off = y[validation] - mean - path.final_test_scores(0.0)
            for reg, mse in zip(spec["regs"], np.mean(off**2, axis=1).tolist(), strict=True):
                point = {"row_effect": effects[0], "col_effect": effects[1], "reg": reg}
                points.append(point | {"validation_mse": mse})
    chosen = min(points, key=lambda point: point["validation_mse"])
    mean = y[fold.train].mean()
    with Stopwatch() as fitting:
        model = _ridge(spec, (chosen["row_effect"], chosen["col_effect"]), chosen["reg"])
        scores = model.fit(X[fold.train], y[fold.train] - mean).predict(X[fold.test]) + mean
    return chosen, scores, (choosing.cpu_seconds, fitting.cpu_seconds)


def _ridge(spec, effects, reg):
    return ridge_with_effects(effects, spec["max_iter"], reg=reg, dtype="float32")


def _resampled(fold, resamples, rng):
    """Yield positions in the test set: of drawn pairs, or of all pairs of drawn new vertices."""
    of = {"A": np.arange(len(fold.rows)), "B": fold.rows, "C": fold.cols}[fold.setting][fold.test]
    positions = list(pd.Series(of).groupby(of).indices.values())
    for _ in range(resamples):
        drawn = rng.integers(len(positions), size=len(positions))
        yield np.concatenate([positions[k] for k in drawn])


def _scored(y, scores, draw):
    nowhere = np.zeros(len(y), int)  # no vertices: none of the scores reads them
    return affinity_scores(y[draw], scores[draw], nowhere, nowhere, names=_SCORES)
