"""Kronecker support vector machine (Airola & Pahikkala 2018, Section 4.2)."""

from __future__ import annotations

from typing import ClassVar

from kronbench.models._parameters import estimator
from kronbench.models.kron_newton import KronNewton


@estimator
class KronSVM(KronNewton):
    """L2-SVM (squared hinge) on pairs with a Kronecker product kernel, stopped early.

    Minimizes 1/2 sum_i max(0, 1 - y_i p_i)^2 + reg/2 ||f||^2: :class:`KronNewton` with the paper's
    settings, step length 1 and ten Newton steps of ten QMR iterations.

    Parameters
    ----------
    {form}
    {reg}
    {kernels}
    fit_intercept : bool, default False
        The kernel of pairs plus 1, as in :class:`KronNewton`.
    max_iter : int, default 10
        Newton steps, the outer iterations. Fewer steps regularize more, so reaching their number
        gives no warning.
    {newton}
    {product}
    {verbose}

    Attributes
    ----------
    {fitted_pairs}
    {fitted_newton}
    """

    loss: ClassVar[str] = "l2svm"  # type: ignore[misc] # no parameter here
    max_iter: int = 10
    max_inner: int = 10
    line_search: bool = False
    tol: float = 1e-8

    _iterations_regularize = True
