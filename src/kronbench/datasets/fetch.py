"""Files of a data set: put in place by hand, in the cache, on a mirror, or at a url.

Every file is checked against the registry's sha256 before anybody reads it. A local mirror is
read in place. Hosts that do not answer cost ``BUDGET`` seconds in all; they are remembered in the
cache, so that fifty jobs do not each wait for them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import re
import socket
import tempfile
import threading
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import pooch
import requests

from kronbench.datasets.dataset import FileRecord
from kronbench.datasets.registry import FileEntry
from kronbench.errors import InputError
from kronbench.files import write_text
from kronbench.resources import cache_folder

CONNECT = 3.0  # seconds a host has to accept a connection
READ = 8.0  # seconds a connected host may stay silent
BUDGET = 14.0  # seconds spent on hosts that do not answer, all of them together
MEMORY = 600.0  # seconds for which a host that does not answer is remembered

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LocalFile:
    """A checked file on this machine, as a loader's ``parse`` gets it."""

    path: Path
    packed: bool
    source: str
    record: FileRecord

    @property
    def name(self) -> str:
        """The path to name in messages."""
        return str(self.path)

    def open(self) -> BinaryIO:
        """The uncompressed bytes, as a seekable binary stream."""
        return _open(self.path, self.packed)


class Unavailable(Exception):
    """A registered file cannot be had; the text says where it was looked for, and what failed."""

    def __init__(self, entry: FileEntry, tried: Sequence[str]):
        super().__init__(f"{entry.mirror}: {', '.join(tried)}")
        self.entry = entry


def manual_folder() -> Path:
    """Where files that cannot be downloaded are put by hand, under their mirror path."""
    return cache_folder() / "manual"


def mirrors(extra: str | Path | None = None) -> list[str]:
    """The mirrors to try in order: ``KRONBENCH_MIRROR``, then the one given."""
    return [str(mirror) for mirror in (os.environ.get("KRONBENCH_MIRROR"), extra) if mirror]


def obtain(entry: FileEntry, mirrors: Sequence[str] = (), *, network: bool = True) -> LocalFile:
    """A checked copy of one registered file.

    Parameters
    ----------
    entry : FileEntry
    mirrors : sequence of str
        Folders or base urls that hold ``<mirror path>`` or ``<mirror path>.gz``.
    network : bool
        False: only what lies on this machine.

    Raises
    ------
    InputError
        A file has another checksum than registered (both are shown), or is not a whole gzip file;
        nothing that was downloaded is kept.
    Unavailable
        The file was found nowhere.
    """
    cached = cache_folder() / entry.mirror
    places = [(manual_folder(), "manual", "put in place by hand")]
    places += [(cache_folder(), *_noted_origin(cached))]
    places += [
        (Path(mirror).expanduser(), "mirror", "mirror folder")
        for mirror in mirrors
        if not _is_url(mirror)
    ]
    tried = []
    for folder, source, origin in places:
        for ending in ("", ".gz"):
            path = folder / (entry.mirror + ending)
            if os.path.isfile(path):
                record = _checked(path, bool(ending), entry, origin, str(path))
                return LocalFile(path, bool(ending), source, record)
        tried.append(f"not in {folder}" if os.path.isdir(folder) else f"no folder {folder}")
    # Without a checksum nothing that comes over the network can be trusted.
    if network and entry.sha256:
        addresses = [
            (f"{mirror.rstrip('/')}/{entry.mirror}{ending}", "mirror")
            for mirror in mirrors
            if _is_url(mirror)
            for ending in ("", ".gz")
        ]
        addresses += [(url, "download") for url in entry.urls]
        return _download(entry, addresses, cached, tried)
    raise Unavailable(entry, tried)


def _is_url(mirror):
    return mirror.startswith(("http://", "https://"))


def _open(path, packed):
    return gzip.open(path, "rb") if packed else path.open("rb")


def _checked(path, packed, entry, origin, name):
    digest, size = hashlib.sha256(), 0
    try:
        with _open(path, packed) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                size += len(block)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} is not a whole gzip file ({error}): get it again") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    record = FileRecord(entry.mirror, digest.hexdigest(), size, origin)
    if entry.sha256 in (None, record.sha256):
        return record
    if entry.git_blob and _git_blob(path, packed, size) == entry.git_blob:
        return record
    registered = entry.sha256 + (f" ({entry.bytes} bytes)" if entry.bytes is not None else "")
    raise InputError(
        f"{name} has sha256 {record.sha256} ({size} bytes) where the registry has {registered}: "
        "it is damaged or another version; get the registered file"
    )


