"""A bar where somebody looks, and ten lines in a file."""

import io
import re
import time

from tqdm import tqdm

from kronbench import progress as module
from kronbench.progress import progress, shown_after


class Terminal(io.StringIO):
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
    with shown_after(2), progress(10, "fit", "iteration", verbose=False) as bar:
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
    assert re.search(r"\rselect: 100%\|[█#]+\| 4/4 ", terminal.getvalue())


def test_what_nobody_asks_for_is_silent(capsys, monkeypatch):
    with shown_after(0):
        pass  # it ends with its context
    with progress(4, "fit", "iteration", verbose=False) as bar:
        bar.update(4)
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress(4, "fit", "iteration", verbose=0) as bar:
        bar.update(4)
    assert terminal.getvalue() == ""


def visible(text):
    """The lines that a terminal shows after all carriage returns."""
    return [line.split("\r")[-1].rstrip() for line in text.split("\n")]


def test_what_is_written_beside_a_late_bar_stands_on_lines_of_its_own(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with shown_after(3600), progress(4, "fit", "iteration", verbose=False) as bar:
        bar.update()
        tqdm.write("warning: early", file=terminal)
    terminal.write("error: early\n")
    assert visible(terminal.getvalue()) == ["warning: early", "error: early", ""]
    terminal.seek(terminal.truncate(0))
    with shown_after(3600), progress(4, "fit", "iteration", verbose=False) as bar:
        bar.start_t = bar.last_print_t = bar.start_t - 3601  # its time has come
        tqdm.write("warning: late", file=terminal)
    terminal.write("error: late\n")
    first, shown, last, _ = visible(terminal.getvalue())
    assert (first, last) == ("warning: late", "error: late")
    assert shown.startswith("fit:   0%|")
