import gzip
import hashlib
import logging
import multiprocessing
import socket
import time
import types
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from kronbench import InputError, datasets
from kronbench.datasets import fetch, registry
from kronbench.datasets.registry import FileEntry
from tests.datasets.test_drug_target import YAMANISHI_FILES
from tests.datasets.test_registry import SURROGATE

pytestmark = pytest.mark.usefixtures("alone")

CONTENT = b"1 2 3\n" * 100
SUM = hashlib.sha256(CONTENT).hexdigest()
WRONG = CONTENT[:-1] + b"!"
WRONG_SUM = hashlib.sha256(WRONG).hexdigest()
PLAIN = FileEntry("one/a.txt", SUM, bytes=len(CONTENT))


def downloadable(*urls, **changes):
    return FileEntry(**{"mirror": "one/a.txt", "sha256": SUM, "urls": urls, **changes})


def cached_files(cache):
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def read(file):
    with file.open() as stream:
        return stream.read()


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


@pytest.mark.parametrize(
    ("source", "path"),
    [("download", "/a.txt"), ("mirror", "/data/one/a.txt"), ("mirror", "/data/one/a.txt.gz")],
)
def test_download_is_checked_kept_and_not_repeated(server, alone, source, path):
    plain = path.removesuffix(".gz")
    server.files[path] = CONTENT if path == plain else gzip.compress(CONTENT)
    url = f"{server.url}{path}"
    entry = downloadable(*[url] * (source == "download"))
    for expected in ((source, url), ("download", "cache")):
        file = fetch.obtain(entry, [f"{server.url}/data"] * (source == "mirror"))
        assert read(file) == CONTENT
        assert (file.source, file.record.origin) == expected
    assert server.asked == list(dict.fromkeys([plain, path]))
    assert cached_files(alone) == ["one" + path[path.index("/a.") :]]


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


# --- a dead network ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("silent", "error"), [(False, "ConnectionError"), (True, "ConnectionError|ReadTimeout")]
)
def test_a_dead_or_silent_host_is_asked_once(closed, server, monkeypatch, silent, error):
    monkeypatch.setattr(fetch, "_TIMEOUT_SECONDS", (3.0, 0.5))
    server.files["/b.txt"] = CONTENT
    with socket.create_server(("127.0.0.1", 0)) as connects:
        url = f"http://127.0.0.1:{connects.getsockname()[1]}/a.txt" if silent else closed
        with pytest.raises(fetch.Unavailable, match=rf"127\.0\.0\.1:\d+: ({error})$"):
            fetch.obtain(downloadable(url))
        with pytest.raises(fetch.Unavailable, match=f"({error}), a short while ago"):
            fetch.obtain(downloadable(url, mirror="one/b.txt"))
        entry = downloadable(url, f"{server.url}/b.txt", mirror="one/b.txt")
        assert read(fetch.obtain(entry)) == CONTENT


# --- servers that fail ------------------------------------------------------------------------


def busy(**headers):
    return lambda handler: handler.send(429, **headers)


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "0"}, {"Retry_After": "1"}])
def test_a_busy_server_is_asked_once_more(server, headers):
    server.files["/a.txt"] = [busy(**headers), CONTENT]
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT
    assert server.asked == ["/a.txt", "/a.txt"]


