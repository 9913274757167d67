"""What a solver of pairs must do to stand beside the others: a contract, checked on toys.

``kronbench check MODULE.CLASS`` runs it. Each check is a function of a solver that returns None,
or raises an error whose text says what is wrong.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from textwrap import shorten
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from kronbench.bench.solvers import scores_of
from kronbench.errors import InputError
from kronbench.own_pairs.recipe import find_solver
from kronbench.pairs import PairData

_ROUNDING = 1e-6  # of scores, relative to the largest


class Broken(Exception):
    """A part of the contract that does not hold; the message says how."""


class DoesNotApply(Exception):
    """A part of the contract that is about other solvers."""


def check_solver(
    path: str, parameters: Mapping[str, object] | None = None
) -> Iterator[tuple[str, str | None]]:
    """Each part of the contract in words, and what is wrong with it.

    That is "" where it holds, and None where it does not apply.

    Parameters
    ----------
    path : str
        Name of a solver of the package, or the import path of a class.
    parameters : mapping, optional
        Those of the solver that are not its defaults.

    Raises
    ------
    InputError
        The path leads to no class that can be made with these parameters alone.
    """
    solver = _made(path, parameters or {})
    for check in _CHECKS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(solver)
                wrong = ""
            except DoesNotApply:
                wrong = None
            except Exception as error:
                wrong = f"{type(error).__name__}: " * (not isinstance(error, Broken)) + str(error)
                wrong = shorten(wrong, 200)
        yield inspect.getdoc(check).rstrip("."), wrong


def check_keeps_contract(path: str, parameters: Mapping[str, object] | None = None) -> None:
    """InputError with the first part of the contract that a solver breaks."""
    check_takes_pairs(path, parameters)
    for part, wrong in check_solver(path, parameters):
        if wrong:
            raise InputError(
                f"{path} breaks the contract of solvers, and its numbers would not stand beside "
                f"the others': '{part}': {wrong}"
            )


def check_takes_pairs(path: str, parameters: Mapping[str, object] | None = None) -> None:
    """InputError unless a solver from outside can be fitted to a PairData, tried on a toy."""
    solver = _made(path, parameters or {})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solver.fit(*_toy())
    except Exception as error:  # whatever code from outside does with what it does not expect
        wants_array = isinstance(error, InputError) and "no array of features" in str(error)
        why = shorten(f"it fails with {type(error).__name__}: {error}", 200)
        why = "it makes an array of what it gets" if wants_array else why
        raise InputError(
            f"{path} does not take pairs: {why}, where fit(X, y) gets a PairData with "
            "row_features, col_features, rows and cols"
        ) from None


def _made(path: str, parameters: Mapping[str, object]) -> BaseEstimator:
    try:
        made = find_solver(path)(**parameters)
    except TypeError as error:
        how = "with these parameters" if parameters else "without arguments"
        raise InputError(f"{path} cannot be made {how}: {error}") from None
    if "random_state" in made.get_params():
        made.set_params(random_state=0)
    return made


def _toy(seed: int = 0, n: int | None = None) -> tuple[PairData, np.ndarray]:
    """Pairs of 6 x 5 vertices, all 30 or a random part, and labels -1 and 1 of a smooth rule."""
    rng = np.random.default_rng(seed)
    rows, cols = rng.standard_normal((6, 3)), rng.standard_normal((5, 2))
    pairs = PairData.complete(rows, cols)
    scores = (rows @ rng.standard_normal((3, 2)) @ cols.T).ravel()
    y = np.where(scores > np.median(scores), 1.0, -1.0)
    chosen = np.arange(len(y)) if n is None else np.sort(rng.choice(len(y), n, replace=False))
    return pairs[chosen], y[chosen]


def _scores(solver: Any, pairs: PairData) -> np.ndarray:
    return np.asarray(scores_of(solver, pairs), dtype=float)


def _compare(one: np.ndarray, other: np.ndarray, what: str) -> None:
    apart = float(np.abs(one - other).max())
    if not apart <= _ROUNDING * max(1.0, float(np.abs(one).max())):
        raise Broken(f"{what}: scores differ by up to {apart:.3g}")


def _keeps_parameters(solver):
    """Keyword parameters are stored untouched: get_params, set_params and clone work."""
    names = solver.get_params()
    copy = clone(solver)
    if {name: repr(value) for name, value in names.items()} != {
        name: repr(value) for name, value in copy.get_params().items()
    }:
        raise Broken("a clone has other parameters")
    pairs, y = _toy()
    before = repr(solver.get_params())
    copy.set_params(**names).fit(pairs, y)
    if repr(copy.get_params()) != before:
        raise Broken("fit changes a parameter: keep what is learned in attributes that end in _")


def _returns_itself(solver):
    """Fit takes a PairData and labels and returns the estimator."""
    model = clone(solver)
    pairs, y = _toy()
    if model.fit(pairs, y) is not model:
        raise Broken("fit returns something else: end it by 'return self'")


def _one_score_a_pair(solver):
    """Predict gives one finite number (a class for classifiers) for each pair asked for."""
    pairs, y = _toy(n=20)
    model = clone(solver).fit(pairs, y)
    asked = _toy()[0][[3, 0, 29]]
    predicted = np.asarray(model.predict(asked))
    if predicted.shape != (3,):
        raise Broken(f"3 pairs have predictions of shape {predicted.shape}: give (3,)")
    if not np.isfinite(_scores(model, asked)).all():
        raise Broken("a score is not finite")
    if is_classifier(model) and not np.isin(predicted, np.unique(y)).all():
        raise Broken("a classifier predicts what is no label of the training set")


def _is_deterministic(solver):
    """Two fits to the same pairs, with the same random_state, give the same scores."""
    pairs, y = _toy()
    one, other = (_scores(clone(solver).fit(pairs, y), pairs) for _ in range(2))
    _compare(
        one, other, "a second fit is another: take what is random from a parameter random_state"
    )


def _order_does_not_matter(solver):
    """The order in which pairs are asked for changes no prediction."""
    pairs, y = _toy()
    model = clone(solver).fit(pairs, y)
    turned = np.arange(len(y))[::-1]
    _compare(_scores(model, pairs)[turned], _scores(model, pairs[turned]), "asked the other way")


def _respects_folds(solver):
    """Vertices that no training pair has, as those of test folds, take no part in a fit."""
    pairs, y = _toy()
    train = np.flatnonzero((pairs.rows < 4) & (pairs.cols < 4))
    others = [np.array(side, copy=True) for side in (pairs.row_features, pairs.col_features)]
    others[0][4:], others[1][4:] = 100.0, -100.0
    spoiled = PairData(*others, pairs.rows, pairs.cols)
    one = _scores(clone(solver).fit(pairs[train], y[train]), pairs[train])
    other = _scores(clone(solver).fit(spoiled[train], y[train]), spoiled[train])
    _compare(one, other, "features of vertices outside the training pairs change the fit")


def _places_do_not_matter(solver):
    """The same pairs score the same where vertices stand in another order in their tables."""
    pairs, y = _toy()
    rows, cols = np.arange(6)[::-1], np.arange(5)[::-1]  # its own inverse
    turned = PairData(
        pairs.row_features[rows], pairs.col_features[cols], rows[pairs.rows], cols[pairs.cols]
    )
    model, other = (clone(solver).fit(X, y) for X in (pairs, turned))
    what = (
        "positions in X.rows and X.cols are no names of vertices: know one by its features, "
        "X.row_features[X.rows]; for other tables"
    )
    one = _scores(model, pairs)
    _compare(one, _scores(model, turned), what)
    _compare(one, _scores(other, turned), what)


def _predicts_new_vertices(solver):
    """Pairs of vertices that were not in training can be scored, from other tables too."""
    pairs, y = _toy()
    model = clone(solver).fit(pairs, y)
    rng = np.random.default_rng(1)
    new = PairData(rng.standard_normal((2, 3)), rng.standard_normal((2, 2)), [0, 1], [1, 0])
    if _scores(model, new).shape != (2,):
        raise Broken("two pairs of new vertices have not two scores")


def _is_linear_in_y(solver):
    """A linear solver (one that says linear_in_y = True) gives twice the scores for twice y."""
    if not getattr(solver, "linear_in_y", False):
        raise DoesNotApply
    pairs, y = _toy()
    one, two = (_scores(clone(solver).fit(pairs, factor * y), pairs) for factor in (1, 2))
    _compare(2 * one, two, "labels times two do not double the scores")


def _agrees_with_dense(solver):
    """A Kronecker model with dual_coef_ scores as its dense formula does on 6 x 5 vertices."""
    kernels = {getattr(solver, f"{side}_kernel", None) for side in ("row", "col")}
    if kernels != {"linear"} or getattr(solver, "pairwise", "kronecker") != "kronecker":
        raise DoesNotApply
    pairs, y = _toy()
    model = clone(solver).fit(pairs, y)
    coefs = getattr(model, "dual_coef_", None)
    if np.shape(coefs) != (len(y),):
        raise DoesNotApply
    K, G = (side @ side.T for side in (pairs.row_features, pairs.col_features))
    dense = K[np.ix_(pairs.rows, pairs.rows)] * G[np.ix_(pairs.cols, pairs.cols)]
    _compare(dense @ coefs, _scores(model, pairs), "sum of a k(d, d') g(t, t') over pairs")


_CHECKS: tuple[Callable[[Any], None], ...] = (
    _keeps_parameters,
    _returns_itself,
    _one_score_a_pair,
    _is_deterministic,
    _order_does_not_matter,
    _respects_folds,
    _places_do_not_matter,
    _predicts_new_vertices,
    _is_linear_in_y,
    _agrees_with_dense,
)
