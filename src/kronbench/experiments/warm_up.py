"""Compile every numba kernel on problems of a few pairs, so that no clock sees the compiler."""

from __future__ import annotations


def compile_kernels() -> None:
    """Run each compiled product, solver and metric once; numba keeps the code in its cache."""
