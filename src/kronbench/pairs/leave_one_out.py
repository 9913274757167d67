"""Shortcuts to exact leave-one-out predictions of ridge regression on complete data.

Settings of Stock et al. 2016, Section 2, for the pair (i, j): A leaves out its label, B row i, C
column j, D both. Y is (m, q); rows have the kernel K = U X U', columns G = V S V'.

Each shortcut has two forms, with the hat matrix H and with I - H, which is computed from its own
eigenvalues reg / (x + reg) and never as a difference. The first is accurate where H is small
(large reg), the second where it is close to I (small reg).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kronbench.linalg.adi_nodes import held_out, reciprocal_nodes
from kronbench.linalg.eigen import Spectrum

_CHUNK_BYTES = 1 << 25  # of each kind of factor that one product takes in


def kron_leave_one_out(
    setting: str, rows: Spectrum, cols: Spectrum, Y: np.ndarray, regs: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield predictions (m, q) of Kronecker ridge regression for each of regs.

    Of full spectra; in setting D of those with all eigenpairs of nonzero eigenvalues at least.
    """
    if setting == "C":
        for F in kron_leave_one_out("B", cols, rows, np.ascontiguousarray(Y.T), regs):
            yield F.T
        return
    if setting == "D":
        yield from (kron_both(rows, cols, Y, reg) for reg in regs)
        return
    # The hat matrix of G kron K has the eigenvectors v_b kron u_a and the eigenvalues
    # x_a s_b / (x_a s_b + reg); these are the coordinates U' Y V of the labels in them.
    coordinates = rows.coordinates(Y) @ cols.vectors
    # In direction v_b the labels Y v_b follow ridge regression with the kernel s_b K (B): its own
    # shortcut applies, and the results are turned back, O(m^2 q + m q^2).
    labels = Y @ cols.vectors if setting == "B" else Y
    for reg in regs:
        # The weights are eigenvalues of I - H, or of H in the columns whose largest x_a s_b is
        # below reg. With them ``filtered`` is (I - H) Y or H Y, ``diagonal`` that of the matrix.
        products = np.outer(rows.values, cols.values)
        by_rest = rows.values[-1] * (cols.values if setting == "B" else cols.values[-1:]) > reg
        weights = np.where(by_rest, reg, products) / (products + reg)
        filtered, diagonal = rows.vectors @ (weights * coordinates), rows.squared @ weights
        if setting == "A":
            filtered, diagonal = filtered @ cols.vectors.T, diagonal @ cols.squared.T
        # Corollary 1 (A), or Theorem 7 for each column (B), is y_s - ((I - H) y)_s / (1 - H_ss),
        # which is also ((H y)_s - H_ss y_s) / (1 - H_ss).
        F = np.where(
            by_rest,
            labels - filtered / np.where(by_rest, diagonal, 1.0),
            (filtered - diagonal * labels) / np.where(by_rest, 1.0, 1.0 - diagonal),
        )
        # The columns of B go back from directions v_b to the columns of Y.
        yield F if setting == "A" else F @ cols.vectors.T


def two_step_leave_one_out(
    setting: str,
    rows: Spectrum,
    cols: Spectrum,
    Y: np.ndarray,
    regs_rows: np.ndarray,
    regs_cols: np.ndarray,
) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
    """Yield ((i, j), F): the predictions F (m, q) for regs_rows[i] and regs_cols[j].

    Corollaries 2 to 5 of Stock et al. 2016, for spectra with all eigenpairs of nonzero eigenvalues
    at least. The product with the side of more eigenpairs is made once for each regularization
    value of that side, and shared by all values of the other side: a point of the grid costs
    O(m q min(k, l)) for k and l eigenpairs.
    """
    if len(rows.values) < len(cols.values):
        mirrored = {"B": "C", "C": "B"}.get(setting, setting)
        mirror = mirrored, cols, rows, np.ascontiguousarray(Y.T), regs_cols, regs_rows
        for (j, i), F in two_step_leave_one_out(*mirror):
            yield (i, j), F.T
        return
    labels = Expanded(rows, Y)
    inner = [Smoother(cols, reg) for reg in regs_cols]
    for i, reg in enumerate(regs_rows):
        # Corollaries 3 to 5 are a step on the rows and one on the columns. A side smooths by its
        # hat matrix, or holds out by Theorem 7: rows in B, columns in C, both in D.
        outer = Smoother(rows, reg)
        left = outer.hat(labels) if setting in "AC" else outer.held_out(labels)
        # The second step sees the result of the first one, transposed, as its labels.
        turned = Expanded(cols, np.ascontiguousarray(left.T))
        rest = outer.rest(labels) if setting == "A" else None
        for j, smoother in enumerate(inner):
            if setting == "A":
                F = _two_step_without_pair(outer, smoother, turned, rest, Y.T)
            else:
                F = smoother.hat(turned) if setting == "B" else smoother.held_out(turned)
            yield (i, j), F.T


