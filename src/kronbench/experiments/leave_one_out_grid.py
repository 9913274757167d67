"""Leave-one-out AUC over a grid of regularization weights, in the four prediction settings."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.clock import Stopwatch, in_turn, measure
from kronbench.bench.solvers import SolverMissing, make_solver
from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import macro_auc, micro_auc
from kronbench.models import kron_by_submatrices

SETTINGS = ("A", "B", "C", "D")

_BY_SUBMATRICES = "KK by submatrices"
_PATIENCE = 4.0  # seconds after which a grid is long enough to be timed once


def run(spec, data, rng):
    """One row for each setting, method and point of the grid (Stock et al. 2016, section 6.1).

    A solver has ``fit_matrix`` and ``loo_grid(setting, *grids)``, one grid for each of its
    ``weights``; the columns ``reg`` and ``reg_cols`` hold them. ``seconds`` is the time of all
    leave-one-out predictions of a setting, eigendecompositions included, ``scoring_seconds`` that
    of their AUC, which is no part of it; every row of the setting has both.

    The method "KK by submatrices" is the paper's own way to leave out rows and columns with
    Kronecker ridge regression (``kron_by_submatrices``), where its eigendecompositions alone take
    less than ``submatrix_cap`` seconds; ``deviation`` is the largest difference from the shortcut
    of "KK", relative to the largest prediction. The method "TS*" is no leave-one-out prediction:
    see ``_printed_setting_d``.
    """
    problem = kernels(data)
    interacts = problem[2] > 0
    regs = np.asarray(spec["regs"], dtype=float)
    methods, skipped = {}, []
    for method in spec["methods"]:
        try:
            model = make_solver(
                method["solver"], row_kernel="precomputed", col_kernel="precomputed"
            )
        except SolverMissing as reason:
            skipped.append(str(reason))
            continue
        _load_compiled_code(model, method["weights"])
        methods[method["name"]] = model, [regs] * method["weights"]
    rows = []
    for setting in tqdm(SETTINGS, desc=data.name, unit="setting"):
        ways = {name: partial(_exhaust, setting, problem, *way) for name, way in methods.items()}
        if "KK" in methods and setting != "A":
            reason = _too_long(setting, problem, spec["submatrix_cap"])
            if reason:
                skipped.append(f"{_BY_SUBMATRICES} was not run on {data.name}, {reason}")
            else:
                ways[_BY_SUBMATRICES] = partial(kron_by_submatrices, setting, *problem, regs)
        timed = in_turn(ways, patience=_PATIENCE)
        scored = {name: _scored(setting, problem, *way) for name, way in methods.items()}
        if _BY_SUBMATRICES in timed:
            scored[_BY_SUBMATRICES] = _compared(setting, problem, *methods["KK"], timed)
        for name, points in scored.items():
            labels = {"setting": setting, "method": name}
            rows += [labels | point | timed[name][1].columns() for point in points]
    rows += [
        {"setting": "D", "method": "TS*", "reg": reg, "reg_cols": reg_cols, "auc": auc}
        for reg, reg_cols, auc in _printed_setting_d(data, problem[2], regs)
    ]
    frame = pd.DataFrame(rows).assign(**_characteristics(interacts))
    frame.attrs["skipped"] = skipped
    return frame


def _load_compiled_code(model, n_weights):
    eye = np.eye(4)
    for setting in SETTINGS:
        list(model.fit_matrix(eye, eye, eye).loo_grid(setting, *[np.ones(1)] * n_weights))


def _exhaust(setting, problem, model, grids):
    for _ in model.fit_matrix(*problem).loo_grid(setting, *grids):
        pass


def _scored(setting, problem, model, grids):
    """One point for each weight of the grid: its AUC, and the seconds of all AUCs."""
    points, watch = [], Stopwatch()
    for index, F in model.fit_matrix(*problem).loo_grid(setting, *grids):
        with watch:
            auc = _setting_auc(setting, problem[2] > 0, F)
        regs = [grid[at] for grid, at in zip(grids, np.atleast_1d(index), strict=True)]
        points.append(dict(zip(("reg", "reg_cols"), regs, strict=False)) | {"auc": auc})
    return [point | {"scoring_seconds": watch.seconds} for point in points]


def _compared(setting, problem, model, grids, timed):
    """The points of the paper's own way, with their deviation from the shortcut."""
    predictions, _ = timed[_BY_SUBMATRICES]
    return [
        {
            "reg": grids[0][index],
            "auc": _setting_auc(setting, problem[2] > 0, predictions[index]),
            "deviation": np.abs(predictions[index] - F).max() / np.abs(F).max(),
        }
        for index, F in model.fit_matrix(*problem).loo_grid(setting, *grids)
    ]


def _too_long(setting, problem, cap):
    """Why its eigendecompositions of submatrices would pass the cap; "" where they do not."""
    K, G, Y = problem
    (m, q), at_least = Y.shape, 0.0
    counts = {"B": (m, 0), "C": (0, q), "D": (m, m * q)}[setting]
    for kernel, count in zip((K, G), counts, strict=True):
        if count:
            _, timing = measure(partial(np.linalg.eigh, kernel[1:, 1:]), patience=1.0)
            at_least += count * timing.seconds
    if at_least <= cap:
        return ""
    return (
        f"setting {setting}: its eigendecompositions alone take about {at_least:.0f} s, "
        f"over the cap of {cap:g} s"
    )


def _setting_auc(setting, interacts, F):
    """AUC of predictions (m, q): over all pairs in A and D, over a row in B, a column in C."""
    if setting in "AD":
        return micro_auc(interacts, F)
    return macro_auc(interacts, F, axis=1 if setting == "B" else 0)


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
