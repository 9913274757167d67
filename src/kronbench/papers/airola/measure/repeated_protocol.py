"""The mean test AUC over the folds of a protocol, for several draws of its pairs and folds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from tqdm import tqdm

from kronbench.datasets import Dataset
from kronbench.papers.airola.measure import early_stopping, method_comparison
from kronbench.runner.columns import Columns, Parameter
from kronbench.runner.seeds import generator

COLUMNS = Columns(
    key=("method", "form", "draw", "reg", "iteration"),
    repeats=("draw",),
    counts=("on_edge",),
    numbers=("auc",),
    texts=("stretch",),
    values={
        "method": (Parameter(("methods",)),),
        "form": (Parameter(("forms",)),),
        "stretch": ("first ten", "later"),
        "reg": (Parameter(("regs",)),),
    },
)

# For each protocol what measures it, and the columns of its rows other than folds.
_PROTOCOLS = {
    "early_stopping": (early_stopping.run, ("method", "form", "reg", "iteration", "stretch")),
    "method_comparison": (method_comparison.run, ("method",)),
}


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each draw, with the mean AUC over ``folds`` that ``protocol`` gives in it.

    ``protocol`` is "early_stopping" or "method_comparison", and the other parameters are its own.
    Each of the ``draws`` runs it whole from another seed: with other pairs where a ``fraction`` of
    them is drawn, other folds, and other inner folds of the selections. On the same data the
    means of two draws are independent, and their scatter is what another run of the protocol may
    give. ``on_edge`` counts the folds whose selected value is the first or last of its grid.
    ``draws`` has a number for each data set that it names, and one for "others".
    """
    measure, columns = _PROTOCOLS[spec["protocol"]]
    draws = spec["draws"].get(data.name, spec["draws"]["others"])
    frames = []
    for draw in tqdm(range(draws), desc=data.name, unit="draw"):
        seed = int(generator(spec["seed"], "draw", draw).integers(2**31))
        of_folds = measure({**spec, "seed": seed}, data, generator(seed, data.name))
        keys = [name for name in columns if name in of_folds]
        of_draw = of_folds.groupby(keys, sort=False)["auc"].mean().reset_index()
        if "on_edge" in of_folds:
            on_edge = of_folds.groupby(keys, sort=False)["on_edge"].sum(min_count=1)
            of_draw["on_edge"] = on_edge.to_numpy()
        frames.append(of_draw.assign(draw=draw))
    return pd.concat(frames, ignore_index=True)
