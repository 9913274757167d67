"""Metz et al. (2011) with the curves that Viljanen, Airola & Pahikkala (2022) publish of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbench.datasets.drug_target_files import parse_affinities
from kronbench.datasets.fetch import LocalFile
from kronbench.errors import InputError

DOMAIN_KERNELS = ("Gaussian", "Linear")
PAIRWISE_KERNELS = ("Linear", "Poly2D", "Kronecker", "Cartesian")
SETTINGS = ("Setting 1", "Setting 2", "Setting 3", "Setting 4")

_AXES = {
    "Kernel (domain)": DOMAIN_KERNELS,
    "Kernel (pairwise)": PAIRWISE_KERNELS,
    "Setting": SETTINGS,
}


def parse_printed_curves(
    files: Mapping[str, LocalFile], **options: object
) -> dict[str, np.ndarray]:
    """Read affinities as ``parse_affinities`` does, and the printed AUC of each iteration.

    ``files`` also has "curves", a table with semicolons. The result also has ``printed_train``
    and ``printed_test`` (2, 4, 4, k), by domain kernel, pairwise kernel, setting and iteration.
    """
    import pandas as pd  # not for those that plan

    files = dict(files)
    curves = files.pop("curves")
    arrays = parse_affinities(files, **options)
    with curves.open() as stream:
        table = pd.read_csv(stream, sep=";")
    columns = [*_AXES, "Iteration", "Train AUC", "Test AUC"]
    if lacking := set(columns) - set(table):
        raise InputError(f"{curves.name} lacks the column '{min(lacking)}'")
    length = int(table["Iteration"].max())
    wanted = pd.MultiIndex.from_product([*_AXES.values(), range(1, length + 1)])
    table = table.set_index([*_AXES, "Iteration"])
    if table.index.has_duplicates or not wanted.isin(table.index).all():
        raise InputError(f"{curves.name} has not one line for each curve and iteration")
    for name in ("train", "test"):
        values = table.loc[wanted, f"{name.title()} AUC"].to_numpy(float)
        arrays[f"printed_{name}"] = values.reshape(*map(len, _AXES.values()), length)
    return arrays
