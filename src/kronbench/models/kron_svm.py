"""Kronecker support vector machine (Airola & Pahikkala 2018, Section 4.2)."""

from __future__ import annotations

from kronbench.models.kron_newton import KronNewton


class KronSVM(KronNewton):
    """L2-SVM (squared hinge) on pairs with a Kronecker product kernel, stopped early.

    Minimizes 1/2 sum_i max(0, 1 - y_i p_i)^2 + reg/2 ||f||^2 with the papers' settings: step
    length 1, ten Newton steps of ten QMR iterations.

    Parameters, attributes, errors: those of :class:`KronNewton`, whose ``loss`` is "l2svm" here.
    Fewer iterations regularize more, and that is meant: to end by their number is no warning.
    """

    loss = "l2svm"
    _iterations_regularize = True

    def __init__(
        self,
        form="dual",
        reg=1.0,
        row_kernel="linear",
        col_kernel="linear",
        row_gamma=None,
        col_gamma=None,
        outer_iter=10,
        inner_iter=10,
        inner_solver="qmr",
        iterated=False,
        line_search=False,
        tol=1e-8,
        method="auto",
    ):
        self.form = form
        self.reg = reg
        self.row_kernel = row_kernel
        self.col_kernel = col_kernel
        self.row_gamma = row_gamma
        self.col_gamma = col_gamma
        self.outer_iter = outer_iter
        self.inner_iter = inner_iter
        self.inner_solver = inner_solver
        self.iterated = iterated
        self.line_search = line_search
        self.tol = tol
        self.method = method
