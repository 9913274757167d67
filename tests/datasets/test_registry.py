import dataclasses
import re

import pytest
import yaml
from scipy import sparse

from kronbench import InputError, datasets
from kronbench.datasets import generators, registry
from kronbench.datasets.loaders import loader_of
from kronbench.resources import config_path
from kronbench.yaml_files import read_yaml, validate

ENTRY = {
    "title": "One",
    "loader": "checkerboard",
    "options": {"m": 4, "fraction": 0.5, "flip": 0},
    "licence": "none",
    "citation": "nobody",
}
FILE = {"mirror": "one/a.txt", "sha256": "0" * 64, "urls": ["http://example.org/a.txt"]}
# A stand-in for six drugs and five targets with nine interactions.
SURROGATE = {
    "sizes": [6, 5],
    "similarities": {"drug_similarity": [1, 0.3], "target_similarity": [1, 0.2]},
    **{"known": 30, "shares": [0, 0.7, 0.7, 1], "potencies": [0, 0, 1, 1], "at_least": 1},
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write entries into a registry of the user's own."""
    path = tmp_path / "own.yaml"
    monkeypatch.setenv("KRONBENCH_REGISTRY", str(path))

    def write(content):
        path.write_text(
            content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        )
        return path

    return write


def test_shipped_files_keep_their_schemas():
    for name in ("datasets", "field_best"):
        validate(read_yaml(config_path(f"{name}.yaml")), name, name)


def test_shipped_registry_is_whole():
    seen = {}
    for name, entry in registry.entries().items():
        loader = loader_of(entry)
        assert entry.files or loader.generate, name
        for file in entry.files.values():
            # a file is registered the same way wherever it is used
            assert seen.setdefault(file.mirror, file) == file
            # A file in the folder of a paper travels with it.
            whole = (file.sha256 and file.bytes and file.urls) or entry.manual or entry.folder
            assert whole, (name, file.mirror)
            for url in map(str, file.urls):
                if "githubusercontent.com" in url:
                    assert re.search(r"\.com/[^/]+/[^/]+/[0-9a-f]{40}/", url), url


@pytest.mark.parametrize(
    ("name", "kind", "arrays"),
    [
        ("Checker", "pairs", {"row_features", "col_features", "rows", "cols", "labels"}),
        ("Ki", "label matrix", {"values", "labels", "drug_similarity", "target_similarity"}),
        ("satimage", "vectors", {"X", "y"}),
        ("wipo-d", "documents", {"X", "y", "parents"}),
        ("uscode", "documents", {"X", "y", "X_novel", "y_novel", "parents"}),
        ("wipo-alpha-index", "classes", {"y", "parents"}),
        ("human-cold", "pairs of texts", {"smiles", "sequences", "rows", "cols", "parts"}),
    ],
)
def test_kind_says_which_arrays_there_are(name, kind, arrays):
    data = datasets.load(name, policy="surrogate")
    assert data.kind == data.provenance["kind"] == datasets.describe(name)["kind"] == kind
    assert arrays <= data.arrays.keys()
    if "X" in arrays:
        assert sparse.issparse(data["X"]) == (kind == "documents")


def test_unknown_name_lists_close_ones_and_how_to_list_all():
    with pytest.raises(InputError, match=r"no data set 'gcpr'; did you mean .*GPCR.*data list"):
        registry.find("gcpr")
    with pytest.raises(InputError, match=r"no data set 'zzzzzz'; 'python -m kronbench data list'"):
        datasets.load("zzzzzz")


def test_own_registry_adds_what_no_paper_speaks_of(own, tmp_path, monkeypatch):
    text = "\tD1\tD2\nT1\t1\t0\n"
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "drugs.txt").write_text("\tD1\tD2\nD1\t1\t0\nD2\t0\t1\n")
    (tmp_path / "targets.txt").write_text("\tT1\nT1\t1\n")
    names = {"interactions": "a.txt", "drugs": "drugs.txt", "targets": "targets.txt"}
    files = {key: {"mirror": name} for key, name in names.items()}
    mine = {key: value for key, value in ENTRY.items() if key != "options"}
    own({"Mine": ENTRY, "Ours": {**mine, "loader": "interactions", "files": files}})
    assert datasets.names()[-2:] == ["Mine", "Ours"]
    assert [registry.find(name).own for name in ("ours", "Ki")] == [True, False]
    ours = datasets.load("ours", policy="real", mirror=tmp_path)
    assert ours.source == ours.provenance["source"] == "own"
    assert ours["values"].tolist() == [[1], [0]]
    data = datasets.load("MINE", policy="real")
    assert (data.name, data.source, data.title) == ("Mine", "generated", "One")
    assert len(data["rows"]) == 8


