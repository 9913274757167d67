"""A solver with its parameters, and what is done to features and labels before it sees them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kronbench import models
from kronbench.bench.solvers import check_import_path, import_object
from kronbench.bench.source_imports import parameters_of
from kronbench.errors import InputError
from kronbench.io import did_you_mean

# scikit-learn and numba take two seconds of processor time, and a misspelt name needs neither:
# they are imported by what uses them.
if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from kronbench.models import VertexScaler
    from kronbench.own_pairs.tables import OwnPairs
    from kronbench.pairs import PairData

# The models of kronbench.models whose fit takes a PairData.
PAIR_SOLVERS = (
    "CompleteKronRidge",
    "IndependentRidge",
    "KronNewton",
    "KronRidge",
    "KronSVM",
    "PairKNN",
    "PairLibSVM",
    "PairSGD",
    "PairSklearnKNN",
    "TwoStepRidge",
)
_WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Recipe:
    """What is fitted to each training set.

    Attributes
    ----------
    solver : str
        Its name in ``kronbench.models``, or an import path.
    parameters : dict
        Those that are not the solver's own defaults.
    scaled : (bool, bool)
        Whether the features of rows and of columns are standardized.
    """

    solver: str
    parameters: Mapping[str, object]
    scaled: tuple[bool, bool] = (False, False)

    def estimator(self) -> BaseEstimator:
        """A new solver with these parameters."""
        return find_solver(self.solver)(**self.parameters)

    def parameter(self, name: str) -> object:
        """A parameter's value, or None where the solver has none of this name."""
        return self.estimator().get_params().get(name)

    def with_parameters(self, parameters: Mapping[str, object]) -> Recipe:
        """The same with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **parameters})

    def fit(
        self, X: PairData, y: np.ndarray, callback: Callable[[object], object] | None = None
    ) -> Fitted:
        """Scale by the training vertices, centre the labels of a regression, fit.

        The models of pairs have no intercept, and a mean far from zero would be its whole work.
        ``callback`` is called after each iteration, by a solver whose ``fit`` has that argument.
        """
        from sklearn.base import is_classifier

        scaler, X = self._scaled(X)
        estimator = self.estimator()
        offset = 0.0 if is_classifier(estimator) else float(np.mean(y))
        try:
            more = {} if callback is None else {"callback": callback}
            return Fitted(estimator.fit(X, y - offset, **more), scaler, offset)
        except InputError:
            raise
        except (TypeError, ValueError) as error:  # of a parameter that only an algorithm meets
            raise InputError(f"{self} cannot be fitted: {error}") from None

    def path_scores(
        self, X: PairData, y: np.ndarray, regs: Sequence[float], X_test: PairData
    ) -> np.ndarray:
        """Scores (s, t) of X_test by a KronRidge fitted for each of ``regs``, from one path."""
        scaler, X = self._scaled(X)
        X_test = X_test if scaler is None else scaler.transform(X_test)
        estimator, offset = self.estimator(), float(np.mean(y))
        path = estimator.path(X, y - offset, regs, X_test)
        return path.final_test_scores(estimator.tol) + offset

    def left_out_scores(
        self, X: PairData, y: np.ndarray, regs: Sequence[float]
    ) -> list[np.ndarray]:
        """For each of ``regs`` the scores (n,) of the pairs of complete data, each left out.

        Those of :class:`kronbench.models.CompleteKronRidge` with the kernels of this recipe.
        """
        names = ("row_kernel", "col_kernel", "row_gamma", "col_gamma")
        kernels = {name: self.parameter(name) for name in names}
        _, X = self._scaled(X)
        model = models.CompleteKronRidge(**kernels).fit(X, y)
        cells = tuple(np.unique(side, return_inverse=True)[1] for side in (X.rows, X.cols))
        return [left_out[cells] for _, left_out in model.loo_grid("A", regs)]

    def _scaled(self, X):
        if not any(self.scaled):
            return None, X
        scaler = models.VertexScaler(rows=self.scaled[0], cols=self.scaled[1])
        return scaler, scaler.fit_transform(X)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_shown(value)}" for name, value in self.parameters.items())
        sides = [side for side, on in zip(("rows", "columns"), self.scaled, strict=True) if on]
        return f"{self.solver}({given})" + (f", {' and '.join(sides)} scaled" if sides else "")


@dataclass(frozen=True)
class Fitted:
    """A fitted solver with the scaling before it and the mean label behind it."""

    estimator: BaseEstimator
    scaler: VertexScaler | None
    offset: float

    def scores(self, X: PairData) -> np.ndarray:
        """Predictions (t,): of numbers, or scores that are larger for the larger label."""
        if self.scaler is not None:
            X = self.scaler.transform(X)
        predict = getattr(self.estimator, "decision_function", self.estimator.predict)
        return np.asarray(predict(X), dtype=np.float64) + self.offset


def make_recipe(
    solver: str, assignments: Sequence[str], own: OwnPairs, scale: bool, selects: bool
) -> Recipe:
    """The recipe that a command line asks for, checked against the pairs before long work.

    Parameters
    ----------
    solver : str
    assignments : "name=value" strings
        A side whose table is a similarity gets ``precomputed``, and one of fingerprints
        ``tanimoto``, where the solver has kernels.
    own : OwnPairs
    scale : bool
        Standardize the features of each side that are neither.
    selects : bool
        Whether widths may be left open.

    Raises
    ------
    InputError
        The solver or a parameter is unknown or out of range, or the labels are not its kind.
    """
    from sklearn.base import is_classifier

    known, given = _parameters(solver), read_assignments(solver, assignments)
    scaled = []
    for side, table in zip(("row", "col"), own.sides, strict=True):
        kernel = f"{side}_kernel"
        if kernel in known:
            given.setdefault(kernel, _kernel_of(table))
            _check_kernel(given, side, table, scale, selects)
        scaled.append(scale and given.get(kernel) != "precomputed" and not table.fingerprint)
    recipe = Recipe(solver, given, tuple(scaled))
    if is_classifier(recipe.estimator()) and not own.two_classes:
        raise InputError(
            f"the pairs have {len(own.labels)} different labels, and {solver} tells two apart: "
            "give KronRidge"
        )
    return recipe


def read_assignments(solver: str, assignments: Sequence[str]) -> dict[str, object]:
    """Parameters of a solver from "name=value" strings; InputError where it has no such one."""
    known, given = _parameters(solver), {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if name not in known:
            nearest = did_you_mean(name, known)
            raise InputError(f"{solver} has no parameter '{name}'{nearest}")
        if not equals:
            raise InputError(f"'{assignment}' sets nothing: give {name}=VALUE")
        given[name] = _value(text)
    return given


def find_solver(name: str) -> type[BaseEstimator]:
    """The class of a name in ``kronbench.models`` or of an import path.

    Raises
    ------
    InputError
        There is none, it takes no pairs, or a package that it needs is not installed.
    """
    if "." in name:
        try:
            check_import_path(name)  # of this package by its text
            found = import_object(name)
        except ModuleNotFoundError as error:
            raise InputError(
                f"{name}: {error.name} is not installed in this environment: install it"
            ) from None
        from sklearn.base import BaseEstimator

        if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
            raise InputError(
                f"{name} is no scikit-learn estimator: give the path of a class of one"
            )
        return found
    _check_named(name)
    return getattr(models, name)


def _check_named(name):
    if name not in PAIR_SOLVERS:
        raise InputError(f"'{name}' is no solver of pairs{did_you_mean(name, PAIR_SOLVERS)}")


def _parameters(solver):
    """The names of a solver's parameters; those of the package are read, and not imported."""
    if "." in solver:
        return list(inspect.signature(find_solver(solver)).parameters)
    _check_named(solver)
    return parameters_of("kronbench.models", solver)


def _kernel_of(table):
    if table.fingerprint:
        return "tanimoto"
    return "precomputed" if table.similarity else "linear"


def _check_kernel(given, side, table, scale, selects):
    kernel = given[f"{side}_kernel"]
    if kernel == "precomputed" and not table.similarity:
        raise InputError(
            f"{table.name} is no similarity, whose columns are named by its ids: "
            f"{side}_kernel cannot be 'precomputed'"
        )
    if kernel == "tanimoto" and scale and not table.fingerprint:
        raise InputError(f"{side}_kernel is 'tanimoto', of fingerprints as they are: do not scale")
    if kernel == "gaussian" and given.get(f"{side}_gamma") is None and not selects:
        raise InputError(
            f"{side}_kernel is 'gaussian' and {side}_gamma is not given: set it or select it"
        )


def _value(text):
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)
