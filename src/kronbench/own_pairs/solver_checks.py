"""What a solver of pairs has to keep, checked on a small example: ``kronbench check``.

Each check is a function of a solver, pairs and labels. Its docstring says in words what is kept;
it returns None, or raises an error whose text says what is wrong.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from textwrap import shorten
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from kronbench.errors import InputError
from kronbench.own_pairs.recipe import find_solver
from kronbench.pairs import PairData
from kronbench.solvers import scores_of

# Largest difference of two scores that should be the same, relative to the largest score.
_SCORE_ROUNDING = 1e-6
# The same for two fits whose iterations end by a tolerance, which moves what they choose.
_SCORE_STOPPING = 1e-3


class Broken(Exception):
    """A part of the contract that does not hold; the message says how."""


def check_solver(
    path: str, parameters: Mapping[str, object] | None = None
) -> Iterator[tuple[str, str]]:
    """Each part of the contract in words, and what is wrong with it or "".

    ``path`` is the name of a solver of the package or the import path of a class, made with
    ``parameters`` and its defaults.
    """
    solver = _example_of(path, parameters or {})
    for check in _CHECKS:
        yield str(inspect.getdoc(check)).rstrip("."), _fault(check, solver)


def check_keeps_contract(path: str, parameters: Mapping[str, object] | None = None) -> None:
    """InputError with the first part of the contract that a solver breaks."""
    check_takes_pairs(path, parameters)
    for part, fault in check_solver(path, parameters):
        if fault:
            raise InputError(
                f"{path} breaks the contract of solvers, so its numbers could not be "
                f"compared: '{part}': {fault}"
            )


def check_takes_pairs(path: str, parameters: Mapping[str, object] | None = None) -> None:
    """InputError unless a solver from outside fits and scores a PairData, tried on a toy."""
    if why := _fault(_scores_pairs, _example_of(path, parameters or {})):
        if "not an array of features" in why:
            why = "it converts X to an array"
        raise InputError(
            f"{path} does not take pairs: {why}, where fit(X, y) gets a PairData with "
            "row_features, col_features, rows and cols"
        )


def _fault(check, solver):
    """What a check finds wrong, as one line; "" where it holds."""
    with warnings.catch_warnings(action="ignore"):
        try:
            check(solver, *_toy())
        except Broken as error:
            return shorten(str(error), 200)
        except (Exception, SystemExit) as error:  # whatever code from outside does
            return shorten(f"it fails with {type(error).__name__}: {error}", 200)
    return ""


def _example_of(path, parameters):
    """A solver with these parameters, and a fixed seed where it has randomness."""
    solver = find_solver(path)
    try:
        example = solver(**parameters)
        return example.set_params(**dict.fromkeys({"random_state"} & {*example.get_params()}, 0))
    except (Exception, SystemExit) as error:  # whatever code from outside does
        how = "with these parameters" if parameters else "without arguments"
        raise InputError(shorten(f"{path} cannot be made {how}: {error}", 300)) from None


def _toy() -> tuple[PairData, np.ndarray]:
    """All 30 pairs of 6 x 5 vertices, and labels -1 and 1 of a smooth rule."""
    rng = np.random.default_rng(0)
    rows, cols = rng.standard_normal((6, 3)), rng.standard_normal((5, 2))
    scores = (rows @ rng.standard_normal((3, 2)) @ cols.T).ravel()
    return PairData.complete(rows, cols), np.where(scores > np.median(scores), 1.0, -1.0)


def _require(holds, otherwise):
    if not holds:
        raise Broken(otherwise)


def _scores(solver, pairs):
    scores = np.asarray(scores_of(solver, pairs))
    _require(scores.dtype.kind in "fiub", f"scores have dtype {scores.dtype}: give numbers")
    return scores.astype(float)


def _require_same(one, other, what, tolerance=_SCORE_ROUNDING):
    """Refuse scores that differ by more than a tolerance, relative to the largest of them."""
    apart = float(np.abs(one - other).max())
    close = apart <= tolerance * max(1.0, float(np.abs(one).max()))
    _require(close, f"{what}: scores differ by up to {apart:.3g}")


def _scores_pairs(solver, pairs, y):
    solver.fit(pairs, y)
    shape = _scores(solver, pairs[:3]).shape
    _require(shape == (3,), f"3 pairs have scores of shape {shape}: give (3,)")


def _keeps_parameters(solver, pairs, y):
    """Keyword parameters are stored untouched: get_params, set_params and clone work."""
    before, copy = repr(solver.get_params()), clone(solver)
    _require(repr(copy.get_params()) == before, "a clone has other parameters")
    copy.set_params(**solver.get_params()).fit(pairs, y)
    advice = "keep what is learned in attributes that end in _"
    _require(repr(copy.get_params()) == before, f"fit changes a parameter: {advice}")


def _returns_itself(solver, pairs, y):
    """Fit takes a PairData and labels, leaves them unchanged and returns the estimator."""
    model, (same, y_same) = clone(solver), _toy()
    returned = model.fit(pairs, y)
    _require(returned is model, "fit returns something else: end it with 'return self'")
    for name in ("row_features", "col_features", "rows", "cols"):
        unchanged = np.array_equal(getattr(pairs, name), getattr(same, name))
        _require(unchanged, f"fit writes into X.{name}, which other folds share: take a copy")
    _require(np.array_equal(y, y_same), "fit writes into y: take a copy")


def _one_score_a_pair(solver, pairs, y):
    """Predict gives one finite number (a class for classifiers) for each pair."""
    # A solver that stored its training labels would give as many numbers as it has seen.
    some = np.flatnonzero(np.arange(len(y)) % 3)
    model, asked = clone(solver).fit(pairs[some], y[some]), pairs[[3, 0, 29]]
    predicted = np.asarray(model.predict(asked))
    shape = predicted.shape
    _require(shape == (3,), f"3 pairs have predictions of shape {shape}: give (3,)")
    _require(np.isfinite(_scores(model, asked)).all(), "a score is not finite")
    if is_classifier(model):
        known = np.isin(predicted, np.unique(y)).all()
        _require(known, "a classifier predicts something that is not a label of the training set")


def _is_deterministic(solver, pairs, y):
    """Two fits to the same pairs, with the same random_state, give the same scores."""
    one, other = (_scores(clone(solver).fit(pairs, y), pairs) for _ in range(2))
    advice = "draw randomness from a parameter random_state"
    _require_same(one, other, f"a second fit differs: {advice}")


def _order_does_not_matter(solver, pairs, y):
    """Predictions do not depend on the order of the pairs."""
    model = clone(solver).fit(pairs, y)
    one, other = _scores(model, pairs), _scores(model, pairs[::-1])
    _require_same(one[::-1], other, "in the opposite order")


def _respects_folds(solver, pairs, y):
    """Vertices without training pairs, such as those of test folds, do not change a fit."""
    train = np.flatnonzero((pairs.rows < 4) & (pairs.cols < 4))
    # The features of all other vertices become absurd.
    rows, cols = pairs.row_features.copy(), pairs.col_features.copy()
    rows[4:], cols[4:] = 100.0, -100.0
    one, other = (
        _scores(clone(solver).fit(X[train], y[train]), X[train])
        for X in (pairs, pairs.with_features(rows, cols))
    )
    _require_same(one, other, "features of vertices outside the training pairs change the fit")


def _places_do_not_matter(solver, pairs, y):
    """Scores do not depend on the order of the vertices in their tables."""
    model = clone(solver).fit(pairs, y)
    turned = _in_other_order(pairs, np.arange(6)[::-1], np.arange(5)[::-1])
    rolled = _in_other_order(pairs, np.roll(np.arange(6), 2), np.roll(np.arange(5), 2))
    what = (
        "positions in X.rows and X.cols do not identify vertices: use the features, "
        "X.row_features[X.rows]; for other tables"
    )
    # Neither is the table of the fit: a model of single vertices may take all of them for new.
    _require_same(_scores(model, turned), _scores(model, rolled), what)
    # A fit to a turned table sums in another order, so that its iterations may end elsewhere.
    again = clone(solver).fit(turned, y)
    _require_same(_scores(model, pairs), _scores(again, turned), what, _SCORE_STOPPING)


def _in_other_order(pairs, rows, cols):
    """The same pairs, whose tables have their vertices in other orders."""
    places = np.argsort(rows)[pairs.rows], np.argsort(cols)[pairs.cols]
    return PairData(pairs.row_features[rows], pairs.col_features[cols], *places)


def _predicts_new_vertices(solver, pairs, y):
    """Pairs of new vertices, from other tables too, can be scored."""
    model = clone(solver).fit(pairs, y)
    rng = np.random.default_rng(1)
    new = PairData(rng.standard_normal((2, 3)), rng.standard_normal((2, 2)), [0, 1], [1, 0])
    shape = _scores(model, new).shape
    _require(shape == (2,), "two pairs of new vertices do not get two scores")


_CHECKS: tuple[Callable[[Any, PairData, np.ndarray], None], ...] = (
    _keeps_parameters,
    _returns_itself,
    _one_score_a_pair,
    _is_deterministic,
    _order_does_not_matter,
    _respects_folds,
    _places_do_not_matter,
    _predicts_new_vertices,
)
