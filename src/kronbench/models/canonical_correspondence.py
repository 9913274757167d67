"""Document features that follow the classes: canonical correspondence analysis of word counts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from kronbench.errors import InputError
from kronbench.models._parameters import COUNT, COUNT_FROM_0, estimator, parameter, positional
from kronbench.models._row_classifier import OfRows, Rows

_BLOCK_ROWS = 4096  # rows of a matrix that are centred at a time
_SINGULAR_ROUNDING = 1e-6  # rounding of singular values of at most one, in single precision
_OVERSAMPLING = 10  # directions beyond the components, which the randomized decomposition needs
_KINDS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


@estimator
class CanonicalCorrespondence(TransformerMixin, OfRows):
    """Few components of word counts in which the classes of documents differ most.

    Canonical correspondence analysis (ter Braak 1986) of documents by words, with the indicators
    of the classes as explaining variables, is the correspondence analysis of the table of classes
    by words: the axes are singular vectors of D_r^-1/2 (N / n - r c') D_c^-1/2, where N sums the
    counts of each class, n is the total, and r and c are its margins. A document lies at the mean
    of its words' positions. Linear in the documents, and O(nnz(N) k) for k components.

    Parameters
    ----------
    n_components : int, default 2
        k, fewer than the classes.
    min_documents : int, default 1
        Smallest number of documents in which a word must occur.
    n_iter : int, default 3
        Subspace iterations; the decomposition is randomized (Halko et al. 2011, Algorithm 4.4).
    random_state : int, RandomState or None, default None
        Start of the iterations.

    Attributes
    ----------
    n_features_in_ : int
        V, the words of the counts.
    words_, positions_ : (v,) integer and (v, k) float32 arrays
        Columns of the counts that take part, and where these words lie on the axes.
    singular_values_ : (k,) array
        Of the axes, the largest first.
    """

    n_components: int = positional(COUNT, default=2, kw_only=False)
    min_documents: int = parameter(1, COUNT_FROM_0)
    n_iter: int = parameter(3, COUNT_FROM_0)
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Find the axes of counts X (n, V), dense or sparse, and classes y (n,)."""
        self._check_parameters()
        X, y = validate_data(self, X, y, **_KINDS)
        X = _counts(X)
        # Only words that occur in enough documents take part.
        documents = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
        self.words_ = np.flatnonzero(documents >= max(self.min_documents, 1))
        # N sums the counts over the documents of each class, by their indicators.
        classes, y = np.unique(y, return_inverse=True)
        ones = np.ones(len(y), dtype=np.float32)
        indicators = sparse.csr_array((ones, (y, np.arange(len(y)))), shape=(len(classes), len(y)))
        table = sparse.csr_array((indicators @ X)[:, self.words_])
        with np.errstate(over="ignore"):  # The check of the total below tells what is infinite.
            table = table.astype(np.float32, copy=False)
        n_classes = np.count_nonzero(np.diff(table.indptr))
        if self.n_components >= n_classes:
            raise InputError(
                f"n_components={self.n_components}: give fewer than the {n_classes} classes that "
                "have documents"
            )
        total = table.sum(dtype=np.float64)
        if not 0 < total < np.inf:
            raise InputError(
                "X has word counts beyond the range of single precision: multiply them by a number"
            )
        # The table becomes D_r^-1/2 (N / n) D_c^-1/2; products with it subtract those of the
        # margins.
        row_root = np.sqrt(table.sum(axis=1, dtype=np.float64) / total)
        col_root = np.sqrt(table.sum(axis=0, dtype=np.float64) / total)
        table.data *= np.repeat(_reciprocal(row_root) / total, np.diff(table.indptr))
        table.data *= _reciprocal(col_root)[table.indices]
        centred = _Centred(table, row_root, col_root)
        # An orthonormal basis near the leading left singular vectors, by subspace iterations from
        # a random one (Halko et al. 2011, Algorithm 4.4)
        size = centred.table.shape[0], min(self.n_components + _OVERSAMPLING, n_classes)
        draws = check_random_state(self.random_state)
        left = draws.standard_normal(size).astype(np.float32)
        for _ in range(self.n_iter):
            left = centred.matmat(centred.rmatmat(np.linalg.qr(left)[0]))
        left = np.linalg.qr(left)[0]
        # The eigenpairs of a small matrix give singular values and vectors in that basis.
        right = centred.rmatmat(left)
        values, turn = np.linalg.eigh(right.T @ right)
        del right
        kept = np.argsort(values)[::-1][: self.n_components]
        # The largest possible singular value is one, so that smaller ones than this are rounding.
        if (n_axes := np.count_nonzero(values[kept] > _SINGULAR_ROUNDING**2)) < self.n_components:
            raise InputError(
                f"n_components={self.n_components}: the classes differ in {n_axes} "
                f"direction{'' if n_axes == 1 else 's'} of n_features={len(documents)}, give at "
                "most as many"
            )
        # The position of a word is its right singular vector over the root of its margin.
        self.singular_values_ = np.sqrt(values[kept].astype(np.float64))
        self.positions_ = centred.rmatmat(left @ (turn[:, kept] / np.sqrt(values[kept])))
        self.positions_ *= _reciprocal(col_root)[:, None]
        return self

    def transform(self, X: Rows) -> np.ndarray:
        """Positions (n, k) of documents with word counts X (n, V); zero where no word is known."""
        check_is_fitted(self)
        X = _counts(validate_data(self, X, reset=False, **_KINDS))[:, self.words_]
        # A document lies at the mean of its words' positions, at zero without known words.
        length = np.asarray(X.sum(axis=1))
        return (X @ self.positions_) / np.where(length > 0, length, 1.0)[:, None]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32", "float64"]
        return tags


def _counts(X):
    """A csr array of nonnegative numbers without repeated entries."""
    check_non_negative(X, "the word counts")
    X = sparse.csr_array(X)
    X.sum_duplicates()
    return X


class _Centred:
    """A scaled table without the pair of its margins, whose singular value is always one."""

    def __init__(self, table, row_root, col_root):
        self.table = table
        self._row_root = row_root.astype(np.float32)
        self._col_root = col_root.astype(np.float32)

    def matmat(self, right):
        """The centred table times a matrix."""
        return self._less(self.table @ right, self._row_root, self._col_root @ right)

    def rmatmat(self, left):
        """The transposed centred table times a matrix."""
        return self._less(self.table.T @ left, self._col_root, self._row_root @ left)

    @staticmethod
    def _less(matrix, column, row):
        # The outer product is subtracted in place, without a second matrix of that size.
        for start in range(0, len(matrix), _BLOCK_ROWS):
            part = slice(start, start + _BLOCK_ROWS)
            matrix[part] -= column[part, None] * row
        return matrix


def _reciprocal(root):
    """1 / root in single precision; zero where the margin is zero."""
    reciprocal = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    return reciprocal.astype(np.float32)
