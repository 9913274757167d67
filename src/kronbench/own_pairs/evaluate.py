"""A solver on a user's pairs in the settings A to D, beside row and column effects alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kronbench.errors import InputError
from kronbench.evaluation import (
    SETTINGS,
    SettingKFold,
    concordance_index,
    margin_scores,
    roc_auc,
)
from kronbench.intervals import half_width, interval_text
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.selection import check_selects, n_fits, n_solves, select
from kronbench.own_pairs.tables import OwnPairs


@dataclass(frozen=True)
class Plan:
    """The splits of each setting, made before any fit.

    Attributes
    ----------
    splits : dict
        Of each setting that can be had, the list of (train, test).
    impossible : dict
        Of each other one, the reason.
    n_fits : int
    n_solves : int
        Those of the fits that cost anything (:func:`kronbench.own_pairs.selection.n_solves`).
    """

    splits: dict[str, list[tuple[np.ndarray, np.ndarray]]]
    impossible: dict[str, str]
    n_fits: int
    n_solves: int


def plan(
    own: OwnPairs,
    recipe: Recipe,
    settings: Sequence[str],
    n_splits: int,
    n_repeats: int,
    seed: int,
    selects: bool,
) -> Plan:
    """Split the pairs in each of the settings.

    Raises
    ------
    InputError
        No setting can be had with so many parts, or there is nothing to select.
    """
    if selects:
        check_selects(recipe)
    splits, impossible = {}, {}
    for setting in settings:
        splitter = SettingKFold(setting, n_splits, n_repeats, random_state=seed)
        try:
            found = list(splitter.split(own.data, own.y))
        except InputError as error:
            impossible[setting] = str(error)
            continue
        if any(_can_be_scored(own.y, *split) for split in found):
            splits[setting] = found
        else:
            impossible[setting] = "no test set and its training pairs have two labels each"
    if not splits:
        raise InputError("; ".join(f"setting {key}: {why}" for key, why in impossible.items()))
    totals = [
        sum(len(of) * (1 + (count(recipe, key) if selects else 0)) for key, of in splits.items())
        for count in (n_fits, n_solves)
    ]
    return Plan(splits, impossible, *totals)


def evaluate(
    own: OwnPairs,
    recipe: Recipe,
    plan: Plan,
    seed: int,
    selects: bool,
    progress: Callable[[], object] = lambda: None,
) -> dict:
    """Scores with intervals in each setting of a plan.

    Each test set is scored by the area under the ROC curve where there are two labels, else by
    the concordance index and the mean squared error; so is the floor of
    :func:`kronbench.evaluation.margin_scores`, and the difference of the two on the same test
    sets. Intervals are those of Nadeau and Bengio (:func:`kronbench.intervals.half_width`).

    Parameters
    ----------
    selects : bool
        Choose reg and widths anew in each training set, by inner folds of the same setting.
    progress : callable, optional
        Called after each fit.

    Returns
    -------
    dict
        Ready for JSON; None for what is not known. Its ``settings`` is a list with the entries
        ``setting``, ``scores`` (a list by metric), ``test_sets``, ``test_pairs`` (their mean
        number), ``not_scored`` (with one label in the training or the test pairs), ``failed``
        (whose model is worse than the mean label on its own training pairs), ``remedy`` (of
        these) and ``reason`` (why there are no scores).
    """
    found, used = [], replace(own, data=recipe.compact(own.data))
    for setting in [*plan.splits, *plan.impossible]:
        entry = {"setting": setting, "test": SETTINGS[setting], "reason": None}
        if setting in plan.splits:
            entry |= _scores(
                used, replace(recipe, setting=setting), setting, plan, seed, selects, progress
            )
        else:
            entry |= {"scores": [], "test_sets": 0, "not_scored": 0, "failed": 0}
            entry["reason"] = plan.impossible[setting]
        found.append(entry)
    return {
        "solver": recipe.solver,
        "parameters": dict(recipe.parameters),
        "taken": recipe.taken(own),
        "scaled": list(recipe.scaled),
        "landmarks": list(recipe.landmarks),
        "selected": selects,
        "seed": seed,
        "pairs": len(own.data),
        "rows": own.data.n_rows,
        "cols": own.data.n_cols,
        "labels": [float(label) for label in own.labels] if own.two_classes else "numbers",
        "settings": sorted(found, key=lambda entry: entry["setting"]),
    }


def as_text(result: dict) -> str:
    """The table of a result of :func:`evaluate`."""
    table = [["setting", "score", result["solver"], "margins", "difference", "sets"]]
    notes = []
    for entry in result["settings"]:
        title = f"{entry['setting']}  {entry['test']}"
        if entry["reason"]:
            table.append([title, entry["reason"]])
        for score in entry["scores"]:
            cells = [_interval(score, part) for part in ("model", "margins", "difference")]
            sets = str(entry["test_sets"])
            if entry["not_scored"]:
                sets += f" ({entry['not_scored']} not scored: one label)"
            table.append([title, score["metric"], *cells, sets])
            title = ""
        notes += _notes(entry, result["solver"])
    full = [line for line in table if len(line) == len(table[0])]
    widths = [
        max(least, *(len(line[k]) + 2 for line in full))
        for k, least in enumerate((26, 9, 19, 19, 19))
    ]
    return "\n".join(
        [
            f"{result['pairs']} pairs of {result['rows']} rows and {result['cols']} columns; "
            "95 % intervals",
            "",
            *("".join(map(str.ljust, line, [*widths, 0])).rstrip() for line in table),
            *notes,
        ]
    )


def _notes(entry, solver):
    """What a reader of the scores should know, in sentences."""
    if entry["failed"]:
        yield (
            f"{entry['setting']}: in {entry['failed']} of {entry['test_sets']} training sets "
            f"{solver} predicts its own training pairs worse than their mean label does: "
            f"{entry['remedy']}"
        )
    if entry["test_sets"] and entry["test_pairs"] < _FEW:
        yield (
            f"{entry['setting']}: a test set has {entry['test_pairs']:.3g} pairs on average, too "
            "few for a score to mean much"
        )


def _scores(own, recipe, setting, plan, seed, selects, progress):
    metrics = _AREA if own.two_classes else _NUMBERS
    model, floor, ratios, tested, not_scored, failed = [], [], [], [], 0, []
    for train, test in plan.splits[setting]:
        X, y = own.data[train], own.y[train]
        if not _can_be_scored(own.y, train, test):
            not_scored += 1
            for _ in range(n_fits(recipe, setting) + 1 if selects else 1):
                progress()
            continue
        tried = recipe
        if selects:
            tried = select(recipe, X, y, setting, seed, progress).recipe
        fitted = tried.fit(X, y)
        scores = fitted.scores(own.data[test])
        # What is worse on its own pairs is so on others; to look there costs a product.
        if not _mse(own.y[test], scores) < _mse(own.y[test], y.mean()):
            failed += [tried] if tried.is_worse_than_the_mean(fitted, X, y) else []
        margins = margin_scores(X, y, own.data[test])
        progress()
        model.append([metric(own.y[test], scores) for metric in metrics.values()])
        floor.append([metric(own.y[test], margins) for metric in metrics.values()])
        ratios.append(len(test) / len(train))
        tested.append(len(test))
    model, floor, ratio = np.array(model), np.array(floor), float(np.mean(ratios))
    scores = [
        {
            "metric": name,
            "model": _summary(model[:, k], ratio),
            "margins": _summary(floor[:, k], ratio),
            "difference": _summary(model[:, k] - floor[:, k], ratio),
        }
        for k, name in enumerate(metrics)
    ]
    return {
        "scores": scores,
        "test_sets": len(model),
        "test_pairs": float(np.mean(tested)),
        "not_scored": not_scored,
        "failed": len(failed),
        "remedy": failed[0].remedy() if failed else None,
    }


def _can_be_scored(y, train, test):
    return all(len(np.unique(y[part])) > 1 for part in (train, test))


def _mse(y, scores):
    return float(np.mean((y - scores) ** 2))


_AREA = {"AUC": roc_auc}
_NUMBERS = {"C-index": concordance_index, "MSE": _mse}
_RANGES = {"AUC": (0, 1), "C-index": (0, 1), "MSE": (0, np.inf)}
_FEW = 10  # pairs of a test set


def _summary(values, ratio):
    half = half_width(values, ratio)
    return {"mean": float(values.mean()), "half_width": half if np.isfinite(half) else None}


def _interval(score, part):
    half = score[part]["half_width"]
    lowest, highest = _RANGES[score["metric"]]
    if part == "difference":
        lowest, highest = lowest - highest, highest - lowest
    return interval_text(
        score[part]["mean"],
        np.nan if half is None else half,
        lowest,
        highest,
        "+" if part == "difference" else "",
    )
