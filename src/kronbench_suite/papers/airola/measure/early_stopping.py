"""Regularized risk and test AUC after each iteration, over folds and regularization weights.

Parameters
----------
solver : import path of the one solver, unless there are methods
solver_parameters : its parameters
methods : solver and parameters of each method
forms : forms of each method, dual or primal
iterations : number of iterations
regs : regularization weights
folds : rounds of the cross-validation
"""

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.evaluation import roc_auc
from kronbench.pairs import PairData
from kronbench.solvers import make_solver
from kronbench_suite.papers.airola.measure.zero_shot import zero_shot_splits
from kronbench_suite.runner.columns import Columns, beside

COLUMNS = Columns(
    key=("method", "form", "fold", "reg", "iteration"),
    repeats=("fold",),
    rounding=("risk_reversed", "risk_left_reversed", "auc_reversed"),
)


def run(spec, data, rng):
    """One row for each fold, reg and iteration (Airola & Pahikkala, figures 3 to 5).

    With ``methods`` also for each of them and of ``forms``, "dual" or "primal". The dual of a
    solver with a method ``path`` gives all weights from one Krylov space; any other is fitted once
    a weight. ``risk_left`` is the part of the risk above that of the last iteration, as a share of
    what all iterations take off. ``risk_reversed``, ``risk_left_reversed`` and ``auc_reversed``
    are those of the same pairs and vertices in the reverse order, where they differ: there
    rounding decides.
    """
    pairs, y, splits = zero_shot_splits(spec, data, rng)
    # The same pairs and vertices in the reverse order, for sums in another order.
    features = (np.ascontiguousarray(X[::-1]) for X in (pairs.row_features, pairs.col_features))
    rows, cols = pairs.n_rows - 1 - pairs.rows[::-1], pairs.n_cols - 1 - pairs.cols[::-1]
    backwards, last = PairData(*features, rows, cols), len(y) - 1
    # The columns that name a curve of a weight, its solver and the parameters of that.
    variants = [
        ({"method": method, "form": form}, entry["solver"], entry["solver_parameters"], form)
        for method, entry in spec.get("methods", {}).items()
        for form in spec["forms"]
    ]
    if not variants:
        form = spec["solver_parameters"].get("form", "dual")
        variants = [({}, spec["solver"], spec["solver_parameters"], form)]
    iterations = np.arange(1, spec["iterations"] + 1)
    frames = []
    for fold in tqdm(sorted(spec["folds"]), desc=data.name, unit="fold"):
        # The fold in both orders; its test pairs share no vertex with the training pairs.
        train, test = splits[fold]
        parts = (pairs[train], y[train], pairs[test], y[test])
        turned = [last - np.sort(index)[::-1] for index in (train, test)]
        again = [part for index in turned for part in (backwards[index], y[::-1][index])]
        # Both losses, (1 - 0)^2 / 2 and max(0, 1 - 0)^2 / 2, begin with a half for each pair.
        start = len(train) / 2
        for names, solver, parameters, form in variants:
            parameters = parameters | {"form": form, "max_iter": len(iterations)}
            # Ridge regression has all weights from one Krylov space; the SVM is fitted for each.
            path = form == "dual" and hasattr(make_solver(solver), "path")
            curves = _path_curves if path else _fitted_curves
            arguments = solver, parameters, spec["regs"]
            orders = zip(curves(*arguments, *parts), curves(*arguments, *again), strict=True)
            for (reg, *fit), (_, *other) in orders:
                # Iterations are the horizontal axis of the figures, weights their curves.
                frame = _numbers(start, iterations, *fit)
                frame = beside(frame, _numbers(start, iterations, *other), list(frame))
                columns = {
                    "reg": float(reg),
                    "iteration": iterations,
                    "stretch": np.where(iterations <= 10, "first ten", "later"),
                }
                frames.append(frame.assign(**columns, fold=fold, n=len(train), **names))
    return pd.concat(frames, ignore_index=True)


def _numbers(start, iterations, risks, aucs):
    """The numbers after each iteration.

    A solver that has converged stays where it is; means over folds need all of them to go on.
    """
    made = np.minimum(iterations, len(risks)) - 1
    risks = np.asarray(risks)[made]
    left = (risks - risks[-1]) / (start - risks[-1])
    return pd.DataFrame({"risk": risks, "risk_left": left, "auc": np.asarray(aucs)[made]})


def _path_curves(solver, parameters, regs, train, y_train, test, y_test):
    """Yield (weight, risks, AUCs) after each iteration, of all weights from one Krylov space."""
    path = make_solver(solver, **parameters).path(train, y_train, regs, X_test=test)
    for j, reg in enumerate(regs):
        yield reg, path.objective[j], [roc_auc(y_test, scores) for scores in path.test_scores(j)]


def _fitted_curves(solver, parameters, regs, train, y_train, test, y_test):
    """The same of a fit for each weight, which is watched as it goes."""
    for reg in regs:
        model = make_solver(solver, reg=reg, **parameters)
        predict = model.prediction_operator(train, test)
        risks, aucs = [], []

        def observe(state, predict=predict, risks=risks, aucs=aucs):
            risks.append(state.objective)
            aucs.append(roc_auc(y_test, predict.matvec(state.coef)))

        model.fit(train, y_train, callback=observe)
        yield reg, risks, aucs
