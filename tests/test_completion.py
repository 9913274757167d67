"""Completion offers what the parser knows, in a real bash where there is one."""

import shutil
import subprocess

import pytest

from kronbench.cli import _parser, main
from kronbench.completion import SHELLS, _below, _commands, _options, script


def completed(*words):
    """What bash offers for the last of these words."""
    if not shutil.which("bash"):
        pytest.skip("bash is not installed")
    typed = " ".join(f"'{word}'" for word in ("kronbench", *words))
    code = f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _kronbench; echo ${{COMPREPLY[@]}}"
    text = script("bash", _parser()) + code
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ev"], ["evaluate"]),
        (["run"], ["run", "run-with"]),
        (["data", "v"], ["verify"]),
        (["data", "fetch", "--p"], ["--policy"]),
        (["data", "fetch", "NR", "--policy", ""], ["auto", "real", "surrogate"]),
        (["evaluate", "--pairs", "fit", "--setting", ""], [*"ABCD", "all"]),
        (["fit", "--setting", ""], [*"ABCD"]),
        (["completion", "z"], ["zsh"]),
        (["predict", "m.kron", "x"], []),  # left to the shell: a file
    ],
)
def test_bash_offers_what_may_come_next(words, offered):
    assert completed(*words) == offered


def test_bash_knows_every_command_and_option():
    for path, parser in _commands(_parser()):
        offered = set(completed(*path, ""))
        assert {*_below(parser), *_options(parser)} <= offered, path


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_every_command_and_long_option(shell, capsys):
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    for path, parser in _commands(_parser()):
        for name in _below(parser):
            assert f" {name}" in text, (shell, path)
        for option in _options(parser):
            kind = "-l" if option.startswith("--") else "-s"
            assert (f"{kind} {option.lstrip('-')} " if shell == "fish" else option) in text


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_the_other_shells_read_their_script(shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(script(shell, _parser()))
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)
