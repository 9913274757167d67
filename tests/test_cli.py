"""What every command has in common: how it ends when it is interrupted, or cannot print."""

import subprocess
import sys
import time

import pytest

from kronbench import cli
from kronbench.cli import main


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
            [sys.executable, "-m", "kronbench", *command],
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
