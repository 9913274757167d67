"""AUC and processor seconds of several methods on vertex-disjoint test pairs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numba
import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import Dataset
from kronbench.datasets.checkerboard import checkerboard
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold, roc_auc
from kronbench.pairs import PairData
from kronbench.runner.clock import Stopwatch, TimeCap
from kronbench.runner.columns import TIMING, Columns, Parameter
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import SolverMissing, make_solver, scores_of

COLUMNS = TIMING | Columns(
    key=("method", "fold"),
    repeats=("fold",),
    clock=("selection_cpu", "fit_cpu", "prediction_cpu"),
    counts=("n", "n_test", "n_neighbors", "on_edge"),
    numbers=("auc", "reg"),
    texts=("cross_validated", "scored_by"),
    values={
        "method": (Parameter(("methods",)),),
        "on_edge": (0, 1),
    },
)

# Inner folds of a selection, on the diagonal of the 3 x 3 blocks: every vertex is tested once.
_INNER = (0, 4, 8)

# Parameters that ``select`` may name; the selected value stands in a column of this name.
_SELECTED = ("reg", "n_neighbors")


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each method and test set (Airola & Pahikkala, tables 6 and 7).

    Test sets are those of ``splits``. ``methods`` has for each name: ``solver``, ``parameters``,
    and optionally

    - ``checkerboard``, further parameters there; ``only``, "checkerboards" or "folds";
    - ``select``, a parameter whose value comes from ``grids`` by the mean AUC over three inner
      folds, each vertex-disjoint from its training pairs and each vertex tested once. Candidates
      that use one thread each run side by side where data are small, that is not on a
      checkerboard. A grid is a list, or has one for "folds" and one for "checkerboards";
    - ``twin``, a method before or after it that is the same predictor by a cheaper way: it gives
      the scores of this one on the folds that are not in ``timed_folds``, and on checkerboards
      where this one would pass its cap. Such rows name it in ``scored_by`` and have no times. On
      the other folds it gives the selected value, and the selection of this one is timed on one
      of the three inner folds, which counts three times;
    - ``time_cap``, in place of the spec's: a method that two small checkerboards predict to pass
      its cap is not run on a large one.

    ``cpu_seconds`` is the sum of ``selection_cpu``, ``fit_cpu`` and ``prediction_cpu``, without
    metrics, and ``seconds`` its wall time; the selected value stands under the parameter's name,
    and ``on_edge`` tells whether it is the first or last of its grid. ``cross_validated`` is False
    on a checkerboard, which is trained on once for all its test sets.
    """
    methods, skipped = {}, []
    is_board = data.kind == "pairs"
    for name, entry in spec["methods"].items():
        if entry.get("only", _place(is_board)) != _place(is_board):
            continue
        try:
            make_solver(entry["solver"])
            methods[name] = _Method(entry, spec["grids"], is_board)
        except SolverMissing as reason:
            skipped.append(str(reason))
    slow = _slow(methods, len(data["rows"]), spec) if is_board else {}
    skipped += slow.values()
    rows = []
    for split in splits(spec, data):
        seed = int(generator(spec["seed"], data.name, split.fold).integers(2**31))
        at_hand, twins = [], {}
        for name, method in methods.items():
            twin = method.entry.get("twin")
            if name not in slow and (not twin or is_board or split.fold in spec["timed_folds"]):
                at_hand.append(name)
            elif twin in methods and twin not in slow:
                twins[name] = twin
        found = {}
        at_hand.sort(key=lambda name: "twin" in methods[name].entry)  # its twin comes before it
        for name in tqdm(at_hand, desc=f"{data.name}, fold {split.fold}", unit="method"):
            method = methods[name]
            rows_of_twin = None if is_board else found.get(method.entry.get("twin"))
            value = rows_of_twin[0][method.selected] if rows_of_twin else None
            found[name] = method.measure(split, seed, value)
        found |= {name: _untimed(found[twin], twin) for name, twin in twins.items()}
        rows += [
            {"method": name, **row} for name in methods if name in found for row in found[name]
        ]
    frame = pd.DataFrame(rows)
    frame["cross_validated"] = not is_board
    frame.attrs["skipped"] = skipped
    return frame


def with_solver(spec: Mapping, name: str, solver: str, given: Mapping) -> dict:
    """The parameters that change where a solver from outside is one more method.

    It is run as it is given: nothing of it is selected.
    """
    entry = {"solver": solver, "parameters": dict(given)}
    return {"methods": {**spec["methods"], name: entry}}


@dataclass(frozen=True)
class Split:
    """Training pairs and labels, and the test sets of the models that are trained on them.

    ``tests`` has for each a number and a function that gives its pairs and labels; the number of
    the first is ``fold``.
    """

    train: PairData
    y_train: np.ndarray
    tests: tuple[tuple[int, Callable[[], tuple[PairData, np.ndarray]]], ...]

    @property
    def fold(self) -> int:
        """The number of the first test set."""
        return self.tests[0][0]


def splits(spec: Mapping, data: Dataset) -> Iterator[Split]:
    """The splits of a data set, which depend on the seed and the data set alone.

    Drug-target data, a ``fraction`` of their pairs, have the ``folds`` of one
    ``VertexDisjointKFold``. A checkerboard is trained on whole and tested on ``test_boards`` fresh
    ones of ``test_vertices`` x ``test_vertices`` vertices.
    """
    pairs, y = labelled_pairs(data, generator(spec["seed"], "pairs", data.name), spec["fraction"])
    if data.kind == "pairs":

        def board(number):
            rng = generator(spec["seed"], "board", data.name, number)
            return checkerboard(spec["test_vertices"], rng, fraction=spec["fraction"])

        tests = tuple((number, lambda number=number: board(number)) for number in
                      range(spec["test_boards"]))  # fmt: skip
        yield Split(pairs, y.astype(np.int8), tests)  # ten million float64 labels are 80 MB
        return
    rng = generator(spec["seed"], "split", data.name)
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    parts = list(splitter.split(pairs, y))
    for fold in spec["folds"]:
        train, test = parts[fold]
        test_set = (pairs[test], y[test])
        yield Split(pairs[train], y[train], ((fold, lambda test_set=test_set: test_set),))


