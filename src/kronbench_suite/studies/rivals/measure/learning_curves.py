"""Scores with some of the training pairs, on the splits of the board.

Parameters
----------
methods : solvers by name, as the board has them
means : methods of which the mean is scored, by its name
settings : what is new in a test pair
repetitions : number of random splits of a setting, by data set
test_size : share of the vertices, or of the pairs, that are new
sizes : numbers of training pairs, fewer than a split gives
train_pairs : training pairs at most, by data set
pairs : training pairs on which parameters are chosen at most, by data set
inner : inner splits that choose, by data set
test_pairs : most test pairs
components : principal components of each kernel
"""

import itertools

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.solvers import installed
from kronbench_suite.runner.columns import Columns
from kronbench_suite.studies.rivals.measure.board import Problem, measured_on

COLUMNS = Columns(
    key=("setting", "repetition", "size", "method"),
    repeats=("repetition",),
    clock=("choosing_cpu", "fitting_cpu"),
)


def run(spec, data, rng):
    """One row for each setting, draw, number of training pairs and method.

    A method is fitted to the first ``size`` of the training pairs in random order, and chooses its
    parameters on these. The splits, their test pairs and the order of the training pairs are those
    of the board where ``test_pairs`` and the seed are, so that its score is the end of a curve.
    """
    methods, skipped = installed(spec["methods"])
    problem, rows = Problem(data, spec), []
    draws = list(itertools.product(spec["settings"], range(problem.of("repetitions"))))
    for setting, draw in tqdm(draws, desc=data.name, unit="split"):
        split = problem.split(setting, draw)
        most = min(len(split.order), problem.of("train_pairs") or np.inf)
        for size in (size for size in spec["sizes"] if size < most):
            entries = {name: entry | {"most_pairs": size} for name, entry in methods.items()}
            suitable = problem.suitable(entries, split, skipped)
            _, measured = measured_on(suitable, spec["means"], problem, split)
            at = {"setting": setting, "repetition": draw, "size": size, "n_test": len(split.test)}
            rows += [at | {"method": name} | row for name, row in measured.items()]
    frame = pd.DataFrame(rows)
    frame.attrs["skipped"] = list(dict.fromkeys(skipped))
    return frame
