"""Damaged and hostile files: every parser gives its arrays, or one sentence, and soon.

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
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from scipy import sparse

from kronbench import InputError
from kronbench.datasets import drug_target_files, fetch, ipc, lshtc, registry, uci, wipo
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
            parents = arrays["parents"]
            assert parents[0] == -1
            assert (parents[1:] < np.arange(1, len(parents))).all()
    assert time.process_time() - start < SECONDS


# --- good files -------------------------------------------------------------------------------

TABLES = {
    "boston": b" 0.00632  18.00   2.310  0  0.5380  6.5750  65.20  4.0900   1  296.0  15.30 396.90"
    b"   4.98  24.00\n" * 4,
    "splice": b"EI,   ATRINS-DONOR-521, " + b"ACGT" * 15 + b"\nIE, B, " + b"TTGA" * 15 + b"\n",
    "abalone": b"M,0.455,0.365,0.095,0.514,0.2245,0.101,0.15,15\nF,1,2,3,4,5,6,7,8\n",
    "titanic": b"a\x1fb\x1fc\x1fd\x1eclass\x1fage\x1fsex\x1fsurvived\x1e"
    b"first\x1fadult\x1fmale\x1fyes\x1ecrew\x1fadult\x1ffemale\x1fno\x1e",
    "breast": b"1000025,5,1,1,1,2,1,3,1,1,2\n1017122,8,10,10,8,7,10,?,7,1,4\n"
    b"3,1,1,1,1,2,1,3,1,1,4\n",
}
ARFF = (
    b"% a comment\n@relation hypothyroid\n@attribute 'age' real\n@attribute sex { F, M }\n"
    + b"".join(b"@attribute a%d {f, t}\n" % k for k in range(27))
    + b"@attribute Class {negative,compensated_hypothyroid,primary_hypothyroid}\n@data\n"
    + b"41,F,"
    + b"f," * 27
    + b"negative\n?,M,"
    + b"t," * 27
    + b"primary_hypothyroid\n"
    + b"7.5,M,"
    + b"t," * 27
    + b"negative\n"
)
YAMANISHI = {
    "interactions": b"\tD1\tD2\tD3\nT1\t1\t0\t0\nT2\t0\t1\t1\n",
    "drugs": b"\tD1\tD2\tD3\nD1\t1\t.5\t0\nD2\t.5\t1\t0\nD3\t0\t0\t1\n",
    "targets": b"\tT1\tT2\nT1\t1\t.2\nT2\t.2\t1\n",
}
METZ = {
    "affinities": b"7.1 nan 5\n6.5 8.25 nan\n",
    "drugs": b"1 .5\n.5 1\n",
    "targets": b"100 25 30\n25 100 1e1\n30 10 100\n",
}
LSHTC = {
    "train": b"label, data\n545, 32 8:1 18:2\n32 1:3\n\n7 18:0.5 2:1\n545 8:1 # 9:1\n",
    "novel": b"99 3:4\n",
    "hierarchy": b"1 2\n1 3\n2 545\n2 32\n3 7\n3 4\n4 99\n4 1000\n1 5\n",
}
INDEX = {
    "train": b"./D/01/B/001/US9800001_01011999.xml\n./d/02/g/003/ep9800002_01011999.xml\n",
    "test": b"./D/01/B/001/US9800005_01011999.xml\n",
}
RECORD = b"""<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE record SYSTEM "wipo.dtd">
<record cy="WO" an="US9800001"><ipcs ed="6" mc="%s"><ipc ic="D06M01500"></ipc></ipcs>
<tis><ti xml:lang="EN">Weaving looms</ti><ti xml:lang="FR">titre</ti></tis>
<cls><cl xml:lang="EN">A loom &alpha; weaves.</cl></cls></record>
"""
TITLES = (
    b"D\tTEXTILES\nD01B0001000000\tFibres\nD01B0001020000\tVegetable fibres\n"
    b"D02G0003020000\tYarn\n"
)


def packed(method, first=RECORD % b"D01B00110"):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.writestr("wipo/D/01/B/001/US9800001_01011999.xml", first)
        archive.writestr("wipo/d/02/g/003/ep9800002_01011999.xml", RECORD % b"D02G00302")
        archive.writestr("test/D/01/B/001/US9800005_01011999.xml", RECORD % b"D01B00110")
    return content.getvalue()


COLLECTIONS = [packed(method) for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]


def stored(values):
    content = io.BytesIO()
    np.save(content, values)
    return content.getvalue()


FEATURES = {"train_features": stored(np.eye(2, 3)), "test_features": stored(np.ones((1, 3)))}


# --- parsers: what is damaged, and how it is read ---------------------------------------------


def table(layout):
    options = {"n_points": 2, "n_features": 3, "largest_variance": True, "seed": 1}
    return lambda content: uci.parse_table(in_memory(data=content), layout=layout, **options)


def one_of(parse, good, key, **options):
    """The parser of several files, of which one is damaged."""
    return [good[key]], lambda content: parse(in_memory(**good | {key: content}), **options)


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
        registry._read_unchanged.__wrapped__(path, 0)


ENTRY = {
    "One": {
        **{"title": "One", "loader": "table", "licence": "none", "citation": "nobody"},
        "files": {"a": {"mirror": "a", "sha256": "0" * 64, "urls": ["http://a/b"]}},
        "shape": {"X": [3, None]},
    }
}

PARSERS = {
    **{f"table {layout}": ([content], table(layout)) for layout, content in TABLES.items()},
    "table arff": ([ARFF], table("hypothyroid")),
    **{
        f"interactions {key}": one_of(drug_target_files.parse_interactions, YAMANISHI, key)
        for key in ("interactions", "drugs")
    },
    **{
        f"affinities {key}": one_of(drug_target_files.parse_affinities, METZ, key, at_least=7.0)
        for key in ("affinities", "drugs")
    },
    **{f"lshtc {key}": one_of(lshtc.parse_lshtc, LSHTC, key, n_words=20) for key in LSHTC},
    "index": one_of(wipo.parse_index, INDEX, "train"),
    "titles": ([TITLES], lambda content: ipc.parse_titles(in_memory(titles=content), section="D")),
    "records": (
        COLLECTIONS,
        lambda content: wipo.parse_records(in_memory(**INDEX, collection=content), section="D"),
    ),
    "record": (
        [RECORD % b"D01B00110", (RECORD % b"D01B00110").decode().encode("utf-16")],
        lambda content: wipo.parse_records(
            in_memory(**INDEX, collection=packed(zipfile.ZIP_STORED, content)), section="D"
        ),
    ),
    "features": one_of(
        wipo.parse_features, INDEX | FEATURES, "train_features", section="D", n_features=3
    ),
    "gzip": ([gzip.compress(b"1 2 3\n" * 5), gzip.compress(b"\0" * 10**6)], registered),
    "registry": ([yaml.safe_dump(ENTRY).encode(), json.dumps(ENTRY).encode()], own_registry),
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
