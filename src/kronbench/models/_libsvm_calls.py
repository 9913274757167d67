"""Calls of LibSVM for ``PairLibSVM``: its training sets, settings and models.

They are written by hand since what is timed is LibSVM itself, not the changed copy of it in
scikit-learn's ``SVC``, and since libsvm-official reads a dense kernel matrix row by row in Python
and rebuilds no fitted model from arrays.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from libsvm.svm import kernel_names, libsvm, svm_model, svm_node, svm_parameter, svm_problem
from libsvm.svmutil import svm_train
from scipy import sparse

from kronbench.linalg.gram_matrix import gram
from kronbench.pairs import PairData


def train(estimator: Any, X: PairData, signs: np.ndarray) -> svm_model:
    """LibSVM's model of n pairs with signs (n,), by the parameters of a ``PairLibSVM``."""
    settings = _settings(estimator)
    # The kernel is LibSVM's own Gaussian of concatenated features, or values that are made here.
    if not estimator.precompute:
        return svm_train(_problem(X, signs), settings)
    settings.kernel_type = kernel_names.PRECOMPUTED
    return svm_train(_KernelProblem(signs, X, estimator.gamma), settings)


class _KernelProblem(svm_problem):
    """LibSVM's training set of kernel values: a row holds its number, then those with all."""

    def __init__(self, signs, X, gamma):
        # A row has its number with the index 0, values with the indices 1 to n, then an end.
        n = len(X)
        self.x_space = np.empty((n, n + 2), dtype=svm_node)
        self.x_space["index"] = np.append(np.arange(n + 1), -1)
        values = self.x_space["value"]
        values[:, 0] = np.arange(1, n + 1)
        # The kernel of pairs is the product of those of rows and columns, each made of vertices.
        values[:, 1:-1] = 1.0
        for features, index in ((X.row_features, X.rows), (X.col_features, X.cols)):
            vertices, position = np.unique(index, return_inverse=True)
            K = gram(features[vertices], kernel="gaussian", gamma=gamma)
            values[:, 1:-1] *= K[position][:, position]
        # C reads labels and rows through these pointers.
        self.l = self.n = n
        self.y = (ctypes.c_double * n).from_buffer(np.array(signs).data)
        pointers = (ctypes.POINTER(svm_node) * n)()
        rows = self.x_space.ctypes.data + np.arange(n) * self.x_space.strides[0]
        np.frombuffer(pointers, dtype=np.uintp)[:] = rows
        self.x = pointers


class Model(svm_model):
    """LibSVM's model rebuilt from the fitted arrays: it needs no training set."""

    def __init__(self, fitted):
        # The support vectors keep their nodes alive as long as the model lives.
        super().__init__()
        self._support = _problem(fitted.support_pairs_, fitted.dual_coef_)
        self.param = _settings(fitted)
        self.nr_class = 2
        self.l = len(fitted.dual_coef_)
        self.SV = self._support.x
        coef = (ctypes.c_double * self.l)(*fitted.dual_coef_)
        self.sv_coef = (ctypes.POINTER(ctypes.c_double) * 1)(
            ctypes.cast(coef, ctypes.POINTER(ctypes.c_double))
        )
        self.rho = (ctypes.c_double * 1)(-fitted.intercept_)
        # The first class is the positive one. For two classes only the sum of the numbers of
        # support vectors counts.
        self.label = (ctypes.c_int * 2)(1, -1)
        self.nSV = (ctypes.c_int * 2)(self.l, 0)

    def values(self, X: PairData) -> np.ndarray:
        """Decision values (n,) of the pairs."""
        problem, value = _problem(X, np.zeros(len(X))), ctypes.c_double()
        values = np.empty(len(X))
        for h in range(len(X)):
            libsvm.svm_predict_values(self, problem.x[h], ctypes.byref(value))
            values[h] = value.value
        return values


def _problem(X, signs):
    """LibSVM's training set: it gets all features of each pair."""
    sides = ((X.row_features, X.rows), (X.col_features, X.cols))
    both = [sparse.csr_matrix(features, dtype=np.float64)[index] for features, index in sides]
    return svm_problem(signs, sparse.hstack(both, format="csr"))


def _settings(estimator):
    """The parameters of a ``PairLibSVM`` as LibSVM's; the Gaussian kernel is its default."""
    settings = svm_parameter("-q")
    settings.C = 1.0 / estimator.reg
    settings.gamma = estimator.gamma
    settings.eps = estimator.tol
    settings.cache_size = estimator.cache_mib
    return settings
