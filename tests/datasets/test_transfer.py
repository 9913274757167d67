import gzip
import io
import json
import logging
import multiprocessing
import os
import socket
import threading
import time
import types
import zipfile

import pytest

from kronbench import InputError, datasets
from kronbench.datasets import fetch, transfer
from kronbench.datasets.registry import Member
from kronbench.resources import cache_folder
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


# --- a dead network ---------------------------------------------------------------------------


def test_refused_connection_is_remembered(closed, monkeypatch):
    with pytest.raises(fetch.Unavailable, match=r"127\.0\.0\.1:\d+: Connection refused"):
        fetch.obtain(downloadable(closed))
    asked = []
    monkeypatch.setattr(socket, "create_connection", lambda *_: asked.append(1))
    with pytest.raises(fetch.Unavailable, match="Connection refused, a short while ago"):
        fetch.obtain(downloadable(closed, mirror="one/b.txt"))
    assert asked == []


def test_memory_of_a_dead_host_fades(closed, server, monkeypatch):
    monkeypatch.setattr(transfer, "MEMORY", 0.0)
    server.files["/a.txt"] = CONTENT
    entry = downloadable(f"{server.url}/a.txt")
    transfer._remember(server.host, 3.0, "dead")
    assert read(fetch.obtain(entry)) == CONTENT


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self, monkeypatch):
        self.now, self.epoch = 0.0, time.time()
        clock = types.SimpleNamespace(
            monotonic=lambda: self.now, time=lambda: self.epoch + self.now
        )
        monkeypatch.setattr(transfer, "time", clock)


@pytest.mark.parametrize("n_hosts", [1, 3, 50])
def test_fifty_dead_hosts_cost_no_more_than_fifteen_seconds(monkeypatch, n_hosts):
    clock, asked = Clock(monkeypatch), []

    def black_hole(address, timeout):
        asked.append(address)
        clock.now += 2 * timeout  # two addresses for each name
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", black_hole)
    for repeat in range(3):
        for host in range(n_hosts):
            entry = downloadable(f"http://host{host}.example/a.txt", mirror=f"{repeat}/{host}.txt")
            with pytest.raises(fetch.Unavailable):
                fetch.obtain(entry)
    assert clock.now <= 15
    assert len(asked) == min(n_hosts, 5)


def test_dead_hosts_do_not_hide_one_that_answers(server, monkeypatch):
    server.files |= {"/a.txt": CONTENT, "/b.txt": CONTENT}
    fetch.obtain(downloadable(f"{server.url}/a.txt"))
    for host in range(20):
        transfer._remember(f"dead{host}.example", 3.0, "timed out")
    entry = downloadable("http://unknown.example/a.txt", f"{server.url}/b.txt", mirror="one/b.txt")
    assert read(fetch.obtain(entry)) == CONTENT


def test_name_server_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(transfer, "CONNECT", 0.05)
    release = threading.Event()

    def hang(*_):
        release.wait(20)
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", hang)
    with pytest.raises(fetch.Unavailable, match="no answer within"):
        fetch.obtain(downloadable("http://host.example/a.txt"))
    release.set()


