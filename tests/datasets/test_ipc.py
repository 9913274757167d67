"""Titles of the classification: which lines are documents, and their tree."""

import numpy as np
import pytest

from kronbench.datasets.corpus_surrogates import depths, surrogate_titles
from kronbench.datasets.wipo import parse_titles
from tests.helpers import in_memory

LINES = """D\tTEXTILES; PAPER
D01\tTHREADS
D01B\tMECHANICAL TREATMENT (see D01C)
D01B0001000000\tSeparation of fibres
D01B0001000000\tA heading that shares the symbol of its main group
D01B0001020000\tSeparating vegetable fibres
D01B0001040000\tGinning of the fibres D01B0001220000
D01B0003020000\tof the
D01C\tCHEMICAL TREATMENT
D01C0001000000\tA main group without subgroups
D02G0003020000\tYarns
"""


def test_subgroups_are_documents_of_their_main_groups():
    arrays = parse_titles(in_memory(titles=LINES), section="D")
    assert arrays["y"].tolist() == [0, 0, 1, 2]  # D01B0001, D01B0003, D02G0003
    # root, D01, D02, D01B, D02G, and the groups; D01C has no document
    assert arrays["parents"].tolist() == [-1, 0, 0, 1, 2, 3, 3, 4]
    X = arrays["X"].toarray()
    # gin, fibr, separ, veget, yarn; symbols and stop words are no words
    assert X.shape == (4, 5)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), [1, 1, 0, 1])
    assert (X[0] @ X[1]) == pytest.approx(1 / np.sqrt(3 * 2))


def test_the_surrogate_has_the_sizes_and_short_titles():
    sizes = {"levels": [3, 8, 40], "n_documents": 300, "median_size": 6}
    arrays = surrogate_titles(np.random.default_rng(0), **sizes)
    assert arrays["X"].shape[0] == len(arrays["y"]) == 300
    assert np.bincount(depths(arrays["parents"])).tolist() == [1, 3, 8, 40]
    words = np.diff(arrays["X"].indptr)
    assert 3 < np.median(words) < 15


def test_the_real_section_d(real):
    data = real("ipc-d")
    assert data["X"].shape[0] == 2895
    assert data["y"].max() + 1 == 242
    # the paper's section D: eight children of the root in this edition, seven in the paper's
    assert (data["parents"] == 0).sum() == 8
