"""Test AUC of two SVMs with Gaussian kernels over folds, training sizes and weights.

Parameters
----------
solvers : import path and parameters of each solver
sizes : numbers of training pairs, by solver
regs : regularization weights
"""

import ctypes

import numpy as np
import pandas as pd
from libsvm.svm import kernel_names, svm_node, svm_parameter, svm_problem
from libsvm.svmutil import svm_train
from tqdm import tqdm

from kronbench.evaluation import roc_auc
from kronbench.linalg import gram
from kronbench.models import PairLibSVM
from kronbench.models.pair_libsvm import gaussian_svm
from kronbench.solvers import make_solver, scores_of
from kronbench_suite.papers.airola.measure.zero_shot import Folds
from kronbench_suite.runner.columns import Columns

# LibSVM keeps kernel rows that it may need again, without a change to any number. A row that was
# dropped is gathered from as many places of memory as there are pairs.
_CACHE_MIB = 2000.0

COLUMNS = Columns(
    key=("fold", "size", "method", "reg"),
    repeats=("fold",),
)


def run(spec, data, rng):
    """One row for each fold, size, solver and weight (Airola & Pahikkala, section 5.3).

    A solver with ``precompute`` is LibSVM, with kernel values that are made once for all subsets
    of a fold. ``over_weights`` is the largest less the smallest ``auc`` over the weights.
    """
    # Nested training sets of each fold (section 5.3), for all solvers alike.
    problems = Folds(spec, data, rng)
    kernels = {
        name: LibSVMKernel(entry["parameters"], max(spec["sizes"][name]))
        for name, entry in spec["solvers"].items()
        if entry["parameters"].get("precompute")
    }
    rows = []
    for fold in tqdm(problems.folds, desc=data.name, unit="fold"):
        test, y_test = problems.test(fold)
        for name, entry in spec["solvers"].items():
            sizes, kernel = spec["sizes"][name], kernels.get(name)
            if kernel:
                # Kernel values are made once a fold: smaller training sets are part of larger.
                everything = problems.train_index(max(sizes), fold)
                kernel.take(problems.pairs[everything])
            for size in sizes:
                index, areas = problems.train_index(size, fold), []
                pairs, y = problems.pairs[index], problems.y[index]
                for reg in spec["regs"]:
                    if kernel:
                        model = kernel.train(np.searchsorted(everything, index), y, reg)
                    else:
                        model = make_solver(entry["solver"], reg=reg, **entry["parameters"])
                        model.fit(pairs, y)
                        if hasattr(model, "to_vec_trick"):  # the same predictor, sooner
                            model = model.to_vec_trick()
                    areas.append(roc_auc(y_test, scores_of(model, test)))
                # The rows of a size: how much the weight matters, and the AUC at each weight.
                place = {"fold": fold, "size": size, "n": len(index), "method": name}
                place["over_weights"] = max(areas) - min(areas)
                for reg, area in zip(spec["regs"], areas, strict=True):
                    rows.append(place | {"reg": float(reg), "auc": area})
    return pd.DataFrame(rows)


class LibSVMKernel:
    """Gaussian product kernel of n pairs, on which LibSVM trains with any subset of them.

    The models are those of ``PairLibSVM`` with these ``parameters`` and ``precompute``, of 16 n^2
    bytes. Here they are 8 n^2, n at most ``most`` < 2^21: LibSVM's row of kernel values has a
    number beside each, which training does not read, and so the rows of two pairs lie in one
    another, the values of one where the other has its numbers.
    """

    def __init__(self, parameters, most):
        self._model = PairLibSVM(**parameters)
        # Kept from one set of pairs to the next: the first use takes ten times as long as to fill.
        self._memory = np.empty(_size(most))

    def take(self, pairs):
        """Make the kernel values of these pairs, O(n^2), in place of others."""
        self._pairs, n = pairs, len(pairs)
        K, rows = _kernel(pairs.row_features, pairs.rows, self._model.gamma)
        G, cols = _kernel(pairs.col_features, pairs.cols, self._model.gamma)
        # Two rows lie together: the number of the first entry, then entries of both in turn.
        # LibSVM wants this number to be 0, and so is that of the odd one: half of the bytes of the
        # even one's first entry, its place counted from one.
        self._numbers = self._memory[: _size(n)].reshape(-1, 2 * (n + 2))
        self._numbers[:, 0] = 0
        for h in range(n):
            entries = self._numbers[h // 2, 1 + h % 2 : 2 * (n + 1) + h % 2 : 2]
            entries[0] = h + 1
            np.multiply(K[rows[h]][rows], G[cols[h]][cols], out=entries[1:])

    def train(self, subset, signs, reg):
        """The model of the pairs at these positions, in their order, with labels -1 and 1."""
        problem = _Subset(self._numbers, subset, signs, len(self._pairs))
        parameter = svm_parameter("-q")
        parameter.kernel_type = kernel_names.PRECOMPUTED
        parameter.C, parameter.eps = 1.0 / reg, self._model.tol
        parameter.cache_size = max(self._model.cache_mib, _CACHE_MIB)
        model = svm_train(problem, parameter)
        # LibSVM counts a class as positive by the order of the labels that it met
        orientation, count = model.get_labels()[0], (model.l,)
        support = np.ctypeslib.as_array(model.sv_indices, count) - 1
        coef = orientation * np.ctypeslib.as_array(model.sv_coef[0], count)
        return gaussian_svm(
            self._pairs[subset[support]], coef, -orientation * model.rho[0], self._model.gamma
        )


def _kernel(features, index, gamma):
    vertices, position = np.unique(index, return_inverse=True)
    return gram(features[vertices], kernel="gaussian", gamma=gamma), position


def _size(n):
    return (n + 1) // 2 * 2 * (n + 2)


class _Subset(svm_problem):
    """LibSVM's training set: pointers to rows, each of which tells its place in the others."""

    def __init__(self, numbers, subset, signs, n):
        self.l, self.n, self.x_space = len(subset), n, numbers
        self.y = (ctypes.c_double * self.l).from_buffer(np.array(signs, dtype=float))
        pointers = (ctypes.POINTER(svm_node) * self.l)()
        starts = subset // 2 * numbers.shape[1] + subset % 2
        addresses = np.frombuffer(pointers, dtype=np.uintp)
        addresses[:] = numbers.ctypes.data + starts * numbers.itemsize
        self.x = pointers
