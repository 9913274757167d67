"""Estimators of pairs and of classes on columns as people bring them: right, or a warning.

Each is fitted where one column of one side, or of both, is scaled by 1e-6 to 1e8, in both
precisions and with four weights, against a reference that knows nothing of its arithmetic.
"""

import warnings
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kronbench import PairData
from kronbench.models import (
    HierarchicalNewtonClassifier,
    PairKNN,
    PairLibSVM,
    PairSGD,
    PairSklearnKNN,
)
from tests.class_tree.test_tree import path_matrix
from tests.models.hierarchical_problems import PARENTS, clouds

SCALES = 10.0 ** np.arange(-6, 9, 2)
PRECISIONS = ("float32", "float64")
RIGHT = 1e-2


def verdict(fit, expected, allowed=RIGHT):
    """ "right", "warned" or "wrong" of the predictions of ``fit()`` for all that is asked."""
    with warnings.catch_warnings(record=True, action="always") as said, np.errstate(all="ignore"):
        found = fit()
    error = np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300)
    told = any(issubclass(one.category, ConvergenceWarning) for one in said)
    return "right" if error <= allowed else "warned" if told else "wrong"


def pairs(scale, precision, sides, offset=0.0):
    """Pairs of 14 x 11 vertices, the labels of the first 110, and the features of all."""
    rng = np.random.default_rng(3)
    m, q = 14, 11
    rows, cols = rng.standard_normal((m, 3)), rng.standard_normal((q, 2))
    i, j = np.divmod(rng.permutation(m * q), q)
    y = np.where(
        rows[i, 0] * cols[j, 0] + rows[i, 0] + 0.5 * rng.standard_normal(m * q) > 0, 1, -1
    )
    rows[:, 0] *= scale
    if sides == "both":
        cols[:, 0] *= scale
    X = PairData((rows + offset).astype(precision), (cols + offset).astype(precision), i, j)
    features = np.hstack([X.row_features[i], X.col_features[j]]).astype(np.longdouble)
    return X, y[:110], features


def squared_distances(features, others):
    """By differences in more than double precision."""
    return ((features[:, None] - others[None]) ** 2).sum(axis=2)


CASES = list(product(SCALES, PRECISIONS, ("row", "both")))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(
    "model",
    [PairKNN(), PairSklearnKNN(), PairSklearnKNN(algorithm="brute")],
    ids=["own", "tree", "brute"],
)
def test_neighbours_are_those_of_exact_distances(model, offset):
    counts, train, numbers = Counter(), np.arange(110), [1, 3, 5, 20]
    for scale, precision, sides in CASES:
        X, y, features = pairs(scale, precision, sides, offset)
        distances = squared_distances(features[110:], features[:110])
        order = np.argsort(distances, axis=1, kind="stable")
        expected = np.stack([y[order[:, :k]].mean(axis=1) for k in numbers], axis=1)
        # Where the next pair is as near, but for rounding, either will do
        ordered = np.take_along_axis(distances, order, axis=1)
        clear = np.stack(
            [ordered[:, k] > ordered[:, k - 1] * (1 + 1e-12) for k in numbers], axis=1
        )

        def fit(X=X, y=y, clear=clear):
            return model.fit(X[train], y).decision_path(X[np.arange(110, 154)], numbers)[clear]

        counts[verdict(fit, expected[clear], 1e-9)] += 1
    assert not counts["wrong"], counts
    assert counts["right"] >= (20 if model.get_params().get("algorithm") == "brute" else 32)


@pytest.mark.parametrize("precompute", [False, True])
def test_support_vectors_are_those_of_exact_kernel_values(precompute):
    counts = Counter()
    with threadpool_limits(1, user_api="openmp"):
        for (scale, precision, sides), offset in product(CASES[::3], (0.0, 1e6)):
            X, y, features = pairs(scale, precision, sides, offset)
            D = squared_distances(features, features).astype(float)
            gamma = 1 / np.median(D)
            K = np.exp(-gamma * D)
            for reg in (1e-3, 1e-1, 1.0, 100.0):
                machine = SVC(C=1 / reg, kernel="precomputed", tol=1e-6).fit(K[:110, :110], y)
                expected = machine.decision_function(K[:, :110])
                model = PairLibSVM(reg=reg, gamma=gamma, precompute=precompute, tol=1e-5)

                def fit(X=X, y=y, model=model):
                    return model.fit(X[np.arange(110)], y).decision_function(X)

                counts[offset > 0, verdict(fit, expected)] += 1
    assert not counts[False, "wrong"] + counts[False, "warned"] + counts[True, "wrong"], counts
    assert not (precompute and counts[True, "warned"])


