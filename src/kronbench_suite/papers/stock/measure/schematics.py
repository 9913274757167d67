"""What figures 1, 2, 3 and 6 and table 3.3 of Stock et al. (2016) show, on real data.

Parameters
----------
scheme : the picture that is made
new_targets : number of new targets
new_drugs : number of new drugs
withheld : share of the other pairs that are test pairs
reg : regularization weight
reg_cols : the same of the columns
shape : rows and columns of the label matrix
pair : the pair that is predicted
size : training targets of the layout
"""

import numpy as np
import pandas as pd

from kronbench.datasets.drug_target import kernels
from kronbench.models import CompleteKronRidge, IndependentRidge, TwoStepRidge
from kronbench_suite.papers.stock.measure.kernels import PRECOMPUTED
from kronbench_suite.papers.stock.measure.transfer_learning_curves import Split
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("setting", "matrix", "approach", "tasks", "method", "row", "col", "position"),
    rounding=("residual", "deviation", "deviation of predictions"),
)


def run(spec, data, rng):
    """One row for each pair, entry of a matrix, protein, or method of a ``scheme``."""
    scheme = spec["scheme"]
    frames = _SCHEMES[scheme](spec, data, generator(spec["seed"], scheme, data.name))
    return pd.concat(map(pd.DataFrame, frames), ignore_index=True)


def _prediction_settings(spec, data, rng):
    """``role`` is "train" or the setting of a pair without label; new vertices come last."""
    _, _, Y = kernels(data)
    m, q = Y.shape
    # New targets and new drugs are last; some of the other pairs lose their labels (A).
    known_row = np.arange(m) < m - spec["new_targets"]
    known_col = np.arange(q) < q - spec["new_drugs"]
    of_known, of_new = np.where(known_col, "train", "C"), np.where(known_col, "B", "D")
    role = np.where(known_row[:, None], of_known, of_new)
    role[(role == "train") & (rng.random(Y.shape) < spec["withheld"])] = "A"
    shuffled = Y[np.ix_(rng.permutation(m), rng.permutation(q))]
    row, col = np.divmod(np.arange(m * q), q)
    yield {"row": row, "col": col, "role": role.ravel(), "interacts": shuffled.ravel() > 0}


def _two_step_principle(spec, data, rng):
    """The matrices for an interacting pair, drawn at random, whose vertices are both new.

    "step 1" and "step 2" are by Eq. 10, "direct" by Eq. 11.
    """
    K, G, Y = kernels(data)
    reg, reg_cols = spec["reg"], spec["reg_cols"]
    i, j = rng.permutation(np.argwhere(Y > 0))[0]
    rows, cols = np.delete(np.arange(len(K)), i), np.delete(np.arange(len(G)), j)
    K_train, G_train, Y_train = K[np.ix_(rows, rows)], G[np.ix_(cols, cols)], Y[np.ix_(rows, cols)]
    k, g = K[i : i + 1, rows], G[j : j + 1, cols]
    # Step 1 predicts the row of the new target, step 2 from that the entry of the new drug.
    first = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K_train, None, Y_train)
    virtual = first.predict_matrix(k)
    second = IndependentRidge(reg=reg_cols, row_kernel="precomputed")
    # Both steps at once, by the printed formula.
    both = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED)
    matrices = {"K": K_train, "G": G_train, "Y": Y_train, "k": k, "g": g}
    matrices |= {
        "step 1": virtual,
        "step 2": second.fit_matrix(G_train, None, virtual.T).predict_matrix(g),
        "label": Y[i : i + 1, j : j + 1],
        "direct": both.fit_matrix(K_train, G_train, Y_train).predict_matrix(k, g),
    }
    for name, matrix in matrices.items():
        row, col = np.divmod(np.arange(matrix.size), matrix.shape[1])
        yield {"row": row, "col": col, "value": matrix.ravel(), "matrix": name}


