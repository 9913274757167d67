"""One function for each command on a user's own pairs: from files to a result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from kronbench.datasets.pair_tables import read_own_pairs
from kronbench.errors import InputError, printable
from kronbench.files import check_output, os_error_advice, replacing
from kronbench.io import SEPARATORS
from kronbench.own_pairs import model_file
from kronbench.own_pairs.contract import check_takes_pairs
from kronbench.own_pairs.evaluate import evaluate
from kronbench.own_pairs.model_file import Model
from kronbench.own_pairs.recipe import check_solver_name, make_recipe, read_assignments
from kronbench.own_pairs.requirements import check_memory, check_tables
from kronbench.own_pairs.selection import check_selects, n_fits, select
from kronbench.own_pairs.tables import read_new_pairs

Tables = Mapping[str, str | Path | None]  # arguments of read_own_pairs


@logging_redirect_tqdm()  # a warning does not stand in a bar
def evaluate_files(
    tables: Tables,
    solver: str,
    assignments: Sequence[str] = (),
    *,
    settings: Sequence[str] = "ABCD",
    n_splits: int = 3,
    n_repeats: int = 5,
    seed: int = 0,
    scale: bool = False,
    selects: bool = False,
    similarity: float | None = None,
) -> dict:
    """Scores of a solver in the settings; see :func:`kronbench.own_pairs.evaluate.evaluate`."""
    own, recipe = _read(tables, solver, assignments, scale, selects, seed)
    return evaluate(own, recipe, settings, n_splits, n_repeats, seed, selects, similarity)


@logging_redirect_tqdm()  # a warning does not stand in a bar
def fit_files(
    tables: Tables,
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
    model_file.check_keeps(solver)
    own, recipe = _read(tables, solver, assignments, scale, selects, seed)
    recipe, lines = replace(recipe, setting=setting), []
    if selects:
        recipe, lines = _selected(recipe, own, setting, seed)
    fitted = _fit(recipe, own)
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
    check_tables({"pairs": pairs, "rows": rows, "cols": cols})
    known = model_file.load(model)
    ids, groups = read_new_pairs(pairs, known.sides, known.names[:2], rows, cols)
    scores = np.empty(len(ids))
    for part, data in groups:
        check_memory(known.recipe, known.data, data)
        scores[part] = known.fitted.scores(data)
    with _refused_writing(), replacing(out) as temporary:
        ids.assign(prediction=scores).to_csv(temporary, sep=separator, index=False)
    return f"{out}: {len(ids)} prediction{'s' * (len(ids) != 1)} by {known.recipe}"


def _read(tables, solver, assignments, scale, selects, seed):
    """The pairs, and the recipe for them, with all that can be checked before long work.

    What the tables were taken for is said on standard error.
    """
    given = read_assignments(solver, assignments)
    check_tables(tables)
    if "." in solver:
        check_takes_pairs(solver)
    own = read_own_pairs(**tables)
    recipe = make_recipe(solver, given, own, scale, selects, seed)
    for line in recipe.taken(own):
        print(printable(line), file=sys.stderr)
    check_memory(recipe, own.data)
    return own, recipe


def _selected(recipe, own, setting, seed):
    """The recipe with what inner folds chose, and sentences on the choice."""
    check_selects(recipe)
    with tqdm(total=n_fits(recipe, setting), desc="select", unit="fit") as bar:
        choice = select(recipe, own.data, own.y, setting, seed, bar.update)
    chosen = ", ".join(f"{name}={value:.3g}" for name, value in choice.chosen.items())
    metric = f"mean squared error {-choice.score:.4g}"
    if own.two_classes:
        metric = f"AUC {choice.score:.3f}"
    lines = [f"chosen on inner folds of setting {setting}: {chosen} ({metric})"]
    lines += [
        f"{name} is at an end of its grid: --set {name}={beyond:.3g} tries the next value"
        for name, beyond in choice.on_edge.items()
    ]
    return choice.recipe, lines


def _fit(recipe, own):
    """The fit, with a bar of iterations where it takes some seconds and tells of each."""
    if "callback" not in signature(recipe.estimator().fit).parameters:
        return recipe.fit(own.data, own.y)
    total = recipe.parameter("max_iter")
    with tqdm(total=total, desc="fit", unit="iteration", delay=2) as bar:
        return recipe.fit(own.data, own.y, lambda _: bar.update() and None)


@contextmanager
def _refused_writing() -> Iterator[None]:
    """A full disk, or a folder that cannot be written, is a sentence."""
    try:
        yield
    except OSError as error:
        if not (sentence := os_error_advice(error)):
            raise
        raise InputError(sentence) from None
