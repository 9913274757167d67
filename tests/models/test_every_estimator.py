"""What holds for every public estimator, of types of numbers and of ranges of parameters."""

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks
from sklearn.utils._param_validation import Interval, make_constraint
from threadpoolctl import threadpool_limits

from kronbench import InputError, PairData, models
from kronbench.evaluation import VertexDisjointKFold
from kronbench.models import HierarchicalNewtonClassifier
from kronbench.models._label_matrix_model import LabelMatrixModel
from kronbench.models._parameters import CheckedParameters

# Each kind of number, with the narrowest, which overflow first, and the widest
REALS = "bool int8 uint8 int32 int64 uint64 float16".split()
SPARSE_REALS = "bool int8 uint8 int64".split()
LABELS = np.random.default_rng(5).integers(2, size=289)


def of_pairs(as_given):
    """All pairs of 17 rows and columns."""
    rng = np.random.default_rng(1)
    row_features, col_features = (as_given(rng.integers(100, size=(17, d))) for d in (4, 6))
    return PairData.complete(row_features, col_features)


def of_rows(as_given):
    """Thirty rows, in classes 0, 1 and 2."""
    X = np.random.default_rng(2).integers(100, size=(30, 5))
    X[:, 0] = 1 + np.arange(30) % 3
    return as_given(X)


def of_counts(as_given):
    """Thirty rows by whose bits alone the classes 0, 1 and 2 differ."""
    X = of_rows(np.asarray)
    X[:, 1] *= np.arange(30) % 3 > 0
    return as_given(X)


def classes_of(X):
    return LABELS if isinstance(X, PairData) else np.arange(X.shape[0]) % 3


def numbers_of(X):
    y = classes_of(X)
    return y + np.sin(np.arange(len(y)))


def predicted(model, X):
    return model.predict(X)


def scored(model, X):
    return model.decision_function(X)


def shown(model, X):
    found = model.transform(X)
    if isinstance(found, PairData):
        found = np.append(dense(found.row_features), dense(found.col_features))
    return found


def dense(features):
    return features.toarray() if sparse.issparse(features) else features


def product(X, Y):
    return dense(X @ Y.T)


def flat(**options):
    return HierarchicalNewtonClassifier(max_iter=5, **options)


# an estimator, its input, its labels and what is compared
EXAMPLES = [
    (models.CSILSSVM(gamma=1e-3), of_rows, classes_of, scored),
    (models.CSILSSVM(kernel="linear", max_rank=4), of_rows, classes_of, scored),
    (models.CanonicalCorrespondence(1, random_state=0), of_counts, classes_of, shown),
    (models.CompleteKronRidge(), of_pairs, numbers_of, predicted),
    (models.CompleteKronRidge(row_kernel=product), of_pairs, numbers_of, predicted),
    (flat(), of_rows, classes_of, models.HierarchicalNewtonClassifier.predict_log_proba),
    (
        models.HierarchicalNewtonCV(flat(variance=1e-3), cv=2, max_iter=2, random_state=0),
        of_rows, classes_of, models.HierarchicalNewtonCV.predict_log_proba,
    ),
    (models.IndependentRidge(), of_pairs, numbers_of, predicted),
    (models.KronNewton(max_iter=3), of_pairs, classes_of, scored),
    (models.KronRidge(max_iter=5), of_pairs, numbers_of, predicted),
    (models.KronRidge(max_iter=5, form="primal"), of_pairs, numbers_of, predicted),
    (models.KronRidge(max_iter=5, pairwise="cartesian"), of_pairs, numbers_of, predicted),
    (models.KronRidge(max_iter=2, row_kernel=product), of_pairs, numbers_of, predicted),
    (models.KronRidgeCV(random_state=0, cv=2, regs=(1.0,)), of_pairs, numbers_of, predicted),
    (models.KronSVM(max_iter=3), of_pairs, classes_of, scored),
    (models.Landmarks(n_components=4, random_state=0), of_rows, numbers_of, shown),
    (models.PairKNN(n_neighbors=3), of_pairs, classes_of, scored),
    (models.PairLibSVM(gamma=1e-3), of_pairs, classes_of, scored),
    (models.PairLibSVM(gamma=1e-3, precompute=True), of_pairs, classes_of, scored),
    (models.PairSGD(n_updates=200, random_state=0), of_pairs, classes_of, scored),
    (models.PairSGD(n_updates=200, random_state=0, form="dual"), of_pairs, classes_of, scored),
    (models.PairSklearnKNN(n_neighbors=3), of_pairs, classes_of, scored),
    (models.TwoStepRidge(), of_pairs, numbers_of, predicted),
    (models.TwoStepRidge(row_kernel="tanimoto"), of_pairs, numbers_of, predicted),
    (models.VertexScaler(), of_pairs, numbers_of, shown),
]  # fmt: skip
# transformers of texts, to which the tests of numbers do not apply
OF_TEXTS = [models.KmerSpectrum(), models.MorganFingerprints()]
CLASSES = {
    found
    for name in models.__all__
    if inspect.isclass(found := getattr(models, name)) and issubclass(found, BaseEstimator)
}
EXAMPLE_OF = {type(e): e for e in [*(example[0] for example in EXAMPLES), *OF_TEXTS]}
WITHOUT_DATA = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_set_params",
    "check_valid_tag_types",
]
every = pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{k}-{type(e[0]).__name__}" for k, e in enumerate(EXAMPLES)]
)


