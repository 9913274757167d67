"""One function for each command on a user's own pairs: from files to a result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from kronbench.datasets.pair_tables import read_own_pairs
from kronbench.errors import InputError, printable
from kronbench.files import check_output, os_error_advice, replacing
from kronbench.io import SEPARATORS, check_readable, did_you_mean, read_table
from kronbench.own_pairs import model_file
from kronbench.own_pairs.contract import check_takes_pairs
from kronbench.own_pairs.evaluate import evaluate
from kronbench.own_pairs.model_file import Model
from kronbench.own_pairs.recipe import (
    available_memory,
    check_memory,
    check_solver_name,
    make_recipe,
    mib,
    read_assignments,
)
from kronbench.own_pairs.selection import check_selects, n_fits, select
from kronbench.pairs import PairData
from kronbench.pairs.frames import read_ids, read_vertices


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
    """Scores of a solver; ``options`` are those of `kronbench.own_pairs.evaluate.evaluate`."""
    own, recipe = _read(tables, solver, assignments, scale, selects, seed)
    return evaluate(own, recipe, selects=selects, **options)


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
) -> str:
    """Fit to all pairs and write the model; sentences on what was chosen and written.

    ``setting`` is that of the inner folds: how new the pairs to predict will be.
    """
    check_output(out, [tables.get(name) for name in ("pairs", "rows", "cols")])
    check_solver_name(solver)
    if solver not in (kept := model_file.KEPT):
        raise InputError(f"{solver} cannot be kept in a file: give one of {', '.join(kept)}")
    own, recipe = _read(tables, solver, assignments, scale, selects, seed)
    recipe, lines = replace(recipe, setting=setting), []
    if selects:
        check_selects(recipe)
        with tqdm(total=n_fits(recipe), desc="select", unit="fit") as bar:
            choice = select(recipe, own.data, own.y, bar.update)
        recipe = choice.recipe
        chosen = ", ".join(f"{name}={value:.3g}" for name, value in choice.chosen.items())
        metric = f"mean squared error {-choice.score:.4g}"
        if own.two_classes:
            metric = f"AUC {choice.score:.3f}"
        lines.append(f"chosen on inner folds of setting {setting}: {chosen} ({metric})")
        for name, beyond in choice.on_edge.items():
            advice = f"--set {name}={beyond:.3g} tries the next value"
            lines.append(f"{name} is at an end of its grid: {advice}")
    # a bar of iterations where the fit takes some seconds and tells of each
    total, told = recipe.parameter("max_iter"), signature(recipe.estimator().fit).parameters
    with tqdm(total=total, desc="fit", unit="iteration", delay=2) as bar:
        callback = (lambda _: bar.update() and None) if "callback" in told else None
        fitted = recipe.fit(own.data, own.y, callback)
    if recipe.is_worse_than_the_mean(fitted, own.data, own.y):
        raise InputError(
            f"{recipe} predicts its own training pairs worse than their mean label does, so "
            f"{out} is not written: {recipe.remedy()}"
        )
    with _refused_writing():
        digest = model_file.save(Model(recipe, fitted, own.data, own.sides, own.names), out)
    lines.append(f"{out}: {recipe}, {len(own.data)} pairs, sha256 {digest}")
    return "\n".join(lines)


def predict_files(
    model: str | Path,
    pairs: str | Path,
    out: str | Path,
    rows: str | Path | None = None,
    cols: str | Path | None = None,
) -> str:
    """Write a prediction for each pair of a table, in its order; a sentence on what was written.

    ``rows`` and ``cols`` are tables of vertices that the model in the file does not know.
    """
    separator = SEPARATORS.get(Path(out).suffix)
    if separator is None:
        raise InputError(f"{out} is not a table that can be written: give .csv or .tsv")
    check_output(out, [model, pairs, rows, cols])
    _check_tables([pairs, rows, cols])
    known = model_file.load(model)
    ids, groups = _read_new_pairs(pairs, known.sides, known.names[:2], (rows, cols))
    scores = np.empty(len(ids))
    for part, data in groups:
        check_memory(known.recipe, known.data, data)
        scores[part] = known.fitted.scores(data)
    with _refused_writing(), replacing(out) as temporary:
        ids.assign(prediction=scores).to_csv(temporary, sep=separator, index=False)
    return f"{out}: {len(ids)} prediction{'s' * (len(ids) != 1)} by {known.recipe}"


def _read(tables, solver, assignments, scale, selects, seed):
    """The pairs, and the recipe for them, with all that can be checked before long work."""
    given = read_assignments(solver, assignments)
    _check_tables([tables.get(name) for name in ("pairs", "rows", "cols")])
    if "." in solver:
        check_takes_pairs(solver)
    own = read_own_pairs(**tables)
    recipe = make_recipe(solver, given, own, scale, selects, seed)
    for line in recipe.taken(own):
        print(printable(line), file=sys.stderr)
    check_memory(recipe, own.data)
    return own, recipe


def _check_tables(paths):
    """InputError where a table is not there, or all take more memory to read than there is."""
    sizes = {}
    for path in filter(None, paths):
        check_readable(path)
        sizes[path] = os.path.getsize(path)
    needed = 3 * sum(sizes.values())  # a number of eight characters takes 24 bytes
    if needed > (available := available_memory()):
        largest = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"{largest} has {mib(sizes[largest])}, and reading the tables takes about "
            f"{mib(needed)} where {mib(available)} are available: give fewer rows"
        )


@contextmanager
def _refused_writing() -> Iterator[None]:
    """A full disk, or a folder that cannot be written, is a sentence."""
    try:
        yield
    except OSError as error:
        if not (sentence := os_error_advice(error)):
            raise
        raise InputError(sentence) from None


def _read_new_pairs(pairs, sides, names, paths):
    """The ids of pairs to predict, and groups of their positions with the pairs there.

    Features are as those of a model's vertices, which are ``sides``. A group has each side from
    the model, or from a table of new vertices, with its ids: a model with vertex effects knows its
    own vertices by them and by their features.
    """
    frame = read_table(pairs, ids=list(names))
    found = []
    for side, path, option, name in zip(sides, paths, ("--rows", "--cols"), names, strict=True):
        ids = read_ids(frame[name], str(pairs), "pair")
        known = pd.Index(side.ids).get_indexer(ids)
        new, given = np.full(len(ids), -1), (None, None)
        if path is not None:
            table = read_vertices(read_table(path), option)
            new, given = (
                pd.Index(table.ids).get_indexer(ids),
                (_as_in_model(table, side), table.ids),
            )
        if (unknown := np.flatnonzero((known < 0) & (new < 0))).size:
            where = f"{path}, nor in the model" if path else "the model"
            raise InputError(
                f"{pairs}, pair {unknown[0] + 1}: {name} '{ids[unknown[0]]}' is not in {where}"
                + ("" if path else f": give its features with {option}")
            )
        both = (side.features, side.ids), given
        found.append((new >= 0, np.where(new >= 0, new, known), both))
    (new_row, row, row_sides), (new_col, col, col_sides) = found
    groups = []
    for a, b in product((False, True), repeat=2):
        part = np.flatnonzero((new_row == a) & (new_col == b))
        if part.size:
            (row_features, row_ids), (col_features, col_ids) = row_sides[a], col_sides[b]
            data = PairData(row_features, col_features, row[part], col[part])
            data.row_ids, data.col_ids = row_ids, col_ids
            groups.append((part, data))
    return frame[list(names)], groups


def _as_in_model(table, side):
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
    # a similarity of old and new vertices has columns for the new ones too
    more = set(table.columns) - set(side.columns) - set(table.ids if side.similarity else ())
    if more:
        raise InputError(
            f"{table.name} has a column '{min(more)}', which the model was not fitted with: "
            "give the same columns"
        )
    return table.features[:, position]
