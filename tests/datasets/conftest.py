"""The real data; a cache, a mirror and a web server of their own for the tests of fetching."""

import http.server
import os
import socket
import threading

import pytest

from kronbench import datasets
from kronbench.datasets import fetch


@pytest.fixture(scope="module")
def real():
    """Loads from the mirror, once each."""
    if not os.environ.get("KRONBENCH_MIRROR"):
        pytest.skip("KRONBENCH_MIRROR is not set")
    loaded = {}

    def load(name):
        if name not in loaded:
            loaded[name] = datasets.load(name, policy="real")
        return loaded[name]

    return load


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A cache of its own, no mirror, no proxy."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("KRONBENCH_CACHE", str(cache))
    for name in ("KRONBENCH_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    addresses = fetch._addresses
    monkeypatch.setattr(
        *(fetch, "_addresses"),
        lambda *given: (pair for pair in addresses(*given) if fetch._ARCHIVE_URL not in pair[0]),
    )
    monkeypatch.setattr(fetch, "_dead_hosts", {})
    return cache


@pytest.fixture
def mirror(tmp_path):
    """A mirror folder, and a function that puts a file into it."""
    folder = tmp_path / "mirror"

    def put(content, name="one/a.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    put.folder = str(folder)
    return put


@pytest.fixture
def server():
    """A web server on this machine.

    ``files`` maps paths to bytes, or to functions of the request's handler that answer it, or to
    lists of these for one request after the other; ``asked`` lists the paths of all requests.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            answer = self.server.files.get(self.path)
            if isinstance(answer, list):
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
            if callable(answer):
                answer(self)
            else:
                self.send(404 if answer is None else 200, answer or b"")

        def send(self, status, content=b"", **headers):
            self.send_response(status)
            headers = {"Content_Length": len(content), **headers}
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.block_on_close = False
        running.files, running.asked = {}, []
        running.host = f"127.0.0.1:{running.server_port}"
        running.url = f"http://{running.host}"
        threading.Thread(target=running.serve_forever, args=[0.02], daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def closed():
    """The url of a port that refuses connections."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    return f"http://127.0.0.1:{port}/a.txt"
