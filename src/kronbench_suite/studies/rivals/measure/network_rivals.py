"""Drug-target interactions from similarities: NRLMF (2016) and WNN-GIP (2013).

Both read a similarity matrix for each side, and a matrix of labels that is 1 for the interactions
among the training pairs. It is 0 for all other pairs, those to predict included, as in the papers'
experiments. A vertex is new if it has no interaction there, whatever its other labels.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import rbf_kernel

from kronbench.models import CompleteKronRidge
from kronbench.pairs import PairData

_CONVERGED = 1e-5  # relative change of the objective at which the factors are done


class NRLMF(BaseEstimator):
    """Neighbourhood regularized logistic matrix factorization.

    Liu, Wu, Miao, Zhao & Li, PLoS Comput. Biol. 12(2), e1004760, 2016: the probability of an
    interaction is that of the logit u_i' v_j, and the factors U (m, r) and V (q, r) minimize

        sum_ij (1 + (c - 1) y_ij) log(1 + exp(u_i' v_j)) - c y_ij u_i' v_j
        + 1/2 tr U'(reg I + alpha L) U + 1/2 tr V'(reg I + beta M) V

    with the Laplacians L = D - A and M of the graphs in which each vertex is joined with its
    ``n_neighbors`` most similar ones, by the mean of both directions. A new vertex has the mean of
    the factors of its ``n_neighbors`` most similar ones that are not new, weighted by similarity.
    O(m q r) a step.

    Parameters
    ----------
    rank : number of factors r
    reg : weight of squared factors, the paper's lambda_d = lambda_t
    alpha, beta : weights of the neighbourhoods of rows and columns
    importance : weight c of an interaction, where a training pair without one weighs 1
    others : weight of the pairs that are not for training: the paper's 1, or 0 where they are many
    n_neighbors : the paper's K1 = K2
    step : length theta of AdaGrad's steps
    max_iter : most steps of each side
    random_state : seed of the factors at the start
    """

    def __init__(
        self, rank=50, reg=0.5, alpha=0.1, beta=0.1, importance=5.0, others=1.0, n_neighbors=5,
        step=0.5, max_iter=100, random_state=None,
    ):  # fmt: skip
        self.rank = rank
        self.reg = reg
        self.alpha = alpha
        self.beta = beta
        self.importance = importance
        self.others = others
        self.n_neighbors = n_neighbors
        self.step = step
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: PairData, y: np.ndarray) -> NRLMF:
        """Descend by AdaGrad; the larger label of y (n,) is an interaction."""
        problem = self._problem(X, y)
        rng = np.random.default_rng(self.random_state)
        sizes = problem.positive.shape
        factors = [rng.normal(0, self.rank**-0.5, (size, self.rank)) for size in sizes]
        squares, last = [1e-300, 1e-300], problem.loss(*factors)
        for _ in range(self.max_iter):
            for side in (0, 1):
                slope = problem.gradient(side, *factors)
                squares[side] = squares[side] + slope**2
                factors[side] -= self.step * slope / np.sqrt(squares[side])
            loss = problem.loss(*factors)
            if abs(loss - last) < _CONVERGED * abs(last):
                break
            last = loss
        for side, similarity in enumerate(problem.similarities):
            known = problem.positive.any(axis=1 - side)
            weights = _nearest(similarity * known, self.n_neighbors)[~known]
            totals = weights.sum(axis=1, keepdims=True)
            factors[side][~known] = weights @ factors[side] / np.maximum(totals, 1e-300)
        self.row_factors_, self.col_factors_ = factors
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Logits (t,) of pairs of the same vertices."""
        return np.einsum("ij,ij->i", self.row_factors_[X.rows], self.col_factors_[X.cols])

    def _problem(self, X, y):
        positive = _interactions(X, y)
        weights = np.full(positive.shape, float(self.others))
        weights[X.rows, X.cols] = np.where(y == y.max(), self.importance, 1.0)
        return _Logistic(self, positive, weights, (X.row_features, X.col_features))


class _Logistic:
    """The objective of NRLMF and its gradients."""

    def __init__(self, model, positive, weights, kernels):
        self.positive, self.weights = positive, weights
        self.counts = weights * positive
        # similarities are not negative, so that the Laplacians are positive semidefinite
        self.similarities = [np.maximum(K - np.diag(np.diag(K)), 0) for K in kernels]
        self.penalties = []
        for S, weight in zip(self.similarities, (model.alpha, model.beta), strict=True):
            graph = _nearest(S, model.n_neighbors)
            graph = (graph + graph.T) / 2
            laplacian = np.diag(graph.sum(axis=0)) - graph
            self.penalties.append(model.reg * np.eye(len(S)) + weight * laplacian)

    def loss(self, U, V):
        logits = U @ V.T
        likelihood = self.weights * np.logaddexp(0, logits) - self.counts * logits
        products = zip(self.penalties, (U, V), strict=True)
        return likelihood.sum() + sum(np.sum(F * (P @ F)) for P, F in products) / 2

    def gradient(self, side, U, V):
        """That of U (side 0) or V (side 1)."""
        residual = self.weights * expit(U @ V.T) - self.counts
        factors = (U, V)[side]
        return (residual @ V, residual.T @ U)[side] + self.penalties[side] @ factors


class WNNGIP(BaseEstimator):
    """Kronecker ridge regression on similarities and interaction profiles, of neighbours if new.

    van Laarhoven & Marchiori, PLoS ONE 8(6), e66952, 2013. The profile of a vertex is its row, or
    column, of the matrix of interactions. A new one has the sum over k of decay^(k - 1) times the
    profile of the k-th most similar vertex that is not new. A kernel is alpha times the similarity
    plus 1 - alpha times exp(-||p - p'||^2 / mean ||p||^2) of the profiles p.

    Parameters
    ----------
    decay : the paper's T
    alpha : share of the similarity in each kernel
    reg : the paper's sigma
    """

    def __init__(self, decay=0.7, alpha=0.5, reg=1.0):
        self.decay = decay
        self.alpha = alpha
        self.reg = reg

    def fit(self, X: PairData, y: np.ndarray) -> WNNGIP:
        """Solve in closed form; the larger label of y (n,) is an interaction. O(m^3 + q^3)."""
        similarities, profiles = (X.row_features, X.col_features), _interactions(X, y)
        known = [profiles.any(axis=1 - side) for side in (0, 1)]
        for has, S in zip(known, similarities, strict=True):
            order = np.argsort(-S[~has][:, has], axis=1, kind="stable")
            weights = self.decay ** np.argsort(order, axis=1)
            profiles[~has] = weights @ profiles[has]
            profiles = profiles.T  # the columns' turn, and then the rows' again
        kernels = []
        for S, P in zip(similarities, (profiles, profiles.T), strict=True):
            gamma = 1 / np.mean(np.sum(P**2, axis=1))
            kernels.append(self.alpha * S + (1 - self.alpha) * rbf_kernel(P, gamma=gamma))
        ridge = CompleteKronRidge(
            reg=self.reg, row_kernel="precomputed", col_kernel="precomputed"
        ).fit_matrix(*kernels, profiles)
        self.kernels_, self.profiles_ = kernels, profiles
        self.scores_ = ridge.predict_matrix(*kernels)
        return self

    def predict(self, X: PairData) -> np.ndarray:
        """Scores (t,) of pairs of the same vertices."""
        return self.scores_[X.rows, X.cols]


def _interactions(X, y):
    """The matrix (m, q) of 1 for pairs with the larger label and 0 for all others."""
    matrix = np.zeros((X.n_rows, X.n_cols))
    matrix[X.rows, X.cols] = y == y.max()
    return matrix


def _nearest(S, k):
    """S with the k largest entries of each row alone."""
    nearest = np.argsort(-S, axis=1, kind="stable")[:, :k]
    kept = np.zeros_like(S)
    np.put_along_axis(kept, nearest, np.take_along_axis(S, nearest, axis=1), axis=1)
    return kept
