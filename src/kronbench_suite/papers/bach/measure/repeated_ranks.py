"""Smallest ranks of incomplete Cholesky and CSI for several repetitions with other splits.

Parameters
----------
repetitions : number of repetitions, each with splits of its own
"""

import numpy as np
import pandas as pd
from scipy.linalg import eigvalsh

from kronbench.linalg import gram
from kronbench_suite.papers.bach.measure import minimal_rank
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

_TRACE_LEFT = 1e-4  # share of the trace, the paper's precision of a decomposition

COLUMNS = Columns(
    key=("repetition", "selection", "split", "decomposition", "bound", "stop"),
    repeats=("repetition", "split"),
)


def run(spec, data, rng):
    """The rows of ``minimal_rank`` for each repetition, also with one selection for all splits.

    ``reached`` is the rank, or one more than the largest tried; ``doublings`` its logarithm of
    base 2. ``numerical_rank`` is that of all points, with the width of the one selection.
    """
    frames = []
    for repetition in range(spec["repetitions"]):
        # The text "draw" stays: another one would give other splits than the accepted run has.
        rng = generator(spec["seed"], "draw", repetition, data.name)
        frame = minimal_rank.run(spec, data, rng, for_all=True)
        of_all = frame[frame["selection"] == minimal_rank.FOR_ALL]
        (gamma,) = of_all["gamma"].dropna().unique()
        rank = _numerical_rank(data["X"], gamma)
        frames.append(frame.assign(repetition=repetition, numerical_rank=rank))
    frame = pd.concat(frames, ignore_index=True)
    # A rank that was not reached counts as one more than the largest tried.
    reached = frame["rank"].fillna(frame["tried"] + 1)
    return frame.assign(reached=reached, doublings=np.log2(reached.astype(float)))


def _numerical_rank(X, gamma):
    scale = X.std(axis=0)
    K = gram(X / np.where(scale > 0, scale, 1.0), kernel="gaussian", gamma=gamma)
    values = eigvalsh(K, overwrite_a=True, check_finite=False)  # from the smallest on
    return int((values.cumsum() > _TRACE_LEFT * values.sum()).sum())
