from .additive_baseline import additive_scores as additive_scores
from .class_scores import (
    hierarchy_scores as hierarchy_scores,
    mean_log_loss as mean_log_loss,
    parent_accuracy as parent_accuracy,
    parent_decision as parent_decision,
    precision as precision,
    taxo_decision as taxo_decision,
    taxo_loss as taxo_loss,
)
from .metrics import (
    AFFINITY_SCORES as AFFINITY_SCORES,
    affinity_scores as affinity_scores,
    aupr as aupr,
    macro_auc as macro_auc,
    mean_of_models as mean_of_models,
    micro_auc as micro_auc,
    ranking_areas as ranking_areas,
    rm2 as rm2,
    roc_auc as roc_auc,
)
from .ranking import (
    concordance_index as concordance_index,
    interaction_concordance as interaction_concordance,
    macro_concordance_index as macro_concordance_index,
)
from .similarity_split import (
    SimilarityKFold as SimilarityKFold,
    SimilarityLeak as SimilarityLeak,
)
from .splits import (
    SETTINGS as SETTINGS,
    SettingKFold as SettingKFold,
    VertexDisjointKFold as VertexDisjointKFold,
    VertexKFold as VertexKFold,
    even_folds as even_folds,
    n_two_thirds as n_two_thirds,
    shuffle_split as shuffle_split,
    two_thirds as two_thirds,
)
