import gzip
import hashlib
import types
from pathlib import Path

import pytest
import yaml

from kronbench import InputError, datasets
from kronbench.datasets import fetch, registry
from kronbench.datasets.registry import FileEntry
from tests.datasets.small_file import (
    CONTENT,
    PLAIN,
    SUM,
    WRONG,
    WRONG_SUM,
    cached_files,
    downloadable,
    read,
)

pytestmark = pytest.mark.usefixtures("alone")


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


# --- mirrors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_mirror_folder_is_read_in_place(mirror, alone, packed):
    path = mirror(gzip.compress(CONTENT), "one/a.txt.gz") if packed else mirror(CONTENT)
    file = fetch.obtain(PLAIN, [mirror.folder])
    assert read(file) == CONTENT
    assert file.name == str(path)
    assert file.source == "mirror"
    assert (file.record.sha256, file.record.bytes) == (SUM, len(CONTENT))
    assert cached_files(alone) == []


@pytest.mark.parametrize(
    "content",
    [gzip.compress(CONTENT)[:-9], CONTENT, b"", gzip.compress(CONTENT)[:15] + b"\xff" * 9],
    ids=["truncated", "not gzip", "empty", "garbled"],
)
def test_bad_gzip_file_is_one_sentence(mirror, content):
    path = mirror(content, "one/a.txt.gz")
    with pytest.raises(InputError) as caught:
        fetch.obtain(PLAIN, [mirror.folder])
    assert str(path) in str(caught.value)


def test_a_gzip_file_is_unpacked_to_its_limit_and_no_further(mirror, monkeypatch):
    entry = FileEntry("one/a.txt", SUM, bytes=len(CONTENT))
    path = mirror(gzip.compress(bytes(20 * entry.limit)), "one/a.txt.gz")
    unpacked = []
    read = gzip.GzipFile.read
    monkeypatch.setattr(
        gzip.GzipFile, "read", lambda *args: unpacked.append(read(*args)) or unpacked[-1]
    )
    told = f"{path} has more than {entry.limit} bytes, {len(CONTENT)} are registered: "
    told += "it is a different file"
    with pytest.raises(InputError) as refused:
        fetch.obtain(entry, [mirror.folder])
    assert str(refused.value) == told
    assert sum(map(len, unpacked)) <= entry.limit + (1 << 20)


def test_bad_mirror_file_is_an_error_even_where_a_good_one_could_be_downloaded(mirror, server):
    path = mirror(WRONG)
    server.files["/a.txt"] = CONTENT
    with pytest.raises(InputError) as caught:
        fetch.obtain(downloadable(f"{server.url}/a.txt"), [mirror.folder])
    for part in (str(path), SUM, WRONG_SUM):
        assert part in str(caught.value)
    assert server.asked == []


def test_second_accepted_file_is_known_by_its_git_blob_id(mirror):
    mirror(WRONG)
    entry = FileEntry("one/a.txt", SUM, git_blob=git_blob(WRONG))
    assert fetch.obtain(entry, [mirror.folder]).record.sha256 == WRONG_SUM
    with pytest.raises(InputError, match=WRONG_SUM):
        fetch.obtain(FileEntry("one/a.txt", SUM, git_blob=git_blob(b"")), [mirror.folder])


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_remote_mirror_is_kept_in_the_cache(server, alone, ending):
    server.files[f"/data/one/a.txt{ending}"] = gzip.compress(CONTENT) if ending else CONTENT
    base = f"{server.url}/data/"
    for source, origin in (("mirror", f"{base}one/a.txt{ending}"), ("download", "cache")):
        file = fetch.obtain(PLAIN, [base])
        assert read(file) == CONTENT
        assert (file.source, file.record.origin) == (source, origin)
    assert len(server.asked) == (2 if ending else 1)
    assert cached_files(alone) == [f"one/a.txt{ending}"]


def test_server_that_unpacks_on_the_way(server):
    server.files["/one/a.txt.gz"] = CONTENT
    assert read(fetch.obtain(PLAIN, [server.url])) == CONTENT


# --- files put in place by hand ---------------------------------------------------------------