def test_a_page_that_is_gone_is_not_asked_for_twice(server):
    with pytest.raises(fetch.Unavailable, match="404"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert server.asked == ["/a.txt"]


def test_a_part_now_and_then_is_no_transfer(server, alone, monkeypatch):
    monkeypatch.setattr(fetch, "_TRANSFER_SECONDS", 0.2)

    def drip(handler):
        handler.send(200, Content_Length=1 << 20)
        for _ in range(100):
            time.sleep(0.05)
            handler.wfile.write(bytes(1 << 13))

    server.files["/a.txt"] = drip
    with pytest.raises(fetch.Unavailable, match="too slow"):
        fetch.obtain(downloadable(f"{server.url}/a.txt", bytes=len(CONTENT), mirror="one/a.txt"))
    assert cached_files(alone) == []


@pytest.mark.parametrize("encoding", [{}, {"Content_Encoding": "gzip"}])
def test_a_gzip_bomb_is_unpacked_to_its_limit_and_no_further(server, alone, monkeypatch, encoding):
    unpacked, read = [], gzip.GzipFile.read
    monkeypatch.setattr(
        gzip.GzipFile, "read", lambda *args: unpacked.append(read(*args)) or unpacked[-1]
    )
    bomb = gzip.compress(b"\0" * (32 << 20))
    server.files["/a.txt.gz"] = lambda handler: handler.send(200, bomb, **encoding)
    with pytest.raises((InputError, fetch.Unavailable), match="more than 66736 bytes"):
        fetch.obtain(downloadable(f"{server.url}/a.txt.gz", bytes=len(CONTENT)))
    assert sum(map(len, unpacked)) <= PLAIN.limit + (1 << 20)
    assert cached_files(alone) == []


def raw(answer):
    return lambda handler: handler.wfile.write(answer)


def to(location):
    return lambda handler: handler.send(302, Location=location)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (WRONG, rf"{{url}}/a\.txt has sha256 {WRONG_SUM} .* {SUM}"),
        (b"", rf"{{url}}/a\.txt has sha256 {hashlib.sha256().hexdigest()} .* {SUM}"),
        (
            lambda handler: handler.send(200, CONTENT[:60], Content_Length=len(CONTENT)),
            "ChunkedEncodingError",
        ),
        (busy(), "HTTP status 429"),
        (raw(b"HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\n1"), ""),
        (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), ""),
        (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), ""),
        (raw(b"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n1234"), ""),
        (raw(b""), ""),
        *((to(location), "") for location in ("file:///a", "/a.txt", "http://[", "ftp://x/a")),
    ],
)
def test_an_answer_that_is_no_file_gives_way(server, alone, answer, said):
    server.files |= {"/a.txt": answer, "/b.txt": CONTENT}
    with pytest.raises(InputError, match=said.format(url=server.url)):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert cached_files(alone) == []
    other = f"http://localhost:{server.server_port}/b.txt"  # another host, as far as is known
    assert fetch.obtain(downloadable(f"{server.url}/a.txt", other)).record.origin == other


# --- mirrors over http ------------------------------------------------------------------------


def test_nothing_shows_the_password_of_a_mirror(server, alone, caplog):
    caplog.set_level(logging.INFO)
    told = []
    base = f"http://user:secret@{server.host}/data?key=hidden"
    with pytest.raises(fetch.Unavailable) as missing:
        fetch.obtain(PLAIN, [base])
    told.append(str(missing.value))
    server.files["/data/one/a.txt?key=hidden"] = WRONG
    with pytest.raises(InputError) as wrong:
        fetch.obtain(PLAIN, [base])
    told.append(str(wrong.value))
    server.files["/data/one/a.txt?key=hidden"] = lambda handler: handler.send(
        200 if handler.headers["Authorization"] == "Basic dXNlcjpzZWNyZXQ=" else 401, CONTENT
    )
    file = fetch.obtain(PLAIN, [base])
    assert file.record.origin == f"{server.url}/data/one/a.txt"
    told += [caplog.text, *(path.read_text() for path in alone.rglob("*") if path.is_file())]
    told += [path.name for path in alone.rglob("*")]
    with pytest.raises(InputError) as unusable:
        fetch.obtain(PLAIN, ["http://user:secret@host:port/"])
    told.append(str(unusable.value))
    for text in told:
        assert "secret" not in text
        assert "hidden" not in text
        assert "user:" not in text


@pytest.mark.parametrize(
    "address", ["s3://a/b", "http://", "http://a:b", "http://[::1", "file:///a"]
)
def test_a_mirror_that_cannot_be_used_is_said(address):
    with pytest.raises(InputError, match=r"a mirror begins with \w+://"):
        fetch.obtain(PLAIN, [address])


# --- the cache --------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_damaged_file_in_the_cache_is_fetched_anew(server, alone, caplog, ending):
    server.files["/a.txt"] = CONTENT
    damaged = alone / f"one/a.txt{ending}"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(WRONG)
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT
    assert str(damaged) in caplog.text
    assert read(fetch.obtain(PLAIN)) == CONTENT


def test_a_damaged_file_in_the_cache_without_another_is_an_error(alone, closed):
    (alone / "one").mkdir(parents=True)
    (alone / "one" / "a.txt").write_bytes(WRONG)
    for network in (False, True):
        with pytest.raises(InputError, match=WRONG_SUM):
            fetch.obtain(downloadable(closed), network=network)


def _obtained(url):
    return read(fetch.obtain(downloadable(url)))


def test_two_processes_fetch_one_file(server, alone):
    server.files["/a.txt"] = lambda handler: (time.sleep(0.1), handler.send(200, CONTENT))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_obtained, [f"{server.url}/a.txt"] * 2, 1) == [CONTENT] * 2
    assert cached_files(alone) == ["one/a.txt"]


# --- copies by content ------------------------------------------------------------------------


