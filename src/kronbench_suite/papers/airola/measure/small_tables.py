"""Small tables: sizes of data sets, a split of them, their kernels, zeros of an SVM.

Parameters
----------
shows : the table that is made
fold : round of the cross-validation
gammas : widths of Gaussian kernels
pairs : number of training pairs
reg : regularization weight
"""

import numpy as np
import pandas as pd

from kronbench.evaluation import VertexDisjointKFold
from kronbench.linalg import gram
from kronbench.models import KronSVM
from kronbench_suite.papers.airola.measure.zero_shot import drawn_pairs, zero_shot_splits
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(
    key=("row", "col", "side", "gamma"),
)


def run(spec, data, rng):
    """What ``shows`` names (Airola & Pahikkala, figure 1, tables 1, 5, sections 4.2, 5.1)."""
    shows = spec["shows"]
    return pd.DataFrame(_SHOWN[shows](spec, data, generator(spec["seed"], shows, data.name)))


def _characteristics(spec, data, rng):
    """One row of counts: 2018, table 5 (``fraction`` 0.25), and 2016, table 4 (``fraction`` 1)."""
    pairs, y = drawn_pairs(spec, data)
    row = {"edges": len(pairs)}
    row |= {"positive": int(np.sum(y > 0)), "negative": int(np.sum(y < 0))}
    row |= {"start_vertices": pairs.n_rows, "end_vertices": pairs.n_cols}
    n_with_edges = len(np.unique(pairs.rows)) + len(np.unique(pairs.cols))
    yield row | {"vertices_with_edges": n_with_edges}


def _notation(spec, data, rng):
    """One row, of the training pairs of a round; what is shared is shared with its test pairs."""
    pairs, _, splits = zero_shot_splits(spec, data, rng)
    train, test = (pairs[part] for part in splits[spec["fold"]])
    row = {"n": len(train), "m": len(np.unique(train.rows)), "q": len(np.unique(train.cols))}
    row |= {"d": pairs.row_features.shape[1], "r": pairs.col_features.shape[1]}
    row |= {"n_test": len(test), "shared_start": len(np.intersect1d(train.rows, test.rows))}
    yield row | {"shared_end": len(np.intersect1d(train.cols, test.cols))}


def _split_structure(spec, data, rng):
    """One row for each labelled pair; ``row`` and ``col`` count vertices, sorted by fold."""
    pairs, y = drawn_pairs(spec, data)
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    row_fold, col_fold = splitter.blocks(pairs)
    role = np.full(len(pairs), "unused", dtype=object)
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    role[train], role[test] = "train", "test"
    # Vertices in the order of their folds: each has a place on its side.
    positions = []
    for index, fold, count in (
        (pairs.rows, row_fold, pairs.n_rows),
        (pairs.cols, col_fold, pairs.n_cols),
    ):
        # A vertex without a pair has no fold, and comes first.
        of_vertex = np.full(count, -1)
        of_vertex[index] = fold
        positions.append(np.argsort(np.argsort(of_vertex, kind="stable"))[index])
    places = {"row": positions[0], "col": positions[1], "row_fold": row_fold, "col_fold": col_fold}
    return places | {"fold": spec["fold"], "role": role, "label": y.astype(int)}


def _gaussian_kernels(spec, data, rng):
    """Mean and quantiles of the entries off the diagonal, by side and width."""
    pairs, _ = drawn_pairs(spec | {"fraction": 1.0}, data)
    for side, features in (("start", pairs.row_features), ("end", pairs.col_features)):
        for gamma in spec["gammas"]:
            K = gram(features, kernel="gaussian", gamma=gamma)
            # A width is useless if these are all near 0 or all near 1 (section 5.1).
            entries = K[np.triu_indices(len(K), 1)]
            low, high = np.quantile(entries, (0.05, 0.95))
            place = {"side": side, "gamma": float(gamma), "vertices": len(K)}
            yield place | {"mean": entries.mean(), "low": low, "high": high}


def _svm_sparsity(spec, data, rng):
    """The share of zeros among the coefficients of ``n`` training pairs of a round."""
    pairs, y, splits = zero_shot_splits(spec, data, rng)
    some = rng.permutation(splits[spec["fold"]][0])[: spec["pairs"]]
    # The optimum to 1e-10, since zeros are told from small numbers.
    model = KronSVM(
        reg=spec["reg"], max_iter=500, max_inner=1000, solver="cg", tol=1e-10, product="sparse"
    )
    sizes = np.abs(model.fit(pairs[some], y[some]).dual_coef_)
    yield {"n": len(some), "zeros": np.mean(sizes <= 1e-8 * sizes.max())}


_SHOWN = {
    "characteristics": _characteristics,
    "notation": _notation,
    "split_structure": _split_structure,
    "gaussian_kernels": _gaussian_kernels,
    "svm_sparsity": _svm_sparsity,
}
