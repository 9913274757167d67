"""Training time, prediction time and test AUC against the number of training pairs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial

import numba
import numpy as np
import pandas as pd
import threadpoolctl

from kronbench.datasets import Dataset
from kronbench.datasets.checkerboard import checkerboard
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.errors import InputError
from kronbench.evaluation import VertexDisjointKFold, roc_auc
from kronbench.pairs import PairData
from kronbench.runner.clock import TimeCap, in_turn, peak_mib
from kronbench.runner.columns import TIMING, Columns, Parameter
from kronbench.runner.processes import one_process
from kronbench.runner.seeds import generator
from kronbench.runner.solvers import SolverMissing, import_solver, make_solver, scores_of

_PATIENCE = 2.0  # seconds after which a fit or a prediction is long enough to be timed once

# Of the largest decision value: how far those of two programs of one method may be apart. Ten by
# ten iterations leave 4e-5 on the smallest problem of figure 6, 1e-11 on that of figure 7.
_SAME = 1e-3

COLUMNS = TIMING | Columns(
    key=("fold", "size", "method", "reg", "task"),
    repeats=("fold",),
    clock=("next_seconds",),
    counts=("n", "n_test"),
    numbers=("auc", "deviation"),
    values={
        "dataset": ("checkerboard",),
        "fold": (0, Parameter(("folds",))),
        "size": (Parameter(("sizes",)),),
        "method": (Parameter(("solvers",)), Parameter(("solvers",), " by vec trick")),
        "reg": (Parameter(("regs", "*")),),
        "task": ("training", "prediction"),
    },
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each model that was timed (Airola & Pahikkala, figures 6 and 7).

    ``sizes`` increase: with data, numbers of training pairs, each a subset of the next and at most
    all of the fold; without, numbers of vertices of checkerboards, tested on one as large with
    vertices drawn afresh. ``solvers`` has for each name: ``solver``, ``parameters``, and
    optionally ``slow_prediction``, the regs whose own decision function is timed where the model
    also has ``to_vec_trick``; ``time_cap``, in place of the spec's, as those that ``time_caps``
    has for some names; and ``same_as``, the name of a solver with the same numbers. ``regs`` has
    for each name the weights to train with.

    The solvers of one class have a process of their own, since the threads of several libraries
    in one would wait for each other on the clock. At each size the processes follow one another,
    and the solvers of each take turns. Before anything is timed, the decision values of a solver
    with ``same_as`` are compared with those of the other on the smallest problem: one whose values
    differ by more than a thousandth of the largest is left out with a reason.

    ``task`` is "training" or "prediction"; ``method`` is the solver, or "<solver> by vec trick"
    for a model that predicts through it. Points predicted to pass the time cap are not run: the
    last row before has the prediction in ``next_seconds``. ``auc`` is the model's; ``deviation``
    the largest difference of the decision values of both ways to predict, relative to the largest
    of them; ``peak_mib`` that of the process so far.
    """
    # Here: on import it makes a lock, which is not for the copies of a process to remove.
    from tqdm import tqdm

    problems = Folds(spec, data, rng) if data is not None else _Checkerboards(spec)
    classes, skipped = {}, []
    for name, entry in spec["solvers"].items():
        try:
            make_solver(entry["solver"])
        except SolverMissing as reason:
            skipped.append(str(reason))
        else:
            classes.setdefault(entry["solver"], []).append(name)
    with ExitStack() as block:
        processes = [
            (
                names,
                block.enter_context(
                    one_process(
                        __name__,
                        initializer=_begin,
                        initargs=(spec, names, problems, numba.get_num_threads()),
                    )
                ),
            )
            for names in classes.values()
        ]
        first = {}
        for _, process in processes:
            first |= process.apply(_first_scores)
        different = _different(first, spec["solvers"])
        skipped += different.values()
        for fold in problems.folds:
            for size in tqdm(spec["sizes"], desc=f"fold {fold}", unit="size"):
                for names, process in processes:
                    due = [name for name in names if name not in different]
                    process.apply(_point, (due, fold, size))
        results = [process.apply(_results) for _, process in processes]
    frame = _frame(results, skipped)
    if data is None:
        frame.insert(0, "dataset", "checkerboard")
    return frame


def with_solver(spec: Mapping, name: str, solver: str, given: Mapping) -> dict:
    """The parameters that change where a solver from outside is one more line, at one ``reg``.

    Raises
    ------
    InputError
        The solver has no parameter ``reg``.
    """
    known = make_solver(solver, **given).get_params()
    if "reg" not in known:
        raise InputError(f"{solver} has no parameter reg, by which its line is named")
    given = dict(given)
    reg = float(given.pop("reg", known["reg"]))
    return {
        "solvers": {**spec["solvers"], name: {"solver": solver, "parameters": given}},
        "regs": {**spec["regs"], name: [reg]},
    }


