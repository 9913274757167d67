"""Labelled pairs of a molecule and a protein sequence, with a published split of their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files

PARTS = ("train", "val", "test")
_PIECES = ("CO", "N", "C(F)", "C(Cl)", "C(=O)", "C(C#N)", "c1ccc(cc1)", "C1CCC(CC1)", "S", "CC")
_LETTERS = (*"ACDEFGHIKLMNPQRSTVWY",)


def parse_split(files: Files) -> Arrays:
    """Read ``train``, ``val`` and ``test``, tables with columns SMILES, Protein and Y (1 or 0).

    Returns
    -------
    arrays by name
        ``smiles`` (m,) and ``sequences`` (q,), text: each once, in the order of the files;
        ``rows`` and ``cols`` (n,), their positions in each pair; ``labels`` (n,) +1 or -1;
        ``parts`` (n,), 0 to train, 1 to validate and 2 to test. Pairs that a file repeats stay.
    """
    tables = []
    for part in PARTS:
        with files[part].open() as stream:
            tables.append(pd.read_csv(stream, usecols=["SMILES", "Protein", "Y"]))
    return _arrays(pd.concat(tables), list(map(len, tables)))


def surrogate_split(
    rng: np.random.Generator, *, sizes: tuple[int, int], counts: Mapping[str, int], cold: bool
) -> Arrays:
    """Pairs of ``sizes`` molecules and sequences that are drawn, with ``counts`` of each part.

    With ``cold``, no part has a vertex of another one.
    """
    n = sum(counts.values())
    share = np.repeat(np.arange(3), list(counts.values()))
    ends = np.cumsum([0, *counts.values()]) / n
    # A vertex has a family, and families have an affinity to each other.
    drawn, families = [], []
    for size in sizes:
        first, last = (ends[share] * size).astype(int), (ends[share + 1] * size).astype(int)
        drawn.append(rng.integers(first, last) if cold else rng.integers(size, size=n))
        families.append(rng.integers(5, size=size))
    of_families = rng.standard_normal((5, 5))
    score = of_families[families[0][drawn[0]], families[1][drawn[1]]] + rng.standard_normal(n)
    # The first pieces of a molecule are those of its family, the others the digits of its number.
    digits = np.arange(sizes[0])[:, None] // 10 ** np.arange(4) % 10
    pieces = np.column_stack([*[2 * families[0]] * 3, digits])
    smiles = [f"C{''.join(_PIECES[k] for k in row)}O" for row in pieces]
    words = rng.choice(_LETTERS, size=(5, 80))
    mutated = rng.choice(_LETTERS, size=(sizes[1], 80))
    kept = rng.random(mutated.shape) < 0.7
    sequences = ["".join(row) for row in np.where(kept, words[families[1]], mutated)]
    table = {"SMILES": np.take(smiles, drawn[0]), "Protein": np.take(sequences, drawn[1])}
    return _arrays(pd.DataFrame({**table, "Y": score > 0}), list(counts.values()))


def _arrays(table, counts):
    rows, smiles = pd.factorize(table["SMILES"])
    cols, sequences = pd.factorize(table["Protein"])
    return {
        "smiles": np.asarray(smiles, dtype=str),
        "sequences": np.asarray(sequences, dtype=str),
        "rows": rows,
        "cols": cols,
        "labels": np.where(table["Y"], 1, -1).astype(np.int8),
        "parts": np.repeat(np.arange(len(PARTS)), counts),
    }
