"""AUC and processor seconds of several methods on vertex-disjoint test pairs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.clock import Stopwatch, TimeCap
from kronbench.bench.columns import TIMING, Columns, Parameter
from kronbench.bench.seeds import generator
from kronbench.bench.solvers import SolverMissing, make_solver
from kronbench.datasets import Dataset
from kronbench.datasets.checkerboard import checkerboard
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold, roc_auc

COLUMNS = TIMING | Columns(
    key=("method", "repeat", "fold"),
    repeats=("repeat", "fold"),
    clock=("selection_cpu", "fit_cpu", "prediction_cpu"),
    counts=("n", "n_test"),
    numbers=("auc", "chosen"),
    texts=("cross_validated",),
    values={
        "method": (Parameter(("methods",)),),
        "repeat": (Parameter(("repeats",)),),
        "fold": (0, Parameter(("folds",))),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each repeat, fold and method (Airola & Pahikkala, tables 6 and 7).

    Drug-target data are split by ``VertexDisjointKFold``, with new draws of pairs and folds for
    each of ``repeats``; a checkerboard is trained on whole and tested on a fresh one of
    ``test_vertices`` x ``test_vertices`` vertices. ``methods`` has for each name: ``solver``,
    ``parameters``, and optionally

    - ``checkerboard``, further parameters there; ``only_checkerboards``;
    - ``select``, a parameter whose value comes from ``grids`` by the mean AUC over three inner
      folds, each vertex-disjoint from its training pairs and each vertex tested once;
    - ``costly``, which keeps a method to ``costly_folds`` of the first repeat, and lets the
      candidates of its selection, which use one thread each, run side by side where data are
      small, that is not on a checkerboard;
    - ``time_cap``, in place of the spec's: a method that two small checkerboards predict to pass
      its cap is not run on a large one.

    ``cpu_seconds`` is the sum of ``selection_cpu``, ``fit_cpu`` and ``prediction_cpu``, without
    metrics, and ``seconds`` its wall time; ``chosen`` is the selected value; ``cross_validated``
    is False on a checkerboard.
    """
    methods, skipped = {}, []
    is_board = data.kind == "pairs"
    for name, entry in spec["methods"].items():
        if entry.get("only_checkerboards") and not is_board:
            continue
        try:
            make_solver(entry["solver"])
            methods[name] = _Method(entry, spec["grids"], is_board)
        except SolverMissing as reason:
            skipped.append(str(reason))
    if is_board:
        skipped += _drop_slow(methods, len(data["rows"]), spec)
    rows = []
    for repeat, fold, train, test in _splits(spec, data):
        seed = int(generator(spec["seed"], data.name, repeat, fold).integers(2**31))
        at_hand = [
            name
            for name in methods
            if not methods[name].costly or (repeat == 0 and fold in spec["costly_folds"])
        ]
        title = f"{data.name}, repeat {repeat}, fold {fold}"
        for name in tqdm(at_hand, desc=title, unit="method"):
            measured = methods[name].measure(*train, *test, seed)
            rows.append({"method": name, "repeat": repeat, "fold": fold, **measured})
    frame = pd.DataFrame(rows)
    frame["cross_validated"] = data.kind != "pairs"
    frame.attrs["skipped"] = skipped
    return frame


# Pairs of the largest checkerboard that no method is kept from, whatever the cap.
_SMALL_BOARD = 1_000_000


def _drop_slow(methods, n, spec):
    """Take out the methods that would pass their cap on n pairs of a checkerboard; say so."""
    if n <= _SMALL_BOARD:
        return []
    m = round(np.sqrt(n / spec["fraction"]))
    sentences = []
    for name, method in list(methods.items()):
        cap = TimeCap(method.entry.get("time_cap", spec["time_cap"]), power=1.5)
        for small in (m // 16, m // 8):
            rng = generator(spec["seed"], "board", small)
            pairs, y = checkerboard(small, rng, fraction=spec["fraction"])
            with Stopwatch() as watch:
                model = method.make(0, method.select(pairs, y, 0)).fit(pairs, y)
                model.decision_function(pairs)
            cap.record(len(pairs), watch.seconds)
        if not cap.allows(n):
            del methods[name]
            sentences.append(
                f"{name} was not run on {n} pairs: about {cap.predicted(n):.0f} s, over the cap "
                f"of {cap.seconds:g} s"
            )
    return sentences


def _splits(spec, data):
    """Tuples repeat, fold, (training pairs, labels), (test pairs, labels)."""
    for repeat in spec["repeats"]:
        pairs, y = labelled_pairs(
            data, generator(spec["seed"], "pairs", data.name, repeat), spec["fraction"]
        )
        rng = generator(spec["seed"], "split", data.name, repeat)
        if data.kind == "pairs":
            train = pairs, y.astype(np.int8)  # ten million float64 labels are 80 MB
            yield repeat, 0, train, checkerboard(spec["test_vertices"], rng)
            return  # whole training set, one large test set: a repeat would only repeat the cost
        splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
        splits = list(splitter.split(pairs, y))
        for fold in spec["folds"]:
            train, test = splits[fold]
            yield repeat, fold, (pairs[train], y[train]), (pairs[test], y[test])


class _Method:
    def __init__(self, entry, grids, is_checkerboard):
        self.entry = entry
        self.solver, self.parameters = entry["solver"], dict(entry.get("parameters", {}))
        if is_checkerboard:
            self.parameters |= entry.get("checkerboard", {})
        self.selected = entry.get("select")
        self.costly = entry.get("costly", False)
        self.side_by_side = self.costly and not is_checkerboard
        self.grid = grids[self.selected] if self.selected else [None]

    def make(self, seed, value=None):
        model = make_solver(self.solver, **self.parameters)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        return model.set_params(**{self.selected: value}) if self.selected else model

    def measure(self, train, y_train, test, y_test, seed):
        with Stopwatch() as selection:
            value = self.select(train, y_train, seed)
        model = self.make(seed, value)
        with Stopwatch() as fit:
            model.fit(train, y_train)
        with Stopwatch() as prediction:
            scores = model.decision_function(test)
        watches = {"selection": selection, "fit": fit, "prediction": prediction}
        timing = selection.timing() + fit.timing() + prediction.timing()
        return {
            "auc": roc_auc(y_test, scores),
            "chosen": value,
            "n": len(train),
            "n_test": len(test),
            **timing.columns(),
            **{f"{name}_cpu": watch.cpu_seconds for name, watch in watches.items()},
        }

    def select(self, pairs, y, seed):
        """The value of the grid with the best mean AUC over three inner folds."""
        if len(self.grid) == 1:
            return self.grid[0]
        splits = list(VertexDisjointKFold(3, 3, random_state=seed).split(pairs, y))
        blocks = [splits[block] for block in (0, 4, 8)]
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
        areas = np.reshape(list(areas), (len(blocks), len(self.grid)))
        return self.grid[int(np.argmax(np.nanmean(areas, axis=0)))]

    def path_areas(self, pairs, y, train, test, seed):
        """For all numbers of neighbours, from one search."""
        model = self.make(seed, self.grid[0]).fit(pairs[train], y[train])
        scores = model.decision_path(pairs[test], self.grid).T
        return [roc_auc(y[test], score) for score in scores]

    def inner_area(self, pairs, y, train, test, seed, value):
        model = self.make(seed, value).fit(pairs[train], y[train])
        return roc_auc(y[test], model.decision_function(pairs[test]))
