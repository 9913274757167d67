"""What was changed or damaged after it was written is refused by name, and nothing is lost."""

import dataclasses
import errno
import json
import lzma
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from kronbench import files
from kronbench.errors import InputError
from kronbench.reference import accepted
from kronbench.reference.accepted import files_of, packed, restore
from kronbench.reference.compare import numbers_in
from kronbench.reference.reference import accept
from kronbench.report import render
from kronbench.report.page import write_report
from kronbench.runner.items import load_plan
from tests.helpers import merged
from tests.report.test_report import claim, curves, say, write_results

METHODS = pd.DataFrame(
    {
        **{"method": ["KNN"], "auc": 0.7, "n_neighbors": 3.0, "on_edge": 0.0, "reg": None},
        **{"cross_validated": True, "scored_by": "KNN", "repeat": 0, "fold": 0},
    }
)


@pytest.fixture(scope="module")
def whole_plan():
    plan = load_plan(merged("smoke"))
    items = plan.item("airola", "figure-4"), plan.item("airola", "table-6")
    return dataclasses.replace(plan, items=items, papers={"airola": plan.papers["airola"]})


@pytest.fixture(scope="module")
def made(tmp_path_factory, whole_plan):
    """The folder of a run of a figure and a table that was accepted, and then measured anew."""
    folder, items = tmp_path_factory.mktemp("made"), whole_plan.items
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        say(patch, claim(kind="at_least", value="auc", bound=0.5) | {"item": "figure-4"})
        for auc in 0.6, 0.7:
            write_results(items[0], curves(auc=auc))
            write_results(items[1], METHODS.assign(auc=auc))
            for item in items:
                render.render(item)
            write_report(whole_plan)
            if auc == 0.6:
                accept(whole_plan, write=True)
    return folder


