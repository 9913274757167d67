"""Scores of the predictions that a run keeps, and of means of methods, without a fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from kronbench.errors import InputError
from kronbench.evaluation import affinity_scores, mean_of_models

_OF_PAIRS = ("rows", "cols", "labels", "positive")
_SCORES = ("auc", "aupr", "ci", "mse", "interaction")


def score_kept(path: str | Path, means: Sequence[Sequence[str]] = ()) -> pd.DataFrame:
    """Scores of each method in a file of predictions: means over draws, a row for each setting.

    The file is ``results/<scale>/rivals/tables/table-1/<data set>.npz``. Each of ``means`` names
    methods, whose mean is scored as a further one: of scores with the mean 0 and the deviation 1,
    or of the predictions as they are where labels are numbers.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a file of predictions: {error}") from None
    splits: dict[str, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        place, _, method = name.rpartition("/")
        splits.setdefault(place, {})[method] = array
    if any(name not in split for split in splits.values() for name in _OF_PAIRS):
        raise InputError(f"{path} has no pairs: give a file of predictions from a run")
    rows = []
    for place, split in splits.items():
        pairs = {name: split.pop(name) for name in _OF_PAIRS}
        numbers = len(np.unique(pairs["labels"])) > 2
        for parts in means:
            if set(parts) <= set(split):
                split[" and ".join(parts)] = mean_of_models(
                    [split[part] for part in parts], standardized=not numbers
                )
        names = _SCORES if numbers else ("auc", "aupr", "interaction")
        for method, scores in split.items():
            of_pairs = pairs["labels"], scores, pairs["rows"], pairs["cols"]
            found = affinity_scores(*of_pairs, names=names, positive=pairs["positive"])
            rows.append({"setting": place.partition("/")[0], "method": method, **found})
    table = pd.DataFrame(rows)
    for parts in means:
        if " and ".join(parts) not in set(table["method"]):
            known = ", ".join(dict.fromkeys(table["method"]))
            raise InputError(f"--mean {','.join(parts)}: {path} has {known}")
    return table.groupby(["setting", "method"], sort=False).mean().reset_index()
