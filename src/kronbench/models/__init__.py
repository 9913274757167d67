"""Floor 3: scikit-learn estimators, one file each, imported when they are asked for."""

from typing import TYPE_CHECKING

from kronbench.modules import on_demand

if TYPE_CHECKING:
    from kronbench.models.canonical_correspondence import CanonicalCorrespondence
    from kronbench.models.complete_kron_ridge import CompleteKronRidge
    from kronbench.models.csi_lssvm import CSILSSVM
    from kronbench.models.hierarchical_newton import HierarchicalNewtonClassifier, sharing_pattern
    from kronbench.models.independent_ridge import IndependentRidge
    from kronbench.models.kron_newton import KronNewton
    from kronbench.models.kron_ridge import KronRidge, RidgePath
    from kronbench.models.kron_svm import KronSVM
    from kronbench.models.lssvm import LSSVM
    from kronbench.models.one_against_rest import OneAgainstRest
    from kronbench.models.pair_knn import PairKNN
    from kronbench.models.pair_libsvm import PairLibSVM
    from kronbench.models.pair_sgd import PairSGD
    from kronbench.models.pair_sklearn_knn import PairSklearnKNN
    from kronbench.models.submatrix_leave_one_out import kron_by_submatrices
    from kronbench.models.task_ridge import TaskRidge
    from kronbench.models.top_down import TopDownClassifier
    from kronbench.models.two_step_ridge import TwoStepRidge
    from kronbench.models.zero_shot import kron_zero_shot, two_step_zero_shot

__all__ = [
    "CSILSSVM",
    "LSSVM",
    "CanonicalCorrespondence",
    "CompleteKronRidge",
    "HierarchicalNewtonClassifier",
    "IndependentRidge",
    "KronNewton",
    "KronRidge",
    "KronSVM",
    "OneAgainstRest",
    "PairKNN",
    "PairLibSVM",
    "PairSGD",
    "PairSklearnKNN",
    "RidgePath",
    "TaskRidge",
    "TopDownClassifier",
    "TwoStepRidge",
    "kron_by_submatrices",
    "kron_zero_shot",
    "sharing_pattern",
    "two_step_zero_shot",
]

__getattr__, __dir__ = on_demand(__name__)
