"""How an estimator states its parameters: a line for each in its class, with default and range.

Every public class restates all of its parameters, in the order of its docstring, so that a reader,
an editor, ``help`` and ``inspect.signature`` find them in one place. Bases have no parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from numbers import Integral, Real
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

# Ranges of parameters, in the notation of scikit-learn's ``_parameter_constraints``.
POSITIVE = Interval(Real, 0, None, closed="neither")
AT_LEAST_0 = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
UP_TO_5 = Interval(Integral, 1, 5, closed="both")
COUNT_FROM_0 = Interval(Integral, 0, None, closed="left")
KERNEL = [StrOptions(set(KERNELS)), callable]
WIDTH = [POSITIVE, None]  # gamma of a Gaussian kernel; other kernels have none
PRECISION = [
    StrOptions({"float32", "float64"}),
    Options(type, {np.float32, np.float64}),
    Options(np.dtype, {np.dtype(np.float32), np.dtype(np.float64)}),
]

_Class = TypeVar("_Class")


def parameter(default: Any, *allowed: object) -> Any:
    """A parameter in the body of an :func:`estimator`: its default and scikit-learn's ranges."""
    return field(default=default, metadata={"allowed": allowed})


def positional(*allowed: object, default: Any = MISSING, kw_only: bool) -> Any:
    """A parameter that needs no name; type checkers read ``default`` and ``kw_only=False``."""
    return field(default=default, kw_only=kw_only, metadata={"allowed": allowed})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(positional,))
def estimator(cls: type[_Class]) -> type[_Class]:
    """Class decorator: a dataclass whose ``__init__`` takes the parameters that the body lists.

    The ranges go to ``_parameter_constraints``, where scikit-learn keeps them.
    """
    # Estimators compare by identity and are shown by scikit-learn, so neither is generated.
    made: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    made._parameter_constraints = {
        each.name: list(each.metadata["allowed"]) for each in fields(made)
    }
    return made


class CheckedParameters(BaseEstimator):
    """Base of all estimators; ``fit`` calls ``_check_parameters`` before any work."""

    _parameter_constraints: ClassVar[dict[str, list]] = {}

    def _check_parameters(self):
        """InputError that names the first parameter out of its range."""
        values = self.get_params(deep=False)
        check_parameters(self._parameter_constraints, values, type(self).__name__)


class OfPairs(CheckedParameters):
    """Base of the estimators whose samples are the pairs of a PairData."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        return tags


class EitherTask(BaseEstimator):
    """A classifier or a regressor, as ``_is_classifier`` says of the parameters."""

    _multi_class = True  # whether more than two classes are taken
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
        weights = np.atleast_1d(np.asarray(regs, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"{name} is {regs!r:.80}: give positive numbers") from None
    if weights.ndim != 1 or not len(weights):
        raise InputError(f"{name} has shape {weights.shape}: give at least one weight in a row")
    for reg in weights.tolist():
        check_positive(reg, name)
    return weights
