"""Leave-one-out AUC over a grid of regularization weights, in the four prediction settings.

Parameters
----------
methods : name, import path and number of weights of each method
regs : regularization weights
submatrix_cap : cost of the decompositions beyond which a sample of them is made
submatrix_sample : rows and columns of this sample
"""

import dataclasses
import itertools
from functools import partial

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import macro_auc, micro_auc
from kronbench.linalg.eigen import Spectrum
from kronbench.pairs.leave_one_out import kron_leave_one_out, two_step_leave_one_out
from kronbench.solvers import installed, make_solver
from kronbench_suite.papers.stock.measure.kernels import PRECOMPUTED
from kronbench_suite.papers.stock.measure.retraining import retrained_kron_leave_one_out
from kronbench_suite.runner.clock import Stopwatch, time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns

_BY_SUBMATRICES = "KK by submatrices"
_SHARED = "KK by submatrices, nothing left out"
_PATIENCE = 1.5  # seconds after which a grid is long enough to be timed once

COLUMNS = TIMING | Columns(
    key=("setting", "method", "reg", "reg_cols"),
    clock=("scoring_seconds",),
    conditions=("extrapolated_from",),
    rounding=("deviation",),
)


def run(spec, data, rng):
    """One row for each setting, method and point of the grid (Stock et al. 2016, section 6.1).

    Where the paper's own way, "KK by submatrices", decomposes matrices whose orders have cubes of
    more than ``submatrix_cap`` together, its seconds are extrapolated from ``submatrix_sample``
    rows and columns, and there is no AUC: the sizes decide on this, and no clock.
    ``deviation`` is its largest difference from our predictions, relative to the largest.
    """
    problem = kernels(data)
    interacts = problem[2] > 0
    regs = np.asarray(spec["regs"], dtype=float)
    entries, skipped = installed({method["name"]: method for method in spec["methods"]})
    # The methods by shortcut, each with one weight or two from the grid.
    methods = {}
    for name, method in entries.items():
        model = make_solver(method["solver"], **PRECOMPUTED)
        methods[name] = model, [regs] * method["weights"]
        for setting in "ABCD":  # loads compiled code
            _exhaust(setting, (np.eye(4),) * 3, model, [regs[:1]] * method["weights"])
    rows = []
    for setting in tqdm("ABCD", desc=data.name, unit="setting"):
        # The whole grid by each shortcut, and the paper's own way where it has none, in turn.
        ways = {name: partial(_exhaust, setting, problem, *way) for name, way in methods.items()}
        own_way = None
        if "KK" in methods and setting != "A":
            too_long = _decomposed(setting, *problem[2].shape) > spec["submatrix_cap"]
            n_sampled = spec["submatrix_sample"] if too_long else None
            own_way = OwnWay(setting, problem, regs, n_sampled, rng)
            ways |= own_way.pieces
        timed = time_interleaved(ways, max_seconds=_PATIENCE)
        # The AUC of every point, off the clock of the predictions.
        scored = {name: _scored(setting, problem, *way) for name, way in methods.items()}
        if own_way:
            scored[_BY_SUBMATRICES] = own_way.compared(methods["KK"][0], timed)
            timed[_BY_SUBMATRICES] = None, own_way.timing(timed)
        for name, points in scored.items():
            labels = {"setting": setting, "method": name}
            rows += [labels | point | timed[name][1].columns() for point in points]
    # All settings with similarities as they are, D also as it is printed; without times.
    rows += _left_indefinite(data, problem[2], regs)
    for reg, reg_cols, auc in _printed_setting_d(data, problem[2], regs):
        labels = {"setting": "D", "method": "TS*"}
        rows.append(labels | {"reg": reg, "reg_cols": reg_cols, "auc": auc})
    # The properties of the data sets (the first table of section 6.1).
    frame = pd.DataFrame(rows).assign(
        targets=interacts.shape[0],
        drugs=interacts.shape[1],
        interactions_percent=100 * interacts.mean(),
        median_degree_targets=np.median(interacts.sum(axis=1)),
        median_degree_drugs=np.median(interacts.sum(axis=0)),
    )
    frame.attrs["skipped"] = skipped
    return frame


def _exhaust(setting, problem, model, grids):
    for _ in model.fit_matrix(*problem).loo_grid(setting, *grids):
        pass


def _scored(setting, problem, model, grids):
    """One point for each weight of the grid: its AUC, and the seconds of all AUCs."""
    points, watch = [], Stopwatch()
    for index, F in model.fit_matrix(*problem).loo_grid(setting, *grids):
        with watch:
            auc = _setting_auc(setting, problem[2] > 0, F)
        at = zip(("reg", "reg_cols"), grids, np.atleast_1d(index), strict=False)
        points.append({name: grid[i] for name, grid, i in at} | {"auc": auc})
    return [point | {"scoring_seconds": watch.seconds} for point in points]


