"""Spoils the program, one place at a time, and looks whether a run shows it.

python -m tests.mutants.survey [--only NAME ...] [--once] [--folder FOLDER] [--docs]

A mutant is the program with one text replaced (mutants.yaml). Its item is run at the smoke scale
by the sound program, twice, and by the mutant, on one thread of the same machine. The mutant is
killed where a number leaves its tolerance, or the verdict on evidence moves.
"""

import argparse
import ast
import contextlib
import dataclasses
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd
import yaml

from kronbench.bench.items import load_plan, load_scales
from kronbench.bench.results import read_table
from kronbench.report.claim_files import load_statements
from kronbench.report.claims import evaluate
from kronbench.report.render import render
from kronbench.runs.compare import Run, compare, numbers_in, read_tolerances
from kronbench.runs.reference import columns_of
from kronbench.runs.verdicts import EVIDENCE, UNTESTED

ROOT = Path(__file__).parents[2]
RESULTS = Path("results/smoke")
SECONDS = 900  # of one job, after which a mutant has failed
ACCEPTED = ROOT / "results" / "reference" / "smoke"
TOLERANCES = ROOT / "config" / "tolerances" / "smoke.yaml"


@functools.cache
def _accepted_tables():
    return frozenset(numbers_in(ACCEPTED))


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One wrong place in the program, and the jobs that show it.

    Attributes
    ----------
    name : str
    file : str
        Below ``src/kronbench``.
    old, new : str
        What is replaced, which stands there once, and by what.
    wrong : str
        What is wrong then.
    paper, item : str
    parts : tuple of str
        The data sets of the item to run, or "all"; the smoke scale may leave them out.
    survives : str
        What would catch it, where nothing does at the smoke scale; else empty.
    """

    name: str
    file: str
    old: str
    new: str
    wrong: str
    paper: str
    item: str
    parts: tuple[str, ...]
    survives: str = ""

    @property
    def jobs(self):
        return self.paper, self.item, self.parts

    @property
    def path(self):
        return Path("src/kronbench", self.file)

    def spoil(self, root):
        """Replace the text in the program below ``root``."""
        path = root / self.path
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: {self.path} has the text {text.count(self.old)} times, not once"
            )
        spoiled = text.replace(self.old, self.new)
        ast.parse(spoiled)
        path.unlink()  # may be a link to another's
        path.write_text(spoiled, encoding="utf-8")
        if "njit" in text:
            # a caller in another file would keep what it compiled in from here
            for compiled in root.rglob("*.nb[ci]"):
                compiled.unlink()


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a mutant changed.

    Attributes
    ----------
    failed : str
        The last line of a job that ended with an error; else empty.
    numbers : list of Difference
        Columns with a number beyond its tolerance, and rows without a counterpart but where a
        time cap takes them, the most telling first.
    evidence, identities : list of Difference
        Verdicts that moved.
    judged : int
        Verdicts on evidence that could move: of tested claims, and not on time.
    at_smoke : bool
        Whether the smoke scale has these parts.
    """

    failed: str = ""
    numbers: tuple = ()
    evidence: tuple = ()
    identities: tuple = ()
    judged: int = 0
    at_smoke: bool = True

    @property
    def killed(self):
        return bool(self.failed or self.numbers or self.evidence)

    @property
    def checked(self):
        """Whether a run shows it beside the accepted one, which has not all tables."""
        tables = {each.place.partition(",")[0] for each in self.numbers}
        kept = not tables.isdisjoint(_accepted_tables())
        moved = self.failed or self.evidence or self.identities or kept
        return bool(self.at_smoke and moved)

    @property
    def worst(self):
        """The number that moved most, of a column with a measured tolerance where there is one."""
        entries = read_tolerances(TOLERANCES)

        def measured(difference):
            table, _, column = difference.place.partition(", ")
            return any(
                fnmatch(table, entry["table"]) and fnmatch(column, entry["column"])
                for entry in entries
            )

        return next(filter(measured, self.numbers), self.numbers[0])


def read_mutants():
    """All mutants, in the order of the file."""
    entries = yaml.safe_load(Path(__file__).with_name("mutants.yaml").read_text("utf-8"))
    mutants = []
    for entry in entries:
        shown_by = entry.pop("shown_by")
        mutants.append(Mutant(**{**entry, **shown_by, "parts": tuple(shown_by["parts"])}))
    return mutants


