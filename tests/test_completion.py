"""Completion offers what the parser knows, in a real bash."""

import shutil
import subprocess

import pytest

from kronbench_suite.cli import main


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_offers_what_may_come_next(capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "pairs.csv").touch()
    script = capsys.readouterr().out
    for words, offered in (
        (["ev"], ["evaluate"]),
        (["run"], ["run", "run-with"]),
        (["data", "l"], ["list"]),
        (["data", "fetch", "--p"], ["--policy"]),
        (["data", "fetch", "NR", "--policy", ""], ["auto", "real", "surrogate"]),
        (["fit", "--setting", ""], [*"ABCD"]),
        (["evaluate", "--pairs", "pa"], ["pairs.csv"]),
    ):
        typed = " ".join(f"'{word}'" for word in ("kronbench", *words))
        code = (
            f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}\n"
            "_shtab_kronbench kronbench ${COMP_WORDS[COMP_CWORD]}\necho ${COMPREPLY[@]}"
        )
        command = ["bash", "-c", f"{script}\n{code}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert sorted(done.stdout.split()) == sorted(offered), words