def test_every_public_estimator_has_an_example():
    assert {*EXAMPLE_OF} == CLASSES


def outcome(example, as_given):
    estimator, make, labels, show = example
    X = make(as_given)
    with warnings.catch_warnings(action="ignore"):  # of fits that are cut short
        return dense(show(clone(estimator).fit(X, labels(X)), X))


@every
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_features_of_any_real_type_are_their_float64_copy(example, form):
    as_numbers = outcome(example, lambda X: form(X.astype(np.float64)))
    as_bits = outcome(example, lambda X: form(X.astype(bool).astype(np.float64)))
    for name in REALS if form is np.asarray else SPARSE_REALS:
        found = outcome(example, lambda X, name=name: form(X.astype(name)))
        expected = as_bits if name == "bool" else as_numbers
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert found.dtype == expected.dtype


def misfits(constraints):
    """Values that none of a parameter's constraints takes: text, NaN, fractions, beyond an end."""
    constraints = [make_constraint(given) for given in constraints]
    values = ["text", np.nan, np.array(np.nan), 2.5, 1e400, object(), [[], [1]], None, -1]
    values += [np.arange(900.0).reshape(30, 30)]  # of which the sentence shows some
    for interval in constraints:
        if isinstance(interval, Interval):
            for end, step in ((interval.left, -1), (interval.right, 1)):
                values += (
                    [] if end is None else [end, end + step, end + 0.5, np.float32(end + step)]
                )
    return [v for v in values if not any(c.is_satisfied_by(v) for c in constraints)]


CHECKED = [
    (EXAMPLE_OF[cls], name)
    for cls in sorted(CLASSES, key=lambda cls: cls.__name__)
    if issubclass(cls, CheckedParameters)
    for name in cls._get_param_names()
    if name in cls._parameter_constraints
]


@every
def test_what_is_not_fitted_says_so(example):
    estimator, make = example[:2]
    names = ("predict", "decision_function", "predict_proba", "transform")
    methods = [name for name in names if hasattr(estimator, name)]
    assert methods
    for name in methods:
        with pytest.raises(NotFittedError):
            getattr(clone(estimator), name)(make(np.float64))


@pytest.mark.parametrize("check", WITHOUT_DATA)
@pytest.mark.parametrize("cls", sorted(CLASSES, key=str), ids=lambda cls: cls.__name__)
def test_scikit_learn_checks_that_need_no_data(cls, check):
    getattr(estimator_checks, check)(cls.__name__, clone(EXAMPLE_OF[cls]))


@every
def test_a_fit_leaves_its_input_forgets_an_earlier_one_and_can_be_copied(example):
    estimator, make, labels, show = example
    X = make(np.float64)
    y, before = labels(X), pickle.dumps(X)
    with warnings.catch_warnings(action="ignore"):
        model = clone(estimator)
        other = X[::-1] if isinstance(X, PairData) else X[::-1].copy()
        model.fit(other, labels(X))
        assert model.fit(X, y) is model
        expected = dense(show(clone(estimator).fit(X, y), X))
    assert pickle.dumps(X) == before
    np.testing.assert_equal(repr(model), repr(estimator))
    np.testing.assert_array_equal(dense(show(model, X)), expected)
    # A kernel that knows a vertex knows it by the values of its features.
    again, same = pickle.loads(pickle.dumps((model, X)))
    np.testing.assert_allclose(dense(show(again, same)), expected, atol=1e-10)


