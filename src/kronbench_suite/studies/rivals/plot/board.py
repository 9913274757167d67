"""The board: each score of each method, and which are tied with the best."""

import numpy as np
import pandas as pd

from kronbench.intervals import half_width
from kronbench_suite.runner.columns import SHOWN, Columns
from kronbench_suite.runner.read_results import read_sidecars
from kronbench_suite.studies.rivals.plot.comparisons import (
    TEST_OVER_TRAIN,
    by_method,
    level_with_best,
)

COLUMNS = SHOWN | Columns(
    key=("setting", "method", "measure"),
    clock=("seconds",),
)

_MEASURES = {"AUC": "auc", "AUPR": "aupr", "C-index": "ci", "MSE": "mse"}
_MEASURES |= {"interaction": "interaction"}


def tabulate(frame, item, printed):
    """One row for each data set, setting, method and measure; means are over repetitions.

    ``main`` is 1 of the measure that ranks: AUC of classes, C-index of affinities. ``remark`` says
    why a method has no score there, or that its last fit had fewer pairs than those of others.
    The measure "choices at an end" has one for each data set and method, and one over all of them.
    """
    rows = []
    # The parameters with which each part was measured: accepted tables may be older than the item.
    ran = {sidecar["part"]: sidecar for sidecar in read_sidecars(item)}
    specs = [sidecar["parameters"] for sidecar in ran.values()]
    methods = [name for kind in ("methods", "means") for spec in specs for name in spec[kind]]
    methods = list(dict.fromkeys([*methods, *frame["method"]]))
    for (dataset, setting), part in frame.groupby(["dataset", "setting"], sort=False):
        spec, told = ran[dataset]["parameters"], ran[dataset]["skipped"]
        numbers = part["ci"].notna().any()
        first = part[part["repetition"] == part["repetition"].iloc[0]]
        most = first["n_train"].max()
        why = {
            name: _why_not_run(name, dataset, setting, numbers, most, spec, told)
            for name in methods
            if name not in set(part["method"])
        }
        for name, parts in spec["means"].items():
            if lacking := [one for one in parts if one in why]:
                why[name] = f"needs the scores of {lacking[0]}"
        for measure, column in _MEASURES.items():
            repetitions = by_method(part, column)
            if repetitions.empty:
                continue
            best = level_with_best(repetitions, TEST_OVER_TRAIN, measure != "MSE")
            main = int(measure == ("C-index" if numbers else "AUC"))
            source = {"main": main, "source": part["source"].iloc[0]}
            for method in methods:
                at = {"dataset": dataset, "setting": setting, "method": method, "measure": measure}
                if method not in repetitions:
                    remark = why.get(method, f"has no {measure} there")
                    rows.append(at | {"mean": np.nan, "remark": remark} | source)
                    continue
                own, values = part[part["method"] == method], repetitions[method].dropna()
                n_train = int(own["n_train"].iloc[0])
                fewer = f"fitted to {n_train:,} of {most:,} training pairs"
                rows.append(
                    at
                    | {
                        "mean": values.mean(),
                        "±": half_width(values, TEST_OVER_TRAIN),
                        "best": int(method in best),
                        "repetitions": len(values),
                        "n_train": n_train,
                        "n_test": int(part["n_test"].iloc[0]),
                        "chosen": next(iter(own["chosen"].mode()), ""),
                        "grid edges": own["grid_edges"].mean(),
                        "seconds": (own["choosing_cpu"] + own["fitting_cpu"]).median(),
                        "remark": fewer if n_train < most else "",
                    }
                    | source
                )
    return pd.DataFrame([*rows, *_choices_at_ends(frame)])


def _why_not_run(name, dataset, setting, numbers, n_train, spec, told):
    """Why a method has no score: by its parameters, or as the measurement has ``told``."""
    entry = spec["methods"].get(name, {})
    for line in told:  # a package that is not installed
        if line.startswith(f"{entry.get('solver')} was skipped"):
            return line.partition(": ")[2]
    kinds = {"classes": False, "numbers": True}
    if kinds.get(entry.get("labels"), numbers) != numbers:
        there = "affinities" if numbers else "classes"
        return f"for {entry['labels']}, and these labels are {there}"
    if entry.get("complete"):
        caps = spec.get("train_pairs", spec["pairs"])  # older tables have one bound for both
        cap = caps.get(dataset.lower(), caps["others"])
        ends = {True: f"at most {n_train:,} are taken", False: "not all are known"}
        why = "A holds some out" if setting == "A" else ends[n_train == cap]
        return f"needs all pairs of the training vertices, and {why}"
    if setting not in entry.get("settings", [setting]):
        return f"for {' and '.join(entry['settings'])} alone"
    for line in told:
        if line.lower().startswith(f"{dataset}: {name} ".lower()):
            return line[len(f"{dataset}: {name} ") :]
    return "the measurement has no row of it"


def _choices_at_ends(frame):
    """The share of each method's choices that lie at an end, by data set and over all."""
    source = "surrogate" if "surrogate" in set(frame["source"]) else frame["source"].iloc[0]
    for part in (*(part for _, part in frame.groupby("dataset", sort=False)), frame):
        name = "all" if part is frame else part["dataset"].iloc[0]
        for method, share in part.groupby("method", sort=False)["grid_edges"].mean().items():
            if share == share:  # it has a grid with ends
                row = {"dataset": name, "setting": "all", "method": method, "mean": share}
                yield row | {"measure": "choices at an end", "source": source}