def test_copies_of_the_last_resort(monkeypatch):
    monkeypatch.undo()
    entry = downloadable("http://official.example/c.txt", git_blob="f" * 40)
    archive = "https://archive.softwareheritage.org/api/1/content"
    assert [url for url, _ in fetch._addresses(entry, [])] == [
        "http://official.example/c.txt",
        f"{archive}/sha256:{SUM}/raw/",
        f"{archive}/sha1_git:{'f' * 40}/raw/",
    ]
    assert list(fetch._addresses(downloadable(), [])) == []  # nobody ever published it


# --- policies ---------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path, monkeypatch, closed):
    """A shipped registry of one small data set of three files, whose urls nobody answers."""
    files = {
        key: {
            "mirror": f"small/{key}.txt",
            "sha256": hashlib.sha256(content.encode()).hexdigest(),
            "bytes": len(content),
            "urls": [closed],
        }
        for key, content in YAMANISHI_FILES.items()
    }
    entry = {
        "title": "Small",
        "loader": "interactions",
        "surrogate": SURROGATE | {"sizes": [3, 2], "known": 6},
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
        for key, content in (YAMANISHI_FILES | changed).items():
            path = Path(folder, "small", f"{key}.txt")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    write()
    return types.SimpleNamespace(write=write, fill=fill, files=files)


def test_mirror_gives_real_data(small, mirror, monkeypatch):
    small.fill(mirror.folder)
    data = datasets.load("small", policy="real", mirror=mirror.folder)
    assert data.source == "mirror"
    assert data["values"].tolist() == [[1, 0], [0, 1], [0, 1]]
    assert [record.path for record in data.files] == [f["mirror"] for f in small.files.values()]
    monkeypatch.setenv("KRONBENCH_MIRROR", mirror.folder)
    assert datasets.load("SMALL").source == "mirror"


def test_offline_the_surrogate_steps_in_and_says_so_once(small, caplog):
    data = datasets.load("Small")
    assert data.source == "surrogate"
    assert data.files == ()
    lines = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(lines) == 1
    assert "SURROGATE DATA for Small" in caplog.text
    assert "small/interactions.txt" in caplog.text
    assert "ConnectionError" in caplog.text


def test_offline_real_says_what_was_tried_and_what_to_do(small, alone, closed):
    with pytest.raises(InputError) as caught:
        datasets.load("Small", policy="real", mirror="/nowhere/at/all")
    message = str(caught.value)
    place = str(alone / "manual" / "small" / "interactions.txt")
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


def test_damaged_mirror_file_is_no_reason_for_a_surrogate(small, mirror):
    small.fill(mirror.folder, drugs=YAMANISHI_FILES["drugs"][:-3])
    with pytest.raises(InputError, match=r"small/drugs\.txt has sha256"):
        datasets.load("Small", policy="auto", mirror=mirror.folder)


@pytest.mark.parametrize(
    ("fault", "raised", "said"),
    [
        (KeyError("other"), InputError, r"^Small cannot be read: KeyError: 'other' \(in .*/inter"),
        (MemoryError(), MemoryError, ""),  # which the commands tell as such
    ],
)
def test_a_fault_of_a_parser_is_one_sentence(small, mirror, monkeypatch, fault, raised, said):
    def parse(files):
        raise fault

    monkeypatch.setitem(datasets.LOADERS, "interactions", datasets.Loader("vectors", parse))
    small.write(surrogate={})
    small.fill(mirror.folder)
    with pytest.raises(raised, match=said):
        datasets.load("Small", mirror=mirror.folder)


def test_surrogate_policy_touches_no_network(small, mirror, monkeypatch):
    monkeypatch.setattr(fetch, "transfer", None)
    small.fill(mirror.folder)
    assert datasets.load("Small", policy="surrogate", mirror=mirror.folder).source == "surrogate"


def test_surrogate_builds_on_files_that_are_at_hand(small, mirror, monkeypatch):
    mirror(YAMANISHI_FILES["targets"].encode(), "small/targets.txt")
    seen = {}

    loader = datasets.LOADERS["interactions"]

    def surrogate(rng, *, files, **options):
        seen.update(files)
        return loader.surrogate(rng, **options)

    partial = replace(loader, surrogate=surrogate, surrogate_files=("drugs", "targets"))
    monkeypatch.setitem(datasets.LOADERS, "interactions", partial)
    data = datasets.load("Small", mirror=mirror.folder)
    assert list(seen) == ["targets"]
    assert read(seen["targets"]).decode() == YAMANISHI_FILES["targets"]
    assert data.source == "surrogate"
    assert [record.path for record in data.files] == ["small/targets.txt"]
