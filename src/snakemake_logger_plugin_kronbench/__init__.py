"""Snakemake's output as Kronbench shows it: a progress bar, and of a failed job what matters.

Snakemake finds logger plugins by the prefix of this module's name; the default profile names it.
"""

import errno
import logging
import os
import shutil
import sys
import textwrap
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from tqdm import tqdm

LAST_LINES = 12
AGAIN = "then run the same command again"
FULL = 1 << 16  # bytes free on a disk that no log fits on


class LogHandler(LogHandlerBase):
    """One bar of jobs done, or in a dry run the jobs that are due; never a job's shell text."""

    writes_to_stream = has_filter = has_formatter = True
    writes_to_file = needs_rulegraph = False

    def __post_init__(self):
        # On a full disk Snakemake's own log would print a traceback with each of its lines.
        logging.raiseExceptions = False
        self._bar = tqdm(
            disable=not sys.stderr.isatty() or self.common_settings.dryrun,
            bar_format="{n_fmt}/{total_fmt} jobs |{bar:24}| {elapsed} {desc}",
        )
        self._running, self._failed = {}, set()

    def emit(self, record: logging.LogRecord) -> None:
        """Show one of Snakemake's events."""
        event, is_dry = getattr(record, "event", None), self.common_settings.dryrun
        if event == LogEvent.JOB_INFO:
            self._running[record.jobid] = name = record.rule_msg or record.rule_name
            if is_dry:
                reason = textwrap.shorten(record.reason, 90, placeholder=" …")
                print(f"due: {name}  ({reason})", file=sys.stderr)
        elif event == LogEvent.JOB_FINISHED:
            self._running.pop(getattr(record, "job_id", None), None)
        elif event == LogEvent.PROGRESS:
            done, self._bar.n, self._bar.total = record.done, record.done, record.total
            # In a log file: a line for each tenth, not a bar that is drawn over itself.
            if self._bar.disable and done * 10 // record.total > (done - 1) * 10 // record.total:
                print(f"{done}/{record.total} jobs done", file=sys.stderr, flush=True)
        elif event in (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR):
            self._show_failure(record)
        elif is_dry and event is None:
            print(record.getMessage(), file=sys.stderr)
        elif record.levelno >= logging.WARNING and not self._failed:
            # After a failure Snakemake repeats the command and its advice at length.
            message = record.getMessage()
            if message.startswith("RuleException:\nCalledProcessError"):
                return  # the failure of the job follows
            if "Traceback" in message and os.strerror(errno.ENOSPC) in message:
                message = f"the disk of {Path.cwd()} is full: make room on it, {AGAIN}"
            tqdm.write(message, file=sys.stderr)
        self._bar.set_description_str("; ".join(list(self._running.values())[:3]))

    def _show_failure(self, record):
        jobid = getattr(record, "jobid", None)
        if jobid in self._failed:
            return
        self._failed.add(jobid)
        lines = [f"FAILED: {self._running.pop(jobid, getattr(record, 'rule_name', 'a job'))}"]
        for log in map(Path, getattr(record, "log", None) or []):
            if log.name.endswith(" (send to storage)"):
                lines.append(f"  its log: {log}")
                continue
            text = log.read_text(errors="replace") if log.exists() else ""
            lines.append(f"  last lines of {log}:")
            lines += [f"    {line}" for line in text.splitlines()[-LAST_LINES:]]
            if reason := _unsaid(log, text):
                lines.append(f"  {reason}, {AGAIN}")
        if command := getattr(record, "shellcmd", None):
            lines += ["  to repeat it alone:", f"    {command.split(' > ')[0]}"]
        tqdm.write("\n".join(lines), file=sys.stderr)


def _unsaid(log, text):
    """What a job could not say in its own log, of which this is the text."""
    folder = next(folder for folder in log.absolute().parents if folder.exists())
    if shutil.disk_usage(folder).free < FULL:
        return f"the disk of {folder} is full: make room on it"
    if "kronbench: error: " in text or "Traceback (most recent call last)" in text:
        return ""
    return (
        "it was killed, by hand or for want of memory: give it a machine with more, or let fewer "
        "jobs run at once (--cores 1)"
    )