def test_far_features_are_told_of_before_libsvm_forms_distances():
    X, y, _ = pairs(1.0, "float64", "row", offset=1e8)
    with pytest.warns(ConvergenceWarning, match="squared distances are rounded by .*precompute"):
        PairLibSVM(gamma=0.1).fit(X[np.arange(110)], y)
    with pytest.warns(ConvergenceWarning, match="squared distances are rounded by .*use PairKNN"):
        PairSklearnKNN(algorithm="brute").fit(X[np.arange(110)], y)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_descent_does_not_depend_on_the_scale_of_a_column(loss, form):
    """It claims no optimum: the reference makes the same steps on columns of one size."""
    counts, theirs = Counter(), {"hinge": "hinge", "logistic": "log_loss"}[loss]
    for scale, precision, sides in CASES:
        X, y, _ = pairs(scale, precision, sides)
        vertices = [side.astype(np.longdouble) for side in (X.row_features, X.col_features)]
        sides_of_all = zip(vertices, (X.rows, X.cols), strict=True)
        Z = np.hstack([((v - v.mean(axis=0)) / v.std(axis=0))[at] for v, at in sides_of_all])
        Z = Z.astype(float)
        for reg in (0.1, 1.0, 10.0, 100.0):
            steps = {"alpha": reg / 110, "max_iter": 5, "tol": None, "random_state": 3}
            expected = SGDClassifier(loss=theirs, **steps).fit(Z[:110], y).decision_function(Z)
            model = PairSGD(loss=loss, form=form, reg=reg, n_updates=550, random_state=3)

            def fit(X=X, y=y, model=model):
                return model.fit(X[np.arange(110)], y).decision_function(X)

            counts[verdict(fit, expected)] += 1
    assert counts == {"right": 4 * len(CASES)}


def exact_probabilities(X, y, B, variance, bias):
    """By Newton steps on weights of columns of one size, with the priors of their scales."""
    scale = np.sqrt((X**2).mean(axis=0))
    (n, d), (C, P) = X.shape, B.shape
    precision = np.append(np.tile(1 / (variance * scale**2), P), np.full(C, 1 / bias))
    nodes = np.einsum("cp,nd->ncpd", B, X / scale).reshape(n, C, P * d)
    design = np.concatenate([nodes, np.broadcast_to(np.eye(C), (n, C, C))], axis=2)

    def objective(w):
        U = design @ w
        return (logsumexp(U, axis=1) - U[np.arange(n), y]).sum() + 0.5 * precision @ w**2

    w = np.zeros(len(precision))
    for _ in range(100):
        pi = softmax(design @ w, axis=1)
        gradient = np.einsum("nc,nck->k", pi - np.eye(C)[y], design) + precision * w
        means = np.einsum("nc,nck->nk", pi, design)
        weighted = (pi[..., None] * design).reshape(n * C, -1)
        hessian = weighted.T @ design.reshape(n * C, -1) - means.T @ means + np.diag(precision)
        unit = 1 / np.sqrt(hessian.diagonal())
        step = -unit * np.linalg.solve(unit[:, None] * hessian * unit, unit * gradient)
        while objective(w + step) > objective(w) and np.abs(step).max() > 1e-12:
            step = step / 2
        w = w + step
        if -gradient @ step < 1e-12:
            break
    return softmax(design @ w, axis=1)


@pytest.mark.parametrize("parents", [None, PARENTS], ids=["flat", "tree"])
def test_class_probabilities_on_raw_columns(parents):
    counts = Counter()
    B = np.eye(4) if parents is None else path_matrix(parents)
    points, y = clouds(n=40, d=3, n_classes=len(B))
    for scale, variance in product(SCALES[::2], (1e-6, 1e-2, 1.0, 100.0)):
        X = points * [scale, 1, 1]
        expected = exact_probabilities(X, y, B, variance, 1.0)
        options = {"tree": parents, "variance": variance}
        for solver, precision in product(("cg", "pcg", "printed"), PRECISIONS):
            kinds = {"linear": sparse.csr_array(X), "precomputed": X @ X.T}
            for kernel, rows in list(kinds.items())[: 1 + (solver == "cg")]:
                model = HierarchicalNewtonClassifier(
                    **options, solver=solver, kernel=kernel, dtype=precision
                )
                verdict_of = verdict(
                    lambda m=model, r=rows: m.fit(r, y).predict_proba(r), expected
                )
                counts[verdict_of] += 1
            if precision == "float64":
                model = HierarchicalNewtonClassifier(**options, solver=solver)
                counts[verdict(lambda m=model, X=X: m.fit(X, y).predict_proba(X), expected)] += 1
    assert not counts["wrong"], counts
    assert counts["right"] > counts["warned"], counts
