"""An archive has what a reader needs, the same bytes each time, and shows what was done to it."""

import json
import os
import re
import shutil
import stat
import struct
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import quote, unquote

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from kronbench.cli import main
from kronbench.errors import InputError
from kronbench.reference import archive as archives
from kronbench.reference.archive import CRATE, MANIFEST, README, archive, verify
from kronbench.reference.compare import compare, read_run
from tests.helpers import seal

ROOT = Path(__file__).parents[2]
TABLE = "results/small/airola/figure-1.csv"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def small_run(folder):
    """A finished run of one item and two parts."""
    write(folder / "config.yaml", "scale: small\n")
    claims = [("a", "holds", "1"), ("b", "contradicted", "2")]
    claims = pd.DataFrame(claims, columns=["id", "verdict", "measured"])
    claims = claims.assign(
        paper="airola", item="t", kind="evidence", whose="paper", cause="", timing=False
    )
    write(folder / "report/claims.csv", claims.to_csv(index=False))
    write(folder / "report/index.html", "<html></html>")
    for part, hour in (("Checker+", 20), ("E", 18)):
        sidecar = {
            "environment": {
                "time": f"2026-11-21T{hour}:58:37+00:00",
                "revision": "abc+changes",
                "cpu": "a cpu",
                "cores": 2,
            },
            "data": {"name": part, "source": "mirror", "files": [{"sha256": "0f"}]},
        }
        write(folder / f"airola/tables/figure-1/{part}.json", json.dumps(sidecar))
        write(folder / f"airola/tables/figure-1/{part}.csv", "x,y\n1,2\n")
        seal(folder / f"airola/tables/figure-1/{part}.csv")
    write(folder / "airola/figure-1.csv", "x,y\n" + "".join(f"{x},2\n" for x in range(100)))
    write(folder / "airola/figure-1.json", '{"columns": {"key": ["x"], "numbers": ["y"]}}')
    write(folder / "airola/figure-1.png", os.urandom(2**20))
    provenance = {
        "title": "Checkerboard",
        "source": "generated",
        "licence": "none",
        "citation": "Airola & Pahikkala (2018)",
        "files": [],
    }
    write(folder / "data/checker+/provenance.json", json.dumps(provenance))
    write(folder / "data/checker+/data.npz", b"arrays")
    write(folder / "logs/airola/figure-1/E.log", "a path of this machine")
    write(folder / "airola/.figure-1-abc.csv", "half")
    (folder / "airola" / "linked.csv").symlink_to(__file__)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="module")
def archived(run, tmp_path_factory):
    target = tmp_path_factory.mktemp("archives") / "small.zip"
    archive(run, target)
    return target


def contents(path):
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed_as(path, files):
    """A zip of these files: names or ``ZipInfo`` with their bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files:
            packed.writestr(name, content)
    return path


def test_it_holds_the_run_and_what_made_it_and_nothing_else(archived):
    found = set(contents(archived))
    results = {name for name in found if name.startswith("results/")}
    assert results == {
        *(
            f"results/small/{name}"
            for name in ("config.yaml", "airola/figure-1.csv", "airola/figure-1.json")
        ),
        *(f"results/small/report/{name}" for name in ("claims.csv", "index.html")),
        *(
            f"results/small/airola/tables/figure-1/{part}{suffix}"
            for part in ("Checker+", "E")
            for suffix in (".csv", ".json")
        ),
        "results/small/airola/figure-1.png",
        "results/small/data/checker+/provenance.json",
    }
    assert {"Snakefile", "workflow/rules/report.smk", "config/datasets.yaml"} <= found
    assert {"requirements.lock", "LICENSE", "CITATION.cff", README, CRATE, MANIFEST} <= found
    assert not [name for name in found if "__pycache__" in name or "/." in name]


@pytest.mark.parametrize("content", [None, "", "x,y\n1,3\n"], ids=["lost", "empty", "edited"])
def test_a_table_that_is_lost_or_edited_is_named(run, tmp_path, content):
    folder = tmp_path / "small"
    shutil.copytree(run, folder)
    table = folder / "airola/tables/figure-1/E.csv"
    table.unlink() if content is None else table.write_text(content)
    with pytest.raises(InputError, match=re.escape(str(table))):
        archive(folder, tmp_path / "small.zip")
    assert not (tmp_path / "small.zip").exists()


@pytest.mark.parametrize("content", ["", "[]", "seed: 1\n"])
def test_a_configuration_without_a_scale_is_named(run, tmp_path, content):
    folder = tmp_path / "small"
    shutil.copytree(run, folder)
    (folder / "config.yaml").write_text(content)
    with pytest.raises(InputError, match=r"config\.yaml holds no settings of a run"):
        archive(folder, tmp_path / "small.zip")


def test_a_private_file_in_the_checkout_stays_there(run, tmp_path, monkeypatch):
    """As a registry of one's own data sets is one."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{ROOT}", clone], check=True)
    write(clone / "config/private.yaml", "nr: the address of a patient")
    write(clone / "workflow/rules/private.smk", "")
    monkeypatch.setattr(archives, "checkout_path", clone.joinpath)
    archive(run, tmp_path / "small.zip")
    found = set(contents(tmp_path / "small.zip"))
    assert {"config/datasets.yaml", "workflow/rules/common.smk"} <= found
    assert not [name for name in found if "private" in name]
    shutil.rmtree(clone / ".git")
    with pytest.raises(InputError, match=r"no git checkout .* call kronbench in a clone"):
        archive(run, tmp_path / "other.zip")