def test_host_that_connects_and_stays_silent(monkeypatch):
    monkeypatch.setattr(transfer, "READ", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        entry = downloadable(f"http://127.0.0.1:{silent.getsockname()[1]}/a.txt")
        with pytest.raises(fetch.Unavailable, match=r"ConnectionError|ReadTimeout"):
            fetch.obtain(entry)
        with pytest.raises(fetch.Unavailable, match="a short while ago"):
            fetch.obtain(entry)


def test_connection_goes_to_the_proxy(monkeypatch, connections):
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(fetch.Unavailable):
        fetch.obtain(downloadable("http://host.example/a.txt"))
    assert connections == [("proxy.example", 3128)]


# --- servers that fail ------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """Waits that fit into a test."""
    monkeypatch.setattr(transfer, "PAUSE", 0.01)
    monkeypatch.setattr(transfer, "READ", 0.2)


def broken_off(handler):
    """A tenth of the file, then the connection closes."""
    handler.send(200, CONTENT[:60], Content_Length=len(CONTENT))


def busy(**headers):
    return lambda handler: handler.send(429, **headers)


def test_a_transfer_that_breaks_off_once_is_tried_again(server, quick):
    server.files |= {"/a.txt": [broken_off, CONTENT], "/b.txt": CONTENT}
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT
    assert server.asked == ["/a.txt", "/a.txt"]


def test_transfers_that_break_off_do_not_hide_the_next_file(server, quick, alone):
    server.files |= {"/a.txt": broken_off, "/b.txt": CONTENT}
    with pytest.raises(fetch.Unavailable, match="ChunkedEncodingError"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert server.asked == ["/a.txt", "/a.txt"]
    assert cached_files(alone) == []
    assert read(fetch.obtain(downloadable(f"{server.url}/b.txt", mirror="b.txt"))) == CONTENT


@pytest.mark.parametrize("wait", ["0", " 0 ", "Thu, 01 Jan 1970 00:00:00 GMT", "soon", "", "-1"])
def test_a_busy_server_is_asked_again(server, quick, wait):
    server.files["/a.txt"] = [busy(Retry_After=wait), CONTENT]
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT
    assert len(server.asked) == 2


def test_a_server_that_asks_for_a_long_wait_gives_way_and_is_left_alone(server, elsewhere, quick):
    server.files |= {"/a.txt": busy(Retry_After="300"), "/b.txt": CONTENT}
    elsewhere.files["/a.txt"] = CONTENT
    entry = downloadable(f"{server.url}/a.txt", f"{elsewhere.url}/a.txt")
    assert fetch.obtain(entry).record.origin == f"{elsewhere.url}/a.txt"
    with pytest.raises(fetch.Unavailable, match="429, which asks to wait 300 s, a short while"):
        fetch.obtain(downloadable(f"{server.url}/b.txt", mirror="b.txt"))
    assert server.asked == ["/a.txt"]


def test_a_page_that_is_gone_is_not_asked_for_twice(server, quick):
    with pytest.raises(fetch.Unavailable, match="404"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert server.asked == ["/a.txt"]


def drip(content, delay=0.05):
    def answer(handler):
        handler.wfile.write(content[:1])
        for byte in content[1:]:
            time.sleep(delay)
            handler.wfile.write(bytes([byte]))

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 600\r\n\r\n" + CONTENT,
        b"HTTP/1.0 200 OK\r\n" + b"X-More: and more\r\n" * 50,
    ],
    ids=["body", "header"],
)
def test_a_byte_now_and_then_is_no_transfer(server, alone, monkeypatch, answer):
    monkeypatch.setattr(transfer, "BUDGET", 0.8)
    server.files["/a.txt"] = drip(answer)
    with pytest.raises(fetch.Unavailable, match="too slow"):
        fetch.obtain(downloadable(f"{server.url}/a.txt", bytes=len(CONTENT)))
    assert cached_files(alone) == []


def test_no_more_is_written_than_the_file_may_have(server, quick, alone, monkeypatch):
    written, download = [], transfer.transfer

    def watched(url, target, *bounds):
        try:
            download(url, target, *bounds)
        finally:
            written.append(target.stat().st_size)

    monkeypatch.setattr(transfer, "transfer", watched)
    server.files["/a.txt"] = b"x" * (8 << 20)
    with pytest.raises(InputError, match=r"/a\.txt has more than 66736 bytes, 600 are registered"):
        fetch.obtain(downloadable(f"{server.url}/a.txt", bytes=len(CONTENT)))
    assert [size <= 66736 for size in written] == [True]
    assert cached_files(alone) == []


@pytest.mark.parametrize("encoding", [{}, {"Content_Encoding": "gzip"}])
def test_a_gzip_bomb_is_not_unpacked(server, quick, alone, encoding):
    bomb = gzip.compress(b"\0" * (32 << 20))
    server.files["/a.txt.gz"] = lambda handler: handler.send(200, bomb, **encoding)
    with pytest.raises(InputError, match="has more than 66736 bytes, 600 are registered"):
        fetch.obtain(downloadable(f"{server.url}/a.txt.gz", bytes=len(CONTENT)))
    assert cached_files(alone) == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\n1",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n12345",
        b"",
    ],
)
def test_an_answer_that_is_not_http_gives_way(server, elsewhere, quick, answer):
    server.files["/a.txt"] = lambda handler: handler.wfile.write(answer)
    elsewhere.files["/a.txt"] = CONTENT
    entry = downloadable(f"{server.url}/a.txt", f"{elsewhere.url}/a.txt")
    assert fetch.obtain(entry).record.origin == f"{elsewhere.url}/a.txt"


