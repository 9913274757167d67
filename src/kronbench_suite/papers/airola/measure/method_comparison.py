"""AUC and processor seconds of several methods on vertex-disjoint test pairs.

Parameters
----------
methods : solvers by name, each with its parameters and what is chosen by inner folds
grids : values to choose from, by parameter, perhaps by folds and checkerboards
inner_folds : inner rounds that choose
folds : rounds of the cross-validation
timed_folds : rounds of which the clock is read
boards : number of test checkerboards
test_vertices : vertices on a side of a test checkerboard
fraction : share of the cells of a checkerboard that are pairs
"""

import itertools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numba
import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets.generators import checkerboard
from kronbench.evaluation import VertexDisjointKFold, roc_auc
from kronbench.solvers import installed, make_solver, scores_of
from kronbench_suite.papers.airola.measure.zero_shot import drawn_pairs, zero_shot_splits
from kronbench_suite.runner.clock import Stopwatch
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = TIMING | Columns(
    key=("method", "fold"),
    repeats=("fold",),
    clock=("selection_cpu", "fit_cpu", "prediction_cpu"),
)

_OF_CLOCK = {*TIMING.clock, *TIMING.conditions, *COLUMNS.clock}


def run(spec, data, rng):
    """One row for each method and split (Airola & Pahikkala, tables 6 and 7).

    A method may ``select`` a parameter from ``grids`` by the mean AUC over ``inner_folds``. Its
    ``twin`` is the same predictor by a cheaper way: it gives the scores on folds that are not in
    ``timed_folds``; such rows name it in ``scored_by`` and have no times. On timed folds it gives
    the selected value, and one inner fold is timed for all.
    """
    # The methods of this kind of data, each with its parameters for it.
    place = "checkerboards" if data.kind == "pairs" else "folds"
    of_place = {n: e for n, e in spec["methods"].items() if e.get("only", place) == place}
    entries, skipped = installed(of_place)
    methods = {name: _Method(entry, spec, place) for name, entry in entries.items()}
    rows = []
    for fold, train, y, test_set in splits(spec, data):
        seed = int(generator(spec["seed"], data.name, fold).integers(2**31))
        timed = place == "checkerboards" or fold in spec.get("timed_folds", ())
        rows_of_fold = {}
        twins_first = sorted(methods, key=lambda name: bool(methods[name].twin))
        for name in tqdm(twins_first, desc=f"{data.name}, fold {fold}", unit="method"):
            method = methods[name]
            # A method is measured on timed folds; elsewhere its twin stands in for it.
            of_twin = rows_of_fold.get(method.twin)
            if timed or not method.twin:
                is_selected = place == "folds" and of_twin
                value = of_twin[method.selected] if is_selected else None
                rows_of_fold[name] = method.measure(train, y, test_set, seed, value)
            elif of_twin:  # without what is a clock's
                scores = {key: at for key, at in of_twin.items() if key not in _OF_CLOCK}
                rows_of_fold[name] = scores | {"scored_by": method.twin}
        in_order = [name for name in methods if name in rows_of_fold]
        rows += [{"method": name, "fold": fold, **rows_of_fold[name]} for name in in_order]
    frame = pd.DataFrame(rows).assign(cross_validated=place == "folds")
    frame.attrs["skipped"] = skipped
    return frame


def splits(spec, data):
    """Yield of each split its number, training pairs, labels, and what gives its test set.

    Drug-target data have the ``folds`` of one zero-shot split. A checkerboard is drawn several
    times, each time with a test board of ``test_vertices`` x ``test_vertices`` fresh vertices; the
    first of these ``boards`` is the data set itself.
    """
    if data.kind == "pairs":
        for number in range(spec["boards"]):
            if number == 0:
                pairs, y = drawn_pairs(spec, data)
                m = round(np.sqrt(len(pairs) / spec["fraction"]))
            else:
                pairs, y = _board(spec, data.name, "training", number, m=m)
            test_set = partial(_board, spec, data.name, number)
            # 10 MB for ten million labels, not 80
            yield number, pairs, y.astype(np.int8), test_set
            del pairs, y  # before the next ones are made
        return
    pairs, y, parts = zero_shot_splits(spec, data, generator(spec["seed"], "split", data.name))
    for fold in spec["folds"]:
        train, test = parts[fold]
        yield fold, pairs[train], y[train], lambda test=test: (pairs[test], y[test])