def test_the_same_files_give_the_same_bytes_at_another_time_and_place(run, archived, tmp_path):
    other = tmp_path / "elsewhere"
    for path in sorted((path for path in run.rglob("*") if path.is_file()), reverse=True):
        copy = other / path.relative_to(run)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy, follow_symlinks=False)
        if not copy.is_symlink():
            os.utime(copy, (1e9, 1e9))
            copy.chmod(0o600)
    archive(other, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archived.read_bytes()
    with zipfile.ZipFile(archived) as packed:
        dates = {info.date_time for info in packed.infolist()}
    assert dates == {(2026, 11, 21, 20, 58, 36)}, "the last measurement; a zip counts two seconds"


def test_the_manifest_is_that_of_sha256sum(archived, tmp_path):
    with zipfile.ZipFile(archived) as packed:
        packed.extractall(tmp_path)
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        assert os.system(f"sha256sum --check --strict --quiet {MANIFEST}") == 0
    finally:
        os.chdir(here)


def test_an_unpacked_archive_compares_equal_with_its_run(run, archived, tmp_path):
    with zipfile.ZipFile(archived) as packed:
        packed.extractall(tmp_path)
    (run / "airola" / "linked.csv").unlink()
    try:
        assert compare(read_run(run), read_run(tmp_path / "results" / "small")) == []
    finally:
        (run / "airola" / "linked.csv").symlink_to(__file__)


def test_what_is_not_in_it_is_said_and_the_largest_files_leave_first(run, tmp_path, capsys):
    assert main(["archive", str(run), "-o", str(tmp_path / "a.zip"), "--limit", "1"]) == 0
    said, files = capsys.readouterr().out, contents(tmp_path / "a.zip")
    readme = files[README].decode()
    assert "results/small/airola/figure-1.png" not in files
    for text in (said, readme):
        assert "predictions: no experiment stores them" in text
        assert re.search(r"figure-1\.png: 1048576 bytes, sha256 [0-9a-f]{64}, for the limit", text)
    assert "results/small/airola/figure-1.csv" in files
    assert verify(tmp_path / "a.zip").complaints == ()


def test_each_changed_missing_and_extra_file_is_one_sentence(archived, tmp_path, capsys):
    assert main(["verify", str(archived)]) == 0
    assert "files as written, sha256" in capsys.readouterr().out
    files = contents(archived)
    files[TABLE] = files[TABLE].replace(b"1,2", b"1,3", 1)
    del files["results/small/report/index.html"]
    files["results/small/more.csv"] = b""
    changed = packed_as(tmp_path / "changed.zip", files.items())
    assert main(["verify", str(changed)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"{TABLE} was changed: its sha256 is ")
    assert lines[1] == "results/small/more.csv is extra: the manifest does not name it"
    assert lines[2] == "results/small/report/index.html is missing"


def named(name, content=b"x", *, mode=stat.S_IFREG | 0o644):
    info = zipfile.ZipInfo("placeholder")
    info.filename = name  # its constructor would mend some names
    info.external_attr = mode << 16
    return info, content


def bomb(path):
    """Two files that say they have 4 GiB each: the sizes in the directory are forged."""
    content = bytearray(packed_as(path, [("a", b""), ("b", b"")]).read_bytes())
    for place in [match.start() for match in re.finditer(rb"PK\x01\x02", content)]:
        content[place + 24 : place + 28] = struct.pack("<I", 2**32 - 2)
    path.write_bytes(content)


def encrypted(path):
    packed_as(path, [(MANIFEST, b"x")])
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)


HARMFUL = {
    "climbs": (lambda path: packed_as(path, [named("../../x")]), "leads out of its folder"),
    "climbs later": (lambda path: packed_as(path, [named("a/../../x")]), "leads out of"),
    "absolute": (lambda path: packed_as(path, [named("/etc/x")]), "leads out of its folder"),
    "drive": (lambda path: packed_as(path, [named("C:/x")]), "leads out of its folder"),
    "backslash": (lambda path: packed_as(path, [named("..\\x")]), "leads out of its folder"),
    "terminal codes": (lambda path: packed_as(path, [named("\x1b[2J")]), "leads out of"),
    "link": (
        lambda path: packed_as(path, [named("a", b"/etc", mode=stat.S_IFLNK | 0o777)]),
        "no plain file",
    ),
    "folder": (lambda path: packed_as(path, [named("a/", b"")]), "no plain file"),
    "bomb": (bomb, "would unpack to 8589934588 bytes"),
    "encrypted": (encrypted, "encrypted"),
    "no manifest": (lambda path: packed_as(path, [("a", b"x")]), f"has no {MANIFEST}"),
    "other manifest": (lambda path: packed_as(path, [(MANIFEST, b"x y\n")]), "no sum of a file"),
    "text": (lambda path: path.write_text("no zip"), "no whole zip file"),
    "nothing": (lambda path: path.write_bytes(b""), "no whole zip file"),
    "not there": (lambda path: None, "cannot be read"),
    "a folder itself": (lambda path: path.mkdir(), "cannot be read"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("what", HARMFUL)
def test_a_harmful_file_is_one_sentence_and_writes_nothing(what, tmp_path, monkeypatch, capsys):
    make, sentence = HARMFUL[what]
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "x.zip")
    before = sorted(tmp_path.rglob("*"))
    assert main(["verify", "x.zip"]) == 2
    assert re.search(rf"^kronbench: error: .*{re.escape(sentence)}.*\n$", capsys.readouterr().err)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_given_twice_is_refused(tmp_path):
    packed_as(tmp_path / "x.zip", [("a", b"one"), ("a", b"two")])
    with pytest.raises(InputError, match="two files of the name a"):
        verify(tmp_path / "x.zip")


def test_a_truncated_archive_is_one_sentence(archived, tmp_path):
    whole = archived.read_bytes()
    for share in (0.1, 0.5, 0.999):
        write(tmp_path / "x.zip", whole[: int(share * len(whole))])
        with pytest.raises(InputError, match="no whole zip file"):
            verify(tmp_path / "x.zip")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A small file of an archive's form, so that damage often meets what matters."""
    sums = "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603  a/b\n"  # of "ab"
    return packed_as(
        tmp_path_factory.mktemp("tiny") / "x.zip", [("a/b", b"ab"), (MANIFEST, sums.encode())]
    )


@given(data=st.data())
def test_damage_is_found_or_harmless(tiny, tmp_path_factory, data):
    assert verify(tiny).complaints == ()
    content = bytearray(tiny.read_bytes())
    places = st.integers(0, len(content) - 1)
    for place, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=4)):
        content[place] = value
    damaged = tmp_path_factory.getbasetemp() / "damaged.zip"
    damaged.write_bytes(content)
    try:
        found = verify(damaged)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        if not found.complaints:
            assert contents(damaged) == contents(tiny)


