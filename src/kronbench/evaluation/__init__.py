"""Splits and metrics."""

from kronbench.evaluation.affinity import AFFINITY_SCORES, affinity_scores, aupr, rm2
from kronbench.evaluation.class_ranking import ranking_areas
from kronbench.evaluation.interaction import interaction_concordance
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
from kronbench.evaluation.ranking import (
    concordance_index,
    macro_auc,
    macro_concordance_index,
    micro_auc,
    roc_auc,
)
from kronbench.evaluation.splits import (
    SETTINGS,
    SettingKFold,
    VertexDisjointKFold,
    VertexKFold,
    settings,
)

__all__ = [
    "AFFINITY_SCORES",
    "SETTINGS",
    "SettingKFold",
    "VertexDisjointKFold",
    "VertexKFold",
    "affinity_scores",
    "aupr",
    "concordance_index",
    "even_folds",
    "hierarchy_scores",
    "interaction_concordance",
    "macro_auc",
    "macro_concordance_index",
    "margin_scores",
    "mean_log_loss",
    "micro_auc",
    "n_two_thirds",
    "parent_accuracy",
    "parent_decision",
    "precision",
    "ranking_areas",
    "rm2",
    "roc_auc",
    "settings",
    "taxo_decision",
    "taxo_loss",
    "two_thirds",
]
