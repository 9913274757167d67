"""Floor 2: scikit-learn estimators, one file each."""

from kronbench.models.complete_kron_ridge import CompleteKronRidge
from kronbench.models.csi_lssvm import CSILSSVM
from kronbench.models.hierarchical_newton import HierarchicalNewtonClassifier
from kronbench.models.independent_ridge import IndependentRidge
from kronbench.models.kron_newton import KronNewton
from kronbench.models.kron_ridge import KronRidge, RidgePath
from kronbench.models.kron_svm import KronSVM
from kronbench.models.one_against_rest import OneAgainstRest
from kronbench.models.pair_knn import PairKNN
from kronbench.models.pair_libsvm import PairLibSVM
from kronbench.models.pair_sgd import PairSGD
from kronbench.models.two_step_ridge import TwoStepRidge

__all__ = [
    "CSILSSVM",
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
    "RidgePath",
    "TwoStepRidge",
]