def _place(is_board):
    return "checkerboards" if is_board else "folds"


def _untimed(rows, twin):
    """Rows of a method that has the scores of another; what is a clock's is left out."""
    clock = set(TIMING) | set(COLUMNS.clock)
    return [
        {name: value for name, value in row.items() if name not in clock} | {"scored_by": twin}
        for row in rows
    ]


# Pairs of the largest checkerboard that no method is kept from, whatever the cap.
_SMALL_BOARD = 1_000_000


def _slow(methods, n, spec):
    """The methods that would pass their cap on n pairs of a checkerboard, with a sentence each."""
    if n <= _SMALL_BOARD:
        return {}
    m = round(np.sqrt(n / spec["fraction"]))
    sentences = {}
    for name, method in methods.items():
        cap = TimeCap(method.entry.get("time_cap", spec["time_cap"]), power=1.5)
        for small in (m // 16, m // 8):
            rng = generator(spec["seed"], "board", small)
            pairs, y = checkerboard(small, rng, fraction=spec["fraction"])
            with Stopwatch() as watch:
                model = method.make(0, method.select(pairs, y, 0)).fit(pairs, y)
                scores_of(model, pairs)
            cap.record(len(pairs), watch.seconds)
        if not cap.allows(n):
            sentences[name] = (
                f"{name} was not timed on {n} pairs: about {cap.predicted(n):.0f} s, over the cap "
                f"of {cap.seconds:g} s"
            )
    return sentences


class _Method:
    def __init__(self, entry, grids, is_checkerboard):
        self.entry = entry
        self.solver, self.parameters = entry["solver"], dict(entry.get("parameters", {}))
        if is_checkerboard:
            self.parameters |= entry.get("checkerboard", {})
        self.selected = entry.get("select")
        self.side_by_side = not is_checkerboard
        self.grid = grids[self.selected] if self.selected else [None]
        if isinstance(self.grid, Mapping):
            self.grid = self.grid[_place(is_checkerboard)]

    def make(self, seed, value=None):
        model = make_solver(self.solver, **self.parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return model.set_params(**{self.selected: value}) if self.selected else model

    def measure(self, split, seed, value=None):
        """One row for each test set of a split; selection and fit are those of all.

        Where the selected ``value`` is known, the time to select is that of one inner fold, times
        the number of these.
        """
        known = value is not None
        with Stopwatch() as selection:
            if not known:
                value = self.select(split.train, split.y_train, seed)
            elif len(self.grid) > 1:
                self.inner_areas(split.train, split.y_train, seed, _INNER[:1])
        if known:
            selection.count_as(len(_INNER))
        model = self.make(seed, value)
        with Stopwatch() as fit:
            model.fit(split.train, split.y_train)
        chosen = dict.fromkeys((*_SELECTED, "on_edge", "scored_by"))
        if self.selected:
            chosen |= {
                self.selected: value,
                "on_edge": int(len(self.grid) > 1 and value in (self.grid[0], self.grid[-1])),
            }
        return [
            self.test(model, fold, *test_set(), selection, fit) | chosen | {"n": len(split.train)}
            for fold, test_set in split.tests
        ]

    def test(self, model, fold, test, y_test, selection, fit):
        with Stopwatch() as prediction:
            scores = scores_of(model, test)
        watches = {"selection": selection, "fit": fit, "prediction": prediction}
        timing = selection.timing() + fit.timing() + prediction.timing()
        return {
            "fold": fold,
            "auc": roc_auc(y_test, scores),
            "n_test": len(test),
            **timing.columns(),
            **{f"{name}_cpu": watch.cpu_seconds for name, watch in watches.items()},
        }

    def select(self, pairs, y, seed):
        """The value of the grid with the best mean AUC over three inner folds."""
        if len(self.grid) == 1:
            return self.grid[0]
        areas = self.inner_areas(pairs, y, seed, _INNER)
        return self.grid[int(np.argmax(np.nanmean(areas, axis=0)))]

    def inner_areas(self, pairs, y, seed, inner):
        """AUC of each value of the grid on these inner folds, (len(inner), len(grid))."""
        parts = list(VertexDisjointKFold(3, 3, random_state=seed).split(pairs, y))
        blocks = [parts[block] for block in inner]
        if hasattr(self.make(seed, self.grid[0]), "decision_path"):
            areas = [self.path_areas(pairs, y, *block, seed) for block in blocks]
        else:
            with ThreadPoolExecutor(
                numba.get_num_threads() if self.side_by_side else 1
            ) as threads:
                areas = threads.map(
                    lambda job: self.inner_area(pairs, y, *job[0], seed, job[1]),
                    itertools.product(blocks, self.grid),
                )
        return np.reshape(list(areas), (len(blocks), len(self.grid)))

    def path_areas(self, pairs, y, train, test, seed):
        """For all numbers of neighbours, from one search."""
        model = self.make(seed, self.grid[0]).fit(pairs[train], y[train])
        scores = model.decision_path(pairs[test], self.grid).T
        return [roc_auc(y[test], score) for score in scores]

    def inner_area(self, pairs, y, train, test, seed, value):
        model = self.make(seed, value).fit(pairs[train], y[train])
        return roc_auc(y[test], scores_of(model, pairs[test]))
