"""Whole files or none: outputs are written under a temporary name and renamed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kronbench.errors import InputError

UNFINISHED = ".unfinished-"  # how the names of temporary files and folders begin

# What to do where the system refuses a file.
_ADVICE = {
    errno.ENOSPC: "make room on its disk",
    errno.EDQUOT: "make room within your quota",
    errno.EFBIG: "raise the limit on the size of a file (ulimit -f)",
    errno.EROFS: "choose a folder with write permission",
    errno.EACCES: "give this user permission, or choose another folder",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENOTDIR: "give another place",
}


def check_output(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse, before any work, what a command could not or should not write; nothing is left.

    That is also a file that is read as well. A link stands for the file that it leads to.
    """
    try:
        check_replaceable(path)
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            pass
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "give another place")
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}; {advice}"
        ) from None
    for read in inputs:
        with contextlib.suppress(OSError):  # one of the two is not there
            if read is not None and os.path.samefile(path, read):
                raise InputError(f"{path} is an input too ({read}): give the output another name")


def check_replaceable(path: str | Path) -> None:
    """InputError where something stands that is no plain file, or is write-protected."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device, pipe or socket"
        raise InputError(f"{path} is {kind}: give the name of a file")
    # A superuser may write to any file, but protected it for a reason.
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise InputError(f"{path} is write-protected: give another name, or remove it first")


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path in the folder of ``path``, renamed to it when the block succeeds.

    An interrupted or failed block leaves what stood there before, and nothing else; a killed one
    may also leave its temporary file. Of a link, the file that it leads to is replaced.
    """
    with replacing_all([path]) as (temporary,):
        yield temporary


@contextlib.contextmanager
def replacing_all(paths: Iterable[str | Path]) -> Iterator[list[Path]]:
    """Temporary paths of files that belong together, renamed when the block succeeds.

    The file that is asked for first appears last. So where it is new, all are.
    """
    wanted = [Path(path) for path in paths]
    temporaries: dict[str, Path] = {}
    umask = os.umask(0)
    os.umask(umask)
    # Refuse what cannot be replaced before anything is written.
    for path in wanted:
        check_replaceable(path)
    at = wanted[0]  # what an error without a file is about: a full disk names none
    try:
        for at in wanted:
            folder = Path(os.path.realpath(at)).parent
            folder.mkdir(parents=True, exist_ok=True)
            # The suffix stays: writers such as numpy.savez and matplotlib look at it.
            handle, name = tempfile.mkstemp(dir=folder, prefix=UNFINISHED, suffix=at.suffix)
            os.close(handle)
            temporaries[name] = at
        at = wanted[0]
        yield [Path(name) for name in temporaries]
        for name, path in reversed(temporaries.items()):
            os.chmod(name, 0o666 & ~umask)  # mkstemp makes files private
            os.replace(name, Path(os.path.realpath(path)))
    except OSError as error:
        # A temporary name says little: the error names the file that was asked for.
        whole = len(temporaries) == len(wanted)
        if error.errno is None or (whole and error.filename not in {None, *temporaries}):
            raise
        place = temporaries.get(error.filename, at)
        raise OSError(error.errno, error.strerror, str(place)) from error
    finally:
        for name in temporaries:
            Path(name).unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: str | Path, **kinds: type) -> dict:
    """The mapping in a JSON file."""
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError(f"{path} is damaged: it is not a JSON mapping; make it again")
    for key, kind in kinds.items():
        if not isinstance(content.get(key, ...), kind):
            raise InputError(
                f"{path} is damaged or of an earlier version: '{key}' is missing or wrong; "
                "make it again"
            )
    return content


def checked(file: Path, unpack: Callable[[bytes], bytes] = bytes) -> bytes:
    """The content of a file that has its sha256 in the ``.json`` file of the same name."""
    try:
        content = unpack(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None
    name = file.name.removesuffix(".xz")
    record = file.with_name(name).with_suffix(".json")
    sums = read_json(record, sha256=dict)["sha256"]
    if hashlib.sha256(content).hexdigest() != sums.get(name.rpartition(".")[2]):
        raise InputError(
            f"{file} was changed after it was written: {record.name} has another sha256; "
            "remove both and make them again"
        )
    return content


def os_error_advice(error: OSError) -> str:
    """Which file the system refuses, and what to do, in one sentence; else ""."""
    if error.errno not in _ADVICE:
        return ""
    advice = _ADVICE[error.errno]
    # what has no name is mostly a semaphore of multiprocessing
    place = error.filename or "shared memory (a semaphore in /dev/shm)"
    return f"{place}: {error.strerror}; {advice}, then run the same command again"
