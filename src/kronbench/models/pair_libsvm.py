"""LibSVM on the concatenated features of pairs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kronbench.errors import extra_for
from kronbench.models._pair_classifier import PairClassifier, warn_of_rounded_squares
from kronbench.models._parameters import POSITIVE, estimator, parameter
from kronbench.models.kron_newton import KronNewton
from kronbench.pairs import PairData

# Error of the exponent of a kernel value: close pairs have as large a relative error.
_EXPONENT_ROUNDING = 1e-4


@estimator
class PairLibSVM(PairClassifier):
    """Support vector machine of LibSVM with the Gaussian kernel on [d, t].

    It is the product kernel of ``KronSVM`` with ``row_gamma = col_gamma = gamma``. LibSVM
    minimizes sum_h max(0, 1 - y_h (f_h + b)) + reg/2 ||f||^2, and holds all n (d + r) features.

    Parameters
    ----------
    reg : float, default 1.0
        Regularization weight lambda > 0, LibSVM's 1/C.
    gamma : float, default 1.0
        Inverse squared width > 0 of rows and columns alike.
    tol : float, default 1e-3
        LibSVM's stopping tolerance on the violation of the optimality conditions.
    cache_mib : float, default 200.0
        Size of LibSVM's kernel cache, in MiB.
    precompute : bool, default False
        Train with the kernel matrix of the pairs, 16 n^2 bytes, made from those of the vertices in
        O(n^2), in place of features, O(n^2 (d + r)).

    Attributes
    ----------
    classes_ : (2,) array
        The larger label is positive.
    n_features_in_ : int
        d + r.
    support_, support_pairs_ : (s,) integer array, and PairData
        Positions of the support pairs among the training pairs, and these pairs.
    dual_coef_ : (s,) array
        f(d, t) = sum_e dual_coef_[e] k(d, d_e) g(t, t_e) + intercept_.
    intercept_ : float
        b, which is not regularized.
    """

    reg: float = parameter(1.0, POSITIVE)
    gamma: float = parameter(1.0, POSITIVE)
    tol: float = parameter(1e-3, POSITIVE)
    cache_mib: float = parameter(200.0, POSITIVE)
    precompute: bool = parameter(False, "boolean")

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Train on n pairs with labels y (n,) of two values; between quadratic and cubic in n."""
        signs = self._start_fit(X, y)
        if not self.precompute:
            warn_of_rounded_squares(X, _EXPONENT_ROUNDING / self.gamma, "give precompute=True")
        model = _libsvm().train(self, X, signs)
        # LibSVM counts a class as positive by the order of the labels that it met: the arrays are
        # turned so that ``classes_[1]`` is positive.
        orientation = model.get_labels()[0]
        count = (model.l,)
        self.support_ = np.ctypeslib.as_array(model.sv_indices, count) - 1
        self.dual_coef_ = orientation * np.ctypeslib.as_array(model.sv_coef[0], count)
        self.intercept_ = -orientation * model.rho[0]
        self.support_pairs_ = X[self.support_]
        self._model: Any = None
        return self

    def to_vec_trick(self) -> KronNewton:
        """A model with the same decision values, through the sampled Kronecker product."""
        model = gaussian_svm(self.support_pairs_, self.dual_coef_, self.intercept_, self.gamma)
        model.classes_ = self.classes_
        return model

    def _decision_function(self, X):
        # A model that was copied or read from a pickle has no C structures: they are made anew.
        if self._model is None:
            self._model = _libsvm().Model(self)
        return self._model.values(X)

    def __getstate__(self):
        return super().__getstate__() | {"_model": None}  # C pointers do not travel


def _libsvm():
    """What calls LibSVM, imported by the fit: the class is there without it."""
    with extra_for("PairLibSVM"):
        from kronbench.models import _libsvm_calls
    return _libsvm_calls


def gaussian_svm(
    pairs: PairData, dual_coef: np.ndarray, intercept: float, gamma: float
) -> KronNewton:
    """A fitted model with these coefficients, which predicts by sampled Kronecker products."""
    kernels: Any = {"row_kernel": "gaussian", "col_kernel": "gaussian"}
    kernels |= {"row_gamma": gamma, "col_gamma": gamma}
    # The product is the paper's, whatever this machine does fastest.
    model = KronNewton(loss="l1svm", product="sparse", **kernels)
    model.X_fit_, model.dual_coef_, model.intercept_ = pairs, dual_coef, intercept
    model.classes_ = np.array([-1.0, 1.0])
    return model
