"""One function for each command on a user's own pairs: from files to a result."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kronbench.errors import InputError, printable
from kronbench.files import check_output, refusal, replacing
from kronbench.io import SEPARATORS
from kronbench.own_pairs import model_file
from kronbench.own_pairs.model_file import Model
from kronbench.own_pairs.recipe import (
    Recipe,
    check_landmarks,
    check_solver_name,
    make_recipe,
    read_assignments,
)
from kronbench.own_pairs.requirements import Work, announce, check_tables

# What imports scikit-learn, numba or pandas is imported once what needs none of them is checked:
# a misspelt name is told at once.


def evaluate_files(
    tables: dict[str, str | Path | None],
    solver: str,
    assignments: Sequence[str] = (),
    *,
    settings: Sequence[str] = "ABCD",
    n_splits: int = 3,
    n_repeats: int = 5,
    seed: int = 0,
    scale: bool = False,
    selects: bool = False,
    landmarks: tuple[int | None, int | None] = (None, None),
) -> dict:
    """Scores of a solver in the settings; see :func:`kronbench.own_pairs.evaluate.evaluate`.

    Parameters
    ----------
    tables : dict
        Arguments of :func:`kronbench.own_pairs.tables.read_own_pairs`.
    solver, assignments, scale, selects, landmarks
        As in :func:`kronbench.own_pairs.recipe.make_recipe`.
    settings : of "A", "B", "C", "D"
    n_splits, n_repeats, seed : int
        As in :class:`kronbench.evaluation.SettingKFold`.

    Raises
    ------
    InputError
        Something given is wrong; all but what single folds show is told before the first fit.
    """
    own, recipe = _read(tables, solver, assignments, scale, selects, landmarks, seed)
    from kronbench.own_pairs.evaluate import evaluate, plan

    splits = plan(own, recipe, settings, n_splits, n_repeats, seed, selects)
    _announce_fits(recipe, own, splits.n_fits, splits.n_solves)
    with _progress(splits.n_fits, "evaluate") as step:
        return evaluate(own, recipe, splits, seed, selects, step)


def fit_files(
    tables: dict[str, str | Path | None],
    out: str | Path,
    solver: str,
    assignments: Sequence[str] = (),
    *,
    setting: str = "A",
    seed: int = 0,
    scale: bool = False,
    selects: bool = False,
    landmarks: tuple[int | None, int | None] = (None, None),
) -> str:
    """Fit to all pairs and write the model; sentences on what was chosen and written.

    Parameters
    ----------
    out : path of the model file
    setting : {"A", "B", "C", "D"}
        How new the pairs to predict will be: that of the inner folds.
    others
        As in :func:`evaluate_files`.
    """
    check_output(out, [tables.get(name) for name in ("pairs", "rows", "cols")])
    check_solver_name(solver)
    model_file.check_keeps(solver)
    own, recipe = _read(tables, solver, assignments, scale, selects, landmarks, seed)
    recipe = replace(recipe, setting=setting)
    data = recipe.compact(own.data)
    from kronbench.own_pairs.selection import check_selects, n_fits, n_solves, select

    lines = []
    if selects:
        check_selects(recipe)
    counts = [1 + (count(recipe, setting) if selects else 0) for count in (n_fits, n_solves)]
    _announce_fits(recipe, own, *counts)
    if selects:
        with _progress(n_fits(recipe, setting), "select") as step:
            choice = select(recipe, data, own.y, setting, seed, step)
        recipe = choice.recipe
        chosen = ", ".join(f"{name}={value:.3g}" for name, value in choice.chosen.items())
        metric = (
            f"AUC {choice.score:.3f}"
            if own.two_classes
            else f"mean squared error {-choice.score:.4g}"
        )
        lines.append(f"chosen {choice.how}: {chosen} ({metric})")
        lines += [
            f"{name} lies at an end of its grid: --set {name}={beyond:.3g} tries the next value"
            for name, beyond in choice.on_edge.items()
        ]
    with _iterations(recipe) as callback:
        fitted = recipe.fit(data, own.y, callback)
    if recipe.is_worse_than_the_mean(fitted, data, own.y):
        raise InputError(
            f"{recipe} predicts its own training pairs worse than their mean label does, so that "
            f"{out} is not written: {recipe.remedy()}"
        )
    lines += _missed(recipe, fitted)
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

    Parameters
    ----------
    model : path of a file that ``fit_files`` wrote
    pairs, rows, cols : paths of tables
        As in :func:`kronbench.own_pairs.tables.read_new_pairs`.
    out : path of the predictions, .csv or .tsv
    """
    separator = SEPARATORS.get(Path(out).suffix)
    if separator is None:
        raise InputError(f"{out} is no table that can be written: give .csv or .tsv")
    check_output(out, [model, pairs, rows, cols])
    check_tables({"pairs": pairs, "rows": rows, "cols": cols})
    known = model_file.load(model)
    from kronbench.own_pairs.tables import read_new_pairs

    new = read_new_pairs(pairs, known.sides, known.names[:2], rows, cols)
    scores = np.empty(len(new.ids))
    for _, data in new.groups:
        announce(known.recipe, Work.of(known.data, data))
    for part, data in new.groups:
        scores[part] = known.fitted.scores(known.recipe.compact(data))
    frame = new.ids.assign(prediction=scores)
    with _refused_writing(), replacing(out) as temporary:
        frame.to_csv(temporary, sep=separator, index=False)
    return f"{out}: {len(frame)} predictions by {known.recipe}"


