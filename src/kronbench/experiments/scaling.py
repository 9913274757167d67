"""Training time, prediction time and test AUC against the number of training pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.bench.clock import TimeCap, peak_mib, repeated
from kronbench.bench.seeds import generator
from kronbench.bench.solvers import SolverMissing, make_solver
from kronbench.datasets.checkerboard import checkerboard
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold, roc_auc


def run(spec, data, rng):
    """One row for each model that was timed (Airola & Pahikkala, figures 6 and 7).

    ``sizes`` increase: with data, numbers of training pairs, each a subset of the next and at most
    all of the fold; without, numbers of vertices of checkerboards, tested on one as large with
    vertices drawn afresh. ``solvers`` has for each name: ``solver``, ``parameters``, and
    optionally ``slow_prediction``, the regs whose own decision function is timed where the model
    also has ``to_vec_trick``; ``regs`` has for each name the weights to train with.

    ``task`` is "training" or "prediction"; ``method`` is the solver, or "<solver> by vec trick"
    for a model that predicts through it. Points predicted to pass ``time_cap`` are not run.
    ``auc`` is the model's; ``deviation`` the largest difference of the decision values of both
    ways to predict, relative to the largest of them; ``peak_mib`` that of the process so far.
    """
    problems = _Folds(spec, data, rng) if data is not None else _Checkerboards(spec)
    rows, skipped = [], []
    for name, entry in spec["solvers"].items():
        try:
            make_solver(entry["solver"])
        except SolverMissing as reason:
            skipped.append(str(reason))
            continue
        regs = spec["regs"][name]
        _warm_up(entry, regs[0], problems)
        for fold in problems.folds:
            for reg in regs:
                series = _Series(name, entry, reg, spec["time_cap"])
                sizes = tqdm(spec["sizes"], desc=f"{name}, reg {reg:g}, fold {fold}", unit="size")
                rows += [
                    {"fold": fold, **row}
                    for size in sizes
                    for row in series.run(problems, size, fold)
                ]
                skipped += series.skipped
    frame = pd.DataFrame(rows)
    if data is None:
        frame.insert(0, "dataset", "checkerboard")
    frame.attrs["skipped"] = list(dict.fromkeys(skipped))
    return frame


class _Series:
    """One solver with one weight on growing training sets."""

    def __init__(self, name, entry, reg, time_cap):
        self.name, self.reg = name, reg
        self.make = lambda: make_solver(entry["solver"], reg=reg, **entry["parameters"])
        self.time_own_prediction = reg in entry.get("slow_prediction", ())
        self.training, self.prediction = TimeCap(time_cap), TimeCap(time_cap, power=1)
        self.skipped, self.ended = [], set()

    def run(self, problems, size, fold):
        """The rows of one training set; none where training would take too long."""
        n = problems.n_train(size, fold)
        if not self.training.allows(n):
            self._stop("trained", n, self.training.predicted(n))
            return
        pairs, y = problems.train(size, fold)
        model, seconds, cpu_seconds = repeated(lambda: self.make().fit(pairs, y))
        self.training.record(n, seconds)
        del pairs, y
        row = {"reg": self.reg, "size": size, "n": n}
        trained = row | {"method": self.name, "task": "training"}
        trained |= {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mib": _peak()}
        pairs, y = problems.test(size, fold)
        fast = model.to_vec_trick if hasattr(model, "to_vec_trick") else lambda: model
        name = f"{self.name} by vec trick" if hasattr(model, "to_vec_trick") else self.name
        scores, seconds, cpu_seconds = repeated(lambda: fast().decision_function(pairs))
        yield trained | {"auc": roc_auc(y, scores)}
        row |= {"task": "prediction", "n_test": len(pairs)}
        predicted = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mib": _peak()}
        yield row | predicted | {"method": name}
        if self.time_own_prediction:
            yield from self._own_prediction(model, pairs, scores, row)

    def _own_prediction(self, model, pairs, scores, row):
        # Its time grows with support pairs times test pairs, not with the training pairs.
        work = len(model.dual_coef_) * len(pairs)
        if not self.prediction.allows(work):
            self._stop("asked for its own predictions", row["n"], self.prediction.predicted(work))
            return
        own, seconds, cpu_seconds = repeated(lambda: model.decision_function(pairs), most=3)
        self.prediction.record(work, seconds)
        measured = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mib": _peak()}
        deviation = np.max(np.abs(own - scores)) / np.max(np.abs(own))
        yield row | measured | {"method": self.name, "deviation": deviation}

    def _stop(self, what, n, predicted):
        """Say once where a curve ends: what was not done with n pairs and would take how long."""
        if what not in self.ended:
            self.ended.add(what)
            self.skipped.append(
                f"{self.name} with reg {self.reg:g} was not {what} from n = {n} on: about "
                f"{predicted:.0f} s, over the cap of {self.training.seconds:g} s"
            )


class _Folds:
    """Subsets of the training pairs of the ninefold split, and its test pairs."""

    def __init__(self, spec, data, rng):
        self.pairs, self.y = labelled_pairs(
            data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
        )
        splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
        orders = [rng.permutation(train) for train, _ in splitter.split(self.pairs, self.y)]
        self._train = orders
        self._test = [test for _, test in splitter.split(self.pairs, self.y)]
        self.folds, self.smallest = spec["folds"], spec["sizes"][0]

    def n_train(self, size, fold):
        return min(size, len(self._train[fold]))

    def train(self, size, fold):
        index = np.sort(self._train[fold][:size])
        return self.pairs[index], self.y[index]

    def test(self, size, fold):
        return self.pairs[self._test[fold]], self.y[self._test[fold]]


class _Checkerboards:
    """Training and test checkerboards of m x m vertices, drawn when they are asked for."""

    def __init__(self, spec):
        self.seed, self.fraction = spec["seed"], spec["fraction"]
        self.folds, self.smallest = [0], spec["sizes"][0]

    def n_train(self, size, fold):
        return round(self.fraction * size**2)

    def train(self, size, fold):
        return self._draw("train", size)

    def test(self, size, fold):
        return self._draw("test", size)

    def _draw(self, role, size):
        rng = generator(self.seed, "checkerboard", role, size)
        pairs, y = checkerboard(size, rng, fraction=self.fraction)
        return pairs, y.astype(np.int8)  # ten million float64 labels are 80 MB


def _warm_up(entry, reg, problems):
    """Fit and predict once, so that no clock sees compilation or the first use of a library."""
    fold = problems.folds[0]
    pairs, y = problems.train(problems.smallest, fold)
    model = make_solver(entry["solver"], reg=reg, **entry["parameters"])
    model.fit(pairs, y).decision_function(pairs[:100])


def _peak():
    return round(peak_mib(), 1)
