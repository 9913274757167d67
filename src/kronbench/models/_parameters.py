"""The check of an estimator's parameters, by the means of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

from kronbench.errors import InputError
from kronbench.linalg.gram_matrix import KERNELS

POSITIVE = Interval(Real, 0, None, closed="neither")
AT_LEAST_0 = Interval(Real, 0, None, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
COUNT_FROM_0 = Interval(Integral, 0, None, closed="left")
KERNEL = [StrOptions(set(KERNELS)), callable]
WIDTH = [POSITIVE, None]
PRECISION = [
    StrOptions({"float32", "float64"}),
    Options(type, {np.float32, np.float64}),
    Options(np.dtype, {np.dtype(np.float32), np.dtype(np.float64)}),
]


class CheckedParameters:
    """Base of estimators that state the type and the range of each parameter once.

    ``_parameter_constraints`` maps a parameter to what it may be: types, ``Interval``,
    ``StrOptions``, ``None``, "boolean" and the others of scikit-learn. ``fit`` calls
    ``_check_parameters`` before any work.
    """

    _parameter_constraints: ClassVar[dict[str, list]] = {}

    def _check_parameters(self):
        """InputError that names the parameter, its value and what it may be."""
        check_parameters(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )


def check_parameters(
    constraints: Mapping[str, list], values: Mapping[str, object], owner: str
) -> None:
    """InputError that names the first parameter of ``owner`` that is out of range."""
    try:
        validate_parameter_constraints(constraints, values, caller_name=owner)
    except InvalidParameterError as error:
        sentence = " ".join(str(error).split())  # an array is shown in lines
        if len(sentence) > 400:
            sentence = f"{sentence[:396]} ..."
        raise InputError(sentence) from None
