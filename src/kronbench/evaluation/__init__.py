"""Splits and metrics."""

from kronbench.evaluation.class_ranking import ranking_areas
from kronbench.evaluation.likelihood import mean_log_loss
from kronbench.evaluation.margins import margin_scores
from kronbench.evaluation.metrics import (
    hierarchy_scores,
    parent_accuracy,
    parent_decision,
    precision,
    taxo_decision,
    taxo_loss,
)
from kronbench.evaluation.random_splits import even_folds, n_two_thirds, two_thirds
from kronbench.evaluation.ranking import concordance_index, macro_auc, micro_auc, roc_auc
from kronbench.evaluation.splits import (
    SETTINGS,
    SettingKFold,
    VertexDisjointKFold,
    VertexKFold,
    settings,
)

__all__ = [
    "SETTINGS",
    "SettingKFold",
    "VertexDisjointKFold",
    "VertexKFold",
    "concordance_index",
    "even_folds",
    "hierarchy_scores",
    "macro_auc",
    "margin_scores",
    "mean_log_loss",
    "micro_auc",
    "n_two_thirds",
    "parent_accuracy",
    "parent_decision",
    "precision",
    "ranking_areas",
    "roc_auc",
    "settings",
    "taxo_decision",
    "taxo_loss",
    "two_thirds",
]
