"""Training time, prediction time and test AUC against the number of training pairs.

Parameters
----------
solvers : import path and parameters of each solver
regs : regularization weights, by solver
sizes : numbers of training pairs
fraction : share of the cells of a checkerboard that are pairs
time_cap : seconds of a fit after which no larger one is made
time_caps : the same for single solvers
"""

from contextlib import ExitStack
from functools import partial

import numba
import numpy as np
import pandas as pd
import threadpoolctl

from kronbench.datasets.generators import checkerboard
from kronbench.errors import InputError
from kronbench.evaluation import roc_auc
from kronbench.solvers import import_solver, installed, make_solver, scores_of
from kronbench_suite.papers.airola.measure.zero_shot import Folds
from kronbench_suite.runner.clock import TimeCap, peak_mib, time_interleaved
from kronbench_suite.runner.columns import TIMING, Columns
from kronbench_suite.runner.processes import fresh_process
from kronbench_suite.runner.seeds import generator

_PATIENCE = 2.0  # seconds after which a fit or a prediction is long enough to be timed once

# Relative tolerance between the decision values of two implementations of one method. Ten by ten
# iterations leave 4e-5 on the smallest problem of figure 6, 1e-11 on that of figure 7.
_SAME_VALUES = 1e-3

COLUMNS = TIMING | Columns(
    key=("fold", "size", "method", "reg", "task"),
    repeats=("fold",),
    clock=("next_seconds",),
)


def run(spec, data, rng):
    """One row for each model that was timed (Airola & Pahikkala, figures 6 and 7).

    ``sizes`` are numbers of training pairs or, without data, of vertices of checkerboards.
    ``slow_prediction`` has the regs for which a solver's own decision function is timed beside the
    vec trick, from whose values it has a ``deviation``; ``same_as`` names a solver with the same
    numbers. Solvers of one class have a process of their own, since the threads of several
    libraries in one would wait for each other on the clock; at each size all take turns. Of points
    predicted to pass the time cap the last row before has the prediction in ``next_seconds``.
    """
    # It is imported here, since tqdm makes a lock at import, which copied processes must not have.
    from tqdm import tqdm

    problems = Folds(spec, data, rng) if data is not None else _Checkerboards(spec)
    entries, skipped = installed(spec["solvers"])
    classes = {}
    for name, entry in entries.items():
        classes.setdefault(entry["solver"], []).append(name)
    with ExitStack() as block:
        processes = []
        for names in classes.values():
            arguments = spec, names, problems, numba.get_num_threads()
            process = fresh_process(__name__, initializer=_begin, initargs=arguments)
            processes.append(block.enter_context(process))
        # A first fit of each solver, off the clock.
        first = {}
        for process in processes:
            first |= process.apply(_call, ("first_scores",))
        # A solver whose numbers are not those of the one that it is ``same_as`` is not timed.
        different = {}
        for name, values in first.items():
            other = first.get(spec["solvers"][name].get("same_as"))
            if other is not None:
                deviation = np.abs(values - other).max() / np.abs(other).max()
                if not deviation <= _SAME_VALUES:
                    different[name] = (
                        f"{name} was not timed: on the smallest problem its decision values "
                        f"differ from those of {spec['solvers'][name]['same_as']} by "
                        f"{deviation:.1e} of the largest"
                    )
        # The solvers take turns at each size, so that all of them meet the same machine.
        for fold in problems.folds:
            for size in tqdm(spec["sizes"], desc=f"fold {fold}", unit="size"):
                for process in processes:
                    process.apply(_call, ("measure", fold, size, list(different)))
        results = [process.apply(_call, ("results",)) for process in processes]
    frame = pd.DataFrame([row for rows, _ in results for row in rows])
    # The rows of a point, its training first, and why curves ended.
    order = {"by": ["fold", "size", "task"], "ascending": [True, True, False]}
    frame = frame.sort_values(**order, kind="stable", ignore_index=True)
    if "next_seconds" not in frame:
        frame["next_seconds"] = np.nan
    ends = [sentence for _, ended in results for sentence in ended]
    frame.attrs["skipped"] = list(dict.fromkeys([*skipped, *different.values(), *ends]))
    if data is None:
        frame.insert(0, "dataset", "checkerboard")
    return frame


def with_solver(spec, name, solver, given):
    """The parameters that change where a solver from outside is one more line, at one ``reg``."""
    all_parameters = make_solver(solver, **given).get_params()
    if "reg" not in all_parameters:
        raise InputError(f"{solver} has no parameter reg, by which its line is named")
    parameters = dict(given)
    reg = float(parameters.pop("reg", all_parameters["reg"]))
    return {
        "solvers": {**spec["solvers"], name: {"solver": solver, "parameters": parameters}},
        "regs": {**spec["regs"], name: [reg]},
    }


# The ``Solvers`` of each process that ``run`` starts, in that process alone.
_OF_PROCESS = []


def _begin(spec, names, problems, threads):
    # Libraries are loaded before the threads are limited, so that their threads are limited too.
    for name in names:
        import_solver(spec["solvers"][name]["solver"])
    numba.set_num_threads(threads)
    threadpoolctl.threadpool_limits(threads)
    _OF_PROCESS.append(Solvers(spec, names, problems))


