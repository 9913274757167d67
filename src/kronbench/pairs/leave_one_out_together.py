"""Leave-one-out predictions of two-step regression in several settings from the same products.

The settings differ in what each side does: it smooths, with its hat matrix H, or it holds out,
which Theorem 7 of Stock et al. 2016 writes as (H Y - diag(h) Y) / (1 - h), or with R = I - H as
Y - R Y / (1 - h). Scaling rows and smoothing columns commute. With L = X Y for the side of more
eigenpairs, where X is H or R, and with C in the same way for the other side, each setting is
a combination, entry by entry, of Y, L, Y C and L C: the products serve all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numba import njit

from kronbench.linalg.eigen import Spectrum
from kronbench.pairs.leave_one_out import Expanded, Smoother

_MIRRORED = {"A": "A", "B": "C", "C": "B", "D": "D"}


def two_step_leave_one_out_together(
    settings: str,
    rows: Spectrum,
    cols: Spectrum,
    Y: np.ndarray,
    regs_rows: Sequence[float],
    regs_cols: Sequence[float],
) -> Iterator[tuple[tuple[int, int], Mapping[str, np.ndarray]]]:
    """Yield ((i, j), {setting: F}), the F of ``two_step_leave_one_out`` up to rounding.

    All settings cost little more than one. The next point overwrites the F.

    Parameters
    ----------
    settings : str of letters A to D
    rows, cols : Spectrum
        With all eigenpairs, or those of nonzero eigenvalues at least.
    Y : (m, q) array
    regs_rows, regs_cols : sequences of positive floats
    """
    if len(rows.values) < len(cols.values):
        mirrored = "".join(_MIRRORED[setting] for setting in settings)
        turned = np.ascontiguousarray(Y.T)
        for (j, i), found in two_step_leave_one_out_together(
            mirrored, cols, rows, turned, regs_cols, regs_rows
        ):
            yield (i, j), {setting: found[_MIRRORED[setting]].T for setting in settings}
        return
    labels, by_column = Expanded(rows, Y), np.ascontiguousarray(Y.T)
    plain = Expanded(cols, by_column)
    inner = [_Inner(Smoother(cols, reg), plain) for reg in regs_cols]
    found = {setting: np.empty_like(by_column) for setting in settings}
    for i, reg in enumerate(regs_rows):
        outer = _Outer(Smoother(rows, reg), labels, cols)
        for j, side in enumerate(inner):
            # 1 - H_ii H_jj from the complements where it may be small; then I - H is far from I,
            # and its product serves the other settings too
            rest = "A" in settings and outer.hat.max() * side.hat.max() >= 0.5
            LC = side.apply(outer.turned, rest or side.by_rest)
            YC = side.smoothed(rest or side.by_rest)
            args = (
                *(outer.turned.Y, LC, by_column, YC),
                *(outer.hat, outer.complement, side.hat, side.complement),
                *(outer.by_rest, rest or side.by_rest),
            )
            for setting, F in found.items():
                if setting != "A":
                    _vertices(*args, F, setting in "BD", setting in "CD")
                elif rest:
                    _pair_by_rest(*args, F, outer.rest)
                else:
                    _pair_by_hat(*args, F)
            yield (i, j), {setting: F.T for setting, F in found.items()}


class _Outer:
    """One weight of the side of more eigenpairs, with L (q, m)."""

    def __init__(self, smoother, labels, cols):
        self.smoother, self.by_rest = smoother, smoother.by_rest
        self.hat, self.complement = smoother.hat_diagonal, smoother.rest_diagonal
        self._labels = labels
        left = smoother.rest(labels) if self.by_rest else smoother.hat(labels)
        self.turned = Expanded(cols, np.ascontiguousarray(left.T))
        self._rest = self.turned.Y if self.by_rest else None

    @property
    def rest(self):
        """R Y, turned."""
        if self._rest is None:
            self._rest = np.ascontiguousarray(self.smoother.rest(self._labels).T)
        return self._rest


class _Inner:
    """One weight of the other side, with Y C."""

    def __init__(self, smoother, plain):
        self._smoother, self.by_rest, self._plain = smoother, smoother.by_rest, plain
        self.hat, self.complement = smoother.hat_diagonal, smoother.rest_diagonal
        self._products = {}

    def apply(self, labels, by_rest):
        """Labels (q, m) times C, turned."""
        return self._smoother.rest(labels) if by_rest else self._smoother.hat(labels)

    def smoothed(self, by_rest):
        """Y C, turned."""
        if by_rest not in self._products:
            self._products[by_rest] = self.apply(self._plain, by_rest)
        return self._products[by_rest]


@njit(cache=True, nogil=True)
def _pair_by_hat(L, LC, Y, YC, h, e, k, f, outer_rest, inner_rest, F):
    """(H Y H - h k Y) / (1 - h k)."""
    for j in range(F.shape[0]):
        for i in range(F.shape[1]):
            left = Y[j, i] - L[j, i] if outer_rest else L[j, i]
            both = YC[j, i] - LC[j, i] if outer_rest else LC[j, i]
            both = left - both if inner_rest else both
            F[j, i] = (both - h[i] * k[j] * Y[j, i]) / (e[i] + f[j] - e[i] * f[j])


@njit(cache=True, nogil=True)
def _pair_by_rest(L, LC, Y, YC, h, e, k, f, outer_rest, inner_rest, F, rest):
    """Y - (R Y + H Y R) / (1 - h k)."""
    for j in range(F.shape[0]):
        for i in range(F.shape[1]):
            both = YC[j, i] - LC[j, i] if outer_rest else LC[j, i]
            F[j, i] = Y[j, i] - (rest[j, i] + both) / (e[i] + f[j] - e[i] * f[j])


@njit(cache=True, nogil=True)
def _vertices(L, LC, Y, YC, h, e, k, f, outer_rest, inner_rest, F, outer_out, inner_out):
    """Each side smooths, or holds out: left and its product with C first, then the other side."""
    for j in range(F.shape[0]):
        for i in range(F.shape[1]):
            if outer_out and outer_rest:
                left, both = Y[j, i] - L[j, i] / e[i], YC[j, i] - LC[j, i] / e[i]
            elif outer_out:
                left = (L[j, i] - h[i] * Y[j, i]) / e[i]
                both = (LC[j, i] - h[i] * YC[j, i]) / e[i]
            elif outer_rest:
                left, both = Y[j, i] - L[j, i], YC[j, i] - LC[j, i]
            else:
                left, both = L[j, i], LC[j, i]
            if inner_out and inner_rest:
                F[j, i] = left - both / f[j]
            elif inner_out:
                F[j, i] = (both - k[j] * left) / f[j]
            else:
                F[j, i] = left - both if inner_rest else both
