"""Smallest ranks of incomplete Cholesky and CSI that do, under all readings of the protocol.

Parameters
----------
splits : most splits of a data set
points : points of all splits together, which limit their number to no less than 3
max_rank : largest rank
max_ranks : the same for single data sets
gammas : kernel widths to choose from, times the number of features
regs : regularization weights to choose from
selection_points : most training points that choose
readings_points : largest data set of which the choice is read in other ways
ahead_points : largest data set with a look-ahead at all columns
kappa : weight of the targets in the criterion
lookahead : number of look-ahead columns
"""

from collections import defaultdict
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, ShuffleSplit
from tqdm import tqdm

from kronbench.linalg import gram
from kronbench.linalg.lssvm_paths import LSSVMPath, solve_full
from kronbench.models import CSILSSVM
from kronbench_suite.runner.columns import Columns

_STOP = 1e-4  # "the stopping criterion (the minimal gain at each iteration)"
_BOUNDS = {"deviation": lambda splits: 1.0, "deviation of the mean": np.sqrt}
_STOPS = ("none", "gain 1e-4")

# The selection whose parameters have the least mean over all splits of the leave-one-out error.
FOR_ALL = "leave-one-out, one for all"

COLUMNS = Columns(
    key=("selection", "split", "decomposition", "bound", "stop"),
    repeats=("split",),
)


def run(spec, data, rng, for_all=False):
    """Two kinds of rows, told apart by ``decomposition`` (Bach & Jordan 2005, section 6.3).

    "full": for each split and selection the test error of the machine on the full kernel matrix.
    Others: for each selection, bound and stop the smallest rank; empty where none up to ``tried``
    is as good. Errors are shares of wrong classes, or squared errors relative to the variance of
    the response. With ``for_all`` there is also one leave-one-out choice for all splits.
    """
    X, y = data["X"], data["y"]
    # Ten random splits, three quarters for training (section 6.3); fewer where points are many.
    max_rank = spec["max_ranks"].get(data.name, spec["max_rank"])
    n_splits = min(spec["splits"], max(3, spec["points"] // len(X)))
    splitter = ShuffleSplit(n_splits, test_size=0.25, random_state=int(rng.integers(2**31)))
    splits = list(splitter.split(X))
    # Kernel width and weight of each split and selection.
    choices = _choices(data, splits, spec, rng, for_all)
    rows, paths = [], defaultdict(list)
    for split, (train, test) in enumerate(tqdm(splits, desc=data.name, unit="split")):
        # Machines with the same width share their kernel matrices and their decompositions.
        scaled, targets, decide = _training(X, y, train)
        error_of = partial(_error, decide, y[test])
        chosen = choices[split]
        for gamma in sorted({choice["gamma"] for choice in chosen.values()}):
            took = {name: choice for name, choice in chosen.items() if choice["gamma"] == gamma}
            ahead = len(X) <= spec["ahead_points"] and "leave-one-out" in took
            K = gram(scaled[train], kernel="gaussian", gamma=gamma)
            K_test = gram(scaled[test], scaled[train], kernel="gaussian", gamma=gamma)
            machines = _low_rank_machines(K, targets[train], max_rank, ahead, spec)
            # Test errors by weight: of the full machine, and of the low-rank ones at each rank.
            errors_of = {}  # by weight and machine, those of rank 1, 2, ...
            for reg in {choice["reg"] for choice in took.values()}:
                coef, intercept = solve_full(K, targets[train], reg)
                errors_of[reg, "full"] = error_of(K_test @ coef + intercept)
                for name, (machine, _) in machines.items():
                    responses = machine.staged_predict(K_test, reg)
                    errors_of[reg, name] = np.array([error_of(of_rank) for of_rank in responses])
            # A row of the full machine for each selection, and the paths of ranks.
            for selection, choice in took.items():
                selected_on = min(len(train), spec["selection_points"])
                rows.append(
                    {"selection": selection, "split": split, "decomposition": "full"}
                    | {"error": errors_of[choice["reg"], "full"], **choice}
                    | {"gamma p": gamma * X.shape[1], "selected on": selected_on}
                )
                for name in machines:
                    errors = errors_of[choice["reg"], name]
                    if name != "csi, all ahead" or selection == "leave-one-out":
                        paths[selection, name].append((errors, machines[name][1]))
    # The smallest rank whose mean error is within the bound of the full machine's.
    full = pd.DataFrame(rows)
    for (selection, name), of_splits in paths.items():
        errors = full.loc[full["selection"] == selection].sort_values("split")["error"].to_numpy()
        tried = max(len(of_ranks) for of_ranks, _ in of_splits)
        for bound, stop in product(_BOUNDS, _STOPS):
            curves = _curves(of_splits, stop)
            rank = _smallest(curves, errors, _BOUNDS[bound](n_splits))
            rows.append(
                {"selection": selection, "decomposition": name, "bound": bound, "stop": stop}
                | {"rank": rank, "tried": tried}
            )
    whole = ["split", "on_edge", "selected on", "rank", "tried"]
    counts = {"n_features": X.shape[1], "n_points": len(X), "n_splits": n_splits}
    counts["n_classes"] = len(np.unique(y)) if y.dtype.kind in "iu" else 0
    frame = pd.DataFrame(rows).astype(dict.fromkeys(whole, "Int64"))
    return frame.assign(**counts, agreement=data.agreement)


def _choices(data, splits, spec, rng, for_all):
    """Of each split, by selection the parameters that it takes."""
    X, y, choices, grids = data["X"], data["y"], [], []
    gammas, regs = np.sort(spec["gammas"]) / X.shape[1], np.sort(spec["regs"])
    for train, _ in tqdm(splits, desc=data.name, unit="selection"):
        scaled, targets, decide = _training(X, y, train)
        # The training points that choose, and folds where other readings are tried.
        part = np.sort(rng.permutation(train)[: spec["selection_points"]])
        folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**31))).split(part)
        folds = [held_out for _, held_out in folds] if len(X) <= spec["readings_points"] else ()
        error_of_part = partial(_error, decide, y[part])
        # by selection the errors (gammas, regs); without folds there is leave-one-out alone
        errors = defaultdict(list)
        for gamma in gammas:
            path = LSSVMPath(gram(scaled[part], kernel="gaussian", gamma=gamma), targets[part])
            responses = {"leave-one-out": path.leave_one_out(regs)}
            if folds:
                responses["five-fold"] = path.leave_out(folds, regs)
                responses["training"] = path.fitted(regs)
            for way, of_regs in responses.items():
                errors[way].append([error_of_part(of_reg) for of_reg in of_regs])
        choices.append(_chosen(errors, gammas, regs))
        grids.append(errors["leave-one-out"])
    if for_all:
        (choice,) = _chosen({"leave-one-out": np.mean(grids, axis=0)}, gammas, regs).values()
        for chosen in choices:
            chosen[FOR_ALL] = choice
    return choices


