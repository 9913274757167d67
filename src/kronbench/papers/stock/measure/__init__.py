"""Measurements of Stock et al. (2016)."""

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}