def to(location):
    return lambda handler: handler.send(302, Location=location)


def test_a_redirect_is_followed_without_the_password(server, elsewhere, quick, alone):
    sent = []
    elsewhere.files["/a.txt"] = lambda handler: (
        sent.append(handler.headers["Authorization"]),
        handler.send(200, CONTENT),
    )
    server.files["/one/a.txt"] = to(f"{elsewhere.url}/a.txt")
    base = f"http://user:secret@{server.host}"
    file = fetch.obtain(PLAIN, [base])
    assert read(file) == CONTENT
    assert sent == [None]
    assert file.record.origin == f"{server.url}/one/a.txt"


def test_a_redirect_to_a_dead_host_does_not_condemn_the_first(server, quick, closed):
    server.files |= {"/a.txt": to(closed), "/b.txt": CONTENT}
    with pytest.raises(fetch.Unavailable, match="ConnectionError"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert read(fetch.obtain(downloadable(f"{server.url}/b.txt", mirror="b.txt"))) == CONTENT


@pytest.mark.parametrize("location", ["file:///etc/hostname", "/a.txt", "http://[", "ftp://x/a"])
def test_a_redirect_to_nowhere(server, quick, alone, location):
    server.files |= {"/a.txt": to(location), "/b.txt": CONTENT}
    with pytest.raises(fetch.Unavailable):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert cached_files(alone) == []
    assert read(fetch.obtain(downloadable(f"{server.url}/b.txt", mirror="b.txt"))) == CONTENT


@pytest.mark.parametrize(
    "memory",
    [
        *("", "dead", "FUTURE", "FUTURE 1", "soon 1 dead", "FUTURE -1e9 dead", "FUTURE nan dead"),
        *("1e300 1 dead", "nan 1 dead", "1 1 dead", "FUTURE 99 dead", "\xff", "9" * 5000),
    ],
)
def test_a_damaged_memory_is_no_memory(server, memory):
    path = cache_folder() / "network" / server.host.replace(":", "_")
    path.parent.mkdir(parents=True)
    path.write_text(memory.replace("FUTURE", str(time.time() + 9)), encoding="latin-1")
    server.files["/a.txt"] = CONTENT
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT


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
    for _ in range(2):
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


def test_a_note_of_an_earlier_version_hides_its_password(server, alone):
    server.files["/one/a.txt"] = CONTENT
    fetch.obtain(PLAIN, [server.url])
    (alone / "one" / "a.txt.origin").write_text("mirror http://user:secret@host/one/a.txt")
    assert fetch.obtain(PLAIN).record.origin == "http://host/one/a.txt"


def test_a_mirror_given_by_file_or_capital_letters(server, mirror, tmp_path):
    path = mirror(CONTENT, "my data/one/a.txt")
    base = (path.parents[1]).as_uri()
    assert "%20" in base
    for address in (base, base.replace("file://", "FILE://localhost")):
        file = fetch.obtain(PLAIN, [address])
        assert (file.source, file.name) == ("mirror", str(path))
    server.files["/one/a.txt"] = CONTENT
    assert read(fetch.obtain(PLAIN, [server.url.replace("http", "HTTP")])) == CONTENT


@pytest.mark.parametrize(
    "address",
    [
        "s3://bucket/data",
        "ftp://host/a",
        "http://",
        "http://host:port",
        "http://[::1",
        "file://h/a",
    ],
)
def test_a_mirror_that_cannot_be_used_is_said(address):
    with pytest.raises(InputError, match=r"a mirror is an address that begins with \w+://"):
        fetch.obtain(PLAIN, [address])


def test_paths_are_quoted_and_queries_kept(server):
    entry = downloadable(mirror="one/a+b #1?.txt")
    server.files["/d%20e/one/a%2Bb%20%231%3F.txt?key=a%2Fb"] = CONTENT
    file = fetch.obtain(entry, [f"{server.url}/d%20e/?key=a%2Fb"])
    assert read(file) == CONTENT
    assert file.path.name == "a+b #1?.txt"


def test_a_packed_copy_behind_a_query(server):
    server.files["/a.txt.gz?raw=1"] = gzip.compress(CONTENT)
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt.gz?raw=1"))) == CONTENT


# --- the cache --------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_damaged_file_in_the_cache_is_fetched_anew(server, alone, caplog, ending):
    server.files["/a.txt"] = CONTENT
    damaged = alone / f"one/a.txt{ending}"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(WRONG)
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT
    assert str(damaged) in caplog.text
    assert cached_files(alone) == ["one/a.txt", "one/a.txt.origin"]
    assert read(fetch.obtain(PLAIN)) == CONTENT


def test_a_damaged_file_in_the_cache_gives_way_to_a_mirror(mirror, alone):
    (alone / "one").mkdir(parents=True)
    (alone / "one" / "a.txt").write_bytes(WRONG)
    mirror(CONTENT)
    assert fetch.obtain(PLAIN, [mirror.folder], network=False).source == "mirror"


def test_a_damaged_file_in_the_cache_without_another_is_an_error(alone, closed):
    (alone / "one").mkdir(parents=True)
    (alone / "one" / "a.txt").write_bytes(WRONG)
    for network in (False, True):
        with pytest.raises(InputError, match=f"{WRONG_SUM}.*no other copy was found"):
            fetch.obtain(downloadable(closed), network=network)


def test_what_a_killed_download_left_is_removed(server, alone):
    folder = alone / "one"
    gone = multiprocessing.get_context("spawn").Process(target=int)
    gone.start()
    gone.join()
    host = socket.gethostname()
    left = [folder / f".download-{host}-{gone.pid}-abc", folder / ".download-other-2-abc"]
    kept = [folder / f".download-{host}-{os.getpid()}-abc", folder / ".download-other-1-abc"]
    for path in left + kept:
        path.mkdir(parents=True)
        (path / "file").write_bytes(b"part")
    old = time.time() - 3600
    for path in (left[1] / "file", left[1]):
        os.utime(path, (old, old))
    server.files["/a.txt"] = CONTENT
    fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert sorted(folder.glob(".download-*")) == sorted(kept)


def test_advice_for_a_cache_that_cannot_be_written(alone, server, tmp_path, monkeypatch):
    alone.write_text("a file where the folder should be")
    registry = tmp_path / "own.yaml"
    options = {"layout": "boston", "n_points": 2, "n_features": 13}
    file = {"mirror": "one/a.txt", "sha256": SUM, "urls": [f"{server.url}/a.txt"]}
    registry.write_text(
        json.dumps(
            {
                "One": {
                    **{"title": "One", "loader": "table", "licence": "none", "citation": "no"},
                    **{"files": {"data": file}, "options": options},
                }
            }
        )
    )
    monkeypatch.setenv("KRONBENCH_REGISTRY", str(registry))
    with pytest.raises(InputError, match=r"cannot be written .* in KRONBENCH_CACHE") as caught:
        datasets.load("One", policy="real")
    assert f"put the file at {alone}" not in str(caught.value)


def _obtain(url, cache, started, outcome):
    os.environ["KRONBENCH_CACHE"] = cache
    fetch._last_resorts = lambda entry: []
    started.wait(10)
    file = fetch.obtain(downloadable(url))
    outcome.put((read(file), file.record.sha256))


def test_two_processes_fetch_one_file(server, alone):
    server.files["/a.txt"] = lambda handler: (time.sleep(0.1), handler.send(200, CONTENT))
    context = multiprocessing.get_context("fork")
    started, outcome = context.Event(), context.Queue()
    arguments = (f"{server.url}/a.txt", str(alone), started, outcome)
    pair = [context.Process(target=_obtain, args=arguments) for _ in range(2)]
    for process in pair:
        process.start()
    started.set()
    assert [outcome.get(timeout=10) for _ in pair] == [(CONTENT, SUM)] * 2
    for process in pair:
        process.join()
    assert cached_files(alone) == ["one/a.txt", "one/a.txt.origin"]


# --- archives and copies by content -----------------------------------------------------------


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, member in members:
            archive.writestr(name, member)
    return content.getvalue()


def locked(content):
    """The archive with the flag of a password in both of its headers."""
    found, changed = 0, bytearray(content)
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        found = changed.find(signature)
        changed[found + place] |= 1
    return bytes(changed)


def test_a_member_of_an_archive(server, alone):
    server.files["/a.zip"] = zipped(("Index", b"x"), ("a.txt", CONTENT), ("b/a.txt", WRONG))
    url = Member(f"{server.url}/a.zip", "a.txt")
    file = fetch.obtain(downloadable(url, bytes=len(CONTENT)))
    assert (read(file), file.record.sha256) == (CONTENT, SUM)
    assert file.record.origin == f"{server.url}/a.zip (its member a.txt)"
    assert cached_files(alone) == ["one/a.txt", "one/a.txt.origin"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(("a.txt", WRONG)), rf"\(its member a\.txt\) has sha256 {WRONG_SUM}"),
        (zipped(("b.txt", CONTENT)), "the archive has 0 files of that name"),
        (zipped(("../a.txt", CONTENT)), "the archive has 0 files of that name"),
        (zipped(("a.txt", b"\0" * (1 << 20))), "has 1048576 bytes, at most 66736 are expected"),
        (zipped(("a.txt", CONTENT))[:-9], "is not a zip archive, or not a whole one"),
        (locked(zipped(("a.txt", CONTENT))), "cannot be unpacked .*password"),
        (CONTENT, "is not a zip archive"),
        (b"", "is not a zip archive"),
    ],
)
def test_an_archive_without_the_file_keeps_nothing(server, alone, content, message):
    server.files["/a.zip"] = content
    with pytest.raises(InputError, match=message):
        fetch.obtain(downloadable(Member(f"{server.url}/a.zip", "a.txt"), bytes=len(CONTENT)))
    assert cached_files(alone) == []
    assert not list(alone.parent.glob("a.txt"))