def test_file_put_in_place_by_hand(mirror, alone):
    path = alone / "manual" / "one" / "a.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    mirror(CONTENT)
    for entry in (PLAIN, FileEntry("one/a.txt")):
        file = fetch.obtain(entry, [mirror.folder])
        assert (file.source, file.name, file.record.sha256) == ("manual", str(path), SUM)
    path.write_bytes(WRONG)
    with pytest.raises(InputError, match=WRONG_SUM):
        fetch.obtain(PLAIN, [mirror.folder])


def test_without_a_checksum_nothing_is_downloaded(server, alone):
    server.files["/one/a.txt"] = CONTENT
    with pytest.raises(fetch.Unavailable, match=r"not in|no folder"):
        fetch.obtain(FileEntry("one/a.txt"), [server.url])
    assert server.asked == []


# --- downloads --------------------------------------------------------------------------------


def test_download_is_checked_kept_and_not_repeated(server, alone):
    server.files["/a.txt"] = CONTENT
    url = f"{server.url}/a.txt"
    for origin in (url, "cache"):
        file = fetch.obtain(downloadable(url))
        assert read(file) == CONTENT
        assert (file.source, file.record.origin) == ("download", origin)
    assert server.asked == ["/a.txt"]
    assert cached_files(alone) == ["one/a.txt"]


@pytest.mark.parametrize("content", [WRONG, CONTENT[:-1], b"", b"<html>not found</html>"])
def test_wrong_download_shows_both_sums_and_keeps_nothing(server, alone, content):
    server.files["/a.txt"] = content
    with pytest.raises(InputError) as caught:
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    for part in (f"{server.url}/a.txt", SUM, hashlib.sha256(content).hexdigest()):
        assert part in str(caught.value)
    assert cached_files(alone) == []


def test_pinned_copy_stands_in_for_a_page_that_changed(server, alone, caplog):
    server.files |= {"/new.txt": WRONG, "/pinned.txt": CONTENT}
    entry = downloadable(f"{server.url}/new.txt", f"{server.url}/pinned.txt")
    assert fetch.obtain(entry).record.origin == f"{server.url}/pinned.txt"
    assert WRONG_SUM in caplog.text
    assert "nothing of it was kept" in caplog.text


