import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

from kronbench import InputError
from kronbench.datasets import _load, registry
from kronbench.datasets.wipo import parse_features, parse_index, parse_records, parse_titles, stems
from tests.helpers import in_memory


def check_tree(parents):
    """Root first, parents before children, the classes last; how many classes there are."""
    assert parents[0] == -1
    assert (parents[1:] < np.arange(1, len(parents))).all()
    leaves = np.setdiff1d(np.arange(len(parents)), parents)
    np.testing.assert_array_equal(leaves, np.arange(len(parents) - len(leaves), len(parents)))
    return len(leaves)


def check_corpus(arrays):
    """Such a tree, of whose classes each has a document."""
    n_classes = check_tree(arrays["parents"])
    assert np.bincount(arrays["y"], minlength=n_classes).min() > 0
    assert arrays["y"].max() == n_classes - 1


INDEX = {
    "train": "./D/01/B/001/US9800001_01011999.xml\n./d/01/b/002/EP9800002_01011999.xml\n"
    "./A/01/B/001/US9800003_01011999.xml\n./D/02/G/003/DE9800004_01011999.xml\n",
    "test": "./D/01/B/001/US9800005_01011999.xml\n",
}
# Written for this test in the format of the collection.
RECORD = """<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE record SYSTEM "wipo.dtd">
<record cy="WO" an="US9800001" pn="WO990000119990101" dnum="9900001" kind="A1">
<ipcs ed="6" mc="{symbol}"><ipc ic="D06M01500"></ipc></ipcs>
<pas><pa>ACME</pa></pas>
<tis>
<ti xml:lang="EN">{title}</ti>
<ti xml:lang="FR">titre inutile</ti>
</tis>
<abs><ab xml:lang="EN">Abstract words are not used.</ab></abs>
<cls><cl xml:lang="EN">{claims}</cl></cls>
<txts><txt xml:lang="EN">Description words are not used.</txt></txts>
</record>
"""
RECORDS = {
    "D/01/B/001/US9800001_01011999.xml": ("D01B00110", "Weaving looms", "A loom &alpha; weaves."),
    "D/01/B/002/EP9800002_01011999.xml": ("D01B00200", "Fibre cutter", "1. The cutters cut."),
    "D/02/G/003/DE9800004_01011999.xml": ("D02G00302", "Yarn", "Yarn &lt; yarns, yarn"),
    "D/01/B/001/US9800005_01011999.xml": ("D01B00104", "Looms", "the and of"),
}


def collection(**changed):
    """A zip archive of the records below a folder, each changed by name where asked for."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("wipo-alpha/read-me.html", "<html>")
        for path, (symbol, title, claims) in RECORDS.items():
            record = RECORD.format(symbol=symbol, title=title, claims=claims)
            record = changed.get(path.split("/")[-1].split("_")[0], record)
            if record is not None:
                archive.writestr(f"wipo-alpha/train/{path}", record)
    return content.getvalue()


def files(**more):
    return in_memory(**{**INDEX, **more})


def test_index_gives_the_tree_of_all_sections():
    arrays = parse_index(files())
    check_corpus(arrays)
    # root; A, D; A01, D01, D02; A01B, D01B, D02G; A01B001, D01B001, D01B002, D02G003
    assert arrays["parents"].tolist() == [-1, 0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8]
    assert arrays["y"].tolist() == [1, 2, 0, 3, 1]
    assert arrays["is_test"].tolist() == [False] * 4 + [True]


def test_records_become_unit_rows_of_stems_of_title_and_claims():
    arrays = parse_records(files(collection=collection()), section="D")
    check_corpus(arrays)
    X = arrays["X"]
    assert isinstance(X, sparse.csr_array)
    # The stems, in alphabetical order: cut, cutter, fibr, loom, weav, yarn.
    counts = np.array(
        [[0, 0, 0, 2, 2, 0], [1, 2, 1, 0, 0, 0], [0, 0, 0, 0, 0, 4], [0, 0, 0, 1, 0, 0]], float
    )
    expected = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-14)
    assert arrays["parents"].tolist() == [-1, 0, 0, 1, 2, 3, 3, 4]
    assert arrays["y"].tolist() == [0, 1, 2, 0]
    assert arrays["is_test"].tolist() == [False, False, False, True]


RECORD_D1 = RECORD.format(symbol="D01B00110", title="Weaving looms", claims="A loom.")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"US9800001": None}, "collection.txt lacks 1 of 4 records, among them D/01/B/001/US98"),
        ({"EP9800002": "<record>"}, "EP9800002_01011999.XML is not XML that can be read: "),
        (
            {"DE9800004": RECORD.format(symbol="D01B00302", title="Yarn", claims="Yarn")},
            "DE9800004_01011999.XML: the main symbol is 'D01B00302', expected one that starts "
            "with D02G003",
        ),
        ({"DE9800004": "<record/>"}, "the main symbol is '', expected one that starts with D02G"),
        *(
            (
                {"US9800001": RECORD_D1.replace("iso-8859-1", encoding)},
                r"001/US9800001_01011999.XML is not XML that can be read: .+$",
            )
            for encoding in ("klingon", "shift_jis", "idna", "utf-16")
        ),
    ],
)
def test_bad_records_are_named(changed, message):
    with pytest.raises(InputError, match=message):
        parse_records(files(collection=collection(**changed)), section="D")


def test_entities_of_the_dtd_and_utf_16_are_read():
    record = RECORD_D1.replace("iso-8859-1", "utf-16").encode("utf-16")
    arrays = parse_records(files(collection=collection(US9800001=record)), section="D")
    plain = parse_records(files(collection=collection(US9800001=RECORD_D1)), section="D")
    np.testing.assert_array_equal(arrays["X"].toarray(), plain["X"].toarray())


def stored(values):
    content = io.BytesIO()
    np.save(content, values)
    return content.getvalue()


def test_features_follow_the_sorted_paths_of_each_half():
    values = np.random.default_rng(0).standard_normal((4, 3))
    arrays = parse_features(
        files(train_features=stored(values[:3]), test_features=stored(values[3:])),
        section="D",
        n_features=3,
    )
    check_corpus(arrays)
    expected = values / np.linalg.norm(values, axis=1, keepdims=True)
    np.testing.assert_allclose(arrays["X"], expected, rtol=1e-14)
    assert arrays["y"].tolist() == [0, 1, 2, 0]
    assert arrays["is_test"].tolist() == [False, False, False, True]


@pytest.mark.parametrize("section", "abcdefgh")
def test_the_registered_sizes_of_a_section_are_those_of_the_real_index(real, section):
    entry = registry.find(f"wipo-{section}")
    halves = {half: entry.files[half] for half in ("train", "test")}
    placed = parse_index(_load._obtain(entry, halves, None), section=entry.options["section"])
    assert entry.shape["X"][0] == len(placed["y"])
    assert entry.surrogate["n_test"] == placed["is_test"].sum()
    assert entry.shape["parents"] == (len(placed["parents"]),)


# --- titles of the classification

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


# --- words


def test_words_of_a_text_are_porters_stems_and_short_ones_stay():
    text = (
        "Weaving machines (1, 2a) of the claim 3; x = 12 %; a.b - 3C; wherein said MACHINE weaves"
    )
    assert stems(text) == ["weav", "machin", "claim", "said", "machin", "weav"]
    assert stems("caresses relational os") == ["caress", "relat", "os"]