def test_an_archive_has_its_own_bound(server, monkeypatch):
    monkeypatch.setattr(fetch, "ARCHIVE", 1 << 10)
    server.files["/a.zip"] = zipped(("a.txt", CONTENT), ("b", b"x" * 2000), method=0)
    with pytest.raises(InputError, match="the archive has over 1024 bytes"):
        fetch.obtain(downloadable(Member(f"{server.url}/a.zip", "a.txt")))


def test_copies_of_the_last_resort(monkeypatch):
    monkeypatch.undo()
    commit = "0123456789" * 4
    github = f"https://raw.githubusercontent.com/owner/name/{commit}/a%20b/c.txt"
    entry = downloadable("http://official.example/c.txt", github, git_blob="f" * 40, bytes=600)
    archive = "https://archive.softwareheritage.org/api/1/content"
    assert list(fetch._last_resorts(entry)) == [
        f"https://cdn.jsdelivr.net/gh/owner/name@{commit}/a%20b/c.txt",
        f"{archive}/sha256:{SUM}/raw/",
        f"{archive}/sha1_git:{'f' * 40}/raw/",
    ]
    large = downloadable(github, bytes=32_000_000)
    assert list(fetch._last_resorts(large)) == [f"{archive}/sha256:{SUM}/raw/"]
    assert list(fetch._last_resorts(downloadable())) == []  # nobody ever published it


def test_the_last_resort_comes_last(server, alone, monkeypatch):
    server.files["/content/raw/"] = CONTENT
    monkeypatch.setattr(fetch, "_last_resorts", lambda entry: [f"{server.url}/content/raw/"])
    file = fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert file.record.origin == f"{server.url}/content/raw/"
    assert server.asked == ["/a.txt", "/content/raw/"]
