"""docs/own-pairs.md: what it tells to type is run, and what it prints is what comes out."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, texts
from tests.docs.run_blocks import assert_same, run, run_console, typed
from tests.own_pairs.problem import arguments, tables

PAGE = DOCS / "own-pairs.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    mirror = os.environ.get("KRONBENCH_MIRROR")
    if not mirror or not Path(mirror).is_dir():
        pytest.skip("KRONBENCH_MIRROR names no folder with the real data")
    folder = tmp_path_factory.mktemp("tutorial")
    for program in texts(PAGE, "python"):
        if ".to_csv(" in program:  # the tables that the commands take
            run(folder, program)
    return folder


def test_the_commands_print_what_is_shown(folder):
    shown = texts(PAGE, "console")
    commands = re.findall(r"^\$ kronbench .*(?:pairs|new)\.csv", "".join(shown), re.MULTILINE)
    assert len(commands) == 5
    for block in shown:
        run_console(folder, block)


def test_the_same_in_python(folder):
    (program,) = (block for block in texts(PAGE, "python") if "in SETTINGS" in block)
    printed = run(folder, program)
    told = re.search(r"means of the first table: (.*)\.", TEXT)[1]
    areas = [float(line.split()[1]) for line in printed.splitlines()]
    assert areas == pytest.approx([float(part) for part in re.findall(r"\.\d+", told)], abs=0.002)


def test_what_else_is_told_in_python(folder):
    block = r"((?:(?!```).)*)```"
    shown = re.findall(rf"```python\n{block}\n\n```text\n{block}", TEXT, re.DOTALL)
    assert len(shown) == 5
    for program, expected in shown:
        assert_same(run(folder, program), expected)


def test_the_command_without_output_runs_in_small(tmp_path):
    (evaluate,) = texts(PAGE, "")
    tables(tmp_path, real=True)
    options = shlex.join([*arguments(tmp_path), "--splits", "2", "--repeats", "1"])
    assert "B  new rows" in typed(tmp_path, evaluate.replace("...", options))
