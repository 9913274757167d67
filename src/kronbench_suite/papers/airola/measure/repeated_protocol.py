"""The mean test AUC over the folds of a protocol, over repetitions with other pairs and folds.

Parameters
----------
protocol : the measurement that is repeated
repetitions : number of repetitions, each with pairs and folds of its own
"""

import pandas as pd
from tqdm import tqdm

from kronbench_suite.papers.airola.measure import early_stopping, method_comparison
from kronbench_suite.runner.columns import Columns, beside
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("method", "form", "repetition", "reg", "iteration"),
    repeats=("repetition",),
    rounding=("auc_reversed",),
)

# For each protocol what measures it, and the columns of its rows other than folds.
_PROTOCOLS = {
    "early_stopping": (early_stopping.run, ("method", "form", "reg", "iteration", "stretch")),
    "method_comparison": (method_comparison.run, ("method",)),
}


def run(spec, data, rng):
    """One row for each repetition, with the mean AUC over the folds of ``protocol``.

    Each repetition runs it whole from another seed: other pairs where a ``fraction`` of them is
    drawn, other folds, other inner folds. ``on_edge`` counts the folds whose selected value is the
    first or last of its grid. ``auc_reversed`` is the mean with sums in another order, where it
    differs.
    """
    measure, columns = _PROTOCOLS[spec["protocol"]]
    frames = []
    for repetition in tqdm(range(spec["repetitions"]), desc=data.name, unit="repetition"):
        # The text "draw" stays: another one would give other pairs and folds than accepted.
        seed = int(generator(spec["seed"], "draw", repetition).integers(2**31))
        of_folds = measure({**spec, "seed": seed}, data, generator(seed, data.name))
        # The mean over the folds of each point, and the same with sums in another order.
        groups = of_folds.groupby([name for name in columns if name in of_folds], sort=False)
        of_repetition = groups["auc"].mean().reset_index()
        if "auc_reversed" in of_folds:
            other = of_folds["auc_reversed"].fillna(of_folds["auc"])
            other = other.groupby(groups.ngroup()).mean().to_frame("auc")
            of_repetition = beside(of_repetition, other, ["auc"])
        if "on_edge" in of_folds:
            of_repetition["on_edge"] = groups["on_edge"].sum(min_count=1).to_numpy()
        frames.append(of_repetition.assign(repetition=repetition))
    return pd.concat(frames, ignore_index=True)
