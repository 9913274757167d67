"""Members of zip archives that come from others: read one by one, never unpacked to a path.

Tried: pooch's ``Unzip`` writes all members to a folder, whatever their size.
"""

from __future__ import annotations

import contextlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from kronbench.errors import InputError

_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, OverflowError, RuntimeError, ValueError, MemoryError),
)


@contextlib.contextmanager
def zip_archive(stream: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """The archive in a seekable stream; ``name`` is for messages."""
    try:
        archive = zipfile.ZipFile(stream)
    except _FAULTS as error:
        raise InputError(
            f"{name} is not a zip archive, or not a whole one ({_said(error)})"
        ) from None
    with archive:
        yield archive


def member_bytes(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int, place: str
) -> bytes:
    """The unpacked bytes of one member, at most ``limit`` of them; ``place`` is for messages."""
    # The size is the archive's own word; the reader stops there, and then compares checksums.
    if member.file_size > limit:
        raise InputError(f"{place} has {member.file_size} bytes, at most {limit} are expected")
    try:
        return archive.read(member)
    except _FAULTS as error:
        raise InputError(
            f"{place} cannot be unpacked ({_said(error)}): get a whole archive, packed with "
            "Deflate and without a password"
        ) from None


def _said(error):
    return " ".join(str(error).split())[:100] or type(error).__name__