@every
def test_sparse_features_are_dense_ones(example):
    if isinstance(example[0], models.VertexScaler):
        pytest.skip("does not centre them")
    of_sparse, of_dense = (outcome(example, form) for form in (sparse.csr_array, np.float64))
    np.testing.assert_allclose(of_sparse, of_dense, rtol=1e-6, atol=1e-6)


def of_labelled_pairs(example):
    estimator, make, labels, show = example
    X = make(np.float64)
    if not isinstance(X, PairData):
        pytest.skip("has no pairs")
    return clone(estimator), X, labels(X), show


@every
def test_what_is_no_labelled_pair_is_one_sentence(example):
    model, X, y, show = of_labelled_pairs(example)
    cases = [(np.zeros((4, 2)), y[:4], "X is a ndarray: give a PairData"), (X[:0], y[:0], "no pa")]
    if show is not shown:
        cases += [(X, y[:-1], r"y has shape \(288,\)"), (X, np.where(y > 0.5, np.nan, y), "NaN")]
        cases += [(X, y + 1j, "complex")]
    if is_classifier(model):
        dates = np.where(y > 0, "2020-01-01", "NaT").astype("datetime64[D]")
        cases += [(X, dates, "NaN"), (X, np.where(y > 0, 1.0, np.nan).astype(object), "NaN")]
    for pairs, labels, sentence in cases:
        with pytest.raises(InputError, match=sentence):
            model.fit(pairs, labels)


@every
def test_other_features_than_those_of_the_fit_are_refused(example):
    model, X, y, show = of_labelled_pairs(example)
    narrow = X.with_features(X.row_features[:, 1:], X.col_features)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y)
    with pytest.raises(InputError, match="row_features has 3 columns and the training set 4"):
        show(model, narrow)


@every
def test_a_search_over_folds_of_pairs_is_that_of_fits_by_hand(example):
    model, X, y, show = of_labelled_pairs(example)
    if show is shown or isinstance(model, LabelMatrixModel):
        pytest.skip("predicts nothing, or needs all pairs")
    name = next(n for n in ("n_neighbors", "reg", "max_iter") if hasattr(model, n))
    folds = VertexDisjointKFold(2, 2, random_state=0)
    with warnings.catch_warnings(action="ignore"), threadpool_limits(1, user_api="openmp"):
        search = GridSearchCV(model, {name: [2, 5]}, cv=folds, error_score="raise").fit(X, y)
        model.set_params(**search.best_params_)
        scores = [model.fit(X[i], y[i]).score(X[j], y[j]) for i, j in folds.split(X)]
        expected = model.fit(X, y).predict(X)
    assert search.best_score_ == pytest.approx(np.mean(scores))
    np.testing.assert_allclose(search.predict(X), expected)


def test_every_parameter_has_a_range():
    for cls in CLASSES:
        if issubclass(cls, CheckedParameters):
            # the precision of models in a product kernel has a sentence of its own
            assert set(cls._get_param_names()) - {"dtype"} <= set(cls._parameter_constraints), cls


@pytest.mark.parametrize(
    ("estimator", "name"), CHECKED, ids=[f"{type(e).__name__}-{n}" for e, n in CHECKED]
)
def test_a_parameter_out_of_range_is_one_sentence_before_any_work(estimator, name):
    values = misfits(estimator._parameter_constraints[name])
    assert len(values) > 2
    for value in values:
        with pytest.raises(InputError) as caught:
            clone(estimator).set_params(**{name: value}).fit(None, None)
        sentence = str(caught.value)
        start = f"The '{name}' parameter of {type(estimator).__name__} must be "
        assert sentence.startswith(start)
        # of a long value and long constraints the middle is left out
        assert re.fullmatch(r".* (Got|\.\.\.) .* instead\.", sentence)
        assert len(sentence) <= 400