def test_a_loader_is_found_in_the_module_that_an_entry_names(monkeypatch):
    twonorm = registry.entries()["twonorm"]
    mine = datasets.LOADERS["twonorm"]
    monkeypatch.setattr(generators, "MINE", mine, raising=False)
    same = dataclasses.replace(twonorm, loader="generators:MINE")
    assert loader_of(same) is datasets.LOADERS["twonorm"]
    with pytest.raises(
        InputError, match=r"twonorm: the loader 'generators:MIEN': Attrib.* 'MIEN'"
    ):
        loader_of(dataclasses.replace(twonorm, loader="generators:MIEN"))


def test_own_data_are_stale_by_their_bytes_not_by_their_place(own, tmp_path, monkeypatch):
    own({"Mine": {**ENTRY, "loader": "table", "files": {"data": {"mirror": "a.txt"}}}})

    def settings(mirror=None):
        return datasets.record_of("Mine", mirror=mirror).settings

    places = [tmp_path / "here", tmp_path / "there"]
    for place in places:
        place.mkdir()
        (place / "a.txt").write_text("1")
    here, there = (settings(place) for place in places)
    monkeypatch.setenv("KRONBENCH_MIRROR", str(places[1]))
    assert here == there == settings()
    (places[1] / "a.txt").write_text("2")
    assert settings() != here
    (tmp_path / "a.txt").write_text("1")  # beside the registry, where it is looked for first
    assert settings() == here


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("One: [", "not valid YAML"),
        ("One: {title: a, title: b}", "'title' is given twice"),
        ("One: 1\nOne: 2", "'One' is given twice"),
        ({"One": ENTRY, "ONE": ENTRY}, "differ only in case"),
        ({"One": ENTRY, "GPCR": ENTRY}, "GPCR has the name of the shipped data set GPCR"),
        ({"One": ENTRY, "gpcr": ENTRY}, "gpcr has the name of the shipped data set GPCR"),
        ({"One": ENTRY | {"shpae": {}}}, "One: unknown key 'shpae'; known are: title"),
        *(
            ({"One": ENTRY | {"files": {"a": file}}}, message)
            for file, message in [
                ({"mirror": "a", "urls": ["http://x"]}, "'sha256' is a dependency"),
                ({**FILE, "mirror": "../a"}, "One.files.a.mirror: '../a' does not"),
                ({**FILE, "mirror": "/a"}, "One.files.a.mirror: '/a' does not"),
                ({**FILE, "urls": ["ftp:x"]}, "One.files.a.urls.0: 'ftp:x' does not"),
            ]
        ),
    ],
)
def test_registry_errors_name_the_place_and_the_fault(own, content, message):
    path = own(content)
    with pytest.raises(InputError) as caught:
        datasets.load("One")
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_changed_registry_is_read_again(own):
    own({"One": ENTRY})
    registry.entries()
    path = own({"Two": ENTRY, "Three": ENTRY})
    path.touch()
    assert datasets.names()[-2:] == ["Two", "Three"]
    path.unlink()
    with pytest.raises(InputError, match=r"own\.yaml cannot be read"):
        registry.entries()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loader": "x y"}, "there is no loader 'x y'"),
        ({"shape": {"rows": [9]}}, "One: rows is 8 where the registry has 9"),
        ({"shape": {"row_features": [4, 2]}}, "is 4 x 1 where the registry has 4 x 2"),
        ({"shape": {"rows": [8, 1]}}, "rows is 8 where the registry has 8 x 1"),
        ({"shape": {"values": [1]}}, "One: there is no array 'values'"),
        ({"options": {"m": 4, "fractoin": 1}}, "One: options do not fit 'checkerboard'"),
        ({"options": ENTRY["options"] | {"m": 0}}, "m is 0"),
        ({"options": ENTRY["options"] | {"fraction": 1.5}}, "fraction is 1.5"),
        ({"options": ENTRY["options"] | {"flip": -0.1}}, "flip is -0.1"),
        ({"loader": "interactions"}, "the loader 'interactions' needs files"),
        ({"files": {"a": FILE}}, "the loader 'checkerboard' reads no files"),
    ],
)
def test_entry_that_its_data_contradict(own, change, message):
    own({"One": ENTRY | change})
    with pytest.raises(InputError) as caught:
        datasets.load("One")
    assert message in str(caught.value)


def test_options_that_only_the_parser_takes_are_checked_for_a_surrogate_too(own):
    entry = {**ENTRY, "loader": "interactions", "files": {"drugs": FILE}, "surrogate": SURROGATE}
    own({"One": entry | {"options": {}}})
    assert datasets.load("One", policy="surrogate")["values"].shape == (6, 5)
    own({"Two": entry | {"options": {"at_lesat": 1}}})
    with pytest.raises(InputError, match=r"Two: options do not fit 'interactions': .*at_lesat"):
        datasets.load("Two", policy="surrogate")
