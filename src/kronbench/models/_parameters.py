"""How an estimator states its parameters: names, defaults, ranges and shared descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from inspect import cleandoc
from numbers import Integral, Real
from textwrap import indent
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from kronbench.errors import InputError, check_positive
from kronbench.linalg.gram_matrix import KERNELS

POSITIVE = Interval(Real, 0, None, closed="neither")
AT_LEAST_0 = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
UP_TO_5 = Interval(Integral, 1, 5, closed="both")
COUNT_FROM_0 = Interval(Integral, 0, None, closed="left")
KERNEL = [StrOptions(set(KERNELS)), callable]
WIDTH = [POSITIVE, None]
PRECISION = [
    StrOptions({"float32", "float64"}),
    Options(type, {np.float32, np.float64}),
    Options(np.dtype, {np.dtype(np.float32), np.dtype(np.float64)}),
]


_Class = TypeVar("_Class")


class _Shared:
    """What classes say alike of parameters and attributes: "{name}" in a docstring stands for it.

    {kernels}
    row_kernel, col_kernel : {"linear", "gaussian", "tanimoto", "precomputed"} or callable, \
default "linear"
        Positive semidefinite kernels of the row and the column vertices, as in
        :func:`kronbench.linalg.gram`.
    row_gamma, col_gamma : float, optional
        Inverse squared widths of Gaussian kernels, exp(-gamma ||x - x'||^2).
    {filter}
    filter : {"tikhonov", "cutoff", "iterated-tikhonov", "landweber"} or callable(eigenvalues, reg)
        By default "tikhonov", ridge regression; see :mod:`kronbench.pairs.spectral_filters`.
    {fitted_matrix}
    dual_coef_ : (m, q) array
        A.
    shape_ : tuple
        (m, q).
    {form}
    form : {"dual", "primal"}, default "dual"
        Coefficients of the pairs, or of products of a row and a column feature (Section 3.1). The
        primal form uses features of linear kernels, made dense; of others pivoted Cholesky factors
        that reproduce the kernel matrices to 1e-11 (1e-6 in single precision).
    {reg}
    reg : float, default 1.0
        Regularization weight, the paper's lambda > 0.
    pairwise : str or mapping from str to float, default "kronecker"
        Kernel of pairs of :mod:`kronbench.pairs.pairwise`, or several with their weights in a sum
        (dual form). In one array of features, and in an equal one, a vertex is a position. In
        other arrays a vertex of prediction is that of training with the same values, and the same
        id if both have ids. Where several have them it counts as new, with a UserWarning.
    row_effect, col_effect : float, default 0
        Added to the kernel of a vertex with itself: each known vertex may deviate from what its
        features predict (dual form).
    {product}
    product : {"auto", "sparse", "dense", "lowrank"}, default "auto"
        The ``method`` of :class:`kronbench.pairs.SampledKroneckerOperator`; "sparse" is the
        paper's Algorithm 1.
    dtype : {"float32", "float64"}, optional
        Of features, products and coefficients; by default single where both sides have it.
    {verbose}
    verbose : bool or int, default False
        Whether ``fit`` shows on standard error how far it is: a bar on a terminal, elsewhere a
        line for each tenth of the most iterations. It changes no number.
    {newton}
    max_inner : int
        Iterations of the Krylov method in each Newton step.
    solver : {"qmr", "cg", "pcg"}, default "qmr"
        Krylov method of a step. "qmr" is the paper's. "cg" makes half of its products and always
        finds a direction of descent. "pcg", for the primal form, is "cg" with a
        :class:`kronbench.pairs.MarginPreconditioner`: a few iterations reach the optimum where the
        pairs are a random part of all of them.
    iterated : bool, default False
        Regularize the steps, not the coefficients: see :func:`kronbench.pairs.newton_dual`.
    line_search : bool
        Step length by line search; else 1, as in the paper.
    tol : float
        Ends an inner or the outer loop when its residual has fallen by this factor; the outer one
        only where the objective is near its minimum too, whatever the scale of a feature.
    {fitted_pairs}
    X_fit_ : PairData
        The pairs of the training set, by reference, which predictions of the dual form read.
    fitted_params_ : dict
        The parameters of the fit. Predictions use them, whatever is set later.
    dual_coef_ : (n,) array, dual form
        Coefficients a of f(d, t) = sum_h a_h k(d_h, d) g(t_h, t).
    coef_ : (d*r,) array, primal form, or where few linear features are decomposed
        ``coef_.reshape(d, r)`` is the weight of each product of a row and a column feature.
    feature_maps_ : two functions, where there is ``coef_``
        From given features of row and of column vertices to those of the product.
    intercept_ : float
        Added to each score; 0.0 without ``fit_intercept``.
    {fitted_newton}
    classes_ : (2,) array, classifiers
        Positive scores mean ``classes_[1]``.
    n_iter_ : int
        Newton steps made.
    objective_path_ : (n_iter_,) array
        Regularized risk after each step; the risk alone where ``iterated``.
    stop_reason_ : str
        "tol", "max_iter", "callback", "no_descent", "breakdown", "rounding" or "diverged"; see
        :class:`kronbench.pairs.NewtonResult`.
    converged_ : bool
        Whether ``tol`` was reached.
    {pair_classes}
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    {row_classes}
    classes_ : (C,) array
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array
        Where X has names of columns.
    """


# a docstring, so that no result hangs on its words
_TEXTS = re.split(r"^\{(\w+)\}\n", cleandoc(_Shared.__doc__ or "") + "\n", flags=re.MULTILINE)[1:]
_SHARED = dict(zip(_TEXTS[::2], _TEXTS[1::2], strict=True))


def parameter(default: Any, *allowed: object) -> Any:
    """A parameter in the body of an :func:`estimator`: its default and scikit-learn's ranges."""
    return field(default=default, metadata={"allowed": allowed})


def positional(*allowed: object, default: Any = MISSING, kw_only: bool) -> Any:
    """A parameter that needs no name; type checkers read ``default`` and ``kw_only=False``."""
    return field(default=default, kw_only=kw_only, metadata={"allowed": allowed})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(positional,))
