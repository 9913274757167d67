"""Leave-one-out AUC over a grid of regularization weights, in the four prediction settings."""

import dataclasses
import itertools
from functools import partial

import numba
import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets.drug_target import kernels
from kronbench.evaluation import macro_auc, micro_auc
from kronbench.papers.stock.measure import peer_grid
from kronbench.papers.stock.measure.kernels import PRECOMPUTED
from kronbench.papers.stock.measure.retraining import retrained_kron_leave_one_out
from kronbench.runner.clock import Stopwatch, measure, time_interleaved
from kronbench.runner.columns import TIMING, Columns
from kronbench.runner.processes import fresh_process
from kronbench.runner.solvers import SolverMissing, import_solver, make_solver

SETTINGS = ("A", "B", "C", "D")

_BY_SUBMATRICES = "KK by submatrices"
_SHARED = "KK by submatrices, nothing left out"
_PATIENCE = 1.5  # seconds after which a grid is long enough to be timed once

COLUMNS = TIMING | Columns(
    key=("setting", "method", "reg", "reg_cols"),
    clock=("scoring_seconds",),
    conditions=("extrapolated_from",),
)


def run(spec, data, rng):
    """One row for each setting, method and point of the grid (Stock et al. 2016, section 6.1).

    "KK by submatrices" is the paper's own way to leave out rows and columns; where it would take
    more than ``submatrix_cap`` seconds, these are extrapolated from ``submatrix_sample`` of them,
    and there is no AUC. ``deviation`` is the largest difference from our predictions, relative to
    the largest. ``peer`` is a library of others for the method ``of``, up to a cap.
    """
    problem = kernels(data)
    interacts = problem[2] > 0
    regs = np.asarray(spec["regs"], dtype=float)
    methods, skipped = {}, []
    for method in spec["methods"]:
        try:
            model = make_solver(method["solver"], **PRECOMPUTED)
        except SolverMissing as reason:
            skipped.append(str(reason))
            continue
        methods[method["name"]] = model, [regs] * method["weights"]
        for setting in SETTINGS:  # loads compiled code
            _exhaust(setting, (np.eye(4),) * 3, model, [regs[:1]] * method["weights"])
    peer_rows = []
    if "peer" in spec:
        peer_rows, reasons = _by_peer(spec["peer"], methods, problem)
        skipped += [f"{data.name}, {reason}" for reason in reasons]
    rows = []
    for setting in tqdm(SETTINGS, desc=data.name, unit="setting"):
        ways = {name: partial(_exhaust, setting, problem, *way) for name, way in methods.items()}
        own_way = None
        if "KK" in methods and setting != "A":
            too_long = _decomposing(setting, problem) > spec["submatrix_cap"]
            n_sampled = spec["submatrix_sample"] if too_long else None
            own_way = OwnWay(setting, problem, regs, n_sampled, rng)
            ways |= own_way.pieces
        timed = time_interleaved(ways, max_seconds=_PATIENCE)
        scored = {name: _scored(setting, problem, *way) for name, way in methods.items()}
        if own_way:
            scored[_BY_SUBMATRICES] = own_way.compared(methods["KK"][0], timed)
            timed[_BY_SUBMATRICES] = None, own_way.timing(timed)
        for name, points in scored.items():
            labels = {"setting": setting, "method": name}
            rows += [labels | point | timed[name][1].columns() for point in points]
    for reg, reg_cols, auc in _printed_setting_d(data, problem[2], regs):
        labels = {"setting": "D", "method": "TS*"}
        rows.append(labels | {"reg": reg, "reg_cols": reg_cols, "auc": auc})
    frame = pd.DataFrame(rows + peer_rows).assign(
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
        points.append(_weights(grids, index) | {"auc": auc})
    return [point | {"scoring_seconds": watch.seconds} for point in points]


def _weights(grids, index):
    at = zip(("reg", "reg_cols"), grids, np.atleast_1d(index), strict=False)
    return {name: grid[i] for name, grid, i in at}


def _by_peer(peer, methods, problem):
    """The rows of a library of others, and why some or all of them are missing."""
    try:
        import_solver(peer["solver"])
    except SolverMissing as reason:
        return [], [f"{peer['name']}: {reason}; `{peer['install']}` installs it"]
    model, grids = methods[peer["of"]]
    begun = peer["solver"], problem, numba.get_num_threads()
    rows, skipped = [], []
    with fresh_process(peer_grid.__name__, initializer=peer_grid.begin, initargs=begun) as process:
        for setting in SETTINGS:
            seconds, gigabytes = process.apply(peer_grid.needs, (setting, grids))
            if seconds > peer["seconds"] or gigabytes > peer["gigabytes"]:
                skipped.append(
                    f"{peer['name']}, setting {setting}: its grid would take about "
                    f"{seconds:.0f} s of a processor and {gigabytes:.2g} GB, over the cap of "
                    f"{peer['seconds']:g} s and {peer['gigabytes']:g} GB"
                )
                continue
            timing = process.apply(peer_grid.measure_grid, (setting, grids))
            for index, F in model.fit_matrix(*problem).loo_grid(setting, *grids):
                theirs = process.apply(peer_grid.take, (index,))
                finite = np.isfinite(theirs).all()
                rows.append(
                    {"setting": setting, "method": peer["name"]}
                    | _weights(grids, index)
                    | {"deviation": np.abs(theirs - F).max() / np.abs(F).max()}
                    | {"auc": _setting_auc(setting, problem[2] > 0, theirs) if finite else np.nan}
                    | timing.columns()
                )
    return rows, skipped


class OwnWay:
    """The paper's own way in one setting: all of it, or a sample and what it has to share.

    Of a sample there are two pieces to be timed, with nothing left out and with all of the sample,
    since what is done once for all (the other kernel's eigenpairs in B and C) or once a row (its
    eigenpairs in D, for all pairs of the row) must not be multiplied like the rest.
    """

    def __init__(self, setting, problem, regs, n_sampled, rng):
        self._setting, self._problem, self._regs = setting, problem, regs
        m, q = problem[2].shape
        rows, cols, nothing = np.arange(m), np.arange(q), np.arange(0)
        self.pieces = {}
        if n_sampled is not None:
            if setting in "BD":
                rows = rng.permutation(m)[:n_sampled]
            if setting in "CD":
                cols = rng.permutation(q)[:n_sampled]
            shared = (nothing, cols) if setting == "B" else (rows, nothing)
            self.pieces[_SHARED] = self._piece(*shared)
        self.pieces[_BY_SUBMATRICES] = self._piece(rows, cols)
        self._rows, self._cols = rows, cols

    def _piece(self, rows, cols):
        given = self._setting, *self._problem, self._regs
        return partial(retrained_kron_leave_one_out, *given, rows=rows, cols=cols)

    def timing(self, timed):
        """The timing of all that is left out, extrapolated where a sample was."""
        timing = timed[_BY_SUBMATRICES][1]
        if _SHARED not in timed:
            return timing
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
        K, G, Y = self._problem
        n_rows, n_cols = len(self._rows), len(self._cols)
        left_out = {
            "B": f"{n_rows} of {len(K)} rows",
            "C": f"{n_cols} of {len(G)} columns",
            "D": f"{n_rows * n_cols} of {Y.size} pairs",
        }
        points = []
        for index, F in model.fit_matrix(K, G, Y).loo_grid(self._setting, self._regs):
            here = F[np.ix_(self._rows, self._cols)]
            difference = np.abs(predictions[index] - here).max()
            point = {"reg": self._regs[index], "deviation": difference / np.abs(F).max()}
            if _SHARED in timed:
                point["extrapolated_from"] = left_out[self._setting]
            else:
                point["auc"] = _setting_auc(self._setting, Y > 0, predictions[index])
            points.append(point)
        return points


def _decomposing(setting, problem):
    """About the seconds of the eigendecompositions of all submatrices, as the paper makes them."""
    K, G, Y = problem
    (m, q), seconds = Y.shape, 0.0
    counts = {"B": (m, 0), "C": (0, q), "D": (m, m * q)}[setting]
    for kernel, count in zip((K, G), counts, strict=True):
        if count:
            _, timing = measure(partial(np.linalg.eigh, kernel[1:, 1:]), max_seconds=1.0)
            seconds += count * timing.seconds
    return seconds


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
    hats = []
    for S in (data["target_similarity"], data["drug_similarity"]):
        values, vectors = np.linalg.eigh((S + S.T) / 2)
        hats.append([(vectors * (values / (values + reg))) @ vectors.T for reg in regs])
    # both factors of the numerator have no diagonal
    lefts = [(H - np.diag(np.diag(H))) @ Y for H in hats[0]]
    rights = [H - np.diag(np.diag(H)) for H in hats[1]]
    for i, j in itertools.product(range(len(regs)), repeat=2):
        denominators = 1 - np.outer(np.diag(hats[0][i]), np.diag(hats[1][j]))
        yield regs[i], regs[j], micro_auc(Y > 0, lefts[i] @ rights[j] / denominators)
