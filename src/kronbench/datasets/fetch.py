"""Files of a data set: put in place by hand, in the cache, on a mirror, or at a url.

Every file is checked against the registry's sha256 before anybody reads it. A local mirror is
read in place. Where the registered urls fail, copies known by their content are asked for. A
download is bounded in bytes and in seconds, which pooch's downloader is not, and a host that does
not answer is left alone for the rest of the process.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import logging
import os
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias
from urllib.parse import quote, urlsplit

from kronbench.datasets.dataset import FileRecord
from kronbench.datasets.registry import FileEntry
from kronbench.errors import WITH_ADVICE, InputError
from kronbench.files import UNFINISHED
from kronbench.resources import cache_folder, without_credentials

_TIMEOUT_SECONDS = (3.0, 8.0)  # to accept a connection, and that a connected host may be silent
_TRANSFER_SECONDS = 14.0  # that a transfer may take beside those of its bytes
_SLOWEST_BYTES_A_SECOND = 5e4  # that it has to reach on the whole
_ARCHIVE_URL = "https://archive.softwareheritage.org/api/1/content/"
_UNREGISTERED_BYTES = 1 << 26  # that are waited for, of a file whose size is not registered

_log = logging.getLogger(__name__)
_dead_hosts: dict[str, str] = {}  # hosts, and why they are left alone


@dataclass(frozen=True)
class LocalFile:
    """A checked file on this machine, as a loader's ``parse`` gets it."""

    name: str  # its path
    packed: bool
    source: str
    record: FileRecord

    def open(self) -> BinaryIO:
        """The uncompressed bytes, as a seekable binary stream."""
        return _open(Path(self.name), self.packed)

    def text(self, encoding: str = "utf-8") -> str:
        """All of it as text."""
        with self.open() as stream:
            return stream.read().decode(encoding)


Files: TypeAlias = Mapping[str, LocalFile]


class Unavailable(InputError):
    """A registered file cannot be had; ``tried`` says where it was looked for, and what failed."""

    def __init__(self, entry: FileEntry, tried: str, advice: str = ""):
        super().__init__(advice or tried, WITH_ADVICE)
        self.entry, self.tried = entry, tried


class NoAnswerError(Exception):
    """Why an address gave no file."""


def manual_folder() -> Path:
    """Where files that cannot be downloaded are put by hand, under their mirror path."""
    return cache_folder() / "manual"


def obtain(entry: FileEntry, mirrors: Sequence[str] = (), *, network: bool = True) -> LocalFile:
    """A checked copy of one registered file, or `Unavailable` where it is found nowhere.

    ``mirrors`` are folders or base urls (http, https) that hold ``<mirror path>`` or
    ``<mirror path>.gz``; a base url may have a user name and password, which go to its server
    alone, and a query string, which every address gets. Without ``network`` only this machine is
    searched. A file with another checksum than registered is an error that shows both; one in the
    cache is fetched anew, and an error only where that fails.
    """
    # Look on this machine: a folder filled by hand, the cache, mirrors that are folders.
    bases = [_base(mirror) for mirror in mirrors if "://" in mirror]
    folders = [Path(mirror).expanduser() for mirror in mirrors if "://" not in mirror]
    places = [(manual_folder(), "manual", "put in place by hand")]
    places += [(cache_folder(), "download", "cache")]
    places += [(folder, "mirror", "mirror folder") for folder in folders]
    tried, wrong = [], None
    for folder, source, origin in places:
        for ending in ("", ".gz"):
            path = folder / (entry.mirror + ending)
            if not os.path.isfile(path):
                continue
            # A wrong file is an error where the user put it, and fetched anew in the cache.
            try:
                record = _sound_record(path, bool(ending), entry, origin, str(path))
            except InputError as error:
                if folder != cache_folder():
                    raise
                _log.warning("%s; looking for another copy", error)
                wrong = error
            else:
                return LocalFile(str(path), bool(ending), source, record)
        tried.append(f"not in {folder}" if os.path.isdir(folder) else f"no folder {folder}")
    # Without a checksum nothing that comes over the network can be trusted.
    if network and entry.sha256:
        return _download(entry, bases, tried, wrong)
    raise wrong or Unavailable(entry, f"{entry.mirror}: {', '.join(tried)}")


def _base(mirror):
    """The parts of the address of a mirror; InputError, without it, where it cannot be used."""
    with contextlib.suppress(ValueError):  # of a port that is none, a bracket that stays open
        parts = urlsplit(mirror)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    # Not shown: it may hold a password.
    raise InputError(
        f"a mirror begins with {mirror.partition('://')[0]}://, which is not supported: give a "
        "folder, or a full address with http or https"
    )


def _addresses(entry, bases):
    """Url and source of mirrors, of the registered urls, then of copies known by content."""
    for base in bases:
        for ending in ("", ".gz"):
            path = f"{base.path.rstrip('/')}/{quote(entry.mirror + ending)}"
            yield base._replace(path=path, fragment="").geturl(), "mirror"
    for url in entry.urls:
        yield url, "download"
    # Software Heritage has copies of what was ever public.
    for kind, digest in (("sha256", entry.sha256), ("sha1_git", entry.git_blob)):
        if entry.urls and digest:
            yield f"{_ARCHIVE_URL}{kind}:{digest}/raw/", "download"


