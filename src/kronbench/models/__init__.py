"""Floor 2: scikit-learn estimators, one file each."""

from kronbench.models.kron_newton import KronNewton
from kronbench.models.kron_ridge import KronRidge, RidgePath
from kronbench.models.kron_svm import KronSVM

__all__ = ["KronNewton", "KronRidge", "KronSVM", "RidgePath"]
