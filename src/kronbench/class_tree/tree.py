"""Class trees: sums of functions along each path, groups of nodes; or any matrix instead."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numba import njit, prange
from numpy.typing import ArrayLike

from kronbench.errors import InputError
from kronbench.linalg.gemm import multiply
from kronbench.linalg.threads import PASS_WORTH_A_THREAD, at_most_threads

# Rows of a block that pass the tree together, so that each node is looked up once for all of them.
_ROWS_TOGETHER = 16


class Tree:
    """A tree of classes and its matrix Phi_L (C, P): "node lies on the path to the leaf".

    Products are Algorithms 1 and 2 of Seeger (2006), O(P) for each row of a block; Phi is never
    formed.

    Parameters
    ----------
    parents : (P + 1,) integer array
        Parent of each node, in any order of the nodes; ``parents[0] == -1`` is the root. The
        leaves in increasing order of their node are the classes 0..C-1.

    Attributes
    ----------
    parents : (P + 1,) int64 array
    leaves : (C,) int64 array
    n_nodes, n_classes : int
        P, the nodes below the root, and C. Column p - 1 of a block belongs to node p.
    depths : (P + 1,) int64 array
        Edges between each node and the root.
    """

    def __init__(self, parents: ArrayLike):
        parents = np.asarray(parents)
        integers = parents.ndim == 1 and parents.dtype.kind in "iu" and len(parents) > 0
        if not integers or parents[0] != -1:
            raise InputError(
                "tree is not a parent array: give (P + 1,) integers that start with -1, the root"
            )
        if len(parents) == 1:
            raise InputError("tree has only a root: give at least one node below it")
        if (parents[1:] == -1).any():
            second = 1 + int(np.argmax(parents[1:] == -1))
            raise InputError(f"tree has a second root, node {second}: give one node -1, the first")
        if parents[1:].min() < 0 or parents.max() >= len(parents):
            raise InputError(f"tree holds a parent outside 0..{len(parents) - 1} after the root")
        self.parents = parents.astype(np.int64)
        self.leaves = np.setdiff1d(np.arange(len(self.parents)), self.parents)
        self.n_nodes, self.n_classes = len(self.parents) - 1, len(self.leaves)
        # Depths come by pointer doubling, in O(P log P): after k rounds ``above`` is the ancestor
        # 2^k edges up, or the root, and ``depths`` counts the edges on the way to it.
        self.depths = (np.arange(len(self.parents)) > 0).astype(np.int64)
        above = np.maximum(self.parents, 0)
        for _ in range(len(self.parents).bit_length()):
            self.depths += self.depths[above]
            above = above[above]
        # On a cycle no number of steps leads to the root.
        if above.any():
            lost = int(np.argmax(above > 0))
            raise InputError(
                f"tree has a cycle: node {lost} cannot be reached from the root; its parents must "
                "lead there"
            )
        # The nodes are ordered by depth, so that parents come before their children, as in the
        # paper; ``_position`` is where each stands, ``_up`` where the parent of each stands.
        self._order = np.argsort(self.depths, kind="stable")
        self._position = np.empty_like(self._order)
        self._position[self._order] = np.arange(len(self._order))
        self._up = self._position[np.maximum(self.parents, 0)][self._order]
        self._leaf_at = self._position[self.leaves]

    @classmethod
    def flat(cls, n_classes: int) -> Tree:
        """The tree of depth one: every class has one function of its own."""
        return cls(np.concatenate([[-1], np.zeros(n_classes, np.int64)]))

    @property
    def is_flat(self) -> bool:
        """Whether every node below the root is a leaf, so that no functions are shared."""
        return self.n_nodes == self.n_classes

    @cached_property
    def levels(self) -> np.ndarray:
        """(P,) groups of the nodes by depth, 0 for the children of the root (H1)."""
        return self.depths[1:] - 1

    @cached_property
    def subtrees(self) -> np.ndarray:
        """(P,) groups of the nodes by the child of the root they are or lie below (H2)."""
        # A child of the root is its own top; the others have that of their parent, which is known.
        top = np.arange(len(self.parents))
        for node in self._order[1:]:
            if self.parents[node] > 0:
                top[node] = top[self.parents[node]]
        return np.unique(top[1:], return_inverse=True)[1]

    @cached_property
    def leaf_subtrees(self) -> np.ndarray:
        """(C,) the same for the leaves alone: groups of a flat model (F2)."""
        return self.subtrees[self.leaves - 1]

    @cached_property
    def paths(self) -> np.ndarray:
        """(C, largest depth) nodes from below the root to each leaf, -1 after the leaf."""
        paths = np.full((self.n_classes, self.depths.max()), -1)
        # Each leaf climbs to the root; on the way it is written at its depth.
        node = self.leaves.copy()
        for depth in range(paths.shape[1], 0, -1):
            here = self.depths[node] == depth
            paths[here, depth - 1] = node[here]
            node[here] = self.parents[node[here]]
        return paths

    def members(self, node: int) -> np.ndarray:
        """(C,) bool: the leaf lies below the node, or is it."""
        if not 0 <= node < len(self.parents):
            last = len(self.parents) - 1
            raise InputError(f"node {node} is not in the tree: give one of 0..{last}")
        if node == 0:
            return np.ones(self.n_classes, bool)
        return (self.paths == node).any(axis=1)

    def sum_paths(self, functions: np.ndarray) -> np.ndarray:
        """Phi_L x for each row (n, P) -> (n, C): the sum along each path (Algorithm 1)."""
        functions = _as_block(functions, self.n_nodes)
        ones = np.ones(len(self.parents), functions.dtype)
        return self._pass(functions, self._position[1:], self._leaf_at, weights=ones)

    def sum_below(self, block: np.ndarray) -> np.ndarray:
        """Phi_L' x for each row (n, C) -> (n, P): the sum over the leaves below (Algorithm 2)."""
        block = _as_block(block, self.n_classes)
        nothing = np.empty(0, block.dtype)
        return self._pass(block, self._leaf_at, self._position[1:], nothing, upward=True)

    def couple(self, block: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Each row (n, C) times T = Phi_L diag(variance) Phi_L', variance (P,); fused, O(n P)."""
        block = _as_block(block, self.n_classes)
        variance = np.asarray(variance, block.dtype)
        if self.is_flat:
            return block * variance[self.leaves - 1]
        # A pass goes up by Algorithm 2 and down by Algorithm 1; the root has no function.
        weights = np.append(block.dtype.type(0), variance)[self._order]
        return self._pass(block, self._leaf_at, self._leaf_at, weights, upward=True)

    def diagonal(self, variance: np.ndarray) -> np.ndarray:
        """(n, C) diagonals of Phi_L diag(variance_i) Phi_L' for rows (n, P) of variances."""
        return self.sum_paths(variance)

    def _pass(self, block, take_at, give_at, weights, upward=False):
        """One pass of each row from the nodes ``take_at`` to those ``give_at``, by position."""
        out = np.empty((len(block), len(give_at)), block.dtype)
        with at_most_threads(min(block.size, out.size) / PASS_WORTH_A_THREAD):
            _pass_tree(block, take_at, give_at, self._up, weights, upward, out)
        return out


def _as_block(block, n_columns):
    """A block (n, n_columns) of single or double precision, in C order."""
    block = np.ascontiguousarray(block)
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    if block.ndim != 2 or block.shape[1] != n_columns:
        raise InputError(f"the block has shape {block.shape}: give (n, {n_columns})")
    return block


@njit(parallel=True, cache=True)
def _pass_tree(block, take_at, give_at, up, weights, upward, out):
    """Rows of a block from the places of some nodes through the tree to those of others.

    Nodes are in the order of their depths, ``up`` is where the parent of each stands.
    """
    for part in prange(-(-len(block) // _ROWS_TOGETHER)):
        low = part * _ROWS_TOGETHER
        size = min(_ROWS_TOGETHER, len(block) - low)
        # Each node has a row, so that the inner loops run over neighbours in memory.
        sums = np.zeros((len(up), _ROWS_TOGETHER), block.dtype)
        for c in range(len(take_at)):
            row = sums[take_at[c]]
            for r in range(size):
                row[r] = block[low + r, c]
        # Algorithm 2 goes from P down to 1: each node adds its sum to that of its parent.
        if upward:
            for k in range(len(up) - 1, 0, -1):
                above, here = sums[up[k]], sums[k]
                for r in range(_ROWS_TOGETHER):
                    above[r] += here[r]
            sums[0] = 0
        # Algorithm 1 goes from 1 to P: y_p = v_p x_p + y_parent sums along the path of node p.
        for k in range(1, len(weights)):
            above, here, weight = sums[up[k]], sums[k], weights[k]
            for r in range(_ROWS_TOGETHER):
                here[r] = here[r] * weight + above[r]
        for c in range(len(give_at)):
            row = sums[give_at[c]]
            for r in range(size):
                out[low + r, c] = row[r]


class DenseCoupling:
    """A matrix B (C, P) of any numbers in place of a tree's (Seeger 2006, section 7.2)."""

    is_flat = False

    def __init__(self, matrix: np.ndarray):
        self.matrix = np.asarray(matrix, float)
        if self.matrix.ndim != 2 or not np.isfinite(self.matrix).all():
            raise InputError(
                f"coupling has shape {self.matrix.shape}: give a (C, P) array of finite numbers"
            )
        self.n_classes, self.n_nodes = self.matrix.shape

    def sum_paths(self, functions: np.ndarray) -> np.ndarray:
        """Each row (n, P) times B': scores (n, C)."""
        return multiply(functions, self.matrix.T.astype(functions.dtype))

    def sum_below(self, block: np.ndarray) -> np.ndarray:
        """Each row (n, C) times B: (n, P)."""
        return multiply(block, self.matrix.astype(block.dtype))

    def couple(self, block: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Each row (n, C) times B diag(variance) B', with variance (P,)."""
        return self.sum_paths(self.sum_below(block) * np.asarray(variance, block.dtype))

    def diagonal(self, variance: np.ndarray) -> np.ndarray:
        """(n, C) diagonals of B diag(variance_i) B' for rows (n, P) of variances."""
        return variance @ (self.matrix**2).T


Coupling: TypeAlias = Tree | DenseCoupling


def sharing_pattern(name: str, tree: np.ndarray) -> tuple:
    """``tree`` and ``sharing`` of a flat or hierarchical model (Seeger 2006, section 8.2).

    As :class:`~kronbench.models.HierarchicalNewtonClassifier` and
    :class:`~kronbench.models.HierarchicalNewtonCV` take them; the tree of a flat model is None.

    Parameters
    ----------
    name : {"F1", "F2", "H1", "H2"}
        F is flat, H hierarchical; F1 has one variance, H1 one for each level of the tree, F2 and
        H2 one for each child of the root.
    tree : (P + 1,) integer array
        Parent of each node; the leaves are the classes of the flat models too.

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
    """(P,) groups 0..G-1 of the nodes, of a word or an array of groups; only a tree has levels."""
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
