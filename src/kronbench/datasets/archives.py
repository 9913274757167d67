"""Members of zip archives that come from others: read one by one, never unpacked to a path."""

from __future__ import annotations

import contextlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from kronbench.errors import InputError

_ENCRYPTED = 0x1
_METHODS = {
    zipfile.ZIP_STORED,
    zipfile.ZIP_DEFLATED,
    zipfile.ZIP_BZIP2,
    zipfile.ZIP_LZMA,
}
_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, OverflowError, RuntimeError, ValueError, MemoryError),
)


@contextlib.contextmanager
def zip_archive(stream: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    """The archive in a seekable stream; ``name`` is for messages.

    Raises
    ------
    InputError
        The stream holds no zip archive, or only a part of one.
    """
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
    """The unpacked bytes of one member, at most ``limit`` of them.

    Raises
    ------
    InputError
        The member is larger, needs a password, is packed in a way that Python cannot unpack, or
        is damaged; ``place`` names it.
    """
    if member.flag_bits & _ENCRYPTED:
        raise InputError(f"{place} is locked by a password: pack the files without one")
    if member.compress_type not in _METHODS:
        method = zipfile.compressor_names.get(member.compress_type, "unknown")
        raise InputError(
            f"{place} is packed by method {member.compress_type} ({method}), which cannot be "
            "unpacked here: pack the files with Deflate"
        )
    # The size is the archive's own word; the reader stops there, and then compares checksums.
    if member.file_size > limit:
        raise InputError(f"{place} has {member.file_size} bytes, at most {limit} are expected")
    try:
        return archive.read(member)
    except _FAULTS as error:
        raise InputError(f"{place} is damaged ({_said(error)}): get the archive again") from None


def _said(error):
    return " ".join(str(error).split())[:100] or type(error).__name__
