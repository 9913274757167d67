import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from kronbench import InputError
from kronbench.linalg import KernelColumns, gram
from kronbench.linalg.gram_matrix import squared_distances


@pytest.fixture(params=[np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def as_features(request):
    return request.param


@pytest.mark.parametrize("n_features", [1, 16, 40])  # differences up to 16, inner products above
def test_gaussian_equals_scikit_learn(rng, as_features, n_features):
    X, Y = rng.standard_normal((7, n_features)), rng.standard_normal((5, n_features))
    K = gram(as_features(X), as_features(Y), kernel="gaussian", gamma=0.03)
    np.testing.assert_allclose(K, rbf_kernel(X, Y, gamma=0.03), rtol=1e-12)
    square = gram(as_features(X), kernel="gaussian", gamma=0.03)
    np.testing.assert_allclose(square, rbf_kernel(X, gamma=0.03), rtol=1e-12)
    np.testing.assert_allclose(gram(X, as_features(Y)), X @ Y.T, atol=1e-12)


@pytest.mark.parametrize("n_features", [3, 17, 40])
@pytest.mark.parametrize("columns", [slice(None), slice(0, 1)], ids=["all", "one"])
@pytest.mark.parametrize("offset", [1e3, -1e6, 1e9])
def test_a_common_offset_costs_no_digits(rng, as_features, n_features, columns, offset):
    X, Y = (rng.integers(-9, 9, (n, n_features)) / 8 for n in (7, 5))  # so that sums are exact
    D, square = (((X[:, None] - Z) ** 2).sum(axis=2) for Z in (Y, X))
    kernel = {"kernel": "gaussian", "gamma": 1 / n_features}
    X[:, columns] += offset
    Y[:, columns] += offset
    X, Y = as_features(X), as_features(Y)
    before = X.copy()
    np.testing.assert_allclose(squared_distances(X, Y), D, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gram(X, Y, **kernel), np.exp(-D / n_features), atol=1e-10)
    K = np.exp(-square / n_features)
    np.testing.assert_allclose(gram(X, **kernel), K, atol=1e-10)
    lazy = KernelColumns(X, **kernel)
    np.testing.assert_allclose(lazy.column(3), K[:, 3], atol=1e-10)
    assert abs(X - before).sum() == 0


def test_rows_about_the_origin_keep_their_bits(rng, as_features):
    for X in (rng.standard_normal((9, 40)) + 20, rng.random((9, 40)) < 0.5, np.zeros((9, 40))):
        X = as_features(X.astype(float))
        theirs = euclidean_distances(X, squared=True)
        np.testing.assert_array_equal(squared_distances(X), theirs)
        np.testing.assert_array_equal(gram(X, kernel="gaussian", gamma=0.1), np.exp(-0.1 * theirs))
    bits = as_features(rng.random((9, 40)) < 0.9)  # whose squares are no sums of bits
    np.testing.assert_array_equal(squared_distances(bits), euclidean_distances(bits, squared=True))


@pytest.mark.parametrize("dtype", [bool, np.uint8, float])
def test_tanimoto_of_bits_is_shared_over_all_of_them(rng, as_features, dtype):
    X, Y = rng.random((9, 30)) < 0.3, rng.random((7, 30)) < 0.3
    X[0] = Y[0] = False
    both = (X[:, None] & Y).sum(axis=2)
    either = (X[:, None] | Y).sum(axis=2)
    expected = np.where(either == 0, 1, both / np.maximum(either, 1))
    found = gram(as_features(X.astype(dtype)), as_features(Y.astype(dtype)), kernel="tanimoto")
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_tanimoto_of_counts_is_its_definition_and_semidefinite(rng, as_features):
    X = rng.poisson(1.0, (40, 12)).astype(np.uint8) * 60  # products beyond a byte
    exact = X.astype(float)
    common = exact @ exact.T
    square = np.diag(common)
    K = gram(as_features(X), kernel="tanimoto")
    np.testing.assert_allclose(K, common / (square[:, None] + square - common), rtol=1e-12)
    np.testing.assert_array_equal(K.diagonal(), 1)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    columns = KernelColumns(as_features(X), "tanimoto")
    np.testing.assert_array_equal(columns.diagonal(), 1)
    np.testing.assert_allclose(columns.column(3), K[:, 3], rtol=1e-14)


def test_gaussian_holds_no_subnormal_numbers():
    X = np.linspace(0, 40, 2001)[:, None]
    K = gram(X, kernel="gaussian", gamma=1.0)
    tiny = np.finfo(np.float64).tiny
    with np.errstate(under="ignore"):
        exact = np.exp(-((X - X.T) ** 2))
    assert ((exact > 0) & (exact < tiny)).any()  # there would be some
    assert not ((K > 0) & (K < tiny)).any()
    np.testing.assert_allclose(K, exact, rtol=1e-12, atol=tiny)


def test_precomputed_is_returned_as_given(rng):
    K = rng.standard_normal((3, 5))
    assert gram(K, kernel="precomputed") is K
    assert gram(K, np.eye(5), kernel="precomputed") is K
    np.testing.assert_array_equal(gram(sparse.csr_array(K), kernel="precomputed"), K)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.ones(3),), {}, "X has 1 dimension"),
        ((np.array([["a"]]),), {}, "X has dtype"),
        ((np.ones((2, 3)), np.ones((2, 4))), {}, "X has 3 features and Y has 4"),
        ((np.ones((2, 3)),), {"kernel": "rbf"}, "kernel is 'rbf'"),
        ((np.ones((2, 3)),), {"kernel": "gaussian"}, "gamma is None"),
        ((np.ones((2, 3)),), {"kernel": "gaussian", "gamma": -1.0}, "gamma is -1.0"),
        ((np.ones((2, 3)), np.ones((4, 4))), {"kernel": "precomputed"}, "3 columns for 4"),
        ((np.ones((2, 3)),), {"kernel": lambda X, Y: X}, "returned shape (2, 3)"),
    ],
)
def test_bad_input_is_named(arguments, options, message):
    with pytest.raises(InputError) as caught:
        gram(*arguments, **options)
    assert message in str(caught.value)
