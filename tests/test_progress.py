"""A bar where somebody looks, and ten lines in a file."""

import re
import time

from kronbench import progress as module
from kronbench.progress import progress


class Terminal:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


def test_a_file_has_a_line_for_each_tenth(capsys):
    with progress(27, "select", "fit") as bar:
        for _ in range(27):
            bar.update()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "select: 3 of 27 fits"
    assert lines[-1] == "select: 27 of 27 fits"
    with progress(8, "select", "fit") as bar:
        bar.update(8)
    assert capsys.readouterr().err == "select: 8 of 8 fits\n"


def test_what_is_done_at_once_is_not_told(capsys, monkeypatch):
    with progress(10, "fit", "iteration", delay=2) as bar:
        bar.update(5)
        now = time.monotonic()
        monkeypatch.setattr(module.time, "monotonic", lambda: now + 2.1)
        bar.update(5)
    assert capsys.readouterr().err == "fit: 10 of 10 iterations\n"


def test_a_terminal_has_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress(4, "select", "fit") as bar:
        bar.update(4)
    assert re.search(r"\rselect: 100%\|[█#]+\| 4/4 ", terminal.text)
