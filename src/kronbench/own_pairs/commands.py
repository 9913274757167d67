"""One function for each command on a user's own pairs: from files to a result.

What ``predict`` does not need is imported where it is used.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from tqdm.contrib.logging import logging_redirect_tqdm

from kronbench.errors import InputError, extra_for, printable
from kronbench.files import check_output, replacing
from kronbench.io import SEPARATORS, check_readable, other_form, read_parts
from kronbench.own_pairs import KEPT, model_file
from kronbench.own_pairs.model_file import Model
from kronbench.own_pairs.recipe import (
    available_memory,
    check_memory,
    check_solver_name,
    expected,
    make_recipe,
    mib,
    read_assignments,
)
from kronbench.own_pairs.sides import Side, groups_of, read_side, side_of
from kronbench.pairs.frames import read_ids
from kronbench.pairs.screening import best_pairs
from kronbench.progress import progress, shown_after

_TABLES = "pairs", "rows", "cols"


@logging_redirect_tqdm()  # a warning does not stand in a bar
def evaluate_files(
    tables: Mapping[str, str | Path | None],
    solver: str,
    assignments: Sequence[str] = (),
    *,
    seed: int = 0,
    scale: bool = False,
    selects: bool = False,
    report: Path | None = None,
    command: str = "",
    **options: Any,
) -> dict:
    """Scores of a solver; ``options`` are those of `evaluate_pairs`.

    ``report`` is a folder for a page about them, which names the ``command``.
    """
    from kronbench.own_pairs.evaluate import evaluate_pairs
    from kronbench.own_pairs.report_page import check_report, ten_best, write_report

    if report is not None:  # refused before any table is read
        check_report(report, [tables.get(name) for name in _TABLES])
    own, recipe = _pairs_and_recipe(tables, solver, assignments, scale, selects, seed)
    tested: dict | None = None if report is None else {}
    result = evaluate_pairs(own, recipe, selects=selects, tested=tested, **options)
    if report is not None:
        best = ten_best(own, replace(recipe, setting=options["settings"][0]), selects)
        write_report(report, result, tested or {}, best, command)
        print(printable(f"report: {report / 'index.html'}"), file=sys.stderr)
    return result


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
    check_output(out, [tables.get(name) for name in _TABLES])
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
    fault = ""
    if recipe.is_worse_than_the_mean(fitted, own.data, own.y):
        fault = "predicts its own training pairs worse than their mean label does"
    elif recipe.is_lost_to_rounding(fitted, own.data, own.y):
        fault = "was ended by rounding far from its solution"
    if fault:
        raise InputError(f"{recipe} {fault}, so {out} is not written: {recipe.remedy()}")
    errors = _left_out(recipe, fitted, own, lines) if intervals else None
    model = Model(recipe, fitted, own.data, own.sides, own.names, own.y, errors)
    digest = model_file.save_model(model, out)
    lines.append(f"{out}: {recipe}, {len(own.data)} pairs, sha256 {digest}")
    return "\n".join(lines)


@logging_redirect_tqdm()  # a warning does not stand in a bar
def predict_files(
    model: str | Path,
    pairs: str | Path,
    out: str | Path,
    rows: str | Path | None = None,
    cols: str | Path | None = None,
    interval: float | None = None,
) -> str:
    """Write a prediction for each pair of a table, in its order; a sentence on what was written.

    ``rows`` and ``cols`` are files of vertices that the model in the file does not know. With the
    level ``interval`` columns ``lower`` and ``upper`` follow, and the ``setting`` of each pair.
    """
    kept, sides = _model_and_sides(model, out, (rows, cols), pairs)
    row, col = _read_places(pairs, kept, sides)
    half = _half_widths(kept, sides, row, col, interval)  # what has none is told before the work
    scores = predictions(kept, sides, row, col)
    _write_predictions(out, kept, sides, row, col, scores, half)
    many = "prediction" if len(scores) == 1 else "predictions"
    return f"{out}: {len(scores)} {many} by {kept.recipe}"


@logging_redirect_tqdm()
def screen_files(
    model: str | Path,
    out: str | Path,
    rows: str | Path | None = None,
    cols: str | Path | None = None,
    known: str | Path | None = None,
    interval: float | None = None,
    **options: Any,
) -> str:
    """Write the best of all pairs of the given vertices, or else of the model's; a sentence on it.

    The training pairs and those of ``known`` are left out. ``interval`` is that of
    :func:`predict_files`, and ``options`` are those of :func:`kronbench.pairs.screen`.
    """
    kept, sides = _model_and_sides(model, out, (rows, cols), known)
    shape = sides[0].n_asked, sides[1].n_asked
    # A pair of each kind, known or new on either side, tells of intervals before the work.
    whether_new = (side.is_new[: side.n_asked] for side in sides)
    kinds = [np.unique(is_new, return_index=True)[1] for is_new in whether_new]
    some_rows, some_cols = map(np.ravel, np.meshgrid(*kinds))
    _half_widths(kept, sides, some_rows, some_cols, interval)
    # The training pairs and the known ones, as far as their vertices are asked for.
    ours = zip(sides, kept.sides, (kept.data.rows, kept.data.cols), strict=True)
    left_out = [side.ids.get_indexer(own.ids)[of_pairs] for side, own, of_pairs in ours]
    if known is not None:
        pairs = zip(left_out, _read_places(known, kept, sides), strict=True)
        left_out = [np.concatenate(both) for both in pairs]
    asked = (left_out[0] < shape[0]) & (left_out[1] < shape[1])
    i, j = (of_side[asked] for of_side in left_out)
    is_known = sparse.csr_array((np.ones(len(i), bool), (i, j)), shape)
    # Rank all others.
    of_rows, of_cols, scores = best_pairs(partial(predictions, kept, sides), is_known, **options)
    half = _half_widths(kept, sides, of_rows, of_cols, interval)
    _write_predictions(out, kept, sides, of_rows, of_cols, scores, half)
    of_all = f"{len(scores):,} of {shape[0] * shape[1] - is_known.nnz:,} pairs"
    left = f" ({is_known.nnz:,} known ones left out)" if is_known.nnz else ""
    return f"{out}: the best {of_all}{left} by {kept.recipe}"


def predictions(
    model: Model, sides: tuple[Side, Side], rows: np.ndarray, cols: np.ndarray
) -> np.ndarray:
    """Predictions (t,) for pairs of positions (t,) in the ids of two sides."""
    scores = np.empty(len(rows))
    for part, data in groups_of(sides, rows, cols):
        check_memory(model.recipe, model.data, data)
        scores[part] = model.fitted.scores(data)
    return scores


def _half_widths(model, sides, rows, cols, level):
    """Half the width of the interval of each pair, and its setting; None without a level."""
    if level is None:
        return None
    from kronbench.own_pairs.prediction_intervals import half_widths

    half, settings = np.empty(len(rows)), np.empty(len(rows), "<U1")
    for part, data in groups_of(sides, rows, cols):
        half[part], settings[part] = half_widths(model, level, data)
    return half, settings


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
    _check_tables([tables.get(name) for name in _TABLES])
    if "." in solver:
        check_takes_pairs(solver)
    read = {name: read_side(tables[name], f"--{name}") for name in ("rows", "cols")}
    own = read_own_pairs(**(tables | read))
    recipe = make_recipe(solver, parameters, own, scale, selects, seed)
    needed = check_memory(recipe, own.data, selects=selects)
    recipe, own = recipe.with_kernels(own)
    for line in recipe.taken(own):
        print(printable(line), file=sys.stderr)
    if line := expected(recipe, own.data, needed):
        print(line, file=sys.stderr)
    return own, recipe


def _check_tables(paths):
    """InputError where a table is not there, or all take more memory to read than there is."""
    paths = list(filter(None, paths))
    for path in paths:
        check_readable(path)
    needed = 3 * sum(map(_size, paths))  # a number of eight characters takes 24 bytes
    if needed > (available := available_memory()):
        largest = max(paths, key=_size)
        raise InputError(
            f"{largest} has {mib(_size(largest))}, and reading the tables takes about "
            f"{mib(needed)} where {mib(available)} are available: give fewer rows"
        )


def _size(path):
    """The bytes of a file, those of a sparse matrix unpacked."""
    if Path(path).suffix == ".npz":
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as file:
            return sum(entry.file_size for entry in file.infolist())
    return os.path.getsize(path)


def _model_and_sides(model, out, files, pairs):
    """The model of a file, and the vertices of its pairs, with all that can be checked before."""
    if Path(out).suffix == ".parquet":
        with extra_for(out):
            import pyarrow  # noqa: F401 (before the work)
    elif Path(out).suffix not in SEPARATORS:
        raise InputError(f"{out} is no table that can be written: give .csv, .tsv or .parquet")
    check_output(out, [model, pairs, *files])
    _check_tables([pairs, *files])
    kept = model_file.load_model(model)
    own = kept.data.row_features, kept.data.col_features
    each = zip(kept.sides, own, kept.recipe.units, files, ("--rows", "--cols"), strict=True)
    return kept, tuple(starmap(side_of, each))


def _read_places(pairs, model, sides):
    """Positions, in the ids of the sides, of the row and of the column of each pair of a table."""
    names, places = list(model.names[:2]), []
    frame = next(read_parts(pairs, names, categories=True))
    for side, name, own in zip(sides, names, model.sides, strict=True):
        ids = read_ids(frame[name], str(pairs), "pair")
        places.append(side.ids.get_indexer(ids))
        if (unknown := np.flatnonzero(places[-1] < 0)).size:
            first = ids[unknown[0]]
            raise InputError(
                f"{pairs}, pair {unknown[0] + 1}: {name} '{first}' is not in {side.where}"
                + (other_form(first, own.ids) or side.advice)
            )
    return places


def _write_predictions(out, model, sides, rows, cols, scores, half):
    """The table of the ids of pairs and of their predictions."""
    places = zip(model.names, sides, (rows, cols), strict=False)
    ids = {name: side.ids[of_pairs] for name, side, of_pairs in places}
    frame = pd.DataFrame({**ids, "prediction": scores})
    if half is not None:
        widths, settings = half
        frame = frame.assign(lower=scores - widths, upper=scores + widths, setting=settings)
    with replacing(out) as temporary:
        if temporary.suffix == ".parquet":
            frame.to_parquet(temporary, index=False)
        else:
            frame.to_csv(temporary, sep=SEPARATORS[temporary.suffix], index=False)
