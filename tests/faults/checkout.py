"""A copy of the checkout in which Snakemake runs a few quick items, and what became of them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import psutil
import yaml

from kronbench.files import UNFINISHED
from kronbench_suite.accepted.compare import Run, compare
from kronbench_suite.runner.accepted_tables import records_of
from kronbench_suite.runner.read_results import read_table
from tests.helpers import ROOT, WITHOUT_PACKAGE, copy_checkout

SCALE = Path("results/faults")
LOCKED = "--unlock"  # what the sentence of a locked folder names
COMPILED = (".snakemake/metadata", str(SCALE / "compiled.json"))  # kernels, for a new checkout


class Checkout:
    """What the workflow consists of, without results, in a folder of its own.

    ``papers`` are the items that a run makes, with what differs from the default scale;
    ``settings`` are other entries of the configuration. The package of ``root`` is used in place.
    """

    def __init__(self, folder, papers, settings=(), environment=(), root=ROOT):
        self.folder = Path(folder)
        copy_checkout(self.folder, WITHOUT_PACKAGE, root)
        config = {"scale": SCALE.name, **dict(settings), "papers": papers}
        (self.folder / "config" / "faults.yaml").write_text(yaml.safe_dump(config))
        self.targets = [
            str(SCALE / paper / f"{item}.csv") for paper, items in papers.items() for item in items
        ]
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(root / "src"),
            "KRONBENCH_MIRROR": "",
            **dict(environment),
        }

    @property
    def results(self):
        return self.folder / SCALE

    def take(self, other, *places):
        """Copy files and folders of another checkout, with their dates."""
        for place in places:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (other.folder / place).is_dir() else shutil.copy2
            copy(other.folder / place, self.folder / place)

    @property
    def locked(self):
        return any((self.folder / ".snakemake/locks").glob("*.lock"))

    def start(self, *arguments, printed="printed.txt"):
        """Snakemake, begun in a session of its own; the file ``printed`` has what it says."""
        command = [sys.executable, "-m", "snakemake", *self.targets, *arguments]
        command += ["--cores", "2", "--configfile", "config/faults.yaml"]
        with self._printed(printed).open("w") as stream:
            return psutil.Popen(
                command,
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, *arguments, timeout=1200):
        """The exit status of a run, and what it printed."""
        run = self.start(*arguments)
        try:
            return run.wait(timeout), self.printed
        finally:
            if run.is_running():
                os.killpg(run.pid, signal.SIGKILL)

    @property
    def printed(self):
        return self.printed_to("printed.txt")

    def printed_to(self, name):
        return self._printed(name).read_text(errors="replace")

    def _printed(self, name):
        """Beside the folder, whose disk may be full."""
        return self.folder.with_name(f"{self.folder.name}-{name}")

    def resume(self):
        """A plain rerun; where its sentence says so, after ``--unlock``."""
        status, printed = self.run()
        if status and LOCKED in printed:
            status, printed = self.run("--unlock")
            assert status == 0, printed
            status, printed = self.run()
        return status, printed

    def unlike(self, other, *, whole):
        """Sentences on what is not as in the results of another checkout, bit for bit.

        Seconds and memory are left out, logs, and hidden temporary files. With ``whole`` every
        file has to be there, and no other one; without, those that are there have to be as they
        should.
        """
        mine, others = (_files(side.results) for side in (self, other))
        if whole:
            yield from (f"{path} is missing" for path in sorted(others - mine))
            yield from (f"{path} was left behind" for path in sorted(mine - others))
        tables = {}
        for path in sorted(mine & others):
            a, b = self.results / path, other.results / path
            try:
                if path.endswith(".csv"):
                    tables[path] = read_table(a), read_table(b)
                elif _content(a) != _content(b):
                    yield f"{path} is another file"
            except (ValueError, pd.errors.EmptyDataError) as error:
                yield f"{path} cannot be read: {error}"
        none = pd.DataFrame({"verdict": [], "timing": []})
        names = {path: path.removesuffix(".csv") for path in tables}
        numbers = [{names[path]: pair[side] for path, pair in tables.items()} for side in (0, 1)]
        records = records_of(other.results, numbers[1])
        for difference in compare(
            Run(self.results, none, numbers[0], {}),
            Run(other.results, none, numbers[1], records),
        ):
            yield f"{difference.place}: {difference.text}"


def _files(folder):
    """Without logs, and without what a killed job had not finished."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file()
        and path.relative_to(folder).parts[0] != "logs"
        and not path.name.startswith(UNFINISHED)
    }


def _content(path):
    """Of a file; without what a clock, the memory or the machine says, and sums of that.

    Nor where data came from: what was downloaded before a kill comes from the cache after it.
    """
    if path.suffix != ".json":
        return path.read_bytes()
    content = json.loads(path.read_text())
    if path.name == "compiled.json":
        return sorted(content)
    for data in (content, content.get("data") or {}):
        data.pop("source", None)
        for file in data.get("files", ()):
            del file["origin"]
    return {
        key: value
        for key, value in content.items()
        if key not in ("seconds", "cpu_seconds", "waiting", "environment", "sha256")
    }
