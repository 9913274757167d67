"""One small registered file, for the tests of fetching."""

import hashlib

from kronbench.datasets.registry import FileEntry

CONTENT = b"1 2 3\n" * 100
SUM = hashlib.sha256(CONTENT).hexdigest()
WRONG = CONTENT[:-1] + b"!"
WRONG_SUM = hashlib.sha256(WRONG).hexdigest()
PLAIN = FileEntry("one/a.txt", SUM, bytes=len(CONTENT))


def downloadable(*urls, **changes):
    return FileEntry(**{"mirror": "one/a.txt", "sha256": SUM, "urls": urls, **changes})


def cached_files(cache):
    """What lies in the cache, but for the memory of hosts."""
    found = (path.relative_to(cache) for path in cache.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.parts[0] != "network")


def read(file):
    with file.open() as stream:
        return stream.read()
