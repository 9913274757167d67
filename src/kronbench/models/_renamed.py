"""Refusal of former names of parameters and attributes, in one sentence that says the new ones."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from kronbench.errors import InputError


class Renamed:
    """Base of estimators some of whose names have changed; see CHANGELOG.md for the reasons.

    A subclass maps each former name to what to give or to use now in ``_renamed``.
    """

    _renamed: ClassVar[dict[str, str]] = {}

    def __new__(cls, *args, **parameters):
        for name in parameters:
            if name in cls._renamed:
                raise InputError(_sentence(cls, name))
        return super().__new__(cls)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, as scikit-learn's estimators do; a former name is refused."""
        for name in parameters:
            if name in self._renamed:
                raise InputError(_sentence(type(self), name))
        return super().set_params(**parameters)

    def __getattr__(self, name):
        if name in type(self)._renamed:
            raise AttributeError(_sentence(type(self), name))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _sentence(cls, name):
    return f"{cls.__name__} has no {name} any more: {cls._renamed[name]}"
