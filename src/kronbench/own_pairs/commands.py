"""One function for each command on a user's own pairs: from files to a result.

What ``predict`` does not need is imported where it is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm.contrib.logging import logging_redirect_tqdm

from kronbench.errors import InputError, printable
from kronbench.files import check_output, replacing
from kronbench.io import SEPARATORS, check_readable, did_you_mean, other_form, read_table
from kronbench.own_pairs import KEPT, model_file
from kronbench.own_pairs.model_file import Model
from kronbench.own_pairs.recipe import (
    available_memory,
    check_memory,
    check_solver_name,
    make_recipe,
    mib,
    read_assignments,
)
from kronbench.pairs import PairData
from kronbench.pairs.frames import read_ids, read_vertices
from kronbench.progress import progress, shown_after


@logging_redirect_tqdm()  # a warning does not stand in a bar
def evaluate_files(
    tables: Mapping[str, str | Path | None],
    solver: str,
    assignments: Sequence[str] = (),
    *,
    seed: int = 0,
    scale: bool = False,
    selects: bool = False,
    **options: Any,
) -> dict:
    """Scores of a solver; ``options`` are those of `evaluate_pairs`."""
    from kronbench.own_pairs.evaluate import evaluate_pairs

    own, recipe = _pairs_and_recipe(tables, solver, assignments, scale, selects, seed)
    return evaluate_pairs(own, recipe, selects=selects, **options)


@logging_redirect_tqdm()  # a warning does not stand in a bar
def fit_files(
    tables: Mapping[str, str | Path | None],
    out: str | Path,
    solver: str,
    assignments: Sequence[str] = (),
    *,
    setting: str = "A",
    seed: int = 0,
    scale: bool = False,
    selects: bool = False,
    intervals: bool = False,
) -> str:
    """Fit to all pairs and write the model; sentences on what was chosen and written.

    ``setting`` is that of the inner folds: how new the pairs to predict will be. ``intervals``
    says whether pairs are left out in each setting, for the intervals of predictions.
    """
    # Refuse what cannot end well before any table is read.
    check_output(out, [tables.get(name) for name in ("pairs", "rows", "cols")])
    check_solver_name(solver)
    if solver not in KEPT:
        raise InputError(f"{solver} cannot be kept in a file: give one of {', '.join(KEPT)}")
    own, recipe = _pairs_and_recipe(tables, solver, assignments, scale, selects, seed)
    if intervals:
        from kronbench.own_pairs.prediction_intervals import check_intervals

        check_intervals(recipe)
    from kronbench.own_pairs.selection import check_selects, choose, convergence_kept_back, n_fits

    recipe, lines, more = replace(recipe, setting=setting), [], None
    # Choose what is open by inner folds, and tell what was chosen.
    if selects:
        check_selects(recipe)
        with progress(n_fits(recipe), "select", "fit") as bar:
            choice = choose(recipe, own.data, own.y, bar.update)
        recipe = choice.recipe
        chosen = ", ".join(f"{name}={value:.3g}" for name, value in choice.chosen.items())
        metric = f"mean squared error {-choice.score:.4g}"
        if own.two_classes:
            metric = f"AUC {choice.score:.3f}"
        lines.append(f"chosen on inner folds of setting {setting}: {chosen} ({metric})")
        more = choice.on_edge.pop("max_iter", None)
        for name, beyond in choice.on_edge.items():
            advice = f"--set {name}={beyond:.3g} tries the next value"
            lines.append(f"{name} is at an end of its grid: {advice}")
    # Fit to all pairs. One line tells of iterations that ended, in the choice and in the fit.
    with shown_after(2), convergence_kept_back() if more else nullcontext(()) as told:
        fitted = recipe.fit(own.data, own.y)
    if more:
        who = "the fit and smaller reg need" if told else "smaller reg need"
        lines.append(f"{who} more iterations: --set max_iter={more} allows them")
    # Keep no model that fails on its own training pairs.
    if recipe.is_worse_than_the_mean(fitted, own.data, own.y):
        raise InputError(
            f"{recipe} predicts its own training pairs worse than their mean label does, so "
            f"{out} is not written: {recipe.remedy()}"
        )
    if recipe.is_lost_to_rounding(fitted, own.data, own.y):
        raise InputError(
            f"{recipe} was ended by rounding far from its solution, so {out} is not written: "
            f"{recipe.remedy()}"
        )
    errors = _left_out(recipe, fitted, own, lines) if intervals else None
    model = Model(recipe, fitted, own.data, own.sides, own.names, own.y, errors)
    digest = model_file.save_model(model, out)
    lines.append(f"{out}: {recipe}, {len(own.data)} pairs, sha256 {digest}")
    return "\n".join(lines)


def predict_files(
    model: str | Path,
    pairs: str | Path,
    out: str | Path,
    rows: str | Path | None = None,
    cols: str | Path | None = None,
    interval: float | None = None,
) -> str:
    """Write a prediction for each pair of a table, in its order; a sentence on what was written.

    ``rows`` and ``cols`` are tables of vertices that the model in the file does not know. With the
    level ``interval`` columns ``lower`` and ``upper`` follow, and the ``setting`` of each pair.
    """
    separator = SEPARATORS.get(Path(out).suffix)
    if separator is None:
        raise InputError(f"{out} is not a table that can be written: give .csv or .tsv")
    check_output(out, [model, pairs, rows, cols])
    _check_tables([pairs, rows, cols])
    kept = model_file.load_model(model)
    ids, groups = _read_new_pairs(pairs, kept, (rows, cols))
    scores, half, settings = np.empty(len(ids)), np.empty(len(ids)), np.empty(len(ids), "<U1")
    if interval is not None:
        from kronbench.own_pairs.prediction_intervals import half_widths

        for part, data in groups:
            half[part], settings[part] = half_widths(kept, interval, data)
    for part, data in groups:
        check_memory(kept.recipe, kept.data, data)
        scores[part] = kept.fitted.scores(data)
    table = ids.assign(prediction=scores)
    if interval is not None:
        table = table.assign(lower=scores - half, upper=scores + half, setting=settings)
    with replacing(out) as temporary:
        table.to_csv(temporary, sep=separator, index=False)
    many = "prediction" if len(ids) == 1 else "predictions"
    return f"{out}: {len(ids)} {many} by {kept.recipe}"


def _left_out(recipe, fitted, own, lines):
    """The errors of each setting that pairs can be left out in; ``lines`` tell of the others."""
    from kronbench.own_pairs.prediction_intervals import UNITS, left_out

    errors = {}
    with progress(len(UNITS), "intervals", "setting") as bar:
        for setting in UNITS:
            try:
                errors[setting] = left_out(recipe, fitted, own.data, own.y, setting)
            except InputError as error:
                lines.append(f"no intervals for setting {setting}, because {error}")
            bar.update()
    known = ", ".join(f"{setting} {n} {UNITS[setting]}" for setting, (n, _) in errors.items())
    lines.append(f"left out for intervals: {known or 'none'}")
    return errors


def _pairs_and_recipe(tables, solver, assignments, scale, selects, seed):
    """The pairs, and the recipe for them, with all that can be checked before long work."""
    from kronbench.datasets.pair_tables import read_own_pairs
    from kronbench.own_pairs.solver_checks import check_takes_pairs

    parameters = read_assignments(solver, assignments)
    _check_tables([tables.get(name) for name in ("pairs", "rows", "cols")])
    if "." in solver:
        check_takes_pairs(solver)
    own = read_own_pairs(**tables)
    recipe = make_recipe(solver, parameters, own, scale, selects, seed)
    check_memory(recipe, own.data)
    recipe, own = recipe.with_kernels(own)
    for line in recipe.taken(own):
        print(printable(line), file=sys.stderr)
    return own, recipe


def _check_tables(paths):
    """InputError where a table is not there, or all take more memory to read than there is."""
    paths = list(filter(None, paths))
    for path in paths:
        check_readable(path)
    needed = 3 * sum(map(os.path.getsize, paths))  # a number of eight characters takes 24 bytes
    if needed > (available := available_memory()):
        largest = max(paths, key=os.path.getsize)
        raise InputError(
            f"{largest} has {mib(os.path.getsize(largest))}, and reading the tables takes about "
            f"{mib(needed)} where {mib(available)} are available: give fewer rows"
        )


def _read_new_pairs(pairs, model, paths):
    """The ids of pairs to predict, and groups of their positions with the pairs there.

    Features are as those of the model's vertices. A group has each side from the model, or from a
    table of new vertices, with its ids: a model with vertex effects knows its own vertices by them
    and by their features.
    """
    names = list(model.names[:2])
    frame = read_table(pairs, ids=names)
    ours = model.data.row_features, model.data.col_features
    options, placed = ("--rows", "--cols"), []
    of_sides = zip(model.sides, ours, model.recipe.units, paths, options, names, strict=True)
    for side, own, unit, path, option, name in of_sides:
        # The position of each pair's vertex in the model, and in the table of new vertices.
        ids = read_ids(frame[name], str(pairs), "pair")
        in_model = pd.Index(side.ids).get_indexer(ids)
        in_table = np.full(len(ids), -1)
        others: tuple[Any, tuple[str, ...] | None] = None, None
        if path is not None:
            table = read_vertices(read_table(path), option, averaged=True)
            features = _as_in_model(table, side)
            in_table = pd.Index(table.ids).get_indexer(ids)
            # A vertex that the model knows, with the same features, is the model's.
            in_table[(in_table >= 0) & _as_known(table, features, side)[in_table]] = -1
            others = features if unit == 1 else features / unit, table.ids
        if (unknown := np.flatnonzero((in_model < 0) & (in_table < 0))).size:
            where = f"{path}, nor in the model" if path else "the model"
            first = ids[unknown[0]]
            advice = "" if path else f": give its features with {option}"
            raise InputError(
                f"{pairs}, pair {unknown[0] + 1}: {name} '{first}' is not in {where}"
                + (other_form(first, side.ids) or advice)
            )
        is_new = in_table >= 0
        placed.append((is_new, np.where(is_new, in_table, in_model), ((own, side.ids), others)))
    (new_row, row, row_sides), (new_col, col, col_sides) = placed
    # Group the pairs by what is new in them: neither vertex, one of the two, or both.
    groups = []
    for a, b in product((False, True), repeat=2):
        part = np.flatnonzero((new_row == a) & (new_col == b))
        if part.size:
            (row_features, row_ids), (col_features, col_ids) = row_sides[a], col_sides[b]
            data = PairData(row_features, col_features, row[part], col[part])
            data.row_ids, data.col_ids = row_ids, col_ids
            groups.append((part, data))
    return frame[names], groups


def _as_known(table, features, side):
    """Whether the model knows each vertex of a table, with these features; others are told."""
    known = pd.Index(side.ids).get_indexer(table.ids)
    both = np.flatnonzero(known >= 0)
    apart = (features[both] != side.features[known[both]]).sum(axis=1) > 0
    if apart.any():
        line = (
            f"{table.name} has other features than the model for {apart.sum()} of its ids, the "
            f"first is '{table.ids[both[apart][0]]}': those of {table.name} are used"
        )
        print(printable(line), file=sys.stderr)
    known[both[apart]] = -1
    return known >= 0


def _as_in_model(table, side):
    """The features of new vertices, with the columns of the model's table in its order."""
    if side.fingerprint:
        if not table.fingerprint:
            raise InputError(
                f"{table.name} has no fingerprints, but the model was fitted with some: give them "
                f"in a column '{side.fingerprint}'"
            )
        bits, wanted = table.features.shape[1], side.features.shape[1]
        if bits != wanted:
            raise InputError(
                f"{table.name} has fingerprints of {bits} bits, but the model was fitted with "
                f"{wanted}: fold them to that length"
            )
        return table.features
    position = pd.Index(table.columns).get_indexer(side.columns)
    if (missing := np.flatnonzero(position < 0)).size:
        name = side.columns[missing[0]]
        raise InputError(
            f"{table.name} has no column '{name}', which the model was fitted with"
            + did_you_mean(name, table.columns)
        )
    # A similarity of old and new vertices has columns for the new ones too.
    more = set(table.columns) - set(side.columns) - set(table.ids if side.similarity else ())
    if more:
        raise InputError(
            f"{table.name} has a column '{min(more)}', which the model was not fitted with: "
            "give the same columns"
        )
    return table.features[:, position]
