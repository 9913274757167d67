"""Our best on published folds: choices that took minutes, stored to be fitted again in seconds."""

from __future__ import annotations

from kronbench.datasets import Dataset
from kronbench.datasets.drug_target import similarities
from kronbench.resources import config_path
from kronbench.yaml_files import read_yaml


def best_of(data: str, fold: str) -> dict | None:
    """``model``, the ``parameters`` that it chose, ``scores``; None of an unknown fold."""
    return read_yaml(config_path("field_best.yaml")).get(data, {}).get(fold)


def candidates(data: Dataset) -> dict[str, dict]:
    """``row_kernels`` and ``col_kernels`` from which these choices were made."""
    learned = {"profile": "profile", "constant": "constant"}
    return {
        f"{side}_kernels": kernels | learned
        for side, kernels in zip(("row", "col"), similarities(data), strict=True)
    }
