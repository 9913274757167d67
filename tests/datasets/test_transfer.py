import gzip
import logging
import multiprocessing
import os
import socket
import time

import pytest

from kronbench import InputError
from kronbench.datasets import fetch
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


def test_a_dead_host_is_asked_once(closed, server):
    server.files["/b.txt"] = CONTENT
    with pytest.raises(fetch.Unavailable, match=r"127\.0\.0\.1:\d+: ConnectionError"):
        fetch.obtain(downloadable(closed))
    with pytest.raises(fetch.Unavailable, match="ConnectionError, a short while ago"):
        fetch.obtain(downloadable(closed, mirror="one/b.txt"))
    entry = downloadable(closed, f"{server.url}/b.txt", mirror="one/b.txt")
    assert read(fetch.obtain(entry)) == CONTENT


def test_host_that_connects_and_stays_silent(monkeypatch):
    monkeypatch.setattr(fetch, "_TIMEOUT", (3.0, 0.1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        entry = downloadable(f"http://127.0.0.1:{silent.getsockname()[1]}/a.txt")
        with pytest.raises(fetch.Unavailable, match=r"ConnectionError|ReadTimeout"):
            fetch.obtain(entry)
        with pytest.raises(fetch.Unavailable, match="a short while ago"):
            fetch.obtain(entry)


# --- servers that fail ------------------------------------------------------------------------


def broken_off(handler):
    """A tenth of the file, then the connection closes."""
    handler.send(200, CONTENT[:60], Content_Length=len(CONTENT))


def busy(**headers):
    return lambda handler: handler.send(429, **headers)


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "0"}, {"Retry_After": "1"}])
def test_a_busy_server_is_asked_once_more(server, headers):
    server.files["/a.txt"] = [busy(**headers), CONTENT]
    assert read(fetch.obtain(downloadable(f"{server.url}/a.txt"))) == CONTENT
    assert server.asked == ["/a.txt", "/a.txt"]


def test_a_server_that_stays_busy_gives_way(server, elsewhere):
    server.files["/a.txt"] = busy()
    elsewhere.files["/a.txt"] = CONTENT
    with pytest.raises(fetch.Unavailable, match="HTTP status 429"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    entry = downloadable(f"{server.url}/a.txt", f"{elsewhere.url}/a.txt")
    assert fetch.obtain(entry).record.origin == f"{elsewhere.url}/a.txt"


def test_transfers_that_break_off_do_not_hide_the_next_file(server, alone):
    server.files |= {"/a.txt": broken_off, "/b.txt": CONTENT}
    with pytest.raises(fetch.Unavailable, match="ChunkedEncodingError"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert cached_files(alone) == []
    assert read(fetch.obtain(downloadable(f"{server.url}/b.txt", mirror="b.txt"))) == CONTENT


def test_a_page_that_is_gone_is_not_asked_for_twice(server):
    with pytest.raises(fetch.Unavailable, match="404"):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert server.asked == ["/a.txt"]


def test_a_part_now_and_then_is_no_transfer(server, alone, monkeypatch):
    monkeypatch.setattr(fetch, "_PATIENCE", 0.2)

    def drip(handler):
        handler.send(200, Content_Length=1 << 20)
        for _ in range(100):
            time.sleep(0.05)
            handler.wfile.write(bytes(1 << 13))

    server.files["/a.txt"] = drip
    with pytest.raises(fetch.Unavailable, match="too slow"):
        fetch.obtain(downloadable(f"{server.url}/a.txt", bytes=len(CONTENT), mirror="one/a.txt"))
    assert cached_files(alone) == []


def test_no_more_is_written_than_the_file_may_have(server, alone, monkeypatch):
    written, download = [], fetch.transfer

    def watched(url, target, *bounds):
        try:
            download(url, target, *bounds)
        finally:
            written.append(target.stat().st_size)

    monkeypatch.setattr(fetch, "transfer", watched)
    server.files["/a.txt"] = b"x" * (8 << 20)
    with pytest.raises(fetch.Unavailable, match="more than 66736 bytes: it is a different file"):
        fetch.obtain(downloadable(f"{server.url}/a.txt", bytes=len(CONTENT)))
    assert [size <= 66736 for size in written] == [True]
    assert cached_files(alone) == []


@pytest.mark.parametrize("encoding", [{}, {"Content_Encoding": "gzip"}])
def test_a_gzip_bomb_is_not_unpacked(server, alone, encoding):
    bomb = gzip.compress(b"\0" * (32 << 20))
    server.files["/a.txt.gz"] = lambda handler: handler.send(200, bomb, **encoding)
    with pytest.raises((InputError, fetch.Unavailable), match="more than 66736 bytes"):
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
def test_an_answer_that_is_not_http_gives_way(server, elsewhere, answer):
    server.files["/a.txt"] = lambda handler: handler.wfile.write(answer)
    elsewhere.files["/a.txt"] = CONTENT
    entry = downloadable(f"{server.url}/a.txt", f"{elsewhere.url}/a.txt")
    assert fetch.obtain(entry).record.origin == f"{elsewhere.url}/a.txt"


def to(location):
    return lambda handler: handler.send(302, Location=location)


def test_a_redirect_is_followed_without_the_password(server, elsewhere, alone):
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


@pytest.mark.parametrize("location", ["file:///etc/hostname", "/a.txt", "http://[", "ftp://x/a"])
def test_a_redirect_to_nowhere(server, alone, location):
    server.files |= {"/a.txt": to(location), "/b.txt": CONTENT}
    with pytest.raises(fetch.Unavailable):
        fetch.obtain(downloadable(f"{server.url}/a.txt"))
    assert cached_files(alone) == []
    assert read(fetch.obtain(downloadable(f"{server.url}/b.txt", mirror="b.txt"))) == CONTENT


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


def test_a_mirror_given_by_capital_letters(server):
    server.files["/one/a.txt"] = CONTENT
    assert read(fetch.obtain(PLAIN, [server.url.replace("http", "HTTP")])) == CONTENT


@pytest.mark.parametrize(
    "address",
    ["s3://bucket/data", "http://", "http://host:port", "http://[::1", "file:///a"],
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


def _obtain(url, cache, started, outcome):
    os.environ["KRONBENCH_CACHE"] = cache
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
    assert cached_files(alone) == ["one/a.txt"]


# --- copies by content -----------------------------------------------------------


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
