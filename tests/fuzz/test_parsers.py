"""Damaged and hostile files: parsers of files without a sum give arrays, or one sentence, soon.

A small good file of each format is cut, repeated, spliced and peppered with what formats trip
over. ``KRONBENCH_FUZZ`` is the number of files for each parser: few in a plain run of the tests,
which are the same each time; ``make fuzz`` draws 10,000 new ones.
"""

import functools
import gzip
import hashlib
import io
import json
import os
import resource
import sys
import tempfile
import time
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from scipy import sparse

from kronbench import InputError, datasets
from kronbench.datasets import _load, drug_target, fetch, lshtc, registry, wipo
from tests.datasets import test_registry, test_wipo
from tests.datasets.test_drug_target import METZ_FILES, YAMANISHI_FILES
from tests.datasets.test_lshtc import GOOD
from tests.helpers import in_memory

FILES = int(os.environ.get("KRONBENCH_FUZZ", "0"))
SECONDS, BYTES = 5.0, 200 << 20  # processor seconds of one file, of 20 kB at most; of a parser

SCRAPS = [
    *(b"\n", b"\r", b"\0", b"\x0c", b"\x1e", b"\x1f", b"\x85", b"\xa0", b"\xff", b"\xef\xbb\xbf"),
    *(b" ", b"\t", b",", b":", b";", b"#", b"?", b"%", b"'", b'"', b"\\", b"{", b"}", b"(", b")"),
    *(b"-1", b"1_0", b"1.5", b"0x10", b"1e400", b"1e-400", b"nan", b"-inf", b"+", b"e", b"qid:1"),
    *(b"2147483648", b"9" * 19, b"9" * 400, b"7" * 5000, "\u0661\u0662".encode(), b"\xd9"),
    *(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"]]>", b"<![CDATA[", b"<?x?>", b"<a>" * 500),
    *(b"encoding='utf-7'", b"utf-16", b"@attribute a {b, c}", b"@data", b"date 'yyyy'", b"string"),
    *(b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\6", b"\x93NUMPY", b"\x1f\x8b\x08", b"../", b"\\x"),
    *(b"1 " * 2000, b"nan," * 2000, b"\n" * 2000, b"9:" * 500, b"(" * 300, b"[" * 3000),
]


@st.composite
def damaged(draw, seeds):
    """One of the good files after a few accidents."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 60)))
        kind = draw(st.integers(0, 7))
        if kind <= 1:
            content = content[:start] + draw(st.sampled_from(SCRAPS)) + content[end:]
        elif kind == 2:
            content = content[:start] + draw(st.sampled_from(SCRAPS)) + content[start:]
        elif kind == 3:
            content = content[:start] + content[end:]
        elif kind == 4:
            content = content[:end] + content[start:]
        elif kind == 5:
            content = content[:start] + draw(st.binary(max_size=8)) + content[end:]
        elif kind == 6:
            content = (
                content[:start] + content[start:end] * draw(st.integers(2, 40)) + content[end:]
            )
        elif start < len(content):
            flipped = bytes([content[start] ^ (1 << draw(st.integers(0, 7)))])
            content = content[:start] + flipped + content[start + 1 :]
    return content[:20_000]


def check(parse):
    """Arrays that are sound, or one sentence; in bounded time."""
    start = time.process_time()
    try:
        arrays = parse()
    except InputError as error:
        text = str(error)
        assert text.strip()
        assert "\n" not in text
        assert len(text) < 500
    else:
        for key, array in (arrays or {}).items():
            values = array.data if sparse.issparse(array) else array
            assert values.dtype.kind in "fiub", key
            # Only pairs that nobody measured are unknown.
            assert key == "values" or np.isfinite(values).all(), key
        if arrays and "parents" in arrays:
            test_wipo.check_tree(arrays["parents"])
    assert time.process_time() - start < SECONDS


# --- good files -------------------------------------------------------------------------------

RECORD = test_wipo.RECORD.format(symbol="{}", title="Weaving looms", claims="A loom &alpha;")


def packed(method, first=None):
    """The records of the index; the first of them may be another."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for path, (symbol, *_) in test_wipo.RECORDS.items():
            archive.writestr(f"wipo/{path}", first or RECORD.format(symbol))
            first = None
    return content.getvalue()


COLLECTIONS = [packed(method) for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]


# --- parsers: what is damaged, and how it is read ---------------------------------------------


def read(parse, options, **contents):
    """As ``load`` reads them, where a fault of any kind is one sentence."""
    entry = types.SimpleNamespace(name="One", options=options)
    return _load.parsed_arrays(entry, datasets.Loader("vectors", parse), in_memory(**contents))


def one_of(parse, good, key, **options):
    """The parser of several files, of which one is damaged."""
    seeds = [good[key].encode()]
    return seeds, lambda content: read(parse, options, **good | {key: content})


def records(content):
    return read(wipo.parse_records, {"section": "D"}, **test_wipo.INDEX, collection=content)


def registered(content):
    """A file whose size and sum are known, as it lies in a mirror."""
    sha256 = hashlib.sha256(b"1 2 3\n" * 5).hexdigest()
    entry = registry.FileEntry("a.txt", sha256, git_blob="0" * 40, bytes=30)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.txt.gz").write_bytes(content)
        fetch.obtain(entry, [folder], network=False)


def own_registry(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.yaml")
        path.write_bytes(content)
        registry._entries_of_unchanged.__wrapped__(path, 0)


ENTRY = {**test_registry.ENTRY, "files": {"a": test_registry.FILE}, "shape": {"X": [3, None]}}
SEEDS = [write({"One": ENTRY}).encode() for write in (yaml.safe_dump, json.dumps)]

PARSERS = {
    **{
        f"interactions {key}": one_of(drug_target.parse_interactions, YAMANISHI_FILES, key)
        for key in ("interactions", "drugs")
    },
    **{
        f"affinities {key}": one_of(drug_target.parse_affinities, METZ_FILES, key, at_least=7.0)
        for key in ("affinities", "drugs")
    },
    **{f"lshtc {key}": one_of(lshtc.parse_lshtc, GOOD, key, n_words=20) for key in GOOD},
    "records": (COLLECTIONS, records),
    "record": (
        [RECORD.format("D01B00110").encode(code) for code in ("ascii", "utf-16")],
        lambda content: records(packed(zipfile.ZIP_STORED, content)),
    ),
    "gzip": ([gzip.compress(b"1 2 3\n" * 5), gzip.compress(b"\0" * 10**6)], registered),
    "registry": (SEEDS, own_registry),
}


def peak():
    """Bytes of memory that this process has had at most."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", PARSERS)
def test_no_file_surprises_a_parser(name, tmp_path, monkeypatch):
    monkeypatch.setenv("KRONBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    seeds, parse = PARSERS[name]

    @settings(
        max_examples=FILES or 15,
        derandomize=not FILES,
        phases=[Phase.generate, Phase.shrink],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(seeds))
    def run(content):
        check(lambda: parse(content))

    parse(seeds[0])  # the good file; what it imports takes a time of its own
    for seed in seeds:
        check(functools.partial(parse, seed))
    before = peak()
    run()
    assert peak() - before < BYTES
    assert os.listdir(tmp_path) == []
