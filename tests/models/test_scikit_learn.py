"""scikit-learn's own checks of every public estimator.

Those of pairs declare that X is no array, for which scikit-learn leaves out all but one check.
Here they get the others too: a row of X is the pair of a row vertex and the one column vertex.
"""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from kronbench import PairData
from kronbench.models import CSILSSVM, HierarchicalNewtonClassifier
from tests.models.test_every_estimator import EXAMPLES, OF_TEXTS, of_pairs

KINDS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def of_model(name):
    """A method of the model, where it has it, for rows."""

    @available_if(lambda self: hasattr(self.model, name))
    def method(self, X, y=None):
        check_is_fitted(self)
        pairs = self._pairs(X)
        if name in ("predict", "decision_function"):
            # a vertex more, so that all are new ones in each prediction
            rows = sparse.vstack if sparse.issparse(pairs.row_features) else np.vstack
            row_features = rows([pairs.row_features, 2 * pairs.row_features[:1]])
            pairs = PairData(row_features, pairs.col_features, pairs.rows, pairs.cols)
        if name == "score":
            return self.model_.score(pairs, y)
        found = getattr(self.model_, name)(pairs)
        return found.row_features if name == "transform" else found

    return method


class PairsOfRows(BaseEstimator):
    """A model of pairs for rows, which are pairs with the one column vertex 1."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y=None, **weights):
        if self.__sklearn_tags__().target_tags.required:
            X, y = validate_data(self, X, y, **KINDS)
            self.model_ = clone(self.model).fit(as_pairs(X), y, **weights)
        else:
            self.model_ = clone(self.model).fit(self._pairs(X, reset=True))
        for name in ("classes_", "n_iter_"):
            if hasattr(self.model_, name):
                setattr(self, name, getattr(self.model_, name))
        return self

    def _pairs(self, X, reset=False):
        return as_pairs(validate_data(self, X, reset=reset, **KINDS))

    predict, decision_function = of_model("predict"), of_model("decision_function")
    transform, score = of_model("transform"), of_model("score")

    @available_if(lambda self: hasattr(self.model, "transform"))
    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)

    def __sklearn_tags__(self):
        tags = self.model.__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class WeightedPairsOfRows(PairsOfRows):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight)


def as_pairs(X):
    n = X.shape[0]
    return PairData(X, np.ones((1, 1)), np.arange(n), np.zeros(n, int))


def as_estimator(example):
    model, make = example[:2]
    if make is not of_pairs:
        return model
    weighted = has_fit_parameter(model, "sample_weight")
    return (WeightedPairsOfRows if weighted else PairsOfRows)(model)


FIRST = {type(example[0]): example for example in reversed(EXAMPLES)}
ESTIMATORS = [
    *(as_estimator(FIRST[cls]) for cls in sorted(FIRST, key=str)),
    *OF_TEXTS,
    CSILSSVM(task="regression"),
    CSILSSVM(decomposition="cholesky"),
    HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.5),
]
# The checks that cannot apply, by class, each with the reason
_STEPS = (
    "a step for each pair, whatever its weight, in random order: the optimum alone is the same"
)
_AREAS = "with two labels it ranks pairs: scikit-learn's roc_auc asks for a decision function"
NOT_APPLICABLE = {
    "KronRidge": {"check_regressors_no_decision_function": _AREAS},
    "PairSGD": {
        "check_sample_weight_equivalence_on_dense_data": _STEPS,
        "check_sample_weight_equivalence_on_sparse_data": _STEPS,
    },
}


def reasons(estimator):
    return NOT_APPLICABLE.get(type(getattr(estimator, "model", estimator)).__name__, {})


# strict: a named check that passes is a failure, as is another that fails
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=reasons, xfail_strict=True)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
