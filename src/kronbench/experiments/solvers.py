"""Solvers by import path, so that one from outside the package can be benchmarked by naming it."""

from __future__ import annotations

from kronbench.errors import InputError
from kronbench.plan import import_object


class SolverMissing(Exception):
    """A solver from another package that is not installed; the message is the reason."""


def make_solver(path: str, **parameters):
    """The estimator at an import path such as ``kronbench.models.KronSVM``, with parameters.

    Raises
    ------
    SolverMissing
        The package that holds it is not installed: skip it, and report the reason.
    InputError
        The path leads nowhere, or the estimator does not know a parameter.
    """
    try:
        solver = import_object(path)
    except ModuleNotFoundError as error:
        raise SolverMissing(f"{path} was skipped: {error.name} is not installed") from None
    try:
        return solver(**parameters)
    except TypeError as error:
        raise InputError(f"{path}: {error}") from None
