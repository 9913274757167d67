"""What a page tells to save or to type is run, and what it prints is what the page shows."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys

from kronbench_suite.cli import main
from tests.docs.pages import ROOT

_PROGRAMS = f"""
    kronbench() {{ "{sys.executable}" -m kronbench_suite "$@"; }}
    python() {{ "{sys.executable}" "$@"; }}
"""


def printed_in(folder, work):
    """What a function prints in a folder."""
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        assert not work()
    return out.getvalue()


def run(folder, program):
    """What a program of Python prints."""
    return printed_in(folder, lambda: exec(program, {"__name__": "__main__"}))


def typed(folder, command):
    """What a command line prints."""
    if command.startswith("kronbench "):
        return printed_in(folder, lambda: main(shlex.split(command)[1:]))
    path = os.pathsep.join([str(ROOT / "src"), str(folder)])
    ended = subprocess.run(
        ["bash", "-c", _PROGRAMS + command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def run_console(folder, text):
    """Type the commands of a block; what they print is what stands below each."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        assert_same(typed(folder, command), shown)


def assert_same(printed, shown):
    """Lines agree: texts exactly, decimal numbers to two units of the third digit."""
    printed = re.sub("sha256 [0-9a-f]{64}", "sha256 …", printed)
    number = r"[+-]?\d+\.\d+"
    for got, line in zip(printed.splitlines(), shown.splitlines(), strict=True):
        told = f"{got}\n{line}"
        assert re.sub(number, "#", got).split() == re.sub(number, "#", line).split(), told
        pairs = zip(re.findall(number, got), re.findall(number, line), strict=True)
        assert all(abs(float(a) - float(b)) <= 0.002 for a, b in pairs), told
