"""Whole files or none: outputs are written under a temporary name and renamed."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

ABANDONED = 600.0  # seconds after which what another machine writes is taken for left behind

# What to do where the system refuses a file.
_ADVICE = {
    errno.ENOSPC: "make room on its disk",
    errno.EDQUOT: "make room within your quota",
    errno.EFBIG: "raise the limit on the size of a file (ulimit -f)",
    errno.EROFS: "choose a folder that can be written",
    errno.EACCES: "give this user the right to it, or choose another folder",
}


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the folder of ``path``, renamed to it when the block succeeds.

    An interrupted or failed block leaves what stood there before, and nothing else; what a killed
    one left goes when the same file is written again.

    Raises
    ------
    OSError
        ``path`` cannot be written; the error names it.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent, path.stem)
        # The suffix stays: writers such as numpy.savez and matplotlib look at it.
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=temporary_prefix(path.stem), suffix=path.suffix
        )
        os.close(handle)
        temporary = Path(name)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes files private
        os.replace(temporary, path)
    except OSError as error:
        # A full disk names no file, and a temporary name says little.
        if error.errno is None or (temporary and error.filename not in (None, str(temporary))):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def refusal(error: OSError) -> str:
    """Which file the system refuses, and what to do, in one sentence; else ""."""
    if error.errno not in _ADVICE:
        return ""
    advice = _ADVICE[error.errno]
    return f"{error.filename}: {error.strerror}; {advice}, then run the same command again"


def temporary_prefix(name: str) -> str:
    """How the temporary file or folder of this process for ``name`` begins; see ``sweep``."""
    return f".{name}-{socket.gethostname()}-{os.getpid()}-"


def sweep(folder: Path, name: str) -> None:
    """Remove temporary files and folders for ``name`` of processes that were killed.

    Those of another machine once nothing was written there for ``ABANDONED`` seconds.
    """
    pattern = re.compile(rf"\.{re.escape(name)}-(.+)-([0-9]{{1,9}})-\w+(\.\w+)?")
    for left in folder.glob(f".{glob.escape(name)}-*"):
        if not (writer := pattern.fullmatch(left.name)):
            continue
        with contextlib.suppress(OSError):  # another process may remove it too
            if writer[1] == socket.gethostname():
                dead = not psutil.pid_exists(int(writer[2]))
            else:
                newest = max(path.stat().st_mtime for path in (left, *left.glob("*")))
                dead = time.time() - newest > ABANDONED
            if dead and left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            elif dead:
                left.unlink()