def _missed(recipe, fitted):
    """What landmarks leave of a kernel, as a sentence for each side that has some."""
    nystroem, lines = fitted.before.landmarks, []
    for rank, side, name in zip(recipe.landmarks, ("row", "col"), ("row", "column"), strict=True):
        if rank is not None:
            found = getattr(nystroem, f"{side}_landmarks_").shape[0]
            missed = getattr(nystroem, f"{side}_trace_error_")
            lines.append(f"{found} {name} landmarks miss {missed:.3f} of the kernel's trace")
    return lines


def _read(tables, solver, assignments, scale, selects, landmarks, seed):
    """The pairs, and the recipe for them, with all that can be checked before long work.

    What the tables were taken for is said on standard error.
    """
    check_landmarks(solver, read_assignments(solver, assignments), landmarks)
    check_tables(tables)
    if "." in solver:
        from kronbench.own_pairs.contract import check_takes_pairs

        check_takes_pairs(solver)
    from kronbench.own_pairs.tables import read_own_pairs

    own = read_own_pairs(**tables)
    recipe = make_recipe(solver, assignments, own, scale, selects, landmarks, seed)
    for line in recipe.taken(own):
        print(printable(line), file=sys.stderr)
    return own, recipe


def _announce_fits(recipe, own, n_fits, n_solves):
    """Say what they take; a fit to all pairs stands for those to parts of them."""

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fits themselves warn
            recipe.with_all_widths().fit(recipe.compact(own.data), own.y)

    announce(recipe, Work.of(own.data), n_fits, fit, n_solves)


@contextmanager
def _refused_writing() -> Iterator[None]:
    """A full disk, or a folder that cannot be written, is a sentence."""
    try:
        yield
    except OSError as error:
        if not (sentence := refusal(error)):
            raise
        raise InputError(sentence) from None


@contextmanager
def _iterations(recipe: Recipe) -> Iterator[Callable[[object], None] | None]:
    """A callback that moves a bar of iterations, for fits of some seconds that take one."""
    if "callback" not in signature(recipe.estimator().fit).parameters:
        yield None
        return
    total = recipe.parameter("max_iter")
    with tqdm(total=total, desc="fit", unit="iteration", delay=2) as bar:
        yield lambda _: bar.update() and None


@contextmanager
def _progress(total: int, title: str) -> Iterator:
    """A bar of fits on standard error; what it gives makes one step."""
    with tqdm(total=total, desc=title, unit="fit") as bar:
        yield bar.update
