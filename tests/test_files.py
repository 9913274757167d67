import errno
import itertools
import multiprocessing
import os
import random
import stat
import time
from pathlib import Path

import pytest

from kronbench.errors import InputError
from kronbench.files import (
    check_output,
    os_error_advice,
    replacing,
    replacing_all,
    write_text,
)


def test_failure_keeps_what_stood_there_and_leaves_nothing_else(tmp_path):
    target = tmp_path / "table.csv"
    write_text(target, "whole")
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "whole"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_success_replaces_and_is_readable_by_others(tmp_path):
    target = tmp_path / "new" / "table.csv"
    with replacing(target) as temporary:
        assert temporary.suffix == ".csv"
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert os.listdir(target.parent) == ["table.csv"]
    umask = os.umask(0)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_full_disk_names_the_file_that_was_to_be_written(tmp_path):
    target = tmp_path / "table.csv"
    with pytest.raises(OSError) as refused, replacing(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    said = "No space left on device; make room on its disk, then run the same command again"
    assert os_error_advice(refused.value) == f"{target}: {said}"
    assert os.listdir(tmp_path) == []


def test_what_has_no_name_is_not_called_none():
    """As the semaphores of multiprocessing where /dev/shm cannot be written."""
    said = os_error_advice(PermissionError(errno.EACCES, "Permission denied"))
    assert said.startswith("shared memory (a semaphore in /dev/shm): Permission denied; ")


def test_an_error_about_another_file_stays_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError) as missing, replacing(tmp_path / "table.csv"):
        open(tmp_path / "input.csv")
    assert missing.value.filename == str(tmp_path / "input.csv")
    assert os_error_advice(missing.value) == ""


SET = ["figure-1.csv", "figure-1.json", "figure-1.pdf"]


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.name in SET}


def test_files_that_belong_together_appear_together(tmp_path):
    for version in "old", "new":
        before = contents(tmp_path)
        with replacing_all(tmp_path / name for name in SET) as temporaries:
            for temporary in temporaries:
                temporary.write_text(version)
            assert contents(tmp_path) == before
        assert contents(tmp_path) == dict.fromkeys(SET, version)
    assert len(os.listdir(tmp_path)) == len(SET)


@pytest.mark.parametrize("n_renamed", range(len(SET)))
def test_of_a_set_that_is_broken_off_the_first_file_is_not_new(tmp_path, monkeypatch, n_renamed):
    """So that where it is new, all are."""
    for name in SET:
        write_text(tmp_path / name, "old")
    rename, renamed = os.replace, []

    def breaking_off(source, target):
        if len(renamed) == n_renamed:
            raise KeyboardInterrupt
        renamed.append(target.name)
        rename(source, target)

    monkeypatch.setattr(os, "replace", breaking_off)
    with pytest.raises(KeyboardInterrupt):
        with replacing_all(tmp_path / name for name in SET) as temporaries:
            for temporary in temporaries:
                temporary.write_text("new")
    assert len(os.listdir(tmp_path)) == len(SET)
    new = dict.fromkeys(SET[len(SET) - n_renamed :], "new")
    assert contents(tmp_path) == dict.fromkeys(SET, "old") | new


LINES = 20_000


def write_on(target, writer):
    for version in itertools.count():
        write_text(target, f"{writer} {version}\n" * LINES)


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path):
    target = tmp_path / "table-1.csv"
    moments = random.Random(0)
    cut = 0
    for writer in range(30):
        # A fork: what was imported here need not be imported again.
        process = multiprocessing.get_context("fork").Process(
            target=write_on, args=(target, writer), daemon=True
        )
        process.start()
        while not list(tmp_path.glob(".*")):
            time.sleep(1e-4)
        time.sleep(moments.choice([0, moments.uniform(0, 0.01)]))
        process.kill()
        process.join()
        for left in tmp_path.glob(".*"):
            left.unlink()
            cut += 1
        if target.exists():
            lines = target.read_text().splitlines()
            assert len(lines) == LINES
            assert len(set(lines)) == 1
    assert target.exists()
    assert cut, "the kills came too early or too late to mean anything"
    assert os.listdir(tmp_path) == [target.name]


def test_a_write_protected_file_is_refused_and_kept(tmp_path):
    target = tmp_path / "kept.csv"
    target.write_text("old")
    target.chmod(0o444)
    with pytest.raises(InputError, match=r"kept.csv is write-protected: give another name"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["kept.csv"]


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "store").mkdir()
    link = tmp_path / "table.csv"
    link.symlink_to("store/data")  # not there yet
    for text in "first", "second":
        with replacing(link) as temporary:
            assert temporary.suffix == ".csv"
            assert temporary.parent == tmp_path / "store"
            temporary.write_text(text)
        assert link.is_symlink()
        assert (tmp_path / "store" / "data").read_text() == text
    assert os.listdir(tmp_path / "store") == ["data"]


@pytest.mark.parametrize(
    ("make", "kind"), [(os.mkdir, "a folder"), (os.mkfifo, "a device, pipe or socket")]
)
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_plain_file_is_refused_and_stays(tmp_path, monkeypatch, make, kind, linked):
    monkeypatch.chdir(tmp_path)
    make("out.csv")
    if linked:
        os.symlink("out.csv", "link.csv")
    name = "link.csv" if linked else "out.csv"
    before = os.stat("out.csv")
    for write in check_output, lambda path: write_text(path, "new"):
        with pytest.raises(InputError, match=f"{name} is {kind}: give the name of a file"):
            write(name)
    assert os.stat("out.csv").st_ino == before.st_ino
    assert stat.S_IFMT(os.stat("out.csv").st_mode) == stat.S_IFMT(before.st_mode)


def test_an_output_that_is_read_as_well_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("sub")
    Path("pairs.csv").write_text("old")
    os.link("pairs.csv", "hard.csv")
    os.symlink("pairs.csv", "soft.csv")
    for out in ("pairs.csv", "sub/../pairs.csv", "hard.csv", "soft.csv"):
        with pytest.raises(InputError, match=r"is an input too \(pairs.csv\)"):
            check_output(out, [None, "rows.csv", "pairs.csv"])
    check_output("new.csv", [None, "rows.csv", "pairs.csv"])
    assert sorted(os.listdir()) == ["hard.csv", "pairs.csv", "soft.csv", "sub"]


def test_a_place_that_cannot_be_written_is_told_with_advice(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written: Not a directory; give another place"):
        check_output(tmp_path / "file" / "out.csv")


@pytest.mark.parametrize("character", ["n", "\u00e9"])
def test_the_longest_name_of_the_file_system_can_be_written(tmp_path, character):
    name = character * (251 // len(character.encode())) + ".csv"
    write_text(tmp_path / name, "whole")
    assert os.listdir(tmp_path) == [name]
    with pytest.raises(OSError, match="File name too long") as refused:
        write_text(tmp_path / f"{character}{name}", "whole")
    assert "give a shorter name" in os_error_advice(refused.value)
