"""A solver on a user's pairs in the settings A to D, beside row and column effects alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kronbench.datasets.pair_tables import OwnPairs
from kronbench.errors import InputError
from kronbench.evaluation import (
    SETTINGS,
    SettingKFold,
    SimilarityKFold,
    additive_scores,
    concordance_index,
    roc_auc,
)
from kronbench.intervals import half_width, interval_text
from kronbench.own_pairs.prediction_intervals import check_intervals, left_out, radius
from kronbench.own_pairs.recipe import Recipe
from kronbench.own_pairs.selection import check_selects, choose, n_fits
from kronbench.progress import progress


def _mse(y, scores):
    return float(np.mean((y - scores) ** 2))


_SCORED = ("model", "additive", "difference")


def evaluate_pairs(
    own: OwnPairs,
    recipe: Recipe,
    settings: Sequence[str],
    n_splits: int,
    n_repeats: int,
    selects: bool,
    similarity: float | None = None,
    interval: float | None = None,
    tested: dict[str, list[np.ndarray]] | None = None,
) -> dict:
    """Scores with intervals in each of the settings, ready for JSON; None for what is not known.

    Each test set is scored by the area under the ROC curve where there are two labels, else by
    the concordance index and the mean squared error; so is the floor of
    :func:`kronbench.evaluation.additive_scores`, and the difference of the two on the same test
    sets. Intervals are those of Nadeau and Bengio (:func:`kronbench.intervals.half_width`). With
    ``selects`` reg and widths are chosen anew in each training set, by inner folds of the same
    setting. Of each setting ``not_scored`` counts test sets with one label in the training or the
    test pairs, ``failed`` those whose model is worse than the mean label on its training pairs.

    With ``similarity`` the new vertices of B, C and D are less alike than that to any that train
    (:class:`kronbench.evaluation.SimilarityKFold`); ``leaks`` has what is left, by side. With the
    level ``interval`` of a setting ``intervals`` has the share of test labels in intervals of that
    level, whose radius each training set gives, and their mean width; or the reason of none.

    ``tested`` is filled, where it is given: by setting, an array (3, t) for each test set that is
    scored, of its labels, the predictions and the additive ones.
    """
    if interval is not None:
        check_intervals(recipe, interval)
    if selects:
        check_selects(recipe)
    if similarity is not None and "".join(settings) == "A":
        raise InputError("--similarity is for new vertices: give setting B, C or D")
    # Make all splits: what can be wrong with them is told before the first fit.
    splits, impossible, leaks = {}, {}, {}
    # Vertices are alike by their tables, and not by the kernels that are made of them.
    as_given = own.data.with_features(*(table.features for table in own.sides))
    for setting in settings:
        try:
            splitter = _splitter(own, setting, n_splits, n_repeats, recipe.seed, similarity)
            if isinstance(splitter, SimilarityKFold):
                sides = splitter.leak(as_given)
                leaks[setting] = {side: leak._asdict() for side, leak in sides.items()}
            folds = list(splitter.split(as_given, own.y))
            if not any(_can_be_scored(own.y, *split) for split in folds):
                raise InputError("no split has two labels in both training and test")
            splits[setting] = folds
        except InputError as error:
            impossible[setting] = re.sub(r"n_(row_|col_)?(splits|folds)", "--splits", str(error))
    if not splits:
        raise InputError("; ".join(f"setting {key}: {why}" for key, why in impossible.items()))
    # Count the fits for the progress, then make them.
    tried = {key: replace(recipe, setting=key) for key in splits}
    fits = {key: 1 + (n_fits(tried[key]) if selects else 0) for key in splits}
    total = sum(len(folds) * fits[key] for key, folds in splits.items())
    # A setting that cannot be had has a reason in place of scores.
    entries = []
    with progress(total, "evaluate", "fit") as bar:
        for setting in sorted(settings):
            entry: dict[str, Any] = {"setting": setting, "test": SETTINGS[setting]}
            entry |= {"reason": impossible.get(setting), "leaks": leaks.get(setting, {})}
            entry |= {"scores": [], "test_sets": 0, "not_scored": 0, "failed": 0}
            entry["intervals"] = None
            if setting in splits:
                work = own, tried[setting], splits[setting], selects, interval, tested
                entry |= _setting_scores(*work, bar.update)
                bar.update(entry["not_scored"] * fits[setting])
            entries.append(entry)
    return {
        "solver": recipe.solver,
        "parameters": dict(recipe.parameters),
        "taken": recipe.taken(own),
        "scaled": list(recipe.scaled),
        "selected": selects,
        "similarity": similarity,
        "seed": recipe.seed,
        "pairs": len(own.data),
        "rows": own.data.n_rows,
        "cols": own.data.n_cols,
        "labels": [float(label) for label in own.labels] if own.two_classes else "numbers",
        "settings": entries,
    }


def scores_and_notes(result: dict) -> tuple[list[list[str]], list[str]]:
    """The table of a result of :func:`evaluate_pairs`, and what its reader should know.

    Its first line has the names of the columns; one with a reason in place of scores is shorter.
    """
    table, notes = [["setting", "score", result["solver"], "additive", "difference", "sets"]], []
    # A line a setting and score, and notes on what a reader should know of a setting.
    for entry in result["settings"]:
        setting = entry["setting"]
        title = f"{setting}  {entry['test']}"
        if entry["reason"]:
            table.append([title, entry["reason"]])
        # The interval of a score ends where its range does.
        for score in entry["scores"]:
            highest = np.inf if score["metric"] == "MSE" else 1
            bounds = [(0.0, highest, ""), (0.0, highest, ""), (-highest, highest, "+")]
            cells = []
            for part, bound in zip(_SCORED, bounds, strict=True):
                mean, half = score[part].values()
                cells.append(interval_text(mean, np.nan if half is None else half, *bound))
            sets = str(entry["test_sets"])
            if entry["not_scored"]:
                sets += f" ({entry['not_scored']} not scored: one label)"
            table.append([title, score["metric"], *cells, sets])
            title = ""
        notes += [
            f"{setting}: {leak['vertices']} {side} in {leak['clusters']} clusters at similarity "
            f"{result['similarity']:g}; {leak['largest']:.4f} is left between test and training"
            for side, leak in entry["leaks"].items()
        ]
        if (of := entry["intervals"]) and of["reason"]:
            notes.append(f"{setting}: no intervals, because {of['reason']}")
        elif of:
            share = interval_text(of["coverage"], of["half_width"] or np.nan, 0, 1)
            notes.append(
                f"{setting}: {100 * of['level']:g} % intervals hold {share} of the test labels, "
                f"mean width {of['width']:.3g}"
            )
        if entry["failed"]:
            notes.append(
                f"{setting}: in {entry['failed']} of {entry['test_sets']} training sets "
                f"{result['solver']} predicts its own training pairs worse than their mean label "
                f"does: {entry['remedy']}"
            )
        if entry["test_sets"] and entry["test_pairs"] < 10:
            notes.append(
                f"{setting}: a test set has {entry['test_pairs']:.3g} pairs on average, too few "
                "for a score to mean much"
            )
    return table, notes


def scores_as_text(result: dict) -> str:
    """The table of a result and its notes, as they are printed."""
    table, notes = scores_and_notes(result)
    # Columns are as wide as their cells; a line with a reason has fewer, and does not count.
    columns = zip(*(line for line in table if len(line) == len(table[0])), strict=True)
    least = (26, 9, 19, 19, 19)
    widths = [max(n, *(len(cell) + 2 for cell in c)) for n, c in zip(least, columns, strict=False)]
    head = f"{result['pairs']} pairs of {result['rows']} rows and {result['cols']} columns; "
    lines = ["".join(map(str.ljust, line, [*widths, 0])).rstrip() for line in table]
    return "\n".join([f"{head}95 % intervals", "", *lines, *notes])


def _splitter(own, setting, n_splits, n_repeats, seed, similarity):
    """The folds of a setting; with ``similarity`` by the tables of the sides that are new."""
    if similarity is None or setting == "A":
        return SettingKFold(setting, n_splits, n_repeats, random_state=seed)
    side = {"B": "rows", "C": "cols", "D": "both"}[setting]
    kernels: dict[str, Any] = {}
    for name, table in zip(("row", "col"), own.sides, strict=True):
        if side not in (f"{name}s", "both"):
            continue
        if not (table.similarity or table.text):
            raise InputError(
                f"{table.name} has features, not similarities: give similarities, fingerprints, "
                "SMILES or sequences, or leave out --similarity"
            )
        of_texts = "tanimoto" if table.fingerprint else "linear"  # the cosine of two spectra
        kernels[f"{name}_kernel"] = "precomputed" if table.similarity else of_texts
    return SimilarityKFold(similarity, side, n_splits, n_repeats, **kernels, random_state=seed)


def _setting_scores(own, recipe, splits, selects, interval, tested, progress):
    metrics = {"C-index": concordance_index, "MSE": _mse}
    if own.two_classes:
        metrics = {"AUC": roc_auc}
    # Fit and score each split whose parts have two labels or more.
    values, failed, covered, reason = [], [], [], None
    scored = [split for split in splits if _can_be_scored(own.y, *split)]
    for train, test in scored:
        X, y, tried = own.data[train], own.y[train], recipe
        if selects:
            tried = choose(recipe, X, y, progress).recipe
        fitted = tried.fit(X, y)
        scores = fitted.scores(own.data[test])
        # What is worse on its own pairs is so on others; to look there costs a product.
        if not _mse(own.y[test], scores) < _mse(own.y[test], y.mean()):
            failed += [tried] if tried.is_worse_than_the_mean(fitted, X, y) else []
        if interval is not None and reason is None:
            try:
                errors = {tried.setting: left_out(tried, fitted, X, y, tried.setting)}
                half = radius(errors, tried.setting, interval)
                covered.append((np.mean(np.abs(scores - own.y[test]) <= half), 2 * half))
            except InputError as error:
                reason = str(error)
        margins = additive_scores(X, y, own.data[test])
        if tested is not None:
            tested.setdefault(recipe.setting, []).append(np.array([own.y[test], scores, margins]))
        progress(1)
        of_model, of_margins = (
            np.array([metric(own.y[test], each) for metric in metrics.values()])
            for each in (scores, margins)
        )
        values.append((of_model, of_margins, of_model - of_margins))
    # The interval knows that training sets overlap by the share of pairs that is tested.
    ratio = float(np.mean([len(test) / len(train) for train, test in scored]))
    if recipe.setting == "D":  # of pairs, which is that of the rows times that of the columns
        ratio = np.sqrt(ratio)
    entries: list[dict] = []
    for name, parts in zip(metrics, np.transpose(values, (2, 1, 0)), strict=True):
        entries.append({"metric": name})
        for part, part_scores in zip(_SCORED, parts, strict=True):
            half = half_width(part_scores, ratio)
            entries[-1][part] = {
                "mean": float(part_scores.mean()),
                "half_width": half if np.isfinite(half) else None,
            }
    intervals: dict[str, Any] = {"level": interval, "reason": reason}
    if covered and not reason:
        shares, widths = np.transpose(covered)
        half = half_width(shares, ratio)
        intervals |= {"coverage": float(shares.mean()), "width": float(widths.mean())}
        intervals["half_width"] = half if np.isfinite(half) else None
    return {
        "scores": entries,
        "intervals": intervals if interval is not None else None,
        "test_sets": len(scored),
        "test_pairs": float(np.mean([len(test) for _, test in scored])),
        "not_scored": len(splits) - len(scored),
        "failed": len(failed),
        "remedy": failed[0].remedy() if failed else None,
    }


def _can_be_scored(y, train, test):
    return all(len(np.unique(y[part])) > 1 for part in (train, test))