def _open(path, packed):
    return gzip.open(path, "rb") if packed else path.open("rb")


def _sound_record(path, packed, entry, origin, name):
    """The record of a file that has the registered sum, or is the second accepted one."""
    digest, size = hashlib.sha256(), 0
    try:
        # What unpacks to far more than is registered is not read to its end.
        with _open(path, packed) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                size += len(block)
                if packed and size > entry.limit:
                    known = f"{entry.bytes} are" if entry.bytes else "no size is"
                    raise InputError(
                        f"{name} has more than {entry.limit} bytes, {known} registered: it is a "
                        "different file"
                    )
        # A file is sound by its sha256, or by its name in git where that is registered.
        sha256 = digest.hexdigest()
        sound = entry.sha256 in (None, sha256)
        if not sound and entry.git_blob:
            with _open(path, packed) as stream:
                blob = b"blob %d\0" % size + stream.read()
            sound = hashlib.sha1(blob, usedforsecurity=False).hexdigest() == entry.git_blob
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} is not a complete gzip file ({error}): get it again") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from None
    if not sound:
        registered = entry.sha256 + ("" if entry.bytes is None else f" ({entry.bytes} bytes)")
        raise InputError(
            f"{name} has sha256 {sha256} ({size} bytes) where the registry has {registered}: "
            "it is damaged or a different version; get the registered file",
            WITH_ADVICE,
        )
    return FileRecord(entry.mirror, sha256, size, origin)


def _download(entry, bases, tried, wrong):
    """The first good copy among the addresses, moved into the cache."""
    cached = cache_folder() / entry.mirror
    for url, source in _addresses(entry, bases):
        # A query of a mirror may be a key, and stays out of messages as a password does.
        name = without_credentials(url.partition("?")[0] if source == "mirror" else url)
        # Only a whole and sound file is moved to its place.
        try:
            cached.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cached.parent, prefix=UNFINISHED) as folder:
                scratch = Path(folder, "file")
                _log.info("fetching %s", name)
                transfer(url, scratch, entry.limit, entry.bytes or _UNREGISTERED_BYTES)
                # Some servers unpack on the way what their url calls .gz: ask the bytes.
                packed = urlsplit(url).path.endswith(".gz") and not entry.mirror.endswith(".gz")
                if packed:
                    with scratch.open("rb") as stream:
                        packed = stream.read(2) == b"\x1f\x8b"
                record = _sound_record(scratch, packed, entry, name, name)
                path = cached.with_name(f"{cached.name}.gz") if packed else cached
                scratch.replace(path)
            return LocalFile(str(path), packed, source, record)
        except NoAnswerError as error:
            tried.append(f"{urlsplit(name).netloc}: {error}")
        except InputError as error:
            wrong = error
            _log.warning("%s (nothing of it was kept)", error)
        except OSError as error:
            tried.append(
                f"the cache {cached.parent} cannot be written ({error.strerror}; KRONBENCH_CACHE "
                "names another)"
            )
            break
    raise wrong or Unavailable(entry, f"{entry.mirror}: {', '.join(tried)}")


def transfer(url: str, target: Path, limit: int, expected: int) -> None:
    """Download ``url``, a file of about ``expected`` bytes, at most ``limit``, into ``target``."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    # Leave a host alone that did not answer before, and give each transfer its time.
    end = time.monotonic() + _TRANSFER_SECONDS + expected / _SLOWEST_BYTES_A_SECOND
    host = urlsplit(without_credentials(url)).netloc.lower()
    if host in _dead_hosts:
        raise NoAnswerError(f"{_dead_hosts[host]}, a short while ago")
    # A busy server is asked once more, after the seconds that it names; all else fails at once.
    busy = (429, 500, 502, 503, 504)
    bounds = {"connect": 0, "read": 0, "retry_after_max": 8, "raise_on_status": False}
    adapter = HTTPAdapter(max_retries=Retry(1, status_forcelist=busy, **bounds))
    with requests.Session() as session, target.open("wb") as file:
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        try:
            with session.get(url, stream=True, timeout=_TIMEOUT_SECONDS) as response:
                response.raise_for_status()
                # A transfer is bounded in bytes and in seconds, whatever the server sends.
                for chunk in response.iter_content(1 << 12):
                    if file.tell() + len(chunk) > limit:
                        raise NoAnswerError(f"more than {limit} bytes: it is a different file")
                    if time.monotonic() > end:
                        _dead_hosts[host] = "too slow"
                        raise NoAnswerError("too slow")
                    file.write(chunk)
        except requests.HTTPError as error:
            raise NoAnswerError(f"HTTP status {error.response.status_code}") from None
        except (requests.ConnectionError, requests.Timeout) as error:
            _dead_hosts[host] = type(error).__name__
            raise NoAnswerError(_dead_hosts[host]) from None
        except (requests.RequestException, ValueError) as error:  # its text may hold a password
            raise NoAnswerError(type(error).__name__) from None
