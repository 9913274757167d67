"""Every block of code on the pages: run where it is quick, else read as the program would."""

import argparse
import doctest
import re
import shlex

import pytest
import yaml
from snakemake.utils import update_config

from kronbench.yaml_files import validate
from kronbench_suite.cli import make_parser
from kronbench_suite.runner.plans import load_plan
from tests.docs.pages import ROOT, blocks, name_of, pages
from tests.docs.run_blocks import run_console
from tests.helpers import merged
from tests.own_pairs.problem import skip_without_mirror

# Blocks of these are run by tests/own_pairs, and by tests/test_project.py.
RUN_ELSEWHERE = ("docs/own-pairs.md", "docs/own-solver.md", "docs/field.md", "README.md")
# Reports of another program's fault, and a template of another workflow.
NOT_RUN = ("docs/snakemake-timers.md",)
# What a page needs beside the extras of the lock; without it its blocks are not run.
NEEDED = {"docs/molecules.md": "rdkit", "docs/tutorials/screening.md": "rdkit"}
REAL = ("docs/tutorials/screening.md",)  # pages on real data
PLAN = load_plan(merged())


def runs(page):
    kinds = {block.language for block in blocks(page)}
    return name_of(page) not in (*RUN_ELSEWHERE, *NOT_RUN) and kinds & {"pycon", "console"}


@pytest.mark.parametrize("page", [*filter(runs, pages())], ids=name_of)
def test_blocks_run_and_print_what_they_show(page, tmp_path, monkeypatch):
    if needed := NEEDED.get(name_of(page)):
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    if name_of(page) in REAL:
        skip_without_mirror()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names = {"__name__": "__main__"}
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "pycon":
            run_doctest(block, page, names)
        elif block.language == "console":
            run_console(tmp_path, block.text)


def run_doctest(block, page, names):
    test = doctest.DocTestParser().get_doctest(
        block.text, names, name_of(page), str(page), block.line
    )
    assert test.examples
    said, runner = [], doctest.DocTestRunner()
    runner.run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    names.update(test.globs)


def commands():
    """Every line of a block that calls one of our commands, with its page."""
    for page in pages():
        if name_of(page) in NOT_RUN:
            continue
        for block in blocks(page):
            if block.language not in ("", "console"):
                continue
            text = re.sub(r"\\\n\s*", " ", block.text)
            for line in text.splitlines():
                line = re.sub(r"\s#.*", "", line.removeprefix("$ ")).strip()
                for command in line.split("; "):
                    if re.match(r"(python -m )?kronbench |snakemake |make ", command):
                        yield name_of(page), command.removeprefix("python -m ")
        for command in re.findall(r"`(kronbench figures [^`\[.]+)`", page.read_text("utf-8")):
            yield name_of(page), command


@pytest.mark.parametrize(("page", "command"), [*commands()])
def test_commands_are_as_the_programs_take_them(page, command, monkeypatch):
    program, *words = shlex.split(re.sub(r"[\[\]]|\.\.\.", " ", command))
    if program == "make":
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        targets = [*re.findall(r"^([a-z-]+):", text, re.MULTILINE), ".venv/ready"]
        assert {word for word in words if "=" not in word} <= {*targets}
    elif program == "kronbench":
        monkeypatch.setattr(argparse.ArgumentParser, "error", refuse)
        if "..." in command:  # what is left out there
            words += LEFT_OUT[words[0]]
        arguments = make_parser().parse_args(words)
        if words[0] == "figures" and arguments.item:
            PLAN.item(arguments.paper, arguments.item)
    else:
        files = re.findall(r"results/\w+/(\w+)/((?:2016/)?[a-z]+-[\d.]*\d)\.(\w+)", command)
        for paper, item, suffix in files:
            assert suffix in PLAN.item(paper, item).kinds


LEFT_OUT = {
    "evaluate": "--pairs P --rows R --cols C --solver KronRidge".split(),
    "predict": "M.kron --pairs P -o O.csv".split(),
    "screen": "M.kron -o O.csv".split(),
}


def refuse(parser, message):
    raise AssertionError(f"{parser.prog}: {message}")


def yaml_blocks():
    for page in pages():
        for block in blocks(page):
            if block.language == "yaml" and name_of(page) not in RUN_ELSEWHERE:
                yield pytest.param(page, block, id=f"{name_of(page)}:{block.line}")


@pytest.mark.parametrize(("page", "block"), [*yaml_blocks()])
def test_entries_are_as_the_schemas_have_them(page, block):
    content = yaml.safe_load(block.text)
    if "scale" in content:
        config = merged()
        update_config(config, content)
        if "lab" in block.text:  # a data set of the reader's own
            validate(config, "config", name_of(page))
        else:
            load_plan(config)
    elif "claims" in content:
        validate(content, "claims", name_of(page))
    elif "lab" in content:
        validate(content, "datasets", name_of(page))
    elif "section-9" in content:
        entry = {"title": "t", "citation": "c", "items": content}
        validate(entry, "paper", name_of(page))
    else:
        assert name_of(page) == "CONTRIBUTING.md"