def test_what_is_no_finished_run_is_refused_and_nothing_is_written(run, tmp_path):
    for part in ("config.yaml", "report/claims.csv", "airola/tables"):
        copy = tmp_path / part.replace("/", "-")
        shutil.copytree(run, copy, symlinks=True)
        missing = copy / part
        shutil.rmtree(missing) if missing.is_dir() else missing.unlink()
        with pytest.raises(InputError, match=re.escape(str(copy))):
            archive(copy, tmp_path / "x.zip")
    assert not list(tmp_path.glob("*x*.zip"))


def test_what_cannot_be_written_is_one_sentence(run, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["archive", str(run), "-o", str(tmp_path / "file" / "x.zip")]) == 2
    assert "cannot be read or written: " in capsys.readouterr().err
    assert main(["archive", str(run), "-o", str(tmp_path / "x.zip"), "--limit", "0"]) == 2
    assert "over the limit of 0 MiB" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [("surrogate", "which say nothing about the papers"), ("own", "of which no paper speaks")],
)
def test_data_that_are_not_the_papers_are_said(source, sentence, run, archived, tmp_path):
    assert f"{sentence}: none." in contents(archived)[README].decode()
    copy = tmp_path / "small"
    shutil.copytree(run, copy, symlinks=True)
    provenance = copy / "data/checker+/provenance.json"
    provenance.write_text(provenance.read_text().replace("generated", source))
    archive(copy, tmp_path / "x.zip")
    assert f"{sentence}: checker+." in contents(tmp_path / "x.zip")[README].decode()


