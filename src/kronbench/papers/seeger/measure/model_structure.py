"""The structure of the model, read off from a fitted one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kronbench.class_tree import Tree
from kronbench.evaluation import two_thirds
from kronbench.models import HierarchicalNewtonClassifier
from kronbench.runner.columns import Columns
from kronbench.runner.seeds import generator

if TYPE_CHECKING:
    from kronbench.datasets import Dataset

COLUMNS = Columns(
    key=("part", "row", "column"),
    counts=("training", "classes", "nodes"),
    numbers=("value", "deviation"),
    texts=("shape",),
    values={"part": ("functions", "mixing", "scores", "probabilities", "coupling")},
)


def run(spec: Mapping, data: Dataset | None, rng: np.random.Generator) -> pd.DataFrame:
    """Entries of the parts of a hierarchical model at a few new documents (Seeger 2006, figure 1).

    ``part``: "functions" (P, k), the independent functions of the nodes; "mixing" (C, P), the
    matrix Phi_L, its ones alone; "scores" (C, k), without the intercepts; "probabilities" (C, k);
    "coupling" (C, C), the curvature of minus the log likelihood at the test document whose class
    is least certain.
    ``row`` and ``column`` count from 0; nodes are sorted by depth. ``shape`` is that of the part.
    Documents are those of the test third whose true class is surest, one for each child of the
    root.
    """
    tree, y = Tree(data["parents"]), data["y"]
    K = data["X"] @ data["X"].T
    train, test = two_thirds(len(y), generator(spec["seed"], "thirds", data.name, 0))
    variance = np.asarray(spec["variances"], float)[tree.levels]
    model = HierarchicalNewtonClassifier(
        tree.parents,
        kernel="precomputed",
        classes=np.arange(tree.n_classes),
        variance=variance,
        bias_variance=spec["bias_variance"],
    ).fit(K[np.ix_(train, train)], y[train])
    across = K[np.ix_(test, train)]
    everywhere = model.predict_proba(across)
    shown = _surest(everywhere, y[test], tree.leaf_subtrees)
    functions = variance * (across[shown] @ tree.sum_below(model.dual_coef_))
    scores = tree.sum_paths(functions)
    probabilities = everywhere[shown]
    vague = everywhere[np.argmin(everywhere.max(axis=1))]
    by_depth = np.argsort(tree.depths[1:], kind="stable")
    parts = {
        "functions": functions.T[by_depth],
        "mixing": tree.sum_paths(np.eye(tree.n_nodes)).T[:, by_depth],
        "scores": scores.T,
        "probabilities": probabilities.T,
        "coupling": np.diag(vague) - np.outer(vague, vague),
    }
    # scores and log probabilities differ by one number for each document
    deviation = np.ptp(scores + model.intercept_ - np.log(probabilities), axis=1).max()
    frames = [_entries(part, values) for part, values in parts.items()]
    return pd.concat(frames, ignore_index=True).assign(
        training=len(train), classes=tree.n_classes, nodes=tree.n_nodes, deviation=deviation
    )


def _surest(proba, y, subtree):
    true = proba[np.arange(len(y)), y]
    groups = subtree[y]
    return np.array(
        [np.argmax(np.where(groups == g, true, -1)) for g in np.unique(groups)], dtype=int
    )


def _entries(part, values):
    row, column = np.nonzero(values) if part == "mixing" else np.indices(values.shape)
    row, column = row.ravel(), column.ravel()
    return pd.DataFrame(
        {
            "part": part,
            "row": row,
            "column": column,
            "value": np.round(values[row, column], 5),
            "shape": f"{values.shape[0]} x {values.shape[1]}",
        }
    )
