"""Lemmas, theorem, remarks and equations of product kernel methods, measured on a training set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold
from kronbench.pairs import PairData
from kronbench.pairs.data import used_vertices
from kronbench.papers.airola.measure.statements.derivatives import derivatives
from kronbench.papers.airola.measure.statements.model import gaussian_kernels, model
from kronbench.papers.airola.measure.statements.newton import newton_steps
from kronbench.papers.airola.measure.statements.predictions import predictions
from kronbench.papers.airola.measure.statements.problem import Problem
from kronbench.papers.airola.measure.statements.products import products
from kronbench.papers.airola.measure.statements.ridge_and_svm import ridge, svm
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

COLUMNS = Columns(
    key=("name",),
    counts=("operations", "cost", "plain"),
    numbers=("deviation", "share"),
    texts=("key", "place", "statement"),
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """One row for each statement of Airola & Pahikkala (2016, 2018), in the order of the text.

    Measured on ``pairs`` training and test pairs of a zero-shot fold, with linear kernels of the
    first ``features`` features of each side, so that the dual and the primal form are the same
    model. ``key`` names the statement in the files of claims; ``deviation`` is the largest
    difference of both sides of a statement, relative to the largest entry; ``operations`` are the
    multiplications and additions of the proposed way, counted in a run of Algorithm 1 as printed,
    ``cost`` the argument of its printed O(), ``plain`` the operations of the way that it replaces;
    ``share`` is what a statement says of a share.
    """
    pairs, y = labelled_pairs(
        data, rng=generator(spec["seed"], "pairs", data.name), fraction=spec["fraction"]
    )
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    train, test = list(splitter.split(pairs, y))[spec["fold"]]
    train, test = (rng.permutation(part)[: spec["pairs"]] for part in (train, test))
    full = pairs.row_features.shape[1], pairs.col_features.shape[1]
    train_pairs, test_pairs = (
        _narrow(_used(pairs[part]), spec["features"]) for part in (train, test)
    )
    problem = Problem(train_pairs, test_pairs, y[train], full)
    rows = []
    for statements in (
        products,
        model,
        predictions,
        derivatives,
        newton_steps,
        ridge,
        svm,
        gaussian_kernels,
    ):
        rows += statements(problem, spec["reg"], rng)
    return pd.DataFrame(rows)


def _used(pairs):
    """The same pairs over the vertices that occur in them: the sequences are surjective."""
    rows, row_index = used_vertices(pairs.rows, pairs.n_rows)
    cols, col_index = used_vertices(pairs.cols, pairs.n_cols)
    return PairData(pairs.row_features[rows], pairs.col_features[cols], row_index, col_index)


def _narrow(pairs, features):
    return PairData(
        pairs.row_features[:, :features], pairs.col_features[:, :features], pairs.rows, pairs.cols
    )
