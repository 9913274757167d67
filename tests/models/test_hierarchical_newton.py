"""The mode against generic minimizers, certificates, both iterations, and unusual data."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import block_diag
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kronbench.class_tree import Tree, tree_preconditioner as tree_preconditioners
from kronbench.class_tree.covariance import DualCovariance, FeatureCovariance
from kronbench.class_tree.kernels import DenseFeatures, GaussianKernels, SparseFeatures
from kronbench.class_tree.posterior_mode import NewtonCG, run_alone
from kronbench.class_tree.softmax import SoftmaxLoss
from kronbench.class_tree.tree_preconditioner import tree_preconditioner
from kronbench.errors import InputError
from kronbench.linalg import gram
from kronbench.linalg.eigen import leading_vectors
from kronbench.models import HierarchicalNewtonClassifier, HierarchicalNewtonCV
from tests.class_tree.test_tree import path_matrix
from tests.exact_flat_mode import exact_flat_mode
from tests.models.hierarchical_problems import (
    PARENTS,
    UNEVEN,
    clouds,
    weight_space_mode,
)

TIGHT = {"tol": 1e-13, "max_inner": 1000}


def model(**options):
    return HierarchicalNewtonClassifier(**{**TIGHT, **options})


@pytest.mark.parametrize("parents", [None, PARENTS, UNEVEN], ids=["flat", "tree", "uneven"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_mode_is_that_of_the_weights_of_the_nodes(parents, seed):
    B = np.eye(5) if parents is None else path_matrix(parents)
    X, y = clouds(n_classes=len(B), seed=seed)
    variance = np.random.default_rng(seed).uniform(0.3, 3.0, B.shape[1])
    expected, value = weight_space_mode(X, y, B, variance, 0.5)
    options = {"tree": parents, "variance": variance, "bias_variance": 0.5}
    for rows in (X, sparse.csr_array(X)):
        fitted = model(**options).fit(rows, y)
        np.testing.assert_allclose(fitted.predict_proba(rows), expected, atol=1e-6)
        assert fitted.objective_path_[-1] == pytest.approx(value, rel=1e-9)
    fitted = model(kernel="precomputed", **options).fit(X @ X.T, y)
    np.testing.assert_allclose(fitted.predict_proba(X @ X.T), expected, atol=1e-6)


def test_gaussian_kernels_of_their_own_against_the_exact_solver():
    X, y = clouds(n=40)
    gamma, variance = np.array([0.1, 0.1, 0.4, 1.0, 2.0]), np.array([1.0, 5, 2, 3, 9])
    matrices = [
        v * gram(X, kernel="gaussian", gamma=g) for v, g in zip(variance, gamma, strict=True)
    ]
    alpha, expected, value = exact_flat_mode(matrices, y, 0.5)
    options = {"kernel": "gaussian", "gamma": gamma, "variance": variance, "bias_variance": 0.5}
    fitted = model(**options).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-6)
    np.testing.assert_allclose(fitted.dual_coef_, alpha, atol=1e-5)
    assert fitted.objective_path_[-1] == pytest.approx(value, rel=1e-10)
    single = model(**{**options, "tol": 1e-8}, dtype="float32").fit(X, y)
    np.testing.assert_allclose(single.predict_proba(X), expected, atol=1e-3)
    assert single.objective_path_[-1] == pytest.approx(value, rel=1e-6)


def test_sparse_features_in_single_precision(rng):
    X = sparse.random_array((120, 400), density=0.05, rng=rng, format="csr")
    y = rng.integers(0, 5, 120)
    options = {"tree": PARENTS, "variance": 5.0, "tol": 1e-7}
    double = HierarchicalNewtonClassifier(**options).fit(X, y)
    single = HierarchicalNewtonClassifier(**options, dtype="float32").fit(X, y)
    assert single.dual_coef_.dtype == np.float32
    assert single.objective_path_[-1] == pytest.approx(double.objective_path_[-1], rel=1e-6)
    np.testing.assert_allclose(single.predict_proba(X), double.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("space", [FeatureCovariance, DualCovariance])
@pytest.mark.parametrize("variance", [1e-3, 20.0])
def test_the_gap_bounds_the_excess_and_phi_falls(space, variance):
    X, y = clouds(n=50)
    covariance = space(DenseFeatures(X), Tree(PARENTS), np.full(7, variance), variance / 20)
    loss = SoftmaxLoss(y, 5)
    best = run_alone(NewtonCG(1e-13).mode(covariance, loss), covariance)
    assert best.converged
    assert best.n_iter >= 2
    assert (np.diff(best.path) < 0).all()
    excess = np.array(best.path) - best.value
    assert (excess <= np.array(best.gaps) * (1 + 1e-9) + 1e-9).all()
    if variance < 1:  # next to no curvature: the bound is sharp
        assert best.gaps[0] < 1.1 * excess[0]
    rows = best.probabilities - np.eye(5)[y]
    np.testing.assert_allclose(rows.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("parents", [None, PARENTS], ids=["flat", "tree"])
@pytest.mark.parametrize("variance", [1.0, 300.0])
def test_the_printed_iteration_comes_to_the_same_mode(parents, variance):
    X, y = clouds()
    y[0] = (y[0] + 1) % 5  # an outlier: tiny probabilities of its label on the way
    options = {"tree": parents, "variance": variance}
    ours = model(**options).fit(X, y)
    printed = HierarchicalNewtonClassifier(
        **options, solver="printed", max_iter=60, max_inner=30, tol=1e-12
    ).fit(X, y)
    np.testing.assert_allclose(printed.predict_proba(X), ours.predict_proba(X), atol=1e-4)
    assert (np.diff(printed.objective_path_) <= 1e-10).all()
    # k1 steps of k2 products, and one for the gap at the end
    few = HierarchicalNewtonClassifier(**options, solver="printed", max_iter=2, max_inner=4)
    with pytest.warns(ConvergenceWarning, match="after 2 Newton steps, not 1.0e-03"):
        few.fit(X, y)
    assert few.n_iter_ == 2
    assert few.n_products_ <= 2 * 4 + 1 + 2 * 4


def test_the_printed_iteration_passes_over_stored_kernels_at_large_variances():
    """Their images lie by columns, which steps in place had refused."""
    X, y = clouds()
    options = {"kernel": "tanimoto", "variance": 1e4}
    printed = HierarchicalNewtonClassifier(**options, solver="printed", max_inner=1000)
    proba = printed.fit(np.abs(X), y).predict_proba(np.abs(X))
    exact = model(**options).fit(np.abs(X), y).predict_proba(np.abs(X))
    np.testing.assert_allclose(proba, exact, atol=1e-4)


def test_rounding_certifies_nothing():
    """Values of 4e8 in single precision: the square of the residual comes out below zero."""
    X, y = clouds()
    K = (X + 1e4) @ (X + 1e4).T
    fitted = HierarchicalNewtonClassifier(kernel="precomputed", dtype="float32")
    with pytest.warns(ConvergenceWarning, match="the gap is"):
        fitted.fit(K, y)
    best = HierarchicalNewtonClassifier().fit(X + 1e4, y)
    excess = fitted.objective_path_[-1] - best.objective_path_[-1]
    assert not fitted.converged_
    assert fitted.gap_ > excess > 1


def test_a_shared_kernel_and_its_copies_round_alike():
    """The error is taken from the diagonal of the prior covariance, in whatever factors."""
    X, _ = clouds()
    kernels = [GaussianKernels(X, gamma, np.float32) for gamma in ([0.2], [0.2, 0.2])]
    variance, which = np.linspace(1, 3, 7), np.arange(7) % 2
    block = np.random.default_rng(0).standard_normal((60, 5))
    B = path_matrix(PARENTS)
    diagonal = np.kron(B @ np.diag(variance) @ B.T, kernels[0].matrices[0]).diagonal()
    squares = diagonal @ block.T.ravel() ** 2
    for of_nodes in kernels:
        covariance = DualCovariance(of_nodes, Tree(PARENTS), variance, 0.0, which)
        assert covariance.rounding(block) == pytest.approx(2.0**-23 * squares)
        largest = np.sqrt(2.0**-23 * diagonal.max() * covariance.rounding(block))
        assert covariance.score_rounding(block) >= largest * (1 - 1e-9)
        # and this is what single precision does
        exact = GaussianKernels(X, of_nodes.gamma)
        scores = DualCovariance(exact, Tree(PARENTS), variance, 0.0, which).image(block)
        error = np.abs(covariance.image(block) - scores).max()
        assert 1e-3 < error / covariance.score_rounding(block) < 1


def test_coefficients_that_cancel_in_predictions_are_told(monkeypatch):
    monkeypatch.setattr("kronbench.models.hierarchical_newton._LARGEST_SCORE_ROUNDING", 1e-8)
    X, y = clouds()
    single = HierarchicalNewtonClassifier(dtype="float32")
    with pytest.warns(ConvergenceWarning, match="rounding changes scores by about .*float64"):
        single.fit(sparse.csr_array(X), y)
    assert single.converged_
    with warnings.catch_warnings(action="error"):
        HierarchicalNewtonClassifier().fit(sparse.csr_array(X), y)


def random_problem(parents, n=30):
    """A tree, features, weights of the curvature and prior variances."""
    tree = Tree.flat(4) if parents is None else Tree(parents)
    X, _ = clouds(n=n, n_classes=tree.n_classes)
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(tree.n_classes), n)
    return tree, X, weights, rng.exponential(size=tree.n_nodes), rng


def shared_curvature(Z, weights):
    """f'G f = min over m of sum_c (f_c - m)' G_c (f_c - m), classes outermost."""
    shares = np.minimum(weights, 1 - weights)
    G = [Z.T @ (shares[:, c, None] * Z) for c in range(weights.shape[1])]
    return block_diag(*G) - np.vstack(G) @ np.linalg.inv(sum(G)) @ np.hstack(G)


@pytest.mark.parametrize("parents", [None, PARENTS, UNEVEN], ids=["flat", "tree", "uneven"])
def test_the_tree_preconditioner_is_exact_but_for_the_coupling_by_the_softmax(parents):
    tree, X, weights, variance, rng = random_problem(parents)
    C = tree.n_classes
    covariance = FeatureCovariance(DenseFeatures(X), tree, variance, 0.7)
    loss = SoftmaxLoss(np.zeros(30, int), C)
    apply = tree_preconditioner(covariance, loss).at(weights)
    Z = np.hstack([X, np.ones((30, 1))])
    d = Z.shape[1]
    B = path_matrix(tree.parents)
    T = np.kron(B @ np.diag(variance) @ B.T, np.diag([1.0] * (d - 1) + [0.0]))
    T += np.kron(np.eye(C), np.diag([0.0] * (d - 1) + [0.7]))
    r = rng.standard_normal((d, C))
    system = np.linalg.inv(T) + shared_curvature(Z, weights)
    expected = np.linalg.solve(system, r.T.ravel()).reshape(C, d).T
    z, image = apply(r, covariance.image(r))
    np.testing.assert_allclose(image, expected, atol=1e-8)
    np.testing.assert_allclose(covariance.image(z), image, atol=1e-8)


@pytest.mark.parametrize("parents", [None, PARENTS, UNEVEN], ids=["flat", "tree", "uneven"])
def test_the_coarse_preconditioner_is_exact_in_the_leading_eigenvectors(parents, monkeypatch):
    monkeypatch.setattr(tree_preconditioners, "_MOST_VECTORS", 3)
    tree, X, weights, variance, rng = random_problem(parents)
    n, C = len(X), tree.n_classes
    rows = rng.random(n) < 0.8
    covariance = DualCovariance(SparseFeatures(X), tree, variance, 0.7)
    preconditioner = tree_preconditioner(covariance, SoftmaxLoss(np.zeros(n, int), C, rows))
    N, M = preconditioner._basis, X @ X.T
    F = (M + 1) @ N
    assert N.shape == (n, 4)
    assert not N[~rows].any()
    np.testing.assert_allclose(N.T @ F, np.eye(4), atol=1e-8)
    B = path_matrix(tree.parents)
    K = np.kron(B @ np.diag(variance) @ B.T, M) + 0.7 * np.kron(np.eye(C), np.ones((n, n)))
    lift = np.kron(np.eye(C), N)
    G = lift @ shared_curvature(F[rows], weights[rows]) @ lift.T
    r = rng.standard_normal((n, C))
    expected = np.linalg.solve(np.eye(n * C) + G @ K, r.T.ravel()).reshape(C, n).T
    z, image = preconditioner.at(weights)(r, covariance.image(r))
    np.testing.assert_allclose(z, expected, atol=1e-8)
    np.testing.assert_allclose(image, covariance.image(z), atol=1e-8)
    largest = np.linalg.eigvalsh(M)[-3:].sum()
    Q = leading_vectors(SparseFeatures(X).product, n, 3, float)
    assert np.trace(Q.T @ M @ Q) > 0.99 * largest


def test_labels_may_be_given_in_another_order_of_the_leaves():
    X, y = clouds()
    names = np.array(["a", "b", "c", "d", "e"])
    proba = model(tree=PARENTS).fit(X, names[y]).predict_proba(X)
    other = model(tree=PARENTS, classes=names[::-1]).fit(X, names[::-1][y])
    np.testing.assert_allclose(other.predict_proba(X), proba, atol=1e-8)


def test_one_row_one_class_equal_rows_and_extreme_variances():
    X, y = clouds()
    one = model(tree=PARENTS).fit(X[:1], y[:1])
    assert one.predict(X[:1])[0] == y[0]
    single = model(tree=PARENTS).fit(X, np.full(60, 2))
    assert (single.predict(X) == 2).all()
    np.testing.assert_allclose(model().fit(X, np.full(60, 2)).predict_proba(X), 1)
    equal = model().fit(np.ones((6, 2)), np.array([0, 0, 0, 0, 1, 1]))
    proba = equal.predict_proba(np.ones((1, 2)))[0]
    assert 0.5 < proba[0] < 4 / 6 + 1e-9
    for kernel in ("linear", "gaussian"):
        flat = HierarchicalNewtonClassifier(kernel=kernel, variance=1e-6, bias_variance=1e-6)
        np.testing.assert_allclose(flat.fit(X, y).predict_proba(X), 0.2, atol=1e-2)
    certain = HierarchicalNewtonClassifier(
        kernel="gaussian", variance=1e6, max_iter=300, max_inner=1000
    ).fit(X, y)
    assert np.isfinite(certain.predict_proba(X)).all()
    assert (certain.predict(X) == y).all()
    empty = sparse.csr_array(np.where(np.arange(60)[:, None] < 5, 0, X))
    assert np.isfinite(model(tree=PARENTS).fit(empty, y).predict_proba(empty)).all()


def test_the_low_rank_kernel_with_every_point_is_the_exact_one():
    X, y = clouds(n=30)
    options = {"kernel": "gaussian", "gamma": 0.2, "variance": 4.0}
    exact = model(**options).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(
        model(**options, rank=30).fit(X, y).predict_proba(X), exact, atol=1e-6
    )
    few = model(**options, rank=4).fit(X, y).predict_proba(X)
    assert np.abs(few - exact).max() > 1e-3


def test_a_coupling_that_is_the_tree_gives_the_tree():
    X, y = clouds()
    variance = np.linspace(0.5, 3, 7)
    coupling = path_matrix(PARENTS) * np.sqrt(variance)
    expected = model(tree=PARENTS, variance=variance).fit(X, y).predict_proba(X)
    coupled = model(coupling=coupling).fit(X, y)
    np.testing.assert_allclose(coupled.predict_proba(X), expected, atol=1e-7)


def test_uncertain_targets_by_em():
    X, y = clouds(n=80)
    leaves = Tree(PARENTS).leaves
    known = model(tree=PARENTS).fit(X, y)
    certain = model(tree=PARENTS).fit_uncertain(X, leaves[y])
    np.testing.assert_allclose(certain.predict_proba(X), known.predict_proba(X), atol=1e-8)

    rng = np.random.default_rng(1)
    nodes = np.where(rng.random(80) < 0.5, PARENTS[leaves[y]], leaves[y])
    nodes[:2] = 0  # nothing is known
    uncertain = HierarchicalNewtonClassifier(tree=PARENTS, tol=1e-10)
    em = uncertain.fit_uncertain(X, nodes, tol=1e-9)
    path = em.objective_path_
    assert len(path) > 2
    assert (np.diff(path) <= 1e-7 * np.abs(path[0])).all()  # no iteration lowers the posterior
    # rows of which only the parent is known still help
    sure = nodes == leaves[y]
    without = model(tree=PARENTS).fit(X[sure], y[sure])

    def mean_log(fitted, X, y):
        return fitted.predict_log_proba(X)[np.arange(len(y)), y].mean()

    fresh, labels = clouds(n=600)
    assert mean_log(em, fresh, labels) > mean_log(without, fresh, labels)
    with pytest.raises(InputError, match="tree is None"):
        model().fit_uncertain(X, nodes)
    for options in ({"max_iter": 0}, {"max_iter": 2.5}, {"tol": np.nan}):
        with pytest.raises(
            InputError, match=f"'{next(iter(options))}' parameter of fit_uncertain"
        ):
            model(tree=PARENTS).fit_uncertain(X, nodes, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree": [-1, 0, 0]}, "the label .* which is not a class"),
        ({"tree": [-1, 0, 3, 2]}, "cycle"),
        ({"variance": [1, 1, 1, 1, -1]}, r"variance is .*: give positive"),
        ({"variance": np.ones(3)}, "one for each of the 5 nodes"),
        ({"kernel": "gaussian", "gamma": [1, 1, 1, 1, 0]}, "gamma is"),
        ({"solver": "pcg", "coupling": np.eye(5)}, "share one kernel"),
        ({"coupling": np.ones((3, 2))}, "3 rows for 5 classes"),
        ({"kernel": "precomputed"}, r"give \(n, n\)"),
        ({"tree": PARENTS, "classes": np.arange(4)}, "5 leaves for 4 classes"),
        ({"kernel": "gaussian", "gamma": [1, 2, 3, 4, 5], "rank": 3}, "takes one"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    X, y = clouds()
    with pytest.raises(InputError, match=message):
        HierarchicalNewtonClassifier(**options).fit(X, y)


def test_a_fit_that_was_cut_off_warns_and_says_how_far_it_is():
    X, y = clouds()
    cut = HierarchicalNewtonClassifier(tree=PARENTS, variance=50.0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="after 1 Newton steps"):
        cut.fit(X, y)
    with warnings.catch_warnings(action="error"):
        best = model(tree=PARENTS, variance=50.0).fit(X, y)
    excess = cut.objective_path_[-1] - best.objective_path_[-1]
    assert 0 < excess <= cut.gap_


def test_callback_stops_a_fit():
    X, y = clouds()
    seen = []
    fitted = HierarchicalNewtonClassifier(tree=PARENTS, variance=50.0)
    fitted.fit(X, y, callback=lambda mode: seen.append(mode.value) or len(seen) == 2)
    assert fitted.n_iter_ == 2
    np.testing.assert_allclose(seen, fitted.objective_path_[1:])
    assert fitted.stop_reason_ == "callback"
    assert not fitted.converged_


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "tanimoto"])
def test_a_kernel_function_is_the_named_kernel(kernel):
    X, y = clouds()

    def function(A, B):
        return gram(A, B, kernel=kernel, gamma=0.3)

    named = HierarchicalNewtonClassifier(kernel=kernel, gamma=0.3, tol=1e-12).fit(X, y)
    called = HierarchicalNewtonClassifier(kernel=function, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(called.predict_proba(X), named.predict_proba(X), atol=1e-6)


def test_a_fit_knows_nothing_of_an_earlier_one_and_leaves_the_parameters():
    X, y = clouds()
    fitted = HierarchicalNewtonClassifier(kernel="gaussian", gamma=0.3, max_inner=50).fit(X, y)
    fitted.set_params(kernel="linear").fit(X, y)
    assert set(vars(fitted)) == set(vars(clone(fitted).fit(X, y)))

    search, start = HierarchicalNewtonCV(fitted, cv=3, max_iter=3, random_state=0), np.eye(5)
    search.set_params(learn_coupling=True, estimator__coupling=start).fit(X, y)
    np.testing.assert_array_equal(search.estimator.coupling, start)
    assert (search.coupling_ != start).any()
    search.set_params(learn_coupling=False, estimator__coupling=None).fit(X, y)
    assert not hasattr(search, "coupling_")