def test_the_crate_describes_every_file_and_points_nowhere_else(archived):
    files = contents(archived)
    graph = json.loads(files[CRATE])["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert len(entities) == len(graph)
    parts = {unquote(part["@id"]) for part in entities["./"]["hasPart"]}
    assert parts == {name for name in files if name != CRATE}
    sizes = {name: entities[quote(name)].get("contentSize") for name in parts - {MANIFEST}}
    assert sizes == {name: str(len(files[name])) for name in sizes}
    for entity in graph:
        for value in entity.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict) and "://" not in reference["@id"]:
                    assert reference["@id"] in entities
    action = entities["#run"]
    assert action["instrument"] == entities["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert (action["startTime"], action["endTime"]) == (
        "2026-11-21T18:58:37+00:00",
        "2026-11-21T20:58:37+00:00",
    )


def test_who_made_the_run_is_said_where_it_is_known(run, archived, tmp_path):
    command = ["archive", str(run), "-o", str(tmp_path / "x.zip"), "--author", "A. Name"]
    assert main(command) == 0
    graph = json.loads(contents(tmp_path / "x.zip")[CRATE])["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert entities["#author"] == {"@id": "#author", "@type": "Person", "name": "A. Name"}
    assert entities["./"]["author"] == entities["#run"]["agent"] == {"@id": "#author"}
    assert "#author" not in contents(archived)[CRATE].decode()


# What is recommended and not so here. The project has no public address and no publisher; the
# identifier of a workflow is its path in the archive, as the profile itself wants it; and of
# whoever made the run only the name is asked for.
NOT_MET = {
    "Application url",
    "SoftwareApplication id",
    "Root Data Entity: `publisher` property",
    "CreativeWork Author: RECOMMENDED affiliation property",
    "CreativeWork Author: RECOMMENDED Contextual Entity linked for the organizational "
    "`affiliation` property",
}


def test_the_crate_is_valid(run, tmp_path):
    services = pytest.importorskip(
        "rocrate_validator.services", reason="roc-validator is not installed"
    )
    from rocrate_validator.models import ValidationSettings

    archive(run, tmp_path / "x.zip", author="A. Name")
    settings = {
        "rocrate_uri": tmp_path / "x.zip",
        "profile_identifier": "workflow-run-crate-0.5",
        "requirement_severity": "RECOMMENDED",
    }
    for offline in (True, False):  # contexts out of its cache, else from w3id.org
        try:
            result = services.validate(ValidationSettings(offline=offline, **settings))
        except Exception as error:
            reason = error
            continue
        reason = [str(issue.message) for issue in result.get_issues()]
        if not any("Unable to retrieve the JSON-LD context" in text for text in reason):
            break
    else:
        pytest.skip(f"the JSON-LD contexts could not be obtained: {reason}")
    issues = {issue.check.name: issue.message for issue in result.get_issues()}
    assert set(issues) <= NOT_MET, issues
    assert len(result.executed_checks) > 50