def test_cache_that_cannot_be_written_is_said(alone, server):
    alone.write_text("a file where the folder should be")
    server.files["/a.txt"] = CONTENT
    with pytest.raises(fetch.Unavailable, match="cannot be written"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert server.asked == []


# --- policies ---------------------------------------------------------------------------------

TABLES = {
    "a.txt": b"\tD1\tD2\tD3\nT1\t1\t0\t0\nT2\t0\t1\t1\n",
    "d.txt": b"\tD1\tD2\tD3\nD1\t1\t.5\t0\nD2\t.5\t1\t0\nD3\t0\t0\t1\n",
    "t.txt": b"\tT1\tT2\nT1\t1\t.2\nT2\t.2\t1\n",
}


@pytest.fixture
def small(tmp_path, monkeypatch, closed):
    """A shipped registry of one small data set of three files, whose urls nobody answers."""
    files = {
        key: {
            "mirror": f"small/{name}",
            "sha256": hashlib.sha256(TABLES[name]).hexdigest(),
            "bytes": len(TABLES[name]),
            "urls": [closed],
        }
        for key, name in zip(("interactions", "drugs", "targets"), TABLES, strict=True)
    }
    sizes = {"drugs": 3, "targets": 2, "interactions": 3}
    entry = {
        "title": "Small",
        "loader": "interactions",
        "surrogate": {**sizes, "drug_similarity": 0.3, "target_similarity": 0.2},
        "files": files,
        "shape": {"values": [3, 2]},
        "licence": "none",
        "citation": "nobody",
    }
    path = tmp_path / "datasets.yaml"
    monkeypatch.setattr(registry, "config_path", tmp_path.joinpath)

    def write(**changes):
        path.write_text(yaml.safe_dump({"Small": entry | changes}, sort_keys=False))

    def fill(folder, **changed):
        for name, content in TABLES.items():
            path = Path(folder, "small", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(changed.get(name[0], content))

    write()
    return types.SimpleNamespace(write=write, fill=fill, files=files)


def test_mirror_gives_real_data(small, mirror, monkeypatch):
    small.fill(mirror.folder)
    data = datasets.load("small", policy="real", mirror=mirror.folder)
    assert data.source == "mirror"
    assert data["values"].tolist() == [[1, 0], [0, 1], [0, 1]]
    assert [record.path for record in data.files] == [f"small/{name}" for name in TABLES]
    monkeypatch.setenv("KRONBENCH_MIRROR", mirror.folder)
    assert datasets.load("SMALL").source == "mirror"


def test_offline_the_surrogate_steps_in_and_says_so_once(small, caplog):
    data = datasets.load("Small")
    assert data.source == "surrogate"
    assert data.files == ()
    lines = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(lines) == 1
    assert "SURROGATE DATA for Small" in caplog.text
    assert "small/a.txt" in caplog.text
    assert "ConnectionError" in caplog.text


def test_offline_real_says_what_was_tried_and_what_to_do(small, alone, closed):
    with pytest.raises(InputError) as caught:
        datasets.load("Small", policy="real", mirror="/nowhere/at/all")
    message = str(caught.value)
    place = str(alone / "manual" / "small" / "a.txt")
    for part in ("Small is missing", "no folder /nowhere/at/all", "ConnectionError"):
        assert part in message
    for part in (f"open {closed}", f"put the file at {place}", "KRONBENCH_MIRROR"):
        assert part in message


def test_files_that_nobody_may_hand_on(small, alone):
    manual = {"url": "http://owner.example/", "instructions": "Ask the owner for the collection."}
    files = {key: {"mirror": file["mirror"]} for key, file in small.files.items()}
    small.write(files=files, manual=manual)
    with pytest.raises(InputError, match=r"Ask the owner .* \(http://owner\.example/\)"):
        datasets.load("Small", policy="real")
    small.fill(alone / "manual")
    data = datasets.load("Small", policy="real")
    assert data.source == "manual"
    assert data.files[0].sha256 == small.files["interactions"]["sha256"]
    assert datasets.describe("Small")["manual"]["folder"] == str(alone / "manual")


@pytest.mark.parametrize("content", [TABLES["d.txt"][:-3], b"", TABLES["d.txt"] + b"\n"])
def test_damaged_mirror_file_is_no_reason_for_a_surrogate(small, mirror, content):
    small.fill(mirror.folder, d=content)
    with pytest.raises(InputError, match=r"small/d\.txt has sha256"):
        datasets.load("Small", policy="auto", mirror=mirror.folder)


def test_a_fault_of_a_parser_is_one_sentence(small, mirror, monkeypatch):
    def parse(files):
        return {"values": files["other"]}

    monkeypatch.setitem(datasets.LOADERS, "interactions", datasets.Loader("vectors", parse))
    small.write(surrogate={})
    small.fill(mirror.folder)
    with pytest.raises(
        InputError, match=r"^Small cannot be read: KeyError: 'other' \(in .*a\.txt"
    ):
        datasets.load("Small", mirror=mirror.folder)


def test_a_parser_without_memory_is_told_as_such(small, mirror, monkeypatch):
    def parse(files):
        raise MemoryError

    monkeypatch.setitem(datasets.LOADERS, "interactions", datasets.Loader("vectors", parse))
    small.write(surrogate={})
    small.fill(mirror.folder)
    with pytest.raises(MemoryError):
        datasets.load("Small", mirror=mirror.folder)


def test_surrogate_policy_touches_no_network(small, mirror, connections):
    small.fill(mirror.folder)
    assert datasets.load("Small", policy="surrogate", mirror=mirror.folder).source == "surrogate"
    assert connections == []


def test_surrogate_builds_on_files_that_are_at_hand(small, mirror, monkeypatch):
    mirror(TABLES["t.txt"], "small/t.txt")
    seen = {}

    def surrogate(rng, *, files, **options):
        seen.update(files)
        return datasets.LOADERS["interactions"].surrogate(rng, **options)

    loader = datasets.Loader(
        "label matrix",
        parse=datasets.LOADERS["interactions"].parse,
        surrogate=surrogate,
        surrogate_files=("drugs", "targets"),
    )
    monkeypatch.setitem(datasets.LOADERS, "partial", loader)
    small.write(loader="partial")
    data = datasets.load("Small", mirror=mirror.folder)
    assert list(seen) == ["targets"]
    assert read(seen["targets"]) == TABLES["t.txt"]
    assert data.source == "surrogate"
    assert [record.path for record in data.files] == ["small/t.txt"]
