"""Files of a data set: put in place by hand, in the cache, on a mirror, or at a url.

Every file is checked against the registry's sha256 before anybody reads it. A local mirror is
read in place. Where the registered urls fail, copies known by their content are asked for.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import logging
import os
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from kronbench.datasets.dataset import FileRecord
from kronbench.datasets.registry import FileEntry
from kronbench.errors import WITH_ADVICE, InputError, extra_for
from kronbench.files import UNFINISHED
from kronbench.resources import cache_folder, without_credentials

_UNKNOWN = 1 << 26  # bytes of a file whose size is not registered, to wait for

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

    def text(self, encoding: str = "utf-8") -> str:
        """All of it as text."""
        with self.open() as stream:
            return stream.read().decode(encoding)


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
    """A checked copy of one registered file, or `Unavailable` where it is found nowhere.

    ``mirrors`` are folders or base urls (http, https, file) that hold ``<mirror path>`` or
    ``<mirror path>.gz``; a base url may have a user name and password, which go to its server
    alone, and a query string, which every address gets. Without ``network`` only this machine is
    searched. A file with another checksum than registered is an error that shows both; one in the
    cache is fetched anew, and an error only where that fails.
    """
    cached = cache_folder() / entry.mirror
    folders, bases = _places(mirrors)
    places = [(manual_folder(), "manual", "put in place by hand")]
    places += [(cache_folder(), "download", "cache")]
    places += [(folder, "mirror", "mirror folder") for folder in folders]
    tried, wrong = [], None
    for folder, source, origin in places:
        for ending in ("", ".gz"):
            path = folder / (entry.mirror + ending)
            if not os.path.isfile(path):
                continue
            try:
                record = _checked(path, bool(ending), entry, origin, str(path))
            except InputError as error:
                if folder != cache_folder():
                    raise
                _log.warning("%s; looking for another copy", error)
                wrong = error
            else:
                return LocalFile(path, bool(ending), source, record)
        tried.append(f"not in {folder}" if os.path.isdir(folder) else f"no folder {folder}")
    # Without a checksum nothing that comes over the network can be trusted.
    if network and entry.sha256:
        return _download(entry, _addresses(entry, bases), cached, tried, wrong)
    raise wrong or Unavailable(entry, tried)


def _places(mirrors):
    """Folders and base urls among the mirrors."""
    folders, bases = [], []
    for mirror in mirrors:
        scheme, separator, _ = mirror.partition("://")
        if not separator:
            folders.append(Path(mirror).expanduser())
            continue
        with contextlib.suppress(ValueError):  # of a port that is none, a bracket that stays open
            parts = urlsplit(mirror)
            if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
                bases.append(parts)
                continue
            if parts.scheme == "file" and parts.hostname in (None, "localhost"):
                folders.append(Path(url2pathname(parts.path)))
                continue
        # Not shown: it may hold a password.
        raise InputError(
            f"a mirror begins with {scheme}://, which is not supported: give a folder, or a "
            "full address with http, https or file"
        )
    return folders, bases


class _Address(NamedTuple):
    """Where a file can be downloaded; ``name`` is for messages."""

    url: str
    source: str
    name: str


def _addresses(entry, bases):
    """Mirrors, the registered urls, then copies known by content."""
    for base in bases:
        for ending in ("", ".gz"):
            path = f"{base.path.rstrip('/')}/{quote(entry.mirror + ending)}"
            # A query may be a key, and stays out of messages as a password does.
            name = without_credentials(base._replace(path=path, query="", fragment="").geturl())
            yield _Address(base._replace(path=path, fragment="").geturl(), "mirror", name)
    for url in (*entry.urls, *_last_resorts(entry)):
        yield _Address(url, "download", without_credentials(url))


def _last_resorts(entry):
    """Copies by content, of a file that is registered somewhere."""
    contents = [f"sha256:{entry.sha256}"]
    if entry.git_blob:
        contents.append(f"sha1_git:{entry.git_blob}")
    for content in contents if entry.urls else []:
        yield f"https://archive.softwareheritage.org/api/1/content/{content}/raw/"


def _open(path, packed):
    return gzip.open(path, "rb") if packed else path.open("rb")


def _checked(path, packed, entry, origin, name):
    """The record of a file that has the registered sum, or is the second accepted one."""
    try:
        sha256, size = _sum(hashlib.sha256(), path, packed, entry, name)
        sound = entry.sha256 in (None, sha256)
        if not sound and entry.git_blob:
            start = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
            blob, _ = _sum(start, path, packed, entry, name)
            sound = blob == entry.git_blob
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


def _sum(digest, path, packed, entry, name):
    """The digest of the uncompressed bytes, and their number."""
    size = 0
    with _open(path, packed) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
            size += len(block)
            if packed and size > entry.limit:
                raise _too_large(entry, name)
    return digest.hexdigest(), size


def _too_large(entry, name):
    registered = f"{entry.bytes} are registered" if entry.bytes else "no size is registered"
    return InputError(
        f"{name} has more than {entry.limit} bytes, {registered}: it is a different file"
    )


def _download(entry, addresses, cached, tried, wrong):
    """The first good copy among the addresses, moved into the cache."""
    with extra_for("a download"):  # most files are at hand, without it
        from kronbench.datasets import transfer

    for address in addresses:
        try:
            cached.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cached.parent, prefix=UNFINISHED) as folder:
                scratch = Path(folder, "file")
                packed = _fetch(address, scratch, entry)
                record = _checked(scratch, packed, entry, address.name, address.name)
                path = cached.with_name(f"{cached.name}.gz") if packed else cached
                scratch.replace(path)
            return LocalFile(path, packed, address.source, record)
        except transfer.NoAnswerError as error:
            tried.append(f"{urlsplit(address.name).netloc}: {error}")
        except InputError as error:
            wrong = error
            _log.warning("%s (nothing of it was kept)", error)
        except OSError as error:
            tried.append(
                f"the cache {cached.parent} cannot be written ({error.strerror}; KRONBENCH_CACHE "
                "names another)"
            )
            break
    raise wrong or Unavailable(entry, tried)


def _fetch(address, scratch, entry):
    """Download one address, and say whether it came as gzip."""
    from kronbench.datasets import transfer  # as in _download

    _log.info("fetching %s", address.name)
    transfer.transfer(address.url, scratch, entry.limit, entry.bytes or _UNKNOWN)
    if not urlsplit(address.url).path.endswith(".gz") or entry.mirror.endswith(".gz"):
        return False
    # Some servers unpack on the way what their url calls .gz: ask the bytes.
    with scratch.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"
