"""The check of an estimator's parameters, by the means of scikit-learn."""

from __future__ import annotations

from typing import ClassVar

from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from kronbench.errors import InputError


class CheckedParameters:
    """Base of estimators that state the type and the range of each parameter once.

    ``_parameter_constraints`` maps a parameter to what it may be: types, ``Interval``,
    ``StrOptions``, ``None``, "boolean" and the others of scikit-learn. ``fit`` calls
    ``_check_parameters`` before any work.
    """

    _parameter_constraints: ClassVar[dict[str, list]] = {}

    def _check_parameters(self):
        """InputError that names the parameter, its value and what it may be."""
        try:
            validate_parameter_constraints(
                self._parameter_constraints,
                self.get_params(deep=False),
                caller_name=type(self).__name__,
            )
        except InvalidParameterError as error:
            raise InputError(str(error)) from None
