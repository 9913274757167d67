"""docs/own-pairs.md: what it tells to type is run, and what it prints is what comes out."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kronbench.cli import main
from tests.docs.pages import blocks as blocks_of
from tests.own_pairs.problem import arguments, tables

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "own-pairs.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)


def started(folder, command):
    """What a process prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def printed_in(folder, work):
    """What a function prints in a folder."""
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        assert not work()
    return out.getvalue()


def run(folder, program):
    return printed_in(folder, lambda: exec(program, {"__name__": "__main__"}))


def typed(folder, command):
    if command.startswith("kronbench "):
        return printed_in(folder, lambda: main(shlex.split(command)[1:]))
    return started(folder, ["bash", "-c", command])


def same(printed, shown):
    """Whether two lines agree: texts exactly, numbers to two units of the digits shown."""
    number = r"[+-]?\d+\.\d+"
    printed = re.sub("sha256 [0-9a-f]{64}", "sha256 …", printed)
    if re.sub(number, "#", printed).split() != re.sub(number, "#", shown).split():
        return False
    pairs = zip(re.findall(number, printed), re.findall(number, shown), strict=True)
    return all(abs(float(a) - float(b)) <= 0.002 for a, b in pairs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    mirror = os.environ.get("KRONBENCH_MIRROR")
    if not mirror or not Path(mirror).is_dir():
        pytest.skip("KRONBENCH_MIRROR names no folder with the real data")
    folder = tmp_path_factory.mktemp("tutorial")
    for program in blocks("python"):
        if ".to_csv(" in program:  # the tables that the commands take
            run(folder, program)
    return folder


def test_the_commands_print_what_is_shown(folder):
    lines = [line for block in blocks("console") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("$ ")]
    of_kronbench = [line for line in commands if " kronbench " in line]
    assert len([line for line in of_kronbench if "pairs.csv" in line or "new.csv" in line]) == 5
    for position, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        end = next((k for k in range(position + 1, len(lines)) if lines[k] in commands), None)
        shown = lines[position + 1 : end]
        printed = typed(folder, line.removeprefix("$ ")).splitlines()
        assert len(printed) == len(shown), printed
        for got, expected in zip(printed, shown, strict=True):
            assert same(got, expected), f"{got}\n{expected}"


def test_the_same_in_python(folder):
    (program,) = (block for block in blocks("python") if "in settings(" in block)
    printed = run(folder, program)
    told = re.search(r"means of the first table: (.*)\.", TEXT)[1]
    areas = [float(line.split()[1]) for line in printed.splitlines()]
    assert areas == pytest.approx([float(part) for part in re.findall(r"\.\d+", told)], abs=0.002)


def test_what_else_is_told_in_python(folder):
    block = r"((?:(?!```).)*)```"
    shown = re.findall(rf"```python\n{block}\n\n```text\n{block}", TEXT, re.DOTALL)
    assert len(shown) == 5
    for program, expected in shown:
        printed = run(folder, program).splitlines()
        for got, line in zip(printed, expected.splitlines(), strict=True):
            assert same(got, line), f"{got}\n{line}"


def test_the_commands_without_output_run_in_small(tmp_path):
    page = blocks_of(ROOT / "docs" / "own-pairs.md")
    evaluate, fit = (block.text for block in page if block.language == "")
    tables(tmp_path, real=True)
    words = shlex.split(evaluate)
    at = words.index("...")
    words[at : at + 1] = [*arguments(tmp_path), "--splits", "2", "--repeats", "1"]
    printed = printed_in(tmp_path, lambda: main(words[1:]))
    assert "B  new rows" in printed

    (write,) = (program for program in blocks("python") if "assay.csv" in program)
    run(tmp_path, write)
    printed = started(tmp_path, [sys.executable, "-m", *shlex.split(fit)])
    assert "100 row landmarks miss" in printed
    assert (tmp_path / "low-rank.kron").exists()
