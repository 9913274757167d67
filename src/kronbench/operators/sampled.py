"""The product with a sampled Kronecker matrix, R (G kron K) C'."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator


class SampledKroneckerOperator(LinearOperator):
    """First plain version: correct, not fast."""

    def __init__(self, row_matrix, col_matrix, rows, cols, in_rows=None, in_cols=None,
                 method="auto", dtype=None):
        self.row_matrix = np.asarray(row_matrix)
        self.col_matrix = np.asarray(col_matrix)
        if dtype is None:
            dtype = np.result_type(self.row_matrix, self.col_matrix, np.float32)
        self.rows, self.cols = np.asarray(rows), np.asarray(cols)
        self.in_rows = self.rows if in_rows is None else np.asarray(in_rows)
        self.in_cols = self.cols if in_cols is None else np.asarray(in_cols)
        self.method = "sparse" if method == "auto" else method
        (a, b), (c, d) = self.row_matrix.shape, self.col_matrix.shape
        e, f = len(self.in_rows), len(self.rows)
        self.flops = 2 * min(a * e + d * f, c * e + b * f)
        super().__init__(dtype, (f, e))

    def restrict(self, out=None, in_=None):
        out = slice(None) if out is None else out
        in_ = slice(None) if in_ is None else in_
        return SampledKroneckerOperator(
            self.row_matrix, self.col_matrix, self.rows[out], self.cols[out],
            self.in_rows[in_], self.in_cols[in_], method=self.method, dtype=self.dtype)

    def _product(self, v, A, B, out, inn):
        V = sparse.coo_array((v, inn), shape=(A.shape[1], B.shape[1])).tocsr()
        S = (V.T @ A.T).T
        u = np.empty(len(out[0]), self.dtype)
        for h in range(0, len(u), 4096):
            part = slice(h, h + 4096)
            u[part] = np.einsum("hk,hk->h", S[out[0][part]], B[out[1][part]])
        return u

    def _matvec(self, v):
        return self._product(v.ravel().astype(self.dtype), self.row_matrix, self.col_matrix,
                             (self.rows, self.cols), (self.in_rows, self.in_cols))

    def _rmatvec(self, w):
        return self._product(w.ravel().astype(self.dtype), self.row_matrix.T, self.col_matrix.T,
                             (self.in_rows, self.in_cols), (self.rows, self.cols))
