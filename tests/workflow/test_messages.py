"""What is said of a job that failed, by itself and by the progress display."""

import errno
import os
from types import SimpleNamespace

import pytest

import snakemake_logger_plugin_kronbench as display
from kronbench_suite import cli


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "results/a.csv"),
            "results/a.csv: No space left on device; make room on its disk, then run the same",
        ),
        (
            MemoryError("Unable to allocate 9 TiB"),
            "'compare a b' ran out of memory (Unable to allocate",
        ),
    ],
)
def test_what_the_system_refuses_is_one_sentence(error, sentence, monkeypatch, capsys):
    def refused(_):
        raise error

    monkeypatch.setattr("kronbench_suite.accepted.compare.read_run", refused)
    assert cli.main(["compare", "a", "b"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"kronbench: error: {sentence}")


def test_an_error_of_the_program_keeps_its_traceback(monkeypatch):
    def wrong(_):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "a")

    monkeypatch.setattr("kronbench_suite.accepted.compare.read_run", wrong)
    with pytest.raises(FileNotFoundError):
        cli.main(["compare", "a", "b"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kronbench: error: results/a.csv: No space left on device\n", ""),
        ("Traceback (most recent call last):\n", ""),
        ("half of the work is do", "it was killed, by hand or for want of memory"),
        ("", "it was killed, by hand or for want of memory"),
    ],
)
def test_what_a_job_could_not_say_is_said_for_it(text, sentence, tmp_path):
    said = display._unsaid(tmp_path / "logs" / "job.log", text)
    assert sentence in said if sentence else not said


def test_a_log_on_a_full_disk_is_no_killed_job(tmp_path, monkeypatch):
    monkeypatch.setattr(display.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    assert "is full: make room on it" in display._unsaid(tmp_path / "job.log", "")
