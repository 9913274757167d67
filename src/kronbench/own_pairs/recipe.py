"""A solver with its parameters, and what is done to features and labels before it sees them.

What does not fit in memory is refused before it begins: kernel matrices of Kronecker models are
counted, and the weights of their primal form, which are the largest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier

from kronbench import evaluation, models
from kronbench.errors import InputError
from kronbench.io import did_you_mean
from kronbench.models import VertexScaler
from kronbench.models._vertex_features import VERTICES_A_LANDMARK
from kronbench.own_pairs import PAIR_SOLVERS
from kronbench.own_pairs.similarities import as_kernel, clip
from kronbench.pairs import PairData
from kronbench.pairs.sparse_design import product_seconds
from kronbench.solvers import import_object, scores_of
from kronbench.yaml_files import number_or_text

if TYPE_CHECKING:
    from kronbench.datasets.pair_tables import OwnPairs

# What a value of --set may be, beside a number and the name of something.
_VALUE_WORDS = {"true": True, "false": False, "none": None}
_SIDES = {"row": "row", "col": "column"}  # in parameters, and in words
INNER_FOLDS = 3  # of the training pairs, to choose by
_LARGEST_MISS = 0.1  # of the equations of a fit, as a share of the labels
_MOST_PAIRS_CHECKED = 100_000  # that a model is to predict better than their mean
_VECTORS = 12  # of weights, that iterations hold
_OF_THE_PROCESS = 3e8  # bytes: what is imported, and compiled code


@dataclass(frozen=True)
class Recipe:
    """What is fitted to each training set.

    ``solver`` is a name in ``kronbench.models`` or an import path, ``parameters`` are those that
    are not its defaults. ``scaled`` says which sides are standardized. ``seed`` and ``setting``
    are those of the validation pairs of a solver which has its own. Of the similarities of each
    side ``units`` are what they are divided by, ``clipped`` says whether their negative
    eigenvalues are set to zero, and ``mended`` tells of both in words.
    """

    solver: str
    parameters: Mapping[str, object]
    scaled: tuple[bool, bool] = (False, False)
    seed: int = 0
    setting: str | None = None
    units: tuple[float, float] = (1.0, 1.0)
    clipped: tuple[bool, bool] = (False, False)
    mended: tuple[str, str] = ("", "")

    def estimator(self) -> BaseEstimator:
        """A new solver with these parameters, as it stands behind the scaling."""
        parameters = dict(self.parameters)
        if self.setting and self.solver == "KronRidgeCV":
            folds = evaluation.SettingKFold(self.setting, INNER_FOLDS, random_state=self.seed)
            parameters.setdefault("cv", folds)
        estimator = find_solver(self.solver)(**parameters)
        # Labels of a user are seldom centred: a regression has an intercept unless it is set.
        is_ours = "fit_intercept" in estimator.get_params() and "fit_intercept" not in parameters
        if is_ours and not is_classifier(estimator):
            estimator.set_params(fit_intercept=True)
        return estimator

    def parameter(self, name: str) -> Any:
        """A parameter's value, or None where the solver has none of this name."""
        return self.estimator().get_params().get(name)

    def open_widths(self) -> tuple[str, ...]:
        """The widths of Gaussian kernels that are not given."""
        return tuple(
            f"{side}_gamma"
            for side in _SIDES
            if self.parameter(f"{side}_kernel") == "gaussian"
            and self.parameters.get(f"{side}_gamma") is None
        )

    def before(self, X: PairData) -> VertexScaler:
        """What comes before the solver, by the vertices of the pairs: scaling, or a clip."""
        before = VertexScaler(rows=self.scaled[0], cols=self.scaled[1]).fit(X)
        sides = (("row", X.row_features, X.rows), ("col", X.col_features, X.cols))
        for (side, similarities, index), clipped in zip(sides, self.clipped, strict=True):
            if clipped:
                # A model with several kernels of a side forms them over all vertices.
                if self.parameter(f"{side}_kernels") is not None:
                    index = np.arange(len(similarities))
                projection = clip(similarities, index)
                before._projections[side] = similarities, similarities @ projection, projection
        return before

    def fit(self, X: PairData, y: np.ndarray) -> Fitted:
        """Scale by the training vertices and fit; the labels of a regression are centred.

        By the solver's ``fit_intercept`` where it has one, else here: a mean far from zero would
        be the whole work of a model without an intercept.
        """
        estimator = self.estimator()
        alone = is_classifier(estimator) or "fit_intercept" in estimator.get_params()
        offset = 0.0 if alone else float(np.mean(y))
        try:
            before = self.before(X)
            return Fitted(estimator.fit(before.transform(X), y - offset), before, offset)
        except InputError:
            raise
        except (TypeError, ValueError) as error:  # of a parameter that only an algorithm meets
            raise InputError(f"{self} cannot be fitted: {error}") from None

    def is_worse_than_the_mean(self, fitted: Fitted, X: PairData, y: np.ndarray) -> bool:
        """Whether a regression predicts its training pairs worse than their mean label does."""
        if is_classifier(fitted.estimator):
            return False
        some = slice(None, None, -(-len(y) // _MOST_PAIRS_CHECKED))  # spread evenly over very many
        error = np.mean((fitted.scores(X[some]) - y[some]) ** 2)
        # An error that is not a number is worse too.
        return not error <= np.mean((y.mean() - y[some]) ** 2) * (1 + 1e-9)

    def is_lost_to_rounding(self, fitted: Fitted, X: PairData, y: np.ndarray) -> bool:
        """Whether rounding ended a dual ridge regression far from y - f(X) = reg a, its equations.

        What they miss is then a share of the centred labels that no early stop explains.
        """
        model: Any = fitted.estimator
        if getattr(model, "stop_reason_", "") != "rounding" or not hasattr(model, "dual_coef_"):
            return False
        missed = y - fitted.scores(X) - model.reg * model.dual_coef_
        return bool(np.linalg.norm(missed) > _LARGEST_MISS * np.linalg.norm(y - y.mean()))

    def remedy(self) -> str:
        """What to try where a fit fails on its own training pairs, as the end of a sentence."""
        ways = []
        if not all(self.scaled):
            ways.append("--scale if a table has features of large numbers")
        for name in ("reg", "reg_rows", "reg_cols"):
            value = self.parameter(name)
            if isinstance(value, int | float):
                ways.append(f"--set {name}={_shown(100.0 * value)}")
        return f"try {' or '.join(ways or ['another solver'])}"

    def with_kernels(self, own: OwnPairs) -> tuple[Recipe, OwnPairs]:
        """The recipe, and the pairs over similarities as a kernel "precomputed" wants them.

        The tables of ``own.sides`` stay as they were given.
        """
        kernels = []
        for side, table in zip(_SIDES, own.sides, strict=True):
            names = (f"{side}_kernel", f"{side}_kernels")
            name = next((name for name in names if self.parameter(name) == "precomputed"), None)
            kernels.append(as_kernel(table, name) if name else (table.features, 1.0, False, ""))
        (rows, cols), units, clipped, mended = zip(*kernels, strict=True)
        own = replace(own, data=own.data.with_features(rows, cols))
        return replace(self, units=units, clipped=clipped, mended=mended), own

    def taken(self, own: OwnPairs) -> list[str]:
        """What the pairs and the tables of rows and of columns were taken for, a line each."""
        low, high = own.labels[[0, -1]]
        kind = f"{low:g} or {high:g}" if own.two_classes else f"numbers from {low:g} to {high:g}"
        lines = [f"pairs: {len(own.data)}, label '{own.names[2]}': {kind}"]
        sides = zip(_SIDES, own.sides, self.scaled, self.mended, strict=True)
        for side, table, scaled, mended in sides:
            parts = [str(table)]
            if kernel := self.parameter(f"{side}_kernel") or self.parameter(f"{side}_kernels"):
                parts.append(f"kernel {kernel}")
            if scaled:
                parts.append("scaled")
            note = f"; {mended}" if mended else ""
            lines.append(f"{_SIDES[side]}s: {', '.join(parts)}{note}")
        return lines

    def __str__(self) -> str:
        shown = dict(self.parameters)
        if self.estimator().get_params().get("fit_intercept"):
            shown["fit_intercept"] = True  # not the default of the class
        parts = [f"{name}={_shown(value)}" for name, value in shown.items()]
        text = f"{self.solver}({', '.join(parts)})"
        done = {"{} scaled": self.scaled, "similarities of {} clipped": self.clipped}
        for what, flags in done.items():
            names = [f"{side}s" for side, on in zip(_SIDES.values(), flags, strict=True) if on]
            text += f", {what.format(' and '.join(names))}" if names else ""
        return text


@dataclass(frozen=True)
class Fitted:
    """A fitted solver with the scaling before it and the mean label behind it."""

    estimator: BaseEstimator
    before: VertexScaler
    offset: float

    def scores(self, X: PairData) -> np.ndarray:
        """Predictions (t,): of numbers, or scores that are larger for the larger label."""
        scores = scores_of(self.estimator, self.before.transform(X))
        return np.asarray(scores, dtype=np.float64) + self.offset


def make_recipe(
    solver: str,
    given: Mapping[str, object],
    own: OwnPairs,
    scale: bool,
    selects: bool,
    seed: int = 0,
) -> Recipe:
    """The recipe with the parameters that are given, checked against the pairs before long work.

    A side whose table is a similarity gets the kernel ``precomputed``, and one of fingerprints or
    SMILES ``tanimoto``; neither is scaled, nor are spectra of sequences. ``selects`` says whether
    widths may be left open.
    """
    accepted, parameters, scaled = signature(find_solver(solver)).parameters, dict(given), []
    for side, table in zip(_SIDES, own.sides, strict=True):
        kernel = f"{side}_kernel" if f"{side}_kernel" in accepted else f"{side}_kernels"
        if kernel in accepted:
            of_features = "tanimoto" if table.fingerprint else "linear"
            parameters.setdefault(kernel, "precomputed" if table.similarity else of_features)
            if fault := _fault_of_kernel(parameters, kernel, table, scale, selects):
                raise InputError(fault)
        scaled.append(scale and parameters.get(kernel) != "precomputed" and not table.text)
    recipe = Recipe(solver, parameters, (scaled[0], scaled[1]), seed)
    if hasattr(estimator := recipe.estimator(), "_check_parameters"):
        estimator._check_parameters()
    if is_classifier(estimator) and not own.two_classes:
        raise InputError(
            f"the pairs have {len(own.labels)} different labels, and {solver} needs two: give "
            "KronRidge"
        )
    return recipe


def read_assignments(solver: str, assignments: Sequence[str]) -> dict[str, object]:
    """Parameters of a solver from "name=value" strings; InputError where it has no such one."""
    accepted = list(signature(find_solver(solver)).parameters)
    given: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if name not in accepted:
            raise InputError(f"{solver} has no parameter '{name}'{did_you_mean(name, accepted)}")
        if not equals:
            raise InputError(f"'{assignment}' has no value: give {name}=VALUE")
        given[name] = _VALUE_WORDS.get(text.lower(), number_or_text(text))
    return given


def find_solver(name: str) -> type[BaseEstimator]:
    """The class of a name in ``kronbench.models`` or of an import path."""
    if "." not in name:
        check_solver_name(name)
        return getattr(models, name)
    try:
        solver = import_object(name)
    except ModuleNotFoundError as error:
        # The user's own module, or what that imports.
        folder = ", or name its folder with --path" if name.startswith(f"{error.name}.") else ""
        raise InputError(
            f"{name}: {error.name} is not installed in this environment: install it{folder}"
        ) from None
    if not (isinstance(solver, type) and issubclass(solver, BaseEstimator)):
        raise InputError(f"{name} is not a scikit-learn estimator: give the import path of one")
    return solver


def check_solver_name(name: str) -> None:
    """InputError unless it is that of a solver of the package, or an import path."""
    if "." not in name and name not in PAIR_SOLVERS:
        advice = did_you_mean(name, PAIR_SOLVERS, f": give one of {', '.join(PAIR_SOLVERS)}")
        raise InputError(f"'{name}' is not a solver of pairs{advice}")


def check_memory(
    recipe: Recipe, train: PairData, asked: PairData | None = None, selects: bool = False
) -> float:
    """The bytes that a fit, or to score pairs, needs; InputError where that is more than there is.

    Counted are kernel matrices and, in the primal form, vectors of weights: ``selects`` says
    whether all of a run are held. Linear kernels in the primal form need no matrix, which a closed
    form may also choose, nor do the few features of a fit without iterations. Of other solvers
    none is known.
    """
    kernels, weights = needed_memory(recipe, train, asked, selects)
    if max(kernels, weights) <= (available := available_memory()):
        return kernels + weights
    rows, cols = _vertices_in_use(train)
    scores = f"{len(asked):,} pairs from " if asked is not None else ""
    of = f"of {recipe.solver} for {scores}{len(train):,} pairs of {rows:,} rows and {cols:,} "
    of += "columns"
    if weights > available:
        some = ", or --set reg in place of --select" if selects else ""
        d, r = _widths(recipe, train)
        raise InputError(
            f"the weights of products of {d:,} and {r:,} features {of} need "
            f"{mib(weights)}, and {mib(available)} are available: give fewer features{some}"
        )
    other = ""
    if "form" in recipe.estimator().get_params():
        linear = {"form": "primal", "row_kernel": "linear", "col_kernel": "linear"}
        bits = replace(recipe, parameters={**recipe.parameters, **linear})
        takes = sum(needed_memory(bits, train, asked, selects))
        other = f"form=primal with linear kernels, which takes {mib(takes)}, "
    raise InputError(
        f"the kernels {of} need {mib(kernels)}, and {mib(available)} are available: give fewer "
        f"vertices, {other}or features from landmarks (docs/own-pairs.md)"
    )


def needed_memory(
    recipe: Recipe, train: PairData, asked: PairData | None = None, selects: bool = False
) -> tuple[float, float]:
    """Bytes of kernel matrices and of vectors of weights, of :func:`check_memory`."""
    estimator = recipe.estimator()
    parameters = estimator.get_params()
    if parameters.get("row_kernel") is None or "." in recipe.solver:
        return 0.0, 0.0
    kernels = parameters["row_kernel"], parameters.get("col_kernel", "linear")
    has_forms = hasattr(estimator, "is_primal")
    is_primal = has_forms and estimator.is_primal(train)
    thin = has_forms and not is_primal and estimator._thin_design(train) is not None
    # A kernel matrix has a row a vertex that is scored, and a column a vertex that trains.
    trained = _vertices_in_use(train)
    scored = trained if asked is None else _vertices_in_use(asked)
    without = is_primal or thin or not has_forms
    landmarks = [parameters.get(f"{side}_landmarks") for side in _SIDES]
    matrices = sum(
        8.0 * k * (m + min(n, VERTICES_A_LANDMARK * k))
        if k
        else 0.0
        if without and kernel == "linear"
        else 8.0 * m * n
        for kernel, k, m, n in zip(kernels, landmarks, scored, trained, strict=True)
    )
    given = zip(kernels, landmarks, strict=True)
    if not is_primal or any(kernel != "linear" and not k for kernel, k in given):
        return matrices, 0.0
    # A product has a table of the vertices of one side, and the iterations some vectors.
    d, r = _widths(recipe, train)
    path = selects and "reg" not in recipe.parameters and recipe.solver == "KronRidge"
    vectors = 1 if asked is not None else parameters["max_iter"] + 2 if path else _VECTORS
    return matrices, 8.0 * (d * r * vectors + min(scored[1] * d, scored[0] * r))


def _widths(recipe, X):
    """How many features of rows and of columns the primal form has, of linear kernels."""
    given = zip(_SIDES, (X.row_features, X.col_features), strict=True)
    return [recipe.parameter(f"{side}_landmarks") or Z.shape[1] for side, Z in given]


def expected(recipe: Recipe, X: PairData, needed: float) -> str:
    """What a fit takes of memory and time, for a user to decide by; empty where that is little.

    The memory has the tables, their casts and the pairs beside the bytes ``needed``; the time the
    most iterations of Kronecker models, at the rate of one core of a server.
    """
    estimator: Any = recipe.estimator()
    sides: tuple[Any, Any] = (X.row_features, X.col_features)
    n_bytes = sum(
        side.data.nbytes + side.indices.nbytes if sparse.issparse(side) else side.nbytes
        for side in sides
    )
    memory = _OF_THE_PROCESS + 2.2 * n_bytes + 100.0 * (X.n_rows + X.n_cols) + 100.0 * len(X)
    memory += needed
    line, seconds = f"a fit takes about {mib(memory)} of memory", 0.0
    # How many features another kernel has in the primal form, only its factors say.
    has_forms = hasattr(estimator, "is_primal")
    primal = has_forms and estimator.is_primal(X)
    names = "row_kernel", "col_kernel", "row_landmarks", "col_landmarks"
    linear = {*map(recipe.parameter, names)} <= {"linear", None}
    if has_forms and (linear if primal else estimator._thin_design(X) is None):
        seconds = product_seconds(X, sides, primal)
        seconds *= estimator.max_iter * getattr(estimator, "max_inner", 1)
        line += f", and its iterations at most about {seconds:,.0f} s of a core"
    return line if max(memory / 2**30, seconds / 10) >= 1 else ""


def available_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Bytes that this process may still take, within the quota of its container."""
    available = float(psutil.virtual_memory().available)
    # cgroup v2; pages of files that could be given back count as free
    with contextlib.suppress(OSError, ValueError, KeyError):  # no quota: "max" is no number
        limit = int((cgroup / "memory.max").read_text())
        stat = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        used = int((cgroup / "memory.current").read_text()) - int(stat["inactive_file"])
        available = min(available, max(0.0, limit - used))
    return available


def _vertices_in_use(data):
    """How many row and column vertices are in a pair."""
    return [np.count_nonzero(np.bincount(index)) for index in (data.rows, data.cols)]


def mib(n_bytes: float) -> str:
    """A number of bytes, in MiB."""
    return f"{n_bytes / (1 << 20):,.0f} MiB"


def _fault_of_kernel(given, name, table, scale, selects):
    """What is wrong with the kernel of a side and its width, or nothing."""
    kernel, gamma = given[name], name.replace("_kernel", "_gamma")
    width, columns = given.get(gamma), "columns named by its ids"
    if kernel == "precomputed" and not table.similarity:
        return f"{table.name} has no similarities ({columns}): {name} cannot be 'precomputed'"
    if kernel == "tanimoto" and scale and not table.fingerprint:
        return f"{name} is 'tanimoto', which needs unscaled fingerprints: leave out --scale"
    if kernel == "gaussian" and width is None and not selects:
        return f"{name} is 'gaussian' but {gamma} is missing: set it, or choose it with --select"
    if kernel != "gaussian" and width is not None:
        advice = f"leave it out, or set {name}=gaussian"
        return f"{gamma}={width}: the {kernel} kernel has no width; {advice}"
    return None


def _shown(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)
