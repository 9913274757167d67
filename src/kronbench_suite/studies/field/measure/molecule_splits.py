"""Published splits of molecules and protein sequences: both sides, each alone, and none.

Parameters
----------
powers : powers of both kernels to choose from
effects : weights of row and column effects to choose from
regs : regularization weights to choose from
max_iter : iterations of ridge regression
resamples : resamples of the test pairs, for the intervals
"""

import itertools

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score
from tqdm import tqdm

from kronbench.evaluation import additive_scores
from kronbench.linalg import gram
from kronbench.models import KmerSpectrum, KronRidge, MorganFingerprints
from kronbench.pairs import PairData
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(key=("method", "trained_on"))

_SCORES = {"auroc": roc_auc_score, "auprc": average_precision_score}


def run(spec, data, rng):
    """One row for each method, and one for the model of both sides trained on validation too.

    Kernels are Tanimoto of ECFP4 and the cosine of 3-mers. Their powers, effects and the weight
    have the largest AUROC on the validation part. "molecule alone" has a constant kernel of the
    sequences, "sequence alone" one of the molecules, and "row and column effects" no features.
    ``*_half`` is half the 95 % interval over resampled test pairs. ``repeated`` counts the pairs
    of the training part that stand in it before, ``shared`` the different pairs of the test part
    that are in the validation part; ``one_label_*`` are shares of the vertices whose pairs have
    one label.
    """
    rows, cols, labels, parts = (data[name] for name in ("rows", "cols", "labels", "parts"))
    train, validation, test = (np.flatnonzero(parts == k) for k in range(3))
    y = labels.astype(float)
    bits = MorganFingerprints().transform(data["smiles"])
    words = KmerSpectrum().transform(data["sequences"])
    kernels = gram(bits, kernel="tanimoto"), gram(words, kernel="linear")
    constant = [np.ones_like(K) for K in kernels]
    pairs = [pd.Index(zip(rows[p], cols[p], strict=True)) for p in (train, validation, test)]
    counts = {
        "repeated": int(pairs[0].duplicated().sum()),
        "shared": int(pairs[2].unique().isin(pairs[1]).sum()),
        "one_label_molecules": _of_one_label(rows, y),
        "one_label_sequences": _of_one_label(cols, y),
    }
    sides = {
        "molecule and sequence": kernels,
        "molecule alone": (kernels[0], constant[1]),
        "sequence alone": (constant[0], kernels[1]),
    }
    found = []
    for method, (K, G) in tqdm(sides.items(), desc=data.name, unit="method"):
        both = method == "molecule and sequence"
        # The power of a constant kernel is the kernel.
        powers = [spec["powers"] if both or not (M == 1).all() else [1] for M in (K, G)]
        effects = spec["effects"] if both else [0.0]
        best = {}
        for row_power, col_power, effect in itertools.product(*powers, effects):
            X = PairData(K**row_power, G**col_power, rows, cols)
            model = _ridge(spec, effect)
            path = model.path(X[train], y[train], spec["regs"], X[validation])
            for reg, scores in zip(spec["regs"], path.final_test_scores(0.0), strict=True):
                auroc = roc_auc_score(y[validation], scores)
                if auroc > best.get("validation_auroc", 0.0):
                    best = {"validation_auroc": auroc, "reg": reg, "effect": effect}
                    best |= {"molecule_power": row_power, "sequence_power": col_power}
        X = PairData(K ** best["molecule_power"], G ** best["sequence_power"], rows, cols)
        trainings = {"training": train}
        if both:
            trainings["training and validation"] = np.concatenate([train, validation])
        for trained_on, known in trainings.items():
            model = _ridge(spec, best["effect"], reg=best["reg"]).fit(X[known], y[known])
            row = {"method": method, "trained_on": trained_on, "n_train": len(known)}
            found.append(row | best | _scored(spec, data.name, y[test], model.predict(X[test])))
    X = PairData(*kernels, rows, cols)
    margins = additive_scores(X[train], y[train], X[test])
    row = {"method": "row and column effects", "trained_on": "training", "n_train": len(train)}
    found.append(row | _scored(spec, data.name, y[test], margins))
    return pd.DataFrame([row | counts | {"n_test": len(test)} for row in found])


def _ridge(spec, effect, **options):
    options |= {"row_kernel": "precomputed", "col_kernel": "precomputed", "fit_intercept": True}
    options |= {"row_effect": effect, "col_effect": effect, "product": "sparse"}
    return KronRidge(solver="minres", max_iter=spec["max_iter"], tol=1e-6, **options)


def _scored(spec, name, y, scores):
    """Both scores of the test pairs, with half their intervals over resampled pairs."""
    row = {key: score(y, scores) for key, score in _SCORES.items()}
    rng = generator(spec["seed"], "resamples", name)
    draws = [rng.integers(len(y), size=len(y)) for _ in range(spec["resamples"])]
    for key, score in _SCORES.items():
        resampled = [score(y[draw], scores[draw]) for draw in draws if len(np.unique(y[draw])) > 1]
        row[f"{key}_half"] = 1.96 * np.std(resampled)
    return row


def _of_one_label(vertices, y):
    return float((pd.Series(y).groupby(vertices).nunique() == 1).mean())
