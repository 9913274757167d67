"""Leave-one-out AUC over a grid of regularization weights, in the four prediction settings."""

import itertools

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.clock import Stopwatch
from kronbench.bench.solvers import SolverMissing, make_solver
from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import macro_auc, micro_auc

SETTINGS = ("A", "B", "C", "D")


def run(spec, data, rng):
    """One row for each setting, method and point of the grid (Stock et al. 2016, section 6.1).

    A solver has ``fit_matrix`` and ``loo_grid(setting, *grids)``, one grid for each of its
    ``weights``; the columns ``reg`` and ``reg_cols`` hold them. ``seconds`` is the time of all
    leave-one-out predictions of a setting, eigendecompositions included, ``scoring_seconds`` that
    of their AUC; every row of the setting has both.

    The method "TS*" is no leave-one-out prediction: see ``_printed_setting_d``.
    """
    K, G, Y = kernels(data)
    interacts = Y > 0
    regs = np.asarray(spec["regs"], dtype=float)
    rows, skipped = [], []
    for method in spec["methods"]:
        try:
            model = make_solver(
                method["solver"], row_kernel="precomputed", col_kernel="precomputed"
            )
        except SolverMissing as reason:
            skipped.append(str(reason))
            continue
        _load_compiled_code(model, method["weights"])
        for setting in tqdm(SETTINGS, desc=f"{data.name} {method['name']}", unit="setting"):
            grids = [regs] * method["weights"]
            areas, times = _grid_areas(model, setting, grids, (K, G, Y), interacts)
            labels = {"setting": setting, "method": method["name"]}
            rows += [labels | point | times for point in areas]
    rows += [
        {"setting": "D", "method": "TS*", "reg": reg, "reg_cols": reg_cols, "auc": auc}
        for reg, reg_cols, auc in _printed_setting_d(data, Y, regs)
    ]
    frame = pd.DataFrame(rows).assign(**_characteristics(interacts))
    frame.attrs["skipped"] = skipped
    return frame


def _load_compiled_code(model, n_weights):
    eye = np.eye(4)
    for setting in SETTINGS:
        list(model.fit_matrix(eye, eye, eye).loo_grid(setting, *[np.ones(1)] * n_weights))


def setting_auc(setting, interacts, F):
    """AUC of predictions (m, q): over all pairs in A and D, over a row in B, a column in C."""
    if setting in "AD":
        return micro_auc(interacts, F)
    return macro_auc(interacts, F, axis=1 if setting == "B" else 0)


def _grid_areas(model, setting, grids, problem, interacts):
    with Stopwatch() as fitting:
        points = iter(model.fit_matrix(*problem).loo_grid(setting, *grids))
    areas, seconds, cpu_seconds, scoring = [], fitting.seconds, fitting.cpu_seconds, 0.0
    while True:
        with Stopwatch() as predicting:
            point = next(points, None)
        seconds += predicting.seconds
        cpu_seconds += predicting.cpu_seconds
        if point is None:
            break
        index, F = point
        with Stopwatch() as watch:
            auc = setting_auc(setting, interacts, F)
        scoring += watch.seconds
        index = np.atleast_1d(index)
        regs = [grid[at] for grid, at in zip(grids, index, strict=True)]
        areas.append(dict(zip(("reg", "reg_cols"), regs, strict=False)) | {"auc": auc})
    times = {"seconds": seconds, "cpu_seconds": cpu_seconds, "scoring_seconds": scoring}
    return areas, times


def _printed_setting_d(data, Y, regs):
    """AUC of what the paper prints for two-step ridge in setting D.

    Corollary 5 divides by (1 - H^k_ii)(1 - H^g_jj). Dividing by 1 - H^k_ii H^g_jj, which belongs
    to setting A, and leaving the negative eigenvalues of the similarities as they are, gives the
    printed numbers of all four data sets to the fourth digit; neither is done anywhere else here.
    """
    hats = [
        [(vectors * (values / (values + reg))) @ vectors.T for reg in regs]
        for values, vectors in (
            np.linalg.eigh((S + S.T) / 2)
            for S in (data["target_similarity"], data["drug_similarity"])
        )
    ]
    # both factors of the numerator have no diagonal
    lefts = [(H - np.diag(np.diag(H))) @ Y for H in hats[0]]
    rights = [H - np.diag(np.diag(H)) for H in hats[1]]
    for i, j in itertools.product(range(len(regs)), repeat=2):
        denominators = 1 - np.outer(np.diag(hats[0][i]), np.diag(hats[1][j]))
        yield regs[i], regs[j], micro_auc(Y > 0, lefts[i] @ rights[j] / denominators)


def _characteristics(interacts):
    return {
        "targets": interacts.shape[0],
        "drugs": interacts.shape[1],
        "interactions_percent": 100 * interacts.mean(),
        "median_degree_targets": np.median(interacts.sum(axis=1)),
        "median_degree_drugs": np.median(interacts.sum(axis=0)),
    }