def _different(scores, entries):
    """Solvers that are not ``same_as`` another after all, with a sentence each."""
    sentences = {}
    for name, values in scores.items():
        other = entries[name].get("same_as")
        if other in scores:
            deviation = np.abs(values - scores[other]).max() / np.abs(scores[other]).max()
            if not deviation <= _SAME:
                sentences[name] = (
                    f"{name} was not timed: on the smallest problem its decision values differ "
                    f"from those of {other} by {deviation:.1e} of the largest"
                )
    return sentences


def _frame(results, skipped):
    """The rows of all processes, each point's training first, and why curves ended."""
    rows = pd.DataFrame([row for part, _ in results for row in part])
    rows = rows.sort_values(["fold", "size", "task"], ascending=[True, True, False], kind="stable")
    frame = rows.reset_index(drop=True)
    if "next_seconds" not in frame:
        frame["next_seconds"] = np.nan
    sentences = skipped + [sentence for _, ends in results for sentence in ends]
    frame.attrs["skipped"] = list(dict.fromkeys(sentences))
    return frame


# The solvers of this process, where it is one of those that ``run`` starts.
_SOLVERS = None


def _begin(spec, names, problems, threads):
    global _SOLVERS
    for name in names:  # before the threads are limited, so that those of its library are
        import_solver(spec["solvers"][name]["solver"])
    numba.set_num_threads(threads)
    threadpoolctl.threadpool_limits(threads)
    _SOLVERS = _Solvers(spec, names, problems)


def _first_scores():
    return _SOLVERS.first_scores()


def _point(names, fold, size):
    _SOLVERS.measure(names, fold, size)


def _results():
    return _SOLVERS.rows, _SOLVERS.ends


class _Solvers:
    """Solvers that share a process, with the rows that they have measured so far.

    Attributes
    ----------
    rows : list of dict
    ends : list of str
        A sentence for each curve that ended.
    """

    def __init__(self, spec, names, problems):
        self._spec, self._problems = spec, problems
        self._entries = {name: spec["solvers"][name] for name in names}
        self._fold, self._curves = None, {}
        self.rows, self.ends = [], []

    def first_scores(self):
        """Each solver's decision values of some test pairs, trained at the smallest size.

        After it no clock sees compilation or the first use of a library.
        """
        fold = self._problems.folds[0]
        pairs, y = self._problems.train(self._spec["sizes"][0], fold)
        test = self._problems.test(fold)[0][:100]
        scores = {}
        for name, entry in self._entries.items():
            model = _make(entry, self._spec["regs"][name][0]).fit(pairs, y)
            scores[name] = scores_of(model, test)
            if hasattr(model, "to_vec_trick"):
                _by_vec_trick(model, test)
        return scores

    def measure(self, names, fold, size):
        """Add the rows of these solvers at one size."""
        if fold != self._fold:
            caps = self._spec.get("time_caps", {})
            self._fold = fold
            self._curves = {
                name: [
                    _Curve(name, entry, reg, caps.get(name, self._spec["time_cap"]), self.ends)
                    for reg in self._spec["regs"][name]
                ]
                for name, entry in self._entries.items()
            }
        curves = [curve for name in names for curve in self._curves[name]]
        place = {"fold": fold, "size": size, "n": self._problems.n_train(size, fold)}
        for row in _rows(curves, self._problems, place):
            row["peak_mib"] = round(peak_mib(), 1)
            self.rows.append(row)


def _rows(curves, problems, place):
    """The rows of all curves at one size: training first, then predictions."""
    size, fold, n = place["size"], place["fold"], place["n"]
    at_hand = [curve for curve in curves if curve.goes_on("training", n)]
    if not at_hand:
        return []
    pairs, y = problems.train(size, fold)
    fits = {curve: partial(curve.fit, pairs, y) for curve in at_hand}
    models = in_turn(fits, patience=_PATIENCE)
    del pairs, y, fits
    pairs, y = problems.test(fold)
    ways = {}
    for curve, (model, _) in models.items():
        trick = hasattr(model, "to_vec_trick")
        fast = partial(_by_vec_trick, model) if trick else partial(scores_of, model)
        ways[curve, f"{curve.name} by vec trick" if trick else curve.name] = partial(fast, pairs)
        if trick and curve.times_own_prediction:
            # Its time grows with support pairs times test pairs, not with the training pairs.
            if curve.goes_on("prediction", len(model.dual_coef_) * len(pairs)):
                ways[curve, curve.name] = partial(model.decision_function, pairs)
    predicted = in_turn(ways, patience=_PATIENCE)
    training, prediction, fast_scores = [], [], {}
    for (curve, method), (scores, timing) in predicted.items():
        row = place | {"method": method, "reg": curve.reg, "task": "prediction"}
        row |= {"n_test": len(pairs), **timing.columns()}
        if curve not in fast_scores:
            fast_scores[curve] = scores
        else:
            difference = np.abs(scores - fast_scores[curve]).max()
            row["deviation"] = difference / np.abs(scores).max()
            work = len(models[curve][0].dual_coef_) * len(pairs)
            curve.record("prediction", work, timing.seconds, row)
        prediction.append(row)
    for curve, (_, timing) in models.items():
        row = place | {"method": curve.name, "reg": curve.reg, "task": "training"}
        row |= timing.columns() | {"auc": roc_auc(y, fast_scores[curve])}
        curve.record("training", n, timing.seconds, row)
        training.append(row)
    return training + prediction


