"""Fingerprints of molecules from their SMILES, by rdkit."""

from typing import Any

import numpy as np

from kronbench.errors import extra_for
from kronbench.models._of_texts import OfTexts
from kronbench.models._parameters import COUNT, COUNT_FROM_0, estimator, parameter


@estimator
class MorganFingerprints(OfTexts):
    """A bit for each substructure of a molecule: extended-connectivity fingerprints of SMILES.

    The surroundings of each atom, up to ``radius`` bonds away, are hashed to one of ``n_bits``
    bits (Rogers & Hahn 2010, J. Chem. Inf. Model. 50, 742-754). A bit that is set is 1.0, and the
    kernel of such rows is ``"tanimoto"``. It needs rdkit, the extra ``kronbench[chem]``, and takes
    0.4 ms a molecule.

    Parameters
    ----------
    radius : int, default 2
        2 is ECFP4, which is named by the diameter, and 3 is ECFP6.
    n_bits : int, default 2048
        With fewer, more substructures share a bit.

    Notes
    -----
    All SMILES of one molecule have the same bits, and so have its stereoisomers, since chirality
    is not hashed. Salts and tautomers are other molecules: standardize them before. The bits are
    those of the rdkit that is installed: fit and predict with the same version. A text is a SMILES
    without a name behind it. InputError tells the first that is empty or cannot be read, and how
    many there are.
    """

    radius: int = parameter(2, COUNT_FROM_0)
    n_bits: int = parameter(2048, COUNT)

    def _features(self, texts, refusal):
        with extra_for("MorganFingerprints"):
            from rdkit.Chem import MolFromSmiles, SmilesParserParams, rdFingerprintGenerator
            from rdkit.rdBase import BlockLogs
        # What follows a blank is a name to rdkit, so that "CC O" would be ethane.
        alone: Any = SmilesParserParams()  # whose stub is wrong on the types of flags
        alone.allowCXSMILES = alone.parseName = False
        make = rdFingerprintGenerator.GetMorganGenerator(radius=self.radius, fpSize=self.n_bits)
        rows, bad = [], []
        with BlockLogs():  # it tells each failure on standard error, without its place
            for place, smiles in enumerate(texts):
                # A molecule takes 40 kB, so only one is kept at a time.
                molecule = MolFromSmiles(smiles, alone)
                if molecule and molecule.GetNumAtoms():
                    bits = np.array(make.GetFingerprint(molecule).GetOnBits())
                    rows.append((bits, np.ones(len(bits))))
                else:
                    bad.append(place)
        if bad:
            raise refusal(bad[0], f"is one of {len(bad)} SMILES that cannot be read: correct it")
        return self.n_bits, rows
