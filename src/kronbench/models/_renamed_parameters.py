"""Names of estimators' parameters, methods and attributes that have changed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from typing import ClassVar

from kronbench.errors import InputError


class RenamedParameters:
    """Refuses the earlier names of an estimator's parameters, methods and attributes.

    The sentence of the error says today's; see CHANGELOG.md for the reasons.

    A subclass says ``_renamed = {"earlier": "today"}``. It comes before ``BaseEstimator``.
    """

    _renamed: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        init = vars(cls).get("__init__")
        if init is None:
            return

        @wraps(init)  # scikit-learn and ``help`` read the parameters of what is wrapped
        def checked_init(self, *args, **parameters):
            self._refuse_renamed(parameters)
            init(self, *args, **parameters)

        cls.__init__ = checked_init

    def set_params(self, **parameters):
        self._refuse_renamed(parameters)
        return super().set_params(**parameters)

    def __getattr__(self, name):
        if name in self._renamed:
            raise AttributeError(self._today(name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _refuse_renamed(self, parameters):
        for name in parameters:
            if name in self._renamed:
                raise InputError(self._today(name))

    def _today(self, name):
        return f"{type(self).__name__}: {name!r} is now {self._renamed[name]!r}"