def _training(X, y, train):
    """All points in the scale of a training part, their targets (n, d), and what decides."""
    scale = X[train].std(axis=0)
    scaled = X / np.where(scale > 0, scale, 1.0)
    if y.dtype.kind not in "iu":
        mean, spread = y[train].mean(), y[train].std()
        targets = ((y - mean) / spread)[:, None]
        return scaled, targets, lambda responses: responses[:, 0] * spread + mean
    classes = np.unique(y)
    if len(classes) == 2:
        signs = np.where(y == classes[1], 1.0, -1.0)[:, None]
        return scaled, signs, lambda responses: classes[(responses[:, 0] > 0).astype(int)]
    # The closest basis vector has the largest component.
    indicators = (y[:, None] == classes).astype(float)
    return scaled, indicators, lambda responses: classes[responses.argmax(axis=1)]


def _chosen(errors, gammas, regs):
    """The parameters that each selection takes."""
    grids = {way: np.array(grid) for way, grid in errors.items()}
    # the first of the least errors: of the widest kernel, then of the least weight
    places = {way: np.unravel_index(grid.argmin(), grid.shape) for way, grid in grids.items()}
    if "training" in grids:
        places["training error, widest first"] = places.pop("training")
        turned = grids["training"].T[::-1]  # regs from the largest on, gammas
        weight, width = np.unravel_index(turned.argmin(), turned.shape)
        places["training error, heaviest first"] = (width, len(regs) - 1 - weight)
    chosen = {}
    for way, (i, j) in places.items():
        on_edge = i in (0, len(gammas) - 1) or j in (0, len(regs) - 1)
        chosen[way] = {"gamma": gammas[i], "reg": regs[j], "on_edge": int(on_edge)}
    return chosen


def _low_rank_machines(K, targets, max_rank, ahead, spec):
    """By decomposition a fitted machine, and the rank at which the paper's stop ends it."""
    kinds = {
        "cholesky": {"decomposition": "cholesky", "tol": 1e-10},
        "csi": {"tol": 0.0, "lookahead": spec["lookahead"]},
    }
    if ahead:
        kinds["csi, all ahead"] = {"tol": 0.0, "lookahead": None}
    shared = {"task": "regression", "kernel": "precomputed", "kappa": spec["kappa"]}
    machines = {}
    for name, parameters in kinds.items():
        machine = CSILSSVM(max_rank=max_rank, **shared, **parameters).fit(K, targets)
        # The gain of a step is what it lowers: for Cholesky the pivot, for CSI its criterion.
        lower_bounds = machine.factor_.factor.diagonal() ** 2
        gains = lower_bounds if name == "cholesky" else machine.gains_
        small = np.flatnonzero(gains < _STOP)
        machines[name] = machine, max(1, int(small[0])) if len(small) else len(gains)
    return machines


def _curves(paths, stop):
    """Errors (splits, ranks); a decomposition that has ended keeps its last machine."""
    ended = [errors if stop == "none" else errors[:end] for errors, end in paths]
    longest = max(map(len, ended))
    return np.array([np.pad(e, (0, longest - len(e)), mode="edge") for e in ended])


def _smallest(curves, full, divisor):
    """The smallest rank within the bound; NaN if none."""
    good = np.flatnonzero(curves.mean(axis=0) <= full.mean() + full.std(ddof=1) / divisor)
    return float(good[0] + 1) if len(good) else np.nan


def _error(decide, y, responses):
    decisions = decide(responses)
    if y.dtype.kind in "iu":
        return float(np.mean(decisions != y))
    return float(np.mean((decisions - y) ** 2) / np.var(y))