def _board(spec, *name, m=None):
    rng = generator(spec["seed"], "board", *name)
    return checkerboard(m or spec["test_vertices"], rng, fraction=spec["fraction"])


class _Method:
    """A method with its grid, whose fits and predictions are measured on one split at a time."""

    def __init__(self, entry, spec, place):
        self.twin, self.selected = entry.get("twin"), entry.get("select")
        self._solver = entry["solver"]
        of_place = entry.get("checkerboard", {}) if place == "checkerboards" else {}
        self._parameters = {**entry.get("parameters", {}), **of_place}
        self._inner_folds = spec.get("inner_folds", ())
        self._side_by_side = 1 if place == "checkerboards" else numba.get_num_threads()
        self.grid = spec["grids"][self.selected] if self.selected else [None]
        if isinstance(self.grid, Mapping):
            self.grid = self.grid[place]

    def make(self, seed, value=None):
        model = make_solver(self._solver, **self._parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return model.set_params(**{self.selected: value}) if self.selected else model

    def measure(self, pairs, y, test_set, seed, value=None):
        """The row of a split; the time to select a known ``value`` is that of one inner fold."""
        # Selection by the mean AUC over inner folds; with a known value one fold is timed.
        is_known, choices = value is not None, len(self.grid) > 1
        with Stopwatch() as selection:
            if choices:
                inner = self._inner_folds[:1] if is_known else self._inner_folds
                areas = self.inner_areas(pairs, y, seed, inner)
            if not is_known:
                best = int(np.argmax(np.nanmean(areas, axis=0))) if choices else 0
                value = self.grid[best]
        if is_known:
            selection.count_as(len(self._inner_folds))
        model = self.make(seed, value)
        # Then one fit with the selected value, and its scores of the test pairs.
        with Stopwatch() as fit:
            model.fit(pairs, y)
        # What was selected, and whether it lies at an end of its grid.
        chosen = dict.fromkeys(("reg", "n_neighbors", "on_edge", "scored_by"))
        if self.selected:
            at_end = choices and value in (self.grid[0], self.grid[-1])
            chosen |= {self.selected: value, "on_edge": int(at_end)}
        test, y_test = test_set()
        with Stopwatch() as prediction:
            scores = scores_of(model, test)
        watches = {"selection": selection, "fit": fit, "prediction": prediction}
        timing = selection.timing() + fit.timing() + prediction.timing()
        # The row has the times of all three steps, together and one by one.
        row = {"auc": roc_auc(y_test, scores), "n_test": len(test)}
        row |= timing.columns() | chosen | {"n": len(pairs)}
        return row | {f"{name}_cpu": watch.cpu_seconds for name, watch in watches.items()}

    def inner_areas(self, pairs, y, seed, inner):
        """AUC of each value of the grid on these inner folds, (len(inner), len(grid))."""
        # Inner folds are vertex-disjoint too (section 5.1: nested cross-validation).
        parts = list(VertexDisjointKFold(random_state=seed).split(pairs, y))
        search = hasattr(self.make(seed, self.grid[0]), "decision_path")

        def areas(fold, value):
            train, test = parts[fold]
            model = self.make(seed, value).fit(pairs[train], y[train])
            if search:  # one for all values
                path = model.decision_path(pairs[test], self.grid)
                return [roc_auc(y[test], scores) for scores in path.T]
            return roc_auc(y[test], scores_of(model, pairs[test]))

        if search:
            return np.array([areas(fold, self.grid[0]) for fold in inner])
        with ThreadPoolExecutor(self._side_by_side) as threads:
            pairs_of_areas = threads.map(
                areas, *zip(*itertools.product(inner, self.grid), strict=True)
            )
            return np.reshape(list(pairs_of_areas), (len(inner), len(self.grid)))
