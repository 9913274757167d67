"""What a bad input does not import: seconds of start-up that its sentence does not need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.own_pairs.problem import arguments, tables

ROOT = Path(__file__).parents[2]
# What takes a tenth of a second and more of processor time.
HEAVY = ("sklearn", "numba", "pandas", "scipy.sparse", "scipy.linalg", "matplotlib")
PROGRAM = """
import json, sys
from kronbench.cli import main
try:
    status = main(sys.argv[2:])
except SystemExit as end:
    status = end.code
loaded = [name for name in json.loads(sys.argv[1]) if name in sys.modules]
print(json.dumps([status, loaded]))
"""


def started(folder, argv):
    """The status of a command in a process of its own, and the heavy modules that it imports."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(HEAVY), *map(str, argv)],
        cwd=folder, capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    status, loaded = json.loads(done.stdout.splitlines()[-1])
    return status, set(loaded)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    tables(folder)
    (folder / "damaged.kron").write_bytes(b"drug,target\n")
    return folder


TABLES = [str(entry) for entry in arguments(Path())]
OTHER = [*TABLES[2:], "--pairs"]  # with other pairs
PREDICT = ["damaged.kron", "--pairs", "pairs.csv", "-o"]


@pytest.mark.parametrize(
    "argv",
    [
        ["evaluate", *TABLES, "--solver", "KronRigde"],
        ["evaluate", *TABLES, "--solver", "nowhere.Solver"],
        ["evaluate", *OTHER, "none.csv", "--solver", "kronbench.models.KronSMV"],
        ["fit", *TABLES, "--solver", "PairKNN", "-o", "m.kron"],
        ["fit", *TABLES, "--solver", "KronRidge", "-o", "nowhere/m.kron"],
        ["predict", *PREDICT, "p.csv"],
        ["check", "my_slover.Additive"],
    ],
)
def test_bad_input_imports_no_more_than_its_sentence_needs(folder, argv):
    assert started(folder, argv) == (2, set())


def test_a_command_that_works_imports_what_is_not_counted_above(folder):
    status, loaded = started(folder, ["fit", *TABLES, "--solver", "KronRidge", "-o", "m.kron"])
    assert status == 0
    assert {"sklearn", "numba", "pandas"} <= loaded