def ridge_leave_one_out(rows: Spectrum, Y: np.ndarray, regs: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the predictions (m, q) of each column's own ridge regression (Theorem 7) for regs."""
    labels = Expanded(rows, Y)
    for reg in regs:
        yield Smoother(rows, reg).held_out(labels)


def kron_both(
    rows: Spectrum,
    cols: Spectrum,
    Y: np.ndarray,
    reg: float,
    parts: Sequence[Sequence[np.ndarray]] = ((), ()),
) -> np.ndarray:
    """Setting D without eigenpairs of submatrices.

    The prediction is the bilinear form of 1 / (x s + reg), as a function of the matrices K_{-i}
    and G_{-j}, between k_i and g_j. The separable expansion of ``reciprocal_nodes`` turns it into
    sum_l t_l(i)' Y r_l(j), where t_l(i) is a product of resolvents of K_{-i} applied to k_i, which
    follow from the eigenpairs of K by rank-one corrections.

    O(N (m^2 q + m q^2)) with N = O(log(kappa) log(1/eps)) nodes, kappa = x_max s_max / reg, and
    nothing else that depends on reg. The eigenpairs of all submatrices K_{-i} would cost O(m^4).
    With ``parts`` of the rows and of the columns, those of i and of j are left out with them.
    """
    predicted = np.zeros(Y.shape)
    scale = rows.values.max(initial=0.0) * cols.values.max(initial=0.0)
    if scale == 0:
        return predicted
    kappa = scale / reg
    # Factors t_l and r_l come node by node, perhaps in coordinates of the eigenvectors U and V.
    left, U = held_out(rows, kappa, parts[0])
    right, V = held_out(cols, kappa, parts[1])
    coordinates = Y if U is None else U.T @ Y
    coordinates = coordinates if V is None else coordinates @ V
    nodes = np.transpose(reciprocal_nodes(kappa))
    signs = (-1.0) ** np.arange(len(nodes))
    m, q = Y.shape
    chunk = max(1, _CHUNK_BYTES // (8 * (m * m + q * q + m * q)))
    for start in range(0, len(nodes), chunk):
        T, R = [], []
        part = slice(start, start + chunk)
        for (x, s), sign in zip(nodes[part], signs[part], strict=True):
            T.append(left.next(x, kappa * s))
            R.append(right.next(s, kappa * x) * (sign * (1 + kappa * x * s)))
        # All pairs get sum_l t_l(i)' Y r_l(j) by Y r_l(j) of all nodes at once, then one product
        # in which nodes and coordinates are summed together.
        products = coordinates @ np.concatenate(R).T
        stacked = products.reshape(m, len(T), q).transpose(1, 0, 2).reshape(-1, q)
        predicted += np.concatenate(T, axis=1) @ stacked
    return kappa * predicted


class Expanded:
    """Labels Y (n, p), their coordinates in the eigenvectors of one side, and the rest."""

    def __init__(self, spectrum, Y):
        # What the eigenvectors leave of Y belongs to eigenvalue zero: H has none of it.
        self.Y = Y
        self.coordinates = spectrum.coordinates(Y)
        self.outside = None if spectrum.full else Y - spectrum.vectors @ self.coordinates


class Smoother:
    """The hat matrix H = K (K + reg I)^-1 of one side, and its complement I - H."""

    def __init__(self, spectrum, reg):
        # H has the eigenvalues x / (x + reg), and I - H has reg / (x + reg), which is 1 in the
        # directions that are left out.
        total = spectrum.values + reg
        self._vectors = spectrum.vectors
        self._hat_weights = spectrum.values / total
        self._rest_weights = reg / total
        self.hat_diagonal = spectrum.squared @ self._hat_weights
        self.rest_diagonal = spectrum.null_leverage + spectrum.squared @ self._rest_weights
        # The smaller of the two matrices has the smaller errors of rounding.
        largest_rest = self._rest_weights.max() if spectrum.full else 1.0
        self.by_rest = largest_rest < self._hat_weights.max()

    def hat(self, labels: Expanded) -> np.ndarray:
        """H Y."""
        return self._vectors @ (self._hat_weights[:, None] * labels.coordinates)

    def rest(self, labels: Expanded) -> np.ndarray:
        """(I - H) Y."""
        inside = self._vectors @ (self._rest_weights[:, None] * labels.coordinates)
        return inside if labels.outside is None else inside + labels.outside

    def held_out(self, labels: Expanded) -> np.ndarray:
        """Each row of H Y as if that row of Y had not been seen (Theorem 7)."""
        rest_diagonal = self.rest_diagonal[:, None]
        # The form with I - H is Y_i - ((I - H) Y)_i / (1 - H_ii).
        if self.by_rest:
            F = self.rest(labels)
            F /= -rest_diagonal
            F += labels.Y
            return F
        # Theorem 7 has it as ((H Y)_i - H_ii Y_i) / (1 - H_ii).
        F = self.hat(labels)
        F -= self.hat_diagonal[:, None] * labels.Y
        F /= rest_diagonal
        return F


def _two_step_without_pair(outer, smoother, turned, rest, labels):
    """Corollary 2, transposed, with 1 - H_ii H_jj from the complements of both sides.

    The hat matrix of the pair (i, j) has the diagonal H_ii H_jj, and 1 - H_ii H_jj is e + f - e f
    with e = 1 - H_ii and f = 1 - H_jj.
    """
    e, f = outer.rest_diagonal, smoother.rest_diagonal[:, None]
    hats = np.outer(smoother.hat_diagonal, outer.hat_diagonal)
    if hats.max() < 0.5:
        F = smoother.hat(turned)
        F -= hats * labels
        F /= e + f - e * f
    else:
        # (I - H^g kron H^k) Y is (I - H^k) Y and what the columns leave of H^k Y.
        F = smoother.rest(turned)
        F += rest.T
        F /= -(e + f - e * f)
        F += labels
    return F
