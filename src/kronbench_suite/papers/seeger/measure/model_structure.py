"""The structure of the model, read off from a fitted one.

Parameters
----------
variances : variance of each level of the tree
bias_variance : variance of the biases
"""

import numpy as np
import pandas as pd

from kronbench.class_tree import Tree
from kronbench.evaluation import two_thirds
from kronbench_suite.papers.seeger.measure.text_classification import text_model
from kronbench_suite.runner.columns import Columns
from kronbench_suite.runner.seeds import generator

COLUMNS = Columns(key=("part", "row", "column"))


def run(spec, data, rng):
    """Entries of the parts of a hierarchical model at a few new documents (Seeger 2006, figure 1).

    "functions" (P, k) are those of the nodes, sorted by depth; "mixing" (C, P) holds the ones of
    Phi_L alone; "scores" (C, k) and "probabilities" (C, k) are of the classes; "coupling" (C, C)
    is the curvature of minus the log likelihood at the least certain test document. The documents
    are those of the test third whose true class is surest, one for each child of the root.
    """
    tree, y = Tree(data["parents"]), data["y"]
    K = data["X"] @ data["X"].T
    train, test = two_thirds(len(y), generator(spec["seed"], "thirds", data.name, 0))
    variance = np.asarray(spec["variances"], float)[tree.levels]
    options = {"start": variance, "dtype": "float64"}
    # The hierarchical model, fitted to the training third.
    model = text_model("H1", tree, options, spec["bias_variance"])[0]
    model.set_params(kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
    across = K[np.ix_(test, train)]
    # The documents that are shown, and the least certain one for the coupling.
    probabilities = model.predict_proba(across)
    vague = probabilities[np.argmin(probabilities.max(axis=1))]
    of_true = probabilities[np.arange(len(test)), y[test]]
    child = tree.leaf_subtrees[y[test]]
    shown = [np.argmax(np.where(child == c, of_true, -1)) for c in np.unique(child)]
    # The functions of all nodes are mixed into class scores along the tree (section 4).
    functions = variance * (across[shown] @ tree.sum_below(model.dual_coef_))
    by_depth = np.argsort(tree.depths[1:], kind="stable")
    parts = {
        "functions": functions.T[by_depth],
        "mixing": tree.sum_paths(np.eye(tree.n_nodes)).T[:, by_depth],
        "scores": tree.sum_paths(functions).T,
        "probabilities": probabilities[shown].T,
        "coupling": np.diag(vague) - np.outer(vague, vague),
    }
    frames = []
    for part, values in parts.items():
        # The mixing matrix is shown by its ones alone, all others by every entry.
        row, column = np.nonzero(values) if part == "mixing" else np.indices(values.shape)
        entries = {"row": row.ravel(), "column": column.ravel()}
        entries["value"] = np.round(values[row, column], 5).ravel()
        shape = f"{values.shape[0]} x {values.shape[1]}"
        frames.append(pd.DataFrame(entries).assign(part=part, shape=shape))
    return pd.concat(frames, ignore_index=True)
