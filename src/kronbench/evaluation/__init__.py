"""Splits and metrics."""

from kronbench.evaluation.metrics import (
    concordance_index,
    hierarchy_scores,
    parent_accuracy,
    parent_decision,
    precision,
    roc_auc,
    taxo_decision,
    taxo_loss,
)
from kronbench.evaluation.ranking import macro_auc, micro_auc
from kronbench.evaluation.splits import VertexDisjointKFold

__all__ = [
    "VertexDisjointKFold",
    "concordance_index",
    "hierarchy_scores",
    "macro_auc",
    "micro_auc",
    "parent_accuracy",
    "parent_decision",
    "precision",
    "roc_auc",
    "taxo_decision",
    "taxo_loss",
]
