"""Sizes of the sections of a collection of texts, and the shape of their class trees."""

import numpy as np
import pandas as pd

from kronbench.class_tree import Tree
from kronbench.evaluation import n_two_thirds
from kronbench_suite.runner.columns import Columns

COLUMNS = Columns(key=("section",))


def run(spec, data, rng):
    """One row for each section, and "all" (Seeger 2006, section 8.2).

    ``documents`` counts both halves; ``levels`` is the number of variances of H1.
    """
    y, tree = data["y"], Tree(data["parents"])
    sections = {"all": (0, len(y), np.arange(1, tree.n_nodes + 1))}
    # A section is a subtree below the root, named by a letter in the order of the tree.
    for index, top in enumerate(np.flatnonzero(tree.parents == 0)):
        nodes = 1 + np.flatnonzero(tree.subtrees == index)
        n_documents = (tree.leaf_subtrees[y] == index).sum()
        sections[chr(ord("A") + index)] = top, n_documents, nodes[nodes != top]
    rows = []
    for section, (top, n_documents, nodes) in sections.items():
        n_training, n_classes = n_two_thirds(n_documents), np.isin(nodes, tree.leaves).sum()
        n_children, depths = (tree.parents == top).sum(), tree.depths[nodes]
        row = {"section": section, "documents": int(n_documents), "training": int(n_training)}
        row |= {"classes": int(n_classes), "nodes": len(nodes), "children": int(n_children)}
        rows.append(row | {"levels": int(depths.max() - tree.depths[top])})
    return pd.DataFrame(rows)