def estimator(cls: type[_Class]) -> type[_Class]:
    """Class decorator: the annotated names of the body become the parameters of ``__init__``.

    A subclass adds to the parameters of its bases, or gives other defaults. The docstring gets
    its shared texts.
    """
    made: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    made._parameter_constraints = made._parameter_constraints | {
        each.name: list(each.metadata["allowed"]) for each in fields(made) if each.metadata
    }
    if made.__doc__:
        made.__doc__ = re.sub(
            r"^( *)\{(\w+)\}\n",
            lambda found: indent(_SHARED[found[2]], found[1]),
            made.__doc__,
            flags=re.MULTILINE,
        )
    return made


class CheckedParameters(BaseEstimator):
    """Base of all estimators; ``fit`` calls ``_check_parameters`` before any work."""

    _parameter_constraints: ClassVar[dict[str, list]] = {}

    def _check_parameters(self):
        given = self.get_params(deep=False)
        check_parameters(self._parameter_constraints, given, type(self).__name__)


class OfPairs(CheckedParameters):
    """Base of the estimators whose samples are the pairs of a PairData."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        return tags


class EitherTask(BaseEstimator):
    """A classifier or a regressor, as ``_is_classifier`` says of the parameters."""

    _multi_class = True
    _is_classifier: Any
    predict: Callable

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self._is_classifier:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=self._multi_class)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of right labels for a classifier, R^2 for a regressor."""
        # Imported here: it takes a fifth of the time in which a model is loaded to predict.
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if hasattr(self, "classes_") else r2_score
        return metric(y, self.predict(X), sample_weight=sample_weight)


@estimator
class TwoKernels(OfPairs):
    """The parameters of models with a kernel on each side."""

    row_kernel: str | Callable = parameter("linear", *KERNEL)
    col_kernel: str | Callable = parameter("linear", *KERNEL)
    row_gamma: float | None = parameter(None, *WIDTH)
    col_gamma: float | None = parameter(None, *WIDTH)


def check_parameters(
    constraints: Mapping[str, list], values: Mapping[str, object], owner: str
) -> None:
    """InputError that names the first parameter of ``owner`` that is out of range."""
    try:
        validate_parameter_constraints(constraints, values, caller_name=owner)
    except InvalidParameterError as error:
        raise InputError(" ".join(str(error).split())) from None  # an array is shown in lines


def check_regs(regs: ArrayLike, name: str = "regs") -> np.ndarray:
    """A grid of positive weights as an array (s,), at least one."""
    try:
        found = np.atleast_1d(np.asarray(regs, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"{name} is {regs!r:.80}: give positive numbers") from None
    if found.ndim != 1 or not len(found):
        raise InputError(f"{name} has shape {found.shape}: give at least one weight in a row")
    for reg in found.tolist():
        check_positive(reg, name)
    return found
