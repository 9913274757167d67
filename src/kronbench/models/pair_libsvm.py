"""LibSVM on the concatenated features of pairs."""

from __future__ import annotations

import ctypes
from typing import Any, Self

import numpy as np
from libsvm.svm import kernel_names, libsvm, svm_model, svm_node, svm_parameter, svm_problem
from libsvm.svmutil import svm_train
from numpy.typing import ArrayLike
from scipy import sparse

from kronbench.linalg.gram_matrix import gram
from kronbench.models._pair_classifier import PairClassifier
from kronbench.models._parameters import POSITIVE, estimator, parameter
from kronbench.models.kron_newton import KronNewton
from kronbench.pairs import PairData


@estimator
class PairLibSVM(PairClassifier):
    """Support vector machine of LibSVM with the Gaussian kernel on [d, t].

    It is the product kernel of ``KronSVM`` with ``row_gamma = col_gamma = gamma``. LibSVM
    minimizes sum_h max(0, 1 - y_h (f_h + b)) + reg/2 ||f||^2 with C = 1/reg; the intercept b is
    not regularized. Training holds all n (d + r) features, because LibSVM knows no shared parts.

    Parameters
    ----------
    reg : float, default 1.0
        Regularization weight lambda > 0, 1/C.
    gamma : float, default 1.0
        Inverse squared width > 0 of rows and columns alike.
    tol : float, default 1e-3
        LibSVM's stopping tolerance on the violation of the optimality conditions.
    cache_mib : float, default 200.0
        Size of LibSVM's kernel cache, in MiB.
    precompute : bool, default False
        Whether LibSVM trains with the kernel matrix of the pairs, 16 n^2 bytes, made from those
        of the vertices in O(n^2), in place of features, O(n^2 (d + r)). It is the same machine.

    Attributes
    ----------
    {pair_classes}
    support_ : (s,) integer array
        Positions of the support pairs in the training pairs.
    support_pairs_ : PairData
        The s support pairs.
    n_support_ : (2,) integer array
        Number of support pairs in each class.
    dual_coef_ : (s,) array
        f(d, t) = sum_e dual_coef_[e] k(d, d_e) g(t, t_e) + intercept_.
    intercept_ : float
        b.

    """

    reg: float = parameter(1.0, POSITIVE)
    gamma: float = parameter(1.0, POSITIVE)
    tol: float = parameter(1e-3, POSITIVE)
    cache_mib: float = parameter(200.0, POSITIVE)
    precompute: bool = parameter(False, "boolean")

    def fit(self, X: PairData, y: ArrayLike) -> Self:
        """Train on n pairs with labels y (n,) of two values; between quadratic and cubic in n."""
        signs = self._start_fit(X, y)
        settings = self._settings()
        if self.precompute:
            settings.kernel_type = kernel_names.PRECOMPUTED
            model = svm_train(_KernelProblem(signs, X, self.gamma), settings)
        else:
            model = svm_train(_problem(X, signs), settings)
        # LibSVM counts a class as positive by the order of the labels that it met
        orientation = model.get_labels()[0]
        count = (model.l,)
        self.support_ = np.ctypeslib.as_array(model.sv_indices, count) - 1
        self.dual_coef_ = orientation * np.ctypeslib.as_array(model.sv_coef[0], count)
        self.intercept_ = -orientation * model.rho[0]
        positive = int((self.dual_coef_ > 0).sum())
        self.n_support_ = np.array([model.l - positive, positive])
        self.support_pairs_ = X[self.support_]
        self._model: Any = None
        return self

    def to_vec_trick(self) -> KronNewton:
        """A model with the same decision values, through the sampled Kronecker product."""
        model = gaussian_svm(self.support_pairs_, self.dual_coef_, self.intercept_, self.gamma)
        model.classes_ = self.classes_
        return model

    def _decision_function(self, X):
        """LibSVM's own decision values, O(s (d + r)) a pair."""
        if self._model is None:
            self._model = _Model(self)
        problem, value = _problem(X, np.zeros(len(X))), ctypes.c_double()
        values = np.empty(len(X))
        for h in range(len(X)):
            libsvm.svm_predict_values(self._model, problem.x[h], ctypes.byref(value))
            values[h] = value.value
        return values

    def _settings(self):
        settings = svm_parameter("-q")
        settings.C = 1.0 / self.reg
        settings.gamma = self.gamma
        settings.eps = self.tol
        settings.cache_size = self.cache_mib
        return settings

    def __getstate__(self):
        state = super().__getstate__()
        if "_model" in state:
            state = {**state, "_model": None}  # C pointers do not travel
        return state


class _KernelProblem(svm_problem):
    """LibSVM's training set of kernel values: a row holds its number, then those with all."""

    def __init__(self, signs, X, gamma):
        n = len(X)
        self.x_space = np.empty((n, n + 2), dtype=svm_node)
        self.x_space["index"] = np.append(np.arange(n + 1), -1)
        values = self.x_space["value"]
        values[:, 0] = np.arange(1, n + 1)
        values[:, 1:-1] = 1.0
        for features, index in ((X.row_features, X.rows), (X.col_features, X.cols)):
            vertices, position = np.unique(index, return_inverse=True)
            K = gram(features[vertices], kernel="gaussian", gamma=gamma)
            values[:, 1:-1] *= K[position][:, position]
        self.l = self.n = n
        self.y = (ctypes.c_double * n).from_buffer(np.array(signs).data)
        pointers = (ctypes.POINTER(svm_node) * n)()
        rows = self.x_space.ctypes.data + np.arange(n) * self.x_space.strides[0]
        np.frombuffer(pointers, dtype=np.uintp)[:] = rows
        self.x = pointers


class _Model(svm_model):
    """LibSVM's model rebuilt from the fitted arrays: it needs no training set."""

    def __init__(self, fitted):
        super().__init__()
        self._support = _problem(fitted.support_pairs_, fitted.dual_coef_)  # owns the nodes
        self.param = fitted._settings()
        self.nr_class = 2
        self.l = len(fitted.dual_coef_)
        self.SV = self._support.x
        coef = (ctypes.c_double * self.l)(*fitted.dual_coef_)
        self.sv_coef = (ctypes.POINTER(ctypes.c_double) * 1)(
            ctypes.cast(coef, ctypes.POINTER(ctypes.c_double))
        )
        self.rho = (ctypes.c_double * 1)(-fitted.intercept_)
        self.label = (ctypes.c_int * 2)(1, -1)
        self.nSV = (ctypes.c_int * 2)(self.l, 0)  # only their sum counts for two classes


def _problem(X, signs):
    """LibSVM's training set: it gets all features of each pair."""
    sides = ((X.row_features, X.rows), (X.col_features, X.cols))
    both = [sparse.csr_matrix(features, dtype=np.float64)[index] for features, index in sides]
    return svm_problem(signs, sparse.hstack(both, format="csr"))


def gaussian_svm(
    pairs: PairData, dual_coef: np.ndarray, intercept: float, gamma: float
) -> KronNewton:
    """A fitted model with these coefficients, which predicts by sampled Kronecker products."""
    model = KronNewton(
        loss="l1svm",
        row_kernel="gaussian",
        col_kernel="gaussian",
        row_gamma=gamma,
        col_gamma=gamma,
        product="sparse",  # the paper's, whatever this machine does fastest
    )
    model.X_fit_, model.dual_coef_, model.intercept_ = pairs, dual_coef, intercept
    model.classes_ = np.array([-1.0, 1.0])
    return model
