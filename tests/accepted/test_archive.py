"""An archive has what a reader needs, its sums, its description, and the same bytes each time."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from kronbench.errors import InputError
from kronbench_suite.accepted import archive as archives
from kronbench_suite.accepted.archive import CRATE, MANIFEST, archive
from kronbench_suite.accepted.compare import compare, read_run
from kronbench_suite.cli import main
from tests.accepted.test_compare import folder as run_of
from tests.helpers import seal

ROOT = Path(__file__).parents[2]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of one item and two parts."""
    folder = run_of(tmp_path_factory.mktemp("runs") / "small", verdicts=("holds", "contradicted"))
    shutil.rmtree(folder / "airola" / "tables")
    write(folder / "config.yaml", "scale: small\n")
    write(folder / "report/index.html", "<html></html>")
    write(folder / "report/summary.txt", "claims of the papers: 1 holds, 1 contradicted\n")
    for part, hour in (("Checker+", 20), ("E", 18)):
        environment = {"time": f"2026-11-21T{hour}:58:37+00:00", "revision": "abc", "cpu": "a cpu"}
        data = {"name": part, "source": "mirror", "files": [{"sha256": "0f"}]}
        sidecar = json.dumps({"environment": environment, "data": data})
        write(folder / f"airola/tables/t/{part}.json", sidecar)
        write(folder / f"airola/tables/t/{part}.csv", "x,y\n1,2\n")
        seal(folder / f"airola/tables/t/{part}.csv")
    write(folder / "airola/t.png", b"picture")
    write(folder / "data/checker+/provenance.json", '{"source": "generated"}')
    write(folder / "data/checker+/data.npz", b"arrays")
    write(folder / "logs/airola/t/E.log", "a path of this machine")
    write(folder / "airola/.unfinished-abc.csv", "half")
    write(folder / "airola/tables/t/.unfinished-abc.json", "")
    (folder / "airola" / "linked.png").symlink_to(__file__)
    return folder


@pytest.fixture(scope="module")
def archived(run, tmp_path_factory):
    target = tmp_path_factory.mktemp("archives") / "small.zip"
    archive(run, target, author="A. Name")
    return target


def contents(path):
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_it_holds_the_run_and_what_made_it_and_nothing_else(archived):
    files = contents(archived)
    results = {name for name in files if name.startswith("results/")}
    tables = [f"airola/tables/t/{part}" for part in ("Checker+", "E")]
    names = [f"{table}{suffix}" for table in tables for suffix in (".csv", ".json")]
    names += [f"airola/t.{suffix}" for suffix in ("csv", "json", "png")]
    names += [f"report/{name}" for name in ("claims.csv", "index.html", "summary.txt")]
    names += ["config.yaml", "data/checker+/provenance.json"]
    assert results == {f"results/small/{name}" for name in names}
    assert {"Snakefile", "workflow/rules/report.smk", "config/datasets.yaml"} <= set(files)
    assert {"requirements.lock", "LICENSE", "CITATION.cff", CRATE, MANIFEST} <= set(files)
    assert not [name for name in files if "__pycache__" in name or "/." in name]
    assert "1 holds, 1 contradicted" in files["README.md"].decode()


def test_the_manifest_is_that_of_sha256sum_and_the_run_compares_equal(run, archived, tmp_path):
    with zipfile.ZipFile(archived) as packed:
        packed.extractall(tmp_path)
    command = ["sha256sum", "--check", "--strict", "--quiet", MANIFEST]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert compare(read_run(run), read_run(tmp_path / "results" / "small")) == []


def test_the_same_files_give_the_same_bytes_at_another_time_and_place(run, archived, tmp_path):
    other = tmp_path / "small"
    shutil.copytree(run, other, symlinks=True)
    for path in other.rglob("*"):
        os.utime(path, (1e9, 1e9), follow_symlinks=False)
    archive(other, tmp_path / "again.zip", author="A. Name")
    assert (tmp_path / "again.zip").read_bytes() == archived.read_bytes()


@pytest.mark.parametrize("content", [None, "", "x,y\n1,3\n"], ids=["lost", "empty", "edited"])
def test_a_table_that_is_lost_or_edited_is_named(run, tmp_path, content):
    folder = tmp_path / "small"
    shutil.copytree(run, folder, symlinks=True)
    table = folder / "airola/tables/t/E.csv"
    table.unlink() if content is None else table.write_text(content)
    with pytest.raises(InputError, match=re.escape(str(table))):
        archive(folder, tmp_path / "small.zip")
    assert os.listdir(tmp_path) == ["small"]


def test_what_is_no_finished_run_is_refused(run, tmp_path, capsys):
    for part in ("config.yaml", "report/summary.txt"):
        copy = tmp_path / part.replace("/", "-")
        shutil.copytree(run, copy, symlinks=True)
        (copy / part).unlink()
        assert main(["archive", str(copy), "-o", str(tmp_path / "x.zip")]) == 2
        assert f"{copy} is not a finished run" in capsys.readouterr().err
    assert not list(tmp_path.glob("*x.zip*"))


def test_a_private_file_in_the_checkout_stays_there(run, tmp_path, monkeypatch):
    """As a registry of one's own data sets is one."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{ROOT}", clone], check=True)
    write(clone / "config/private.yaml", "nr: the address of a patient")
    monkeypatch.setattr(archives, "checkout_path", clone.joinpath)
    archive(run, tmp_path / "small.zip")
    found = contents(tmp_path / "small.zip")
    assert "config/datasets.yaml" in found
    assert "config/private.yaml" not in found
    shutil.rmtree(clone / ".git")
    with pytest.raises(InputError, match=r"not a git checkout .* run kronbench in a clone"):
        archive(run, tmp_path / "other.zip")


def test_the_crate_describes_every_file_and_points_nowhere_else(archived):
    files = contents(archived)
    graph = json.loads(files[CRATE])["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    parts = {unquote(part["@id"]) for part in entities["./"]["hasPart"]}
    assert parts == {name for name in files if name != CRATE}
    for name in parts - {MANIFEST}:
        assert entities[quote(name)]["contentSize"] == str(len(files[name]))
    for entity in graph:
        for value in entity.values():
            for reference in value if isinstance(value, list) else [value]:
                if isinstance(reference, dict) and "://" not in reference["@id"]:
                    assert reference["@id"] in entities
    action = entities["#run"]
    assert action["instrument"] == entities["./"]["mainEntity"] == {"@id": "Snakefile"}
    assert action["startTime"] == "2026-11-21T18:58:37+00:00"
    assert entities["./"]["datePublished"] == action["endTime"] == "2026-11-21T20:58:37+00:00"
    assert entities["#author"]["name"] == "A. Name"
    assert entities["./"]["creator"] == action["agent"] == {"@id": "#author"}