def _left_out_pairs(spec, data, rng):
    """What the shortcuts leave out, read off their own predictions of unit labels.

    ``influence`` is the coefficient of the pair's label in the prediction of ``spec["pair"]``.
    ``role`` is "train" where it is not zero; else "test" if the same pairs are left out to predict
    the pair itself, "unused" if not.
    """
    K, G, _ = kernels(data)
    m, q = spec["shape"]
    pair = np.ravel_multi_index(spec["pair"], (m, q))
    model = TwoStepRidge(reg_rows=spec["reg"], reg_cols=spec["reg"], **PRECOMPUTED)
    row, col = np.divmod(np.arange(m * q), q)
    for setting in "ABCD":
        # The coefficient of each label (column) in each prediction (row).
        influence = np.empty((m * q, m * q))
        for label, unit in enumerate(np.eye(m * q)):
            model.fit_matrix(K[:m, :m], G[:q, :q], unit.reshape(m, q))
            influence[:, label] = model.loo(setting).ravel()
        # A label without influence on a prediction has been left out for it.
        ignored = np.abs(influence) < 1e-9 * np.abs(influence).max()
        same = (ignored == ignored[pair]).all(axis=1)
        role = np.where(ignored[pair], np.where(same, "test", "unused"), "train")
        place = {"setting": setting, "row": row, "col": col}
        yield place | {"role": role, "influence": influence[pair]}


def _transfer_layout(spec, data, rng):
    """Proteins in the order of the first split of figure 7, the test proteins last.

    ``role`` is "constant" (training labels whatever the size), "varying" (those of the first
    ``size`` proteins), "test" or "none".
    """
    _, _, Y = kernels(data)
    split = Split.draw(spec, data, Y.shape, repetition=0)
    proteins = np.concatenate([split.pool, split.test])
    position, n_pool = np.arange(len(proteins)), len(split.pool)
    varying = np.where(position < spec["size"], "varying", "none")
    constant = np.where(position < n_pool, "constant", "none")
    nothing = np.full(len(position), "none")
    # Figure 6: which labels each approach has.
    approaches = {  # the labels of auxiliary tasks and of the target
        "independent-task": (nothing, varying),
        "multi-task": (varying, varying),
        "zero-shot": (varying, nothing),
        "almost zero-shot": (constant, varying),
    }
    for approach, (auxiliary, target) in approaches.items():
        target = np.where(position < n_pool, target, "test")
        groups = ("auxiliary", Y.shape[1] - 1, auxiliary), ("target", 1, target)
        for tasks, n_tasks, role in groups:
            group = {"approach": approach, "tasks": tasks, "n_tasks": n_tasks}
            yield group | {"position": position, "protein": proteins, "role": role}


def _system_residuals(spec, data, rng):
    """How well each method solves its system, and predicts as its printed function does.

    ``residual`` is that for the dual coefficients, of least squares where there is no solution.
    """
    K, G, Y = kernels(data)
    reg, reg_cols = spec["reg"], spec["reg_cols"]
    independent = IndependentRidge(reg=reg, row_kernel="precomputed").fit_matrix(K, None, Y)
    kronecker = CompleteKronRidge(reg=reg, **PRECOMPUTED).fit_matrix(K, G, Y)
    ordinary = CompleteKronRidge(reg=0.0, **PRECOMPUTED).fit_matrix(K, G, Y)
    two_step = TwoStepRidge(reg_rows=reg, reg_cols=reg_cols, **PRECOMPUTED).fit_matrix(K, G, Y)
    A, B, C, D = (model.dual_coef_ for model in (independent, kronecker, ordinary, two_step))
    rows_solved = K @ D + reg * D
    # left and right side of the system, printed function, predictions of the model
    methods = {
        "independent-task": (K @ A + reg * A, Y, K @ A, independent.predict_matrix(K)),
        "Kronecker kernel": (
            *(K @ B @ G + reg * B, Y),
            *(K @ B @ G, kronecker.predict_matrix(K, G)),
        ),
        "ordinary Kronecker least squares": (
            *(K @ (K @ C @ G) @ G, K @ Y @ G),
            *(K @ C @ G, ordinary.predict_matrix(K, G)),
        ),
        "two-step": (
            *(rows_solved @ G + reg_cols * rows_solved, Y),
            *(K @ D @ G, two_step.predict_matrix(K, G)),
        ),
    }
    for method, (left, right, printed, predicted) in methods.items():
        residual = np.linalg.norm(left - right) / np.linalg.norm(right)
        deviation = np.abs(printed - predicted).max() / np.abs(predicted).max()
        yield {"method": [method], "residual": residual, "deviation": deviation}


_SCHEMES = {
    "prediction_settings": _prediction_settings,
    "two_step_principle": _two_step_principle,
    "left_out_pairs": _left_out_pairs,
    "transfer_layout": _transfer_layout,
    "system_residuals": _system_residuals,
}
