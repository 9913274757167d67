"""Splits and metrics."""

from kronbench.evaluation.class_ranking import ranking_areas
from kronbench.evaluation.metrics import (
    hierarchy_scores,
    parent_accuracy,
    parent_decision,
    precision,
    taxo_decision,
    taxo_loss,
)
from kronbench.evaluation.ranking import concordance_index, macro_auc, micro_auc, roc_auc
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
    "ranking_areas",
    "roc_auc",
    "taxo_decision",
    "taxo_loss",
]