def _git_blob(path, packed, size):
    """The id that ``git hash-object`` prints."""
    with _open(path, packed) as stream:
        return hashlib.sha1(b"blob %d\0" % size + stream.read()).hexdigest()


def _noted_origin(cached):
    """Source and address of a file in the cache, noted when it was downloaded."""
    try:
        source, origin = _note(cached).read_text(encoding="utf-8").split(maxsplit=1)
    except (OSError, ValueError):
        return "download", "cache"
    return source, origin


def _note(cached):
    return cached.with_name(f"{cached.name}.origin")


def _download(entry, addresses, cached, tried):
    """The first good copy among the addresses, moved into the cache."""
    wrong = None
    for url, source in addresses:
        try:
            cached.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cached.parent, prefix=".download-") as folder:
                scratch = Path(folder, "file")
                _transfer(url, scratch)
                # Some servers unpack on the way what their url calls .gz: ask the bytes.
                packed = url.endswith(".gz") and not entry.mirror.endswith(".gz")
                packed = packed and _begins_like_gzip(scratch)
                record = _checked(scratch, packed, entry, url, url)
                # The note comes first: a file in the cache always knows where it is from.
                write_text(_note(cached), f"{source} {url}")
                path = cached.with_name(f"{cached.name}.gz") if packed else cached
                scratch.replace(path)
            return LocalFile(path, packed, source, record)
        except _NoAnswerError as error:
            tried.append(f"{urlsplit(url).netloc}: {error}")
        except InputError as error:
            wrong = error
            _log.warning("%s (nothing of it was kept)", error)
        except OSError as error:
            tried.append(f"the cache {cached.parent} cannot be written ({error.strerror})")
            break
    if wrong:
        raise wrong
    raise Unavailable(entry, tried)


def _begins_like_gzip(path):
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


class _NoAnswerError(Exception):
    """Why an address gave no file."""


def _transfer(url, target):
    """Download without ever waiting long for a host that does not answer."""
    parts = urlsplit(url)
    record = cache_folder() / "network" / re.sub(r"[^A-Za-z0-9.-]", "_", parts.netloc)
    left = _patience(record)
    _log.info("fetching %s", url)
    start = time.monotonic()
    reason = _refusal(*_peer(url), min(CONNECT, left))
    if not reason:
        left = max(left - (time.monotonic() - start), 0.1)
        timeout = (min(CONNECT, left), min(READ, left))
        try:
            pooch.HTTPDownloader(timeout=timeout, chunk_size=1 << 16)(url, str(target), None)
        except requests.HTTPError as error:
            _remember(record, 0.0)
            raise _NoAnswerError(f"HTTP status {error.response.status_code}") from None
        except requests.RequestException as error:
            reason = type(error).__name__
    if reason:
        # A long download that breaks off has not cost the user more than its last silence.
        seconds = min(time.monotonic() - start, CONNECT + READ)
        _remember(record, seconds, reason)
        raise _NoAnswerError(reason)
    _remember(record, 0.0)


def _patience(record):
    """Seconds that may still be spent on this host."""
    spent = 0.0
    for known in record.parent.glob("*"):
        try:
            state = json.loads(known.read_text(encoding="utf-8"))
            fresh = 0 <= time.time() - state["time"] < MEMORY
            seconds, failure = state["seconds"], state["failure"]
        except (OSError, ValueError, KeyError):  # being replaced, or not ours
            continue
        if fresh and known == record:
            if failure:
                raise _NoAnswerError(f"{failure}, a short while ago")
            return float("inf")
        if fresh and failure:
            spent += seconds
    if spent > BUDGET - 0.5:
        raise _NoAnswerError("not tried, because other hosts did not answer")
    return BUDGET - spent


def _remember(record, seconds, failure=None):
    state = {"time": time.time(), "seconds": round(seconds, 3), "failure": failure}
    write_text(record, json.dumps(state))


def _peer(url):
    """Host and port that a request for ``url`` connects to: its own, or those of the proxy."""
    proxy = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url))
    parts = urlsplit(requests.utils.prepend_scheme_if_needed(proxy, "http") if proxy else url)
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _refusal(host, port, seconds):
    """Why the host takes no connection, or "" if it does.

    In a thread, because looking up a name has no time-out of its own.
    """
    outcome = []

    def connect():
        try:
            socket.create_connection((host, port), seconds / 2).close()
            outcome.append("")
        except OSError as error:
            outcome.append(error.strerror or str(error))

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(seconds)
    return outcome[0] if outcome else f"no answer within {seconds:.1f} s"
