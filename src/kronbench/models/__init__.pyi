from .canonical_correspondence import CanonicalCorrespondence as CanonicalCorrespondence
from .complete_kron_ridge import CompleteKronRidge as CompleteKronRidge
from .csi_lssvm import CSILSSVM as CSILSSVM
from .hierarchical_newton import (
    HierarchicalNewtonClassifier as HierarchicalNewtonClassifier,
)
from .hierarchical_newton_cv import HierarchicalNewtonCV as HierarchicalNewtonCV
from .independent_ridge import IndependentRidge as IndependentRidge
from .kmer_spectrum import KmerSpectrum as KmerSpectrum
from .kron_newton import KronNewton as KronNewton
from .kron_ridge import KronRidge as KronRidge
from .kron_ridge_cv import KronRidgeCV as KronRidgeCV
from .kron_svm import KronSVM as KronSVM
from .landmarks import Landmarks as Landmarks
from .morgan_fingerprints import MorganFingerprints as MorganFingerprints
from .pair_knn import PairKNN as PairKNN, PairSklearnKNN as PairSklearnKNN
from .pair_libsvm import PairLibSVM as PairLibSVM
from .pair_sgd import PairSGD as PairSGD
from .two_step_ridge import TwoStepRidge as TwoStepRidge
from .vertex_scaler import VertexScaler as VertexScaler