class Survey:
    """Runs of the sound program and of mutants, all below one folder.

    Parameters
    ----------
    folder : Path
    once : bool
        Take for granted that two runs of the sound program have the same results.
    """

    def __init__(self, folder, once=False):
        self.folder, self.once = Path(folder).resolve(), once
        self.sound = self.folder / "sound"
        self._runs = {}
        if not self.sound.exists():
            self._copy(ROOT, self.sound)

    def outcome(self, mutant):
        """Run a mutant, after the sound program where that was not yet run on these jobs."""
        before = self._sound_run(mutant)
        program, results = (self.folder / name / mutant.name for name in ("programs", "results"))
        for place in (program, results):
            shutil.rmtree(place, ignore_errors=True)
        self._copy(self.sound, program)
        mutant.spoil(program)
        # what parses data makes them anew, all other programs get those of the sound one
        data = None if mutant.file.startswith("datasets/") else before.folder / "data"
        failed = self._measure(program, results, mutant, data)
        moved = [] if failed else _moved(mutant, before, self._read(results, mutant))
        shutil.rmtree(program)
        verdicts = before.verdicts
        by_clock, evidence = verdicts["timing"], verdicts["kind"] == EVIDENCE
        judged = evidence & ~by_clock & (verdicts["verdict"] != UNTESTED)
        of_verdicts = [each for each in moved if each.kind == "verdict"]
        return Outcome(
            failed,
            tuple(each for each in moved if each.kind != "verdict"),
            tuple(each for each in of_verdicts if evidence[each.place]),
            tuple(each for each in of_verdicts if not evidence[each.place]),
            int(judged.sum()),
            set(mutant.parts) <= set(load_scales()[1].item(mutant.paper, mutant.item).parts),
        )

    def _sound_run(self, mutant):
        if mutant.jobs not in self._runs:
            runs = []
            for name in ("first",) if self.once else ("first", "second"):
                results = self.folder / name / "-".join([*mutant.jobs[:2], *mutant.parts])
                shutil.rmtree(results, ignore_errors=True)
                data = runs[0].folder / "data" if runs else None
                if failed := self._measure(self.sound, results, mutant, data):
                    raise RuntimeError(f"the sound program fails at {mutant.jobs}: {failed}")
                runs.append(self._read(results, mutant))
            if moved := _moved(mutant, runs[0], runs[-1]):
                raise RuntimeError(
                    f"the sound program has other results in a second run of {mutant.jobs}: "
                    + "; ".join(f"{each.place}: {each.text}" for each in moved)
                )
            self._runs[mutant.jobs] = runs[0]
        return self._runs[mutant.jobs]

    def _copy(self, root, program):
        """The sources of a checkout with what is compiled of them, and all that they read."""
        program.mkdir(parents=True)
        shutil.copytree(root / "src", program / "src", ignore=_compiled if root is ROOT else None)
        for name in ("config", "workflow", "Snakefile"):
            (program / name).symlink_to(ROOT / name)

    def _measure(self, program, results, mutant, data):
        """Run the jobs; the last line of the first one that fails."""
        (results / RESULTS).mkdir(parents=True)
        if data is not None:
            (results / RESULTS / "data").symlink_to(data)
        config = dict(load_scales()[1].config)
        papers = {mutant.paper: dict(config["papers"][mutant.paper])}
        if mutant.parts != ("all",):
            changes = papers[mutant.paper].get(mutant.item, {})
            papers[mutant.paper][mutant.item] = {**changes, "datasets": list(mutant.parts)}
        text = yaml.safe_dump({**config, "papers": papers})
        (results / RESULTS / "config.yaml").write_text(text, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(program / "src")}
        environment.pop("NUMBA_CACHE_DIR", None)  # beside the sources
        for part in mutant.parts:
            command = [sys.executable, "-m", "kronbench", "run", mutant.paper, mutant.item, part]
            command += ["--config", str(RESULTS / "config.yaml"), "--threads", "1"]
            try:
                done = subprocess.run(
                    command,
                    cwd=results,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                )
            except subprocess.TimeoutExpired:
                return f"no end after {SECONDS} s"
            if done.returncode:
                return (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
        return ""

    def _read(self, results, mutant):
        """The numbers that the items of these jobs show, and the verdicts on them."""
        with contextlib.chdir(results):
            plan = load_plan(RESULTS / "config.yaml")
            shown = [
                item
                for item in plan.items
                if (item.paper, item.tables_of) == (mutant.paper, mutant.item)
            ]
            for item in shown:
                render(item)
            names = {item.name for item in shown}
            claims = [
                # what would explain a contradiction may stand in another item
                {key: value for key, value in claim.items() if key != "because"}
                for claim in load_statements(plan).claims
                if {claim["item"], *claim.get("also", ())} <= names
            ]
            verdicts = pd.DataFrame(
                [dataclasses.asdict(verdict) for verdict in evaluate(claims, plan)],
                columns=["id", "paper", "item", "kind", "timing", "verdict", "measured"],
            )
            numbers = {
                f"{item.paper}/{item.name}": read_table(item.output("csv")) for item in shown
            }
            columns = columns_of(RESULTS, numbers)
        return Run(results / RESULTS, verdicts.set_index("id"), numbers, columns, {})


def _compiled(_, names):
    return [name for name in names if name == "__pycache__"]


def _moved(mutant, before, after):
    """What differs, and not because the machine was busy."""
    found = compare(before, after, read_tolerances(TOLERANCES))
    found = [each for each in found if each.kind not in ("clock", "surroundings")]
    if not load_scales()[1].item(mutant.paper, mutant.item).timed:
        return found

    def untested(claim):
        return UNTESTED in (run.verdicts["verdict"].get(claim) for run in (before, after))

    # points over the time cap have no rows, and claims on them are not tested
    return [each for each in found if each.kind != "rows" and not untested(each.place)]


BEGIN, END = "<!-- mutants: written by make mutants -->\n", "<!-- end of the mutants -->"
DOCS = ROOT / "docs" / "mutants.md"
HEAD = """\
| mutant | what is wrong | shown by | evidence | identities | the number that moved most | seen |
|---|---|---|---|---|---|---|"""


def row(mutant, outcome):
    """The line of a mutant in the table of docs/mutants.md."""
    if outcome.failed:
        by = f"the job fails: {outcome.failed[:80]}"
    elif outcome.numbers:
        by = f"{outcome.worst.place}: {outcome.worst.text}"
    else:
        by = "" if outcome.killed else f"**survives**: {mutant.survives or 'nobody knows why'}"
    cells = [
        *(mutant.name, mutant.wrong, f"{mutant.paper} {mutant.item}"),
        f"{len(outcome.evidence)} of {outcome.judged}",
        str(len(outcome.identities)),
        by.replace("|", r"\|"),
        "yes" if outcome.checked else "no",
    ]
    return f"| {' | '.join(cells)} |"


def write_table(lines):
    """Put the lines of all mutants into docs/mutants.md."""
    before, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
    table = "\n".join([HEAD, *lines])
    text = f"{before}{BEGIN}\n{table}\n\n{END}{rest.partition(END)[2]}"
    DOCS.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these mutants; all without")
    parser.add_argument("--folder", type=Path, help="where runs are kept; else they are not")
    parser.add_argument("--once", action="store_true", help="run the sound program once alone")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/mutants.md")
    arguments = parser.parse_args()
    mutants = read_mutants()
    if arguments.only and arguments.docs:
        parser.error("--docs takes all mutants: leave out --only")
    if arguments.only:
        if unknown := set(arguments.only) - {mutant.name for mutant in mutants}:
            parser.error(f"no mutant {', '.join(sorted(unknown))}")
        mutants = [mutant for mutant in mutants if mutant.name in arguments.only]
    unexpected, lines = [], {}
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or stack.enter_context(tempfile.TemporaryDirectory())
        survey = Survey(folder, arguments.once)
        print(HEAD, flush=True)
        for mutant in sorted(mutants, key=lambda each: each.jobs):
            try:
                outcome = survey.outcome(mutant)
            except RuntimeError as error:
                print(f"{mutant.name}: {error}", file=sys.stderr, flush=True)
                unexpected.append(mutant.name)
                continue
            lines[mutant.name] = row(mutant, outcome)
            print(lines[mutant.name], flush=True)
            for difference in (*outcome.evidence, *outcome.identities):
                print(
                    f"{mutant.name}: {difference.place}: {difference.text}",
                    file=sys.stderr,
                    flush=True,
                )
            if outcome.killed == bool(mutant.survives):
                unexpected.append(mutant.name)
    if arguments.docs and len(lines) == len(mutants):
        write_table([lines[mutant.name] for mutant in mutants])
    if unexpected:
        print(f"not as mutants.yaml says: {', '.join(unexpected)}", file=sys.stderr)
    return int(bool(unexpected))


if __name__ == "__main__":
    sys.exit(main())