def _call(method, *arguments):
    return getattr(_OF_PROCESS[0], method)(*arguments)


class Solvers:
    """Solvers that share a process, with the rows that they have measured so far."""

    def __init__(self, spec, names, problems):
        self._spec, self._problems, self._rows, self._ended = spec, problems, [], []
        self._curves = {
            fold: [
                _Curve(name, reg, spec, self._ended)
                for name in names
                for reg in spec["regs"][name]
            ]
            for fold in problems.folds
        }

    def results(self):
        """The rows, and a sentence for each curve that ended."""
        return self._rows, self._ended

    def first_scores(self):
        """Each solver's decision values of some test pairs, trained at the smallest size.

        After it no clock sees compilation or the first use of a library.
        """
        fold = self._problems.folds[0]
        pairs, y = self._problems.train(self._spec["sizes"][0], fold)
        test = self._problems.test(fold)[0][:100]
        scores = {}
        for curve in self._curves[fold]:
            if curve.name not in scores:
                model = curve.fit(pairs, y)
                scores[curve.name] = scores_of(model, test)
                if hasattr(model, "to_vec_trick"):
                    _by_vec_trick(model, test)
        return scores

    def measure(self, fold, size, but=()):
        """Add the rows of one size, of all solvers ``but`` some: fits, then predictions."""
        # The curves that have not ended at this size.
        n = self._problems.n_train(size, fold)
        curves = [curve for curve in self._curves[fold] if curve.name not in but]
        curves = [curve for curve in curves if curve.goes_on("training", n)]
        if not curves:
            return
        # Training (section 5.3), in turn.
        pairs, y = self._problems.train(size, fold)
        fits = {curve: partial(curve.fit, pairs, y) for curve in curves}
        models = time_interleaved(fits, max_seconds=_PATIENCE)
        del pairs, y, fits  # the memory of large boards
        # Prediction (section 5.4) with the fitted models, each in one or two ways.
        pairs, y = self._problems.test(fold)
        ways = {}
        for curve, (model, _) in models.items():
            ways |= curve.ways_to_predict(model, pairs)
        place = {"fold": fold, "size": size, "n": n}
        rows, fast_scores = [], {}
        predicted = time_interleaved(ways, max_seconds=_PATIENCE)
        # The fast way comes first; a slow one has its deviation from that, and its own cap.
        for (curve, method), (scores, timing) in predicted.items():
            row = place | {"method": method, "reg": curve.reg, "task": "prediction"}
            row |= {"n_test": len(pairs), **timing.columns()}
            if curve not in fast_scores:
                fast_scores[curve] = scores
            else:
                difference = np.abs(scores - fast_scores[curve]).max()
                row["deviation"] = difference / np.abs(scores).max()
                work = curve.slow_work(models[curve][0], pairs)
                curve.record("prediction", work, timing.seconds, row)
            rows.append(row)
        for curve, (_, timing) in models.items():
            row = place | {"method": curve.name, "reg": curve.reg, "task": "training"}
            row |= timing.columns() | {"auc": roc_auc(y, fast_scores[curve])}
            curve.record("training", n, timing.seconds, row)
            rows.append(row)
        peak = round(peak_mib(), 1)
        for row in rows:
            row["peak_mib"] = peak
        self._rows += rows


def _by_vec_trick(model, pairs):
    return model.to_vec_trick().decision_function(pairs)


class _Curve:
    """One solver with one weight on growing training sets; its end is one more of ``ended``."""

    def __init__(self, name, reg, spec, ended):
        self.name, self.reg, self._entry = name, reg, spec["solvers"][name]
        self._ended, self._last = ended, {}
        cap = spec.get("time_caps", {}).get(name, spec["time_cap"])
        self._caps = {"training": TimeCap(cap), "prediction": TimeCap(cap, power=1)}

    def fit(self, pairs, y):
        model = make_solver(self._entry["solver"], reg=self.reg, **self._entry["parameters"])
        return model.fit(pairs, y)

    def ways_to_predict(self, model, pairs):
        """The fast one first; a solver's own where it is asked for and within its cap."""
        if not hasattr(model, "to_vec_trick"):
            return {(self, self.name): partial(scores_of, model, pairs)}
        ways = {(self, f"{self.name} by vec trick"): partial(_by_vec_trick, model, pairs)}
        wanted = self.reg in self._entry.get("slow_prediction", ())
        if wanted and self.goes_on("prediction", self.slow_work(model, pairs)):
            ways[self, self.name] = partial(model.decision_function, pairs)
        return ways

    @staticmethod
    def slow_work(model, pairs):
        """Support pairs times test pairs, with which the time of a solver's own way grows."""
        return len(model.dual_coef_) * len(pairs)

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
        self._ended.append(
            f"{self.name} with reg {self.reg:g}, {task}: ended after n = {last['n']}; the next "
            f"point would take about {last['next_seconds']:.0f} s, over the cap of "
            f"{cap.seconds:g} s"
        )
        return False


class _Checkerboards:
    """Training boards of m x m vertices, each with a test board as large, drawn when asked for."""

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
