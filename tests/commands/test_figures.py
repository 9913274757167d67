"""The command for those who do not know Snakemake."""

import subprocess

import pytest

from kronbench_suite.cli import main
from tests.helpers import ROOT


@pytest.fixture
def commands(monkeypatch):
    """What would be run in the checkout; the second command fails where ``status`` says so."""
    run, status = [], {"kronbench": 0}
    monkeypatch.chdir(ROOT)

    def record(command, check):
        run.append(command[2:])
        return subprocess.CompletedProcess(command, status.get(command[2], 0))

    monkeypatch.setattr(subprocess, "run", record)
    return run, status


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ([], ["snakemake --cores all"]),
        (["--scale", "smoke"], ["snakemake --cores all --configfile config/smoke.yaml"]),
        (
            ["airola", "--cores", "2"],
            [
                "snakemake airola --cores 2",
                "kronbench report --config results/default/config.yaml",
            ],
        ),
        (
            ["airola", "figure-6", "--scale", "smoke"],
            [
                "snakemake results/smoke/airola/figure-6.pdf --cores all --configfile "
                "config/smoke.yaml",
                "kronbench report --config results/smoke/config.yaml",
            ],
        ),
    ],
)
def test_it_prints_the_commands_that_it_runs(commands, arguments, lines, capsys):
    assert main(["figures", *arguments]) == 0
    assert capsys.readouterr().out.splitlines()[: len(lines)] == lines
    modules = [line.replace("kronbench report", "kronbench_suite report") for line in lines]
    assert [" ".join(command) for command in commands[0]] == modules
    commands[0].clear()
    assert main(["figures", *arguments, "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == lines
    assert commands[0] == []


def test_a_failed_run_has_no_page_and_its_status(commands):
    run, status = commands
    status["snakemake"] = 1
    assert main(["figures", "airola"]) == 1
    assert [command[0] for command in run] == ["snakemake"]


def test_a_lock_that_a_killed_run_left_is_explained(commands, tmp_path, monkeypatch, capsys):
    (tmp_path / "Snakefile").touch()
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    commands[1]["snakemake"] = 1
    assert main(["figures", "airola"]) == 1
    assert capsys.readouterr().err == ""
    (tmp_path / ".snakemake" / "locks" / "0.output.lock").touch()
    assert main(["figures", "airola"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("kronbench: error: another run is active in this folder, or was killed")
    assert told.endswith("call 'snakemake --unlock', then the same command again\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["airolla"], "there is no paper 'airolla': give airola"),
        (["airola", "figure-66"], "did you mean airola figure-6"),
        (["--scale", "smok"], "there is no scale 'smok': did you mean 'smoke'?"),
        (["--cores", "0"], "cores is '0': give a number of at least 1, or 'all'"),
    ],
)
def test_what_there_is_not_is_said_in_one_sentence(commands, arguments, sentence, capsys):
    assert main(["figures", *arguments]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1
    assert commands[0] == []


def test_elsewhere_it_says_where(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["figures"]) == 2
    assert "figures need a checkout of the project" in capsys.readouterr().err
