"""Pairs of molecules and sequences: what a table repeats stays, and texts are stored once."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

from kronbench import datasets
from kronbench.datasets.molecule_pairs import PARTS, parse_split
from kronbench.models import KmerSpectrum, MorganFingerprints

TABLES = {
    "train": "SMILES,Protein,Y\nCC,MKV,1\nCO,MKV,0\nCC,MKV,1\n",
    "val": "SMILES,Protein,Y\nCN,MAA,0\n",
    "test": "SMILES,Protein,Y\nCN,MKV,1\nCC,MAA,0\n",
}


def test_texts_are_stored_once_and_repeated_pairs_stay():
    files = {
        name: SimpleNamespace(name=name, open=lambda text=text: io.BytesIO(text.encode()))
        for name, text in TABLES.items()
    }
    arrays = parse_split(files)
    given = [line.split(",") for part in PARTS for line in TABLES[part].split()[1:]]
    pairs = zip(arrays["smiles"][arrays["rows"]], arrays["sequences"][arrays["cols"]], strict=True)
    assert [list(pair) for pair in pairs] == [line[:2] for line in given]
    assert [label == 1 for label in arrays["labels"]] == [line[2] == "1" for line in given]
    assert arrays["parts"].tolist() == [0, 0, 0, 1, 2, 2]
    assert len(set(arrays["smiles"])) == len(arrays["smiles"]) == 3


@pytest.mark.parametrize("cold", [False, True])
def test_surrogates_have_the_counts_and_texts_that_can_be_read(cold):
    data = datasets.load(f"human-{'cold' if cold else 'random'}", policy="surrogate")
    entry = datasets.registry.find(data.name)
    assert np.bincount(data["parts"]).tolist() == list(entry.surrogate["counts"].values())
    MorganFingerprints().fit_transform(data["smiles"][:200])
    KmerSpectrum().fit_transform(data["sequences"][:200])
    train, test = (set(data["rows"][data["parts"] == part]) for part in (0, 2))
    assert cold == (not train & test)
