"""The kernels of its models: both sides as matrices."""

PRECOMPUTED = {"row_kernel": "precomputed", "col_kernel": "precomputed"}