def _by_vec_trick(model, pairs):
    return model.to_vec_trick().decision_function(pairs)


class _Curve:
    """One solver with one weight on growing training sets; its end is one more of ``ends``."""

    def __init__(self, name, entry, reg, time_cap, ends):
        self.name, self.reg = name, reg
        self._entry = entry
        cap = entry.get("time_cap", time_cap)
        self._caps = {"training": TimeCap(cap), "prediction": TimeCap(cap, power=1)}
        self._last = {}
        self.times_own_prediction = reg in entry.get("slow_prediction", ())
        self._ends = ends

    def fit(self, pairs, y):
        return _make(self._entry, self.reg).fit(pairs, y)

    def record(self, task, work, seconds, row):
        self._caps[task].record(work, seconds)
        self._last[task] = row

    def goes_on(self, task, work):
        """Whether a point is within the cap; the first that is not ends the curve."""
        cap, last = self._caps[task], self._last.get(task)
        if last is not None and "next_seconds" in last:
            return False
        if cap.allows(work):
            return True
        last["next_seconds"] = cap.predicted(work)
        self._ends.append(
            f"{self.name} with reg {self.reg:g}, {task}: ended after n = {last['n']}; the next "
            f"point would take about {last['next_seconds']:.0f} s, over the cap of "
            f"{cap.seconds:g} s"
        )
        return False


class Folds:
    """Subsets of the training pairs of the ninefold split, and its test pairs.

    Parameters
    ----------
    spec : mapping
        With ``seed``, ``fraction`` and ``folds``.
    data : Dataset
    rng : numpy.random.Generator
        Draws the split and the order of the training pairs.
    """

    def __init__(self, spec: Mapping, data: Dataset, rng: np.random.Generator):
        self.pairs, self.y = labelled_pairs(
            data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
        )
        splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
        orders = [rng.permutation(train) for train, _ in splitter.split(self.pairs, self.y)]
        self._train = orders
        self._test = [test for _, test in splitter.split(self.pairs, self.y)]
        self.folds = spec["folds"]

    def n_train(self, size: int, fold: int) -> int:
        """The pairs of a training set: the whole fold's at most."""
        return min(size, len(self._train[fold]))

    def train_index(self, size: int, fold: int) -> np.ndarray:
        """Which pairs are the first ``size`` training pairs of a fold in its order; increasing."""
        return np.sort(self._train[fold][:size])

    def train(self, size: int, fold: int) -> tuple[PairData, np.ndarray]:
        """These training pairs with their labels."""
        index = self.train_index(size, fold)
        return self.pairs[index], self.y[index]

    def test(self, fold: int) -> tuple[PairData, np.ndarray]:
        """The test pairs of a fold with their labels."""
        return self.pairs[self._test[fold]], self.y[self._test[fold]]


class _Checkerboards:
    """Training and test checkerboards of m x m vertices, drawn when they are asked for.

    A test board is as large as the training board that was drawn last.
    """

    def __init__(self, spec):
        self.seed, self.fraction = spec["seed"], spec["fraction"]
        self.folds, self._size = [0], None

    def n_train(self, size, fold):
        return round(self.fraction * size**2)

    def train(self, size, fold):
        self._size = size
        return self._draw("train", size)

    def test(self, fold):
        return self._draw("test", self._size)

    def _draw(self, role, size):
        rng = generator(self.seed, "checkerboard", role, size)
        pairs, y = checkerboard(size, rng, fraction=self.fraction)
        return pairs, y.astype(np.int8)  # ten million float64 labels are 80 MB


def _make(entry, reg):
    return make_solver(entry["solver"], reg=reg, **entry["parameters"])