@pytest.fixture
def plan(made, whole_plan, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    say(monkeypatch, claim(kind="at_least", value="auc", bound=0.5) | {"item": "figure-4"})
    return whole_plan


def cut(content):
    return content[: len(content) // 2]


def edited(content):
    return content.replace(b"0.7", b"0.9")


JSON = {
    "empty": lambda content: b"",
    "cut": cut,
    "binary": lambda content: bytes(range(256)),
    "list": lambda content: b"[]",
    "null": lambda content: b"null",
    "bare": lambda content: b"{}",
    "deep": lambda content: b"[" * 100_000,
    "of a type": lambda content: content.replace(b'"seconds": ', b'"seconds": "x", "of": '),
}
TEXT = {
    "empty": lambda content: b"",
    "cut": cut,
    "binary": lambda content: bytes(range(256)),
    "text": lambda content: b"no table\n",
    "edited": edited,
}
PICTURE = {"empty": lambda content: b"", "junk": lambda content: b"junk"}
DAMAGES = [
    *(("sidecar", kind) for kind in JSON),
    *(("table", kind) for kind in TEXT),
    *(("record", kind) for kind in JSON),
    *(("numbers", kind) for kind in TEXT),
    *(("markdown", kind) for kind in ("empty", "cut", "binary", "edited")),
    *(("png", kind) for kind in PICTURE),
]


def damaged(plan, what, kind):
    """Damage a file of the run, and return its path."""
    figure, table = plan.items
    path = {
        "sidecar": figure.table(figure.parts[0]).with_suffix(".json"),
        "table": figure.table(figure.parts[0]),
        "record": figure.output("json"),
        "numbers": table.output("csv"),
        "markdown": table.output("md"),
        "png": figure.output("png"),
    }[what]
    content = path.read_bytes()
    new = (JSON | TEXT | PICTURE)[kind](content)
    assert new != content
    path.write_bytes(new)
    return path


def refused(call, path):
    """The one sentence in which a call refuses, which names the path."""
    with pytest.raises(InputError) as told:
        call()
    text = str(told.value)
    assert str(path) in text
    assert len(text) <= 400
    assert "\n" not in text
    return text


@pytest.mark.parametrize(("what", "kind"), DAMAGES)
def test_a_damaged_file_of_a_run_is_refused_by_name(plan, what, kind):
    path = damaged(plan, what, kind)
    if what in ("sidecar", "table"):
        refused(lambda: render.render(plan.items[0]), path)
    refused(lambda: write_report(plan), path)


def kept(plan):
    return {file: file.read_bytes() for file in plan.accepted.rglob("*") if file.is_file()}


@pytest.mark.parametrize(("what", "kind"), [("sidecar", "cut"), ("numbers", "edited")] + [
    ("table", kind) for kind in TEXT
])  # fmt: skip
def test_a_damaged_run_is_not_accepted_and_nothing_is_lost(plan, what, kind):
    before = kept(plan)
    path = damaged(plan, what, kind)
    refused(lambda: accept(plan), path)
    refused(lambda: accept(plan, write=True), path)
    assert kept(plan) == before


def test_a_table_that_cannot_be_packed_is_named(plan, monkeypatch):
    before = kept(plan)
    monkeypatch.setattr(accepted, "packed", lambda text: accepted._turned("a,b\n1\n"))
    text = refused(lambda: accept(plan, write=True), plan.items[0].table(plan.items[0].parts[0]))
    assert "cannot be kept" in text
    assert kept(plan) == before


@pytest.mark.parametrize("content", [b"", bytes(range(256)), b"no table\n", b'a,"b\n1'])
@pytest.mark.parametrize("whose", ["run", "accepted run"])
def test_damaged_verdicts_are_named(plan, content, whose):
    folder = plan.report if whose == "run" else plan.accepted
    path = folder / ("claims.csv" if whose == "run" else "verdicts.csv")
    path.write_bytes(content)
    refused(lambda: accept(plan, write=True), path)


def new_files(plan, tmp_path):
    """What ``accept`` writes if nothing stands in its way."""
    before = kept(plan)
    accept(plan, write=True)
    after = kept(plan)
    assert after.keys() == before.keys()
    assert after != before
    for file, content in before.items():
        file.write_bytes(content)
    return before, after


@pytest.mark.parametrize("n_renamed", [0, 1, 7])
def test_accepting_that_is_broken_off_loses_no_table(plan, tmp_path, monkeypatch, n_renamed):
    before, after = new_files(plan, tmp_path)
    rename, renamed = os.replace, []

    def breaking_off(source, target):
        if "reference" in Path(target).parts and not Path(source).name.startswith("."):
            if len(renamed) == n_renamed:
                raise KeyboardInterrupt
            renamed.append(target)
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", breaking_off)
        with pytest.raises(KeyboardInterrupt):
            accept(plan, write=True)
    now = kept(plan)
    assert len(renamed) == n_renamed
    assert now.keys() == before.keys()
    assert all(content in (before[file], after[file]) for file, content in now.items())
    assert os.listdir(plan.accepted.parent) == [plan.accepted.name]
    accept(plan, write=True)
    assert kept(plan) == after


def test_a_full_disk_leaves_what_was_accepted(plan, tmp_path, monkeypatch):
    before, _ = new_files(plan, tmp_path)
    write, written = Path.write_bytes, []

    def full(self, content):
        written.append(self)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return write(self, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        accept(plan, write=True)
    assert kept(plan) == before
    assert os.listdir(plan.accepted.parent) == [plan.accepted.name]


def test_another_accepted_table_is_not_restored(plan, monkeypatch):
    item = plan.items[0]
    table, record = files_of(plan, item, item.parts[0])
    restore(plan, item, item.parts[0])
    right = table.read_bytes()
    monkeypatch.setattr(accepted, "UNPACKED", 1 << 20)
    bomb = lzma.compress(bytes(1 << 26))
    for content in packed("a,b\n1,2\n"), right[:-9], right + b"\0", b"", b"junk", bomb:
        table.write_bytes(content)
        refused(lambda: restore(plan, item, item.parts[0]), table)
    table.write_bytes(right)
    record.write_text("{}")
    refused(lambda: restore(plan, item, item.parts[0]), record)


def test_numbers_of_another_accepted_table_are_not_compared(plan):
    item = plan.items[0]
    files_of(plan, item, item.parts[0])[0].write_bytes(packed("a,b\n1,2\n"))
    refused(lambda: numbers_in(plan.accepted), files_of(plan, item, item.parts[0])[0])


def test_committed_sidecars_have_the_sum_of_their_table():
    root = Path(__file__).parents[2] / "results" / "reference"
    tables = sorted(root.rglob("*.csv.xz"))
    assert tables
    for table in tables:
        record = table.with_name(re.sub(r"\.csv\.xz$", ".json", table.name))
        files.check_sum(table, accepted.unpacked(table.read_bytes()).encode(), record)
        assert json.loads(record.read_text())["sha256"].keys() == {"csv"}
