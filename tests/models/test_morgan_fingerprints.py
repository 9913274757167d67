"""Bits of molecules against rdkit's own, and what is not a SMILES."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kronbench import InputError
from kronbench.models import MorganFingerprints

ASPIRIN, CAFFEINE = "CC(=O)Oc1ccccc1C(=O)O", "Cn1cnc2c1c(=O)n(C)c(=O)n2C"
MOLECULES = [ASPIRIN, CAFFEINE, "CCO", "[Na+].[Cl-]", "C[C@H](N)C(=O)O", "c1ccc2[nH]ccc2c1"]


@pytest.fixture
def chem():
    return pytest.importorskip("rdkit.Chem", reason="rdkit, of the extra chem, is not installed")


def test_without_rdkit_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    monkeypatch.setitem(sys.modules, "rdkit.Chem", None)
    with pytest.raises(InputError, match=r"needs rdkit, .*: pip install 'kronbench\[chem\]'$"):
        MorganFingerprints().transform([ASPIRIN])


@pytest.mark.parametrize(("radius", "n_bits"), [(0, 64), (2, 2048), (3, 1000)])
def test_the_bits_are_those_of_rdkit(chem, radius, n_bits):
    from rdkit.Chem import rdMolDescriptors

    found = MorganFingerprints(radius=radius, n_bits=n_bits).fit_transform(MOLECULES)
    assert found.shape == (len(MOLECULES), n_bits)
    assert found.dtype == np.float64
    expected = [
        [*rdMolDescriptors.GetMorganFingerprintAsBitVect(chem.MolFromSmiles(text), radius, n_bits)]
        for text in MOLECULES
    ]
    np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize("molecule", [ASPIRIN, CAFFEINE])
def test_all_smiles_of_a_molecule_have_the_same_bits(chem, molecule):
    parsed = chem.MolFromSmiles(molecule)
    others = [chem.MolToSmiles(parsed, doRandom=True) for _ in range(20)]
    others += [chem.MolToSmiles(parsed, kekuleSmiles=True), f" {molecule}\n"]
    assert len({*others}) > 10
    found = MorganFingerprints().transform([molecule, *others]).toarray()
    assert found[0].sum() > 10
    np.testing.assert_array_equal(found, np.broadcast_to(found[0], found.shape))


@pytest.mark.parametrize(
    "text",
    ["", " ", "C1CC", "xyz", "CC O", "CCO ethanol", "C(C)(C)(C)(C)C", "CC>>CO", "é", "C\0C"],
)
def test_what_is_no_smiles_is_one_sentence(chem, text, capfd):
    X = pd.Series([ASPIRIN, text, "C1CC"], ["a", "b", "c"])
    with pytest.raises(InputError) as caught:
        MorganFingerprints().fit(X).transform(X)
    sentence = f"X, entry 2 of 'b', {text!r}, is one of 2 SMILES that cannot be read: correct it"
    assert str(caught.value) == sentence
    assert not any(capfd.readouterr())  # rdkit's own complaints


def test_a_long_smiles_is_cut(chem):
    with pytest.raises(InputError, match=r"^X, entry 1, 'C{39}, is one of 1 SMILES"):
        MorganFingerprints().transform(["C" * 1000 + "("])


def test_it_learns_nothing_and_works_inside_scikit_learn(chem):
    model = clone(MorganFingerprints(radius=1, n_bits=128))
    assert model.get_params() == {"radius": 1, "n_bits": 128}
    check_is_fitted(model)
    found = pickle.loads(pickle.dumps(model)).transform(MOLECULES)
    np.testing.assert_array_equal(found.toarray(), model.fit_transform(MOLECULES).toarray())
