"""What every command has in common: how it ends when it is interrupted, or cannot print."""

import subprocess
import sys
import time

import pytest

from kronbench_suite import cli
from kronbench_suite.cli import main
from tests.own_pairs.problem import fit, tables


class Interrupted:
    """Python cannot raise what comes up here, as in a callback of numba while it loads code."""

    def __del__(self):
        raise KeyboardInterrupt


def test_an_interrupt_that_python_ignores_comes_again(monkeypatch, capsys):
    before, ended = sys.unraisablehook, []

    def long_work(arguments):
        Interrupted()
        for _ in range(200):
            time.sleep(0.05)
        ended.append(arguments)

    monkeypatch.setattr(cli, "_completion", long_work)
    assert main(["completion", "bash"]) == 130
    assert not ended
    assert capsys.readouterr().err == "kronbench: interrupted\n"
    assert sys.unraisablehook is before


def test_other_errors_that_python_ignores_are_told_as_ever(monkeypatch):
    class Broken:
        def __del__(self):
            raise ValueError("here")

    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))
    monkeypatch.setattr(cli, "_completion", lambda arguments: Broken() and None)
    assert main(["completion", "bash"]) == 0
    assert told == [ValueError]


@pytest.mark.parametrize(
    "command", [["data", "list"], ["data", "describe", "NR"], ["completion", "bash"]]
)
def test_a_full_standard_output_is_named(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kronbench_suite", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("kronbench: error: standard output: No space left on device; ")
    assert done.stderr.count("\n") == 1


def test_a_file_in_the_place_of_a_folder_is_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "plain.csv").write_text("mine")
    argv = ["data", "fetch", "NR", "--policy", "surrogate", "--out", str(tmp_path / "plain.csv")]
    assert main(argv) == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith(f"kronbench: error: {tmp_path}/plain.csv/data.npz: Not a directory; ")
    assert (tmp_path / "plain.csv").read_text() == "mine"


LOADED = """
import sys
from kronbench_suite.cli import main
assert main(sys.argv[1:]) == 0
print(*(name for name in sys.modules if getattr(sys.modules[name], "__spec__", None)))
"""
# Each is a tenth to a half of the time in which two pairs are predicted.
HEAVY = ("scipy.stats", "scipy.optimize", "sklearn.metrics", "sklearn.model_selection")
HEAVY += ("sklearn.preprocessing", "kronbench.datasets")


def test_predictions_load_no_more_than_they_need(tmp_path, capsys):
    tables(tmp_path)
    model = fit(capsys, tmp_path, "KronRidge", "--scale")
    options = ["--pairs", tmp_path / "pairs.csv", "-o", tmp_path / "out.csv"]
    run = subprocess.run(
        [sys.executable, "-c", LOADED, "predict", model, *options],
        capture_output=True,
        check=True,
        text=True,
    )
    loaded = set(run.stdout.split())
    assert {"numba", "kronbench.models.kron_ridge"} <= loaded
    assert not loaded & set(HEAVY)