class OwnWay:
    """The paper's own way in one setting: all of it, or a sample and what it has to share.

    Of a sample there are two pieces to be timed, with nothing left out and with all of the sample:
    what is done once for all (the other kernel's eigenpairs in B and C) or once a row (its
    eigenpairs in D) must not be multiplied like the rest.
    """

    def __init__(self, setting, problem, regs, n_sampled, rng):
        self._setting, self._problem, self._regs = setting, problem, regs
        m, q = problem[2].shape
        rows, cols, nothing = np.arange(m), np.arange(q), np.arange(0)
        # All rows or columns are left out in turn, or a random sample of them.
        predictions = partial(retrained_kron_leave_one_out, setting, *problem, regs)
        self.pieces = {}
        if n_sampled is not None:
            if setting in "BD":
                rows = rng.permutation(m)[:n_sampled]
            if setting in "CD":
                cols = rng.permutation(q)[:n_sampled]
            shared = (nothing, cols) if setting == "B" else (rows, nothing)
            self.pieces[_SHARED] = partial(predictions, *shared)
        self.pieces[_BY_SUBMATRICES] = partial(predictions, rows, cols)
        self._rows, self._cols = rows, cols

    def timing(self, timed):
        """The timing of all that is left out, extrapolated where a sample was."""
        timing = timed[_BY_SUBMATRICES][1]
        if _SHARED not in timed:
            return timing
        # What is done once is not multiplied like the rest.
        shared = min(timed[_SHARED][1].seconds, timing.seconds)
        m, q = self._problem[2].shape
        of_rows, of_cols = m / len(self._rows), q / len(self._cols)
        seconds = (timing.seconds - shared) * of_rows * of_cols
        seconds += shared * of_rows if self._setting == "D" else shared
        factor = seconds / timing.seconds
        spread = ("seconds", "seconds_low", "seconds_high", "cpu_seconds")
        longer = {name: factor * getattr(timing, name) for name in spread}
        return dataclasses.replace(timing, **longer)

    def compared(self, model, timed):
        """A point for each weight: deviation from the shortcut, and AUC if all is there."""
        predictions, _ = timed[_BY_SUBMATRICES]
        Y = self._problem[2]
        n_rows, n_cols = len(self._rows), len(self._cols)
        left_out = {
            "B": f"{n_rows} of {len(Y)} rows",
            "C": f"{n_cols} of {Y.shape[1]} columns",
            "D": f"{n_rows * n_cols} of {Y.size} pairs",
        }
        points = []
        for index, F in model.fit_matrix(*self._problem).loo_grid(self._setting, self._regs):
            # The shortcut leaves out the same, so both must predict alike.
            here = F[np.ix_(self._rows, self._cols)]
            difference = np.abs(predictions[index] - here).max()
            point = {"reg": self._regs[index], "deviation": difference / np.abs(F).max()}
            if _SHARED in timed:
                point["extrapolated_from"] = left_out[self._setting]
            else:
                point["auc"] = _setting_auc(self._setting, Y > 0, predictions[index])
            points.append(point)
        return points


def _decomposed(setting, m, q):
    """The sum of the cubes of the orders of all submatrices, as the paper decomposes them."""
    return {"B": m**4, "C": q**4, "D": m**4 + m * q**4}[setting]


def _setting_auc(setting, interacts, F):
    """AUC of predictions (m, q): over all pairs in A and D, over a row in B, a column in C."""
    if setting in "AD":
        return micro_auc(interacts, F)
    return macro_auc(interacts, F, axis=1 if setting == "B" else 0)


def _left_indefinite(data, Y, regs):
    """AUCs in A, B and C with the negative eigenvalues of both similarities: KK* and TS*."""
    similarities = (data["target_similarity"], data["drug_similarity"])
    sides = [Spectrum(*np.linalg.eigh((S + S.T) / 2)) for S in similarities]
    for setting in "ABC":
        for reg, F in zip(regs, kron_leave_one_out(setting, *sides, Y, regs), strict=True):
            point = {"reg": reg, "auc": _setting_auc(setting, Y > 0, F)}
            yield {"setting": setting, "method": "KK*"} | point
        for (i, j), F in two_step_leave_one_out(setting, *sides, Y, regs, regs):
            point = {"reg": regs[i], "reg_cols": regs[j], "auc": _setting_auc(setting, Y > 0, F)}
            yield {"setting": setting, "method": "TS*"} | point


def _printed_setting_d(data, Y, regs):
    """AUC of TS*, what the paper prints for D; neither of its two ways is taken elsewhere here."""
    hats = []
    for S in (data["target_similarity"], data["drug_similarity"]):
        # The hat matrix of each side at every weight.
        values, vectors = np.linalg.eigh((S + S.T) / 2)
        hats.append([(vectors * (values / (values + reg))) @ vectors.T for reg in regs])
    # both factors of the numerator have no diagonal
    lefts = [(H - np.diag(np.diag(H))) @ Y for H in hats[0]]
    rights = [H - np.diag(np.diag(H)) for H in hats[1]]
    for i, j in itertools.product(range(len(regs)), repeat=2):
        # The printed formula divides by 1 - d(H) of both sides together.
        denominators = 1 - np.outer(np.diag(hats[0][i]), np.diag(hats[1][j]))
        yield regs[i], regs[j], micro_auc(Y > 0, lefts[i] @ rights[j] / denominators)
