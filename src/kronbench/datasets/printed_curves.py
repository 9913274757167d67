"""Metz et al. (2011) with the curves that Viljanen, Airola & Pahikkala (2022) publish of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kronbench.datasets.dataset import Loader
from kronbench.datasets.drug_target_files import parse_affinities
from kronbench.datasets.drug_target_surrogates import surrogate_affinities
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


def parse_printed_curves(files: Mapping[str, LocalFile], *, above: float) -> dict[str, np.ndarray]:
    """Read the affinities and the printed AUC of each iteration.

    Parameters
    ----------
    files : mapping
        As for ``parse_affinities``, and "curves": a table with semicolons.
    above : float
        Label +1 above this value, and not at it.

    Returns
    -------
    dict
        As ``parse_affinities``, and ``printed_train``, ``printed_test`` (2, 4, 4, k): the AUC by
        domain kernel, pairwise kernel, setting and iteration.

    Raises
    ------
    InputError
        As ``parse_affinities``; or a curve is missing or shorter than the others.
    """
    import pandas as pd  # not for those that plan

    files = dict(files)
    curves = files.pop("curves")
    arrays = parse_affinities(files, at_least=np.nextafter(above, np.inf))
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


def surrogate_printed_curves(
    rng: np.random.Generator, *, above: float, **options: object
) -> dict[str, np.ndarray]:
    """A stand-in for the affinities (``surrogate_affinities``); nothing is printed of it."""
    return surrogate_affinities(rng, at_least=np.nextafter(above, np.inf), **options)


LOADERS = {
    "printed_curves": Loader(
        "label matrix", parse=parse_printed_curves, surrogate=surrogate_printed_curves
    ),
}
