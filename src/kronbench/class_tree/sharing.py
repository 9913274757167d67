"""Groups of nodes of a class tree that share a hyperparameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from kronbench.class_tree.coupling import Coupling
from kronbench.class_tree.tree import Tree
from kronbench.errors import InputError


def sharing_pattern(name: str, tree: np.ndarray) -> tuple:
    """Tree and shared variances of a flat or hierarchical model (Seeger 2006, section 8.2).

    Parameters
    ----------
    name : {"F1", "F2", "H1", "H2"}
        F is flat, H hierarchical; F1 has one variance, H1 one for each level of the tree, F2 and
        H2 one for each child of the root.
    tree : (P + 1,) integer array
        Parent of each node; the leaves are the classes of the flat models too.

    Returns
    -------
    tree : (P + 1,) array or None
        As for :class:`~kronbench.models.HierarchicalNewtonClassifier`; None is the flat model.
    sharing : str or (C,) array
        As for :class:`~kronbench.models.HierarchicalNewtonCV`.
    """
    shape = Tree(tree)
    patterns = {
        "F1": (None, "all"),
        "F2": (None, shape.leaf_subtrees),
        "H1": (shape.parents, "level"),
        "H2": (shape.parents, "subtree"),
    }
    if name not in patterns:
        raise InputError(f"name is {name!r}: give one of {', '.join(map(repr, patterns))}")
    return patterns[name]


def node_groups(sharing: Any, coupling: Coupling, name: str) -> np.ndarray:
    """(P,) groups 0..G-1 of the nodes, of a word or an array of groups; only a tree has levels.

    ``name`` is the argument, for the sentence of an error.
    """
    if isinstance(sharing, str):
        if sharing == "all":
            return np.zeros(coupling.n_nodes, int)
        if sharing == "node":
            return np.arange(coupling.n_nodes)
        if sharing in ("level", "subtree") and isinstance(coupling, Tree):
            return coupling.levels if sharing == "level" else coupling.subtrees
        raise InputError(
            f"{name} is {sharing!r}: give 'all', 'level', 'subtree', 'node' or an array of groups"
        )
    groups = np.asarray(sharing)
    if groups.shape != (coupling.n_nodes,) or groups.dtype.kind not in "iu":
        raise InputError(
            f"{name} has shape {groups.shape} and dtype {groups.dtype}: give one integer group "
            f"for each of the {coupling.n_nodes} nodes below the root"
        )
    return np.unique(groups, return_inverse=True)[1]
