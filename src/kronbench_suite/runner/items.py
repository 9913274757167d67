"""What a run consists of: items, each with its parameters and the files that it makes.

:mod:`kronbench_suite.runner.plans` reads them from a configuration. Nothing here knows what a
measurement does.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from kronbench.errors import InputError
from kronbench.files import write_text
from kronbench_suite.resources import paper_folder

RESULTS = Path("results")


@dataclass(frozen=True)
class Item:
    """One figure or table of a paper, as this run makes it."""

    paper: str
    name: str
    title: str
    caption: str
    plot: str  # the module in plot/ that draws or tabulates it
    datasets: tuple[str, ...]
    parameters: Mapping
    scale: str
    results: Path  # results/<scale>, wherever that lies
    tables_of: str  # the item whose result tables it draws: itself, unless it says otherwise
    protocol: Mapping  # that of its paper
    layout: tuple[Mapping, ...]  # the tables of a table item; none of a figure
    measure: str = ""  # the module in measure/ that makes its tables
    plot_options: Mapping = dataclasses.field(default_factory=dict)
    printed: str | list[str] | None = None
    timed: bool = False
    solvers: tuple[str, ...] = ()  # the import paths of those that its parameters name
    keeps_predictions: bool = False
    numbers_of: tuple[Item, ...] = ()  # items whose numbers it brings together; measures none

    @property
    def measure_module(self) -> str:
        """The import path of the module that measures it, in the folder of its paper."""
        return paper_folder(self.paper).module("measure", self.measure)

    @property
    def plot_module(self) -> str:
        """The import path of the module that draws it, in the folder of its paper."""
        return paper_folder(self.paper).module("plot", self.plot)

    @property
    def folder(self) -> Path:
        """``results/<scale>/<paper>``."""
        return self.results / self.paper

    @property
    def parts(self) -> tuple[str, ...]:
        """One result table each: the data sets, or ``("all",)`` where none is needed."""
        return () if self.numbers_of else self.datasets or ("all",)

    @property
    def has_tables(self) -> bool:
        """Whether it has result tables of its own."""
        return self.tables_of == self.name and not self.numbers_of

    @property
    def drawn_from(self) -> tuple[Path, ...]:
        """The tables, or the numbers of other items, that it shows, with all their sidecars."""
        tables = [self.table(part) for part in self.parts]
        files = [file for table in tables for file in (table, table.with_suffix(".json"))]
        for other in self.numbers_of:
            files += [other.output("csv"), other.output("json")]
            files += [file for file in other.drawn_from if file.suffix == ".json"]
        return tuple(files)

    def table(self, part: str) -> Path:
        """The result table of one job; its sidecar has the suffix ``.json``."""
        return self.folder / "tables" / self.tables_of / f"{part}.csv"

    @property
    def printed_files(self) -> list[Path]:
        """The files of the paper's numbers for it."""
        names = [self.printed] if isinstance(self.printed, str) else self.printed or ()
        return [paper_folder(self.paper).printed(name) for name in names]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The suffixes of the files that rendering it writes."""
        drawn = ("html", "md") if self.layout else ("pdf", "png")
        return ("csv", "json", *drawn)

    @property
    def target(self) -> Path:
        """The file that stands for it: a table's .html, a figure's .pdf."""
        return self.output("html" if self.layout else "pdf")

    def output(self, suffix: str) -> Path:
        """``results/<scale>/<paper>/<item>.<suffix>``."""
        return self.folder / f"{self.name}.{suffix}"

    @property
    def page(self) -> str:
        """The file name of its page, beside the overview."""
        return f"{self.paper}-{self.name.replace('/', '-')}.html"

    @property
    def finished(self) -> bool:
        """Whether all of its files are there, and those of the items that it takes numbers of."""
        files = [*map(self.output, self.kinds), *self.drawn_from]
        own = all(file.exists() for file in files)
        return own and all(other.finished for other in self.numbers_of)

    def command(self, part: str) -> str:
        """The command that repeats one job alone, in an active environment."""
        config = RESULTS / self.scale / "config.yaml"
        return (
            f"python -m kronbench_suite run {self.paper} {self.tables_of} {part} --config {config}"
        )

    @property
    def workflow_command(self) -> str:
        """The command that makes the item alone, with the data and tables that it needs."""
        target = RESULTS / self.scale / self.target.relative_to(self.results)
        return f"snakemake {target} --cores all{_configfile(self)}"


@dataclass(frozen=True)
class Plan:
    """All items of a run, in the order of the papers' configuration."""

    config: Mapping
    papers: Mapping[str, Mapping]
    items: tuple[Item, ...]
    results: Path  # results/<scale>, wherever that lies

    def of_accepted(self) -> Plan:
        """The same items, drawn from the accepted tables into ``results/accepted-<scale>``."""
        return self.at(RESULTS / f"accepted-{self.scale}")

    @property
    def from_accepted(self) -> bool:
        """Whether it is such a plan."""
        return self.results.name == f"accepted-{self.scale}"

    def at(self, results: Path) -> Plan:
        """The same items, whose files lie in another folder than ``results/<scale>``."""

        def moved(item):
            others = tuple(map(moved, item.numbers_of))
            return dataclasses.replace(item, numbers_of=others, results=results)

        return dataclasses.replace(self, items=tuple(map(moved, self.items)), results=results)

    def settings_of(self, item: Item | None = None) -> str:
        """The configuration as a job on an item is told it, on one line; ``load_plan`` reads it.

        Of the papers those that the item needs, with its overrides; without item all, with none.
        """
        papers: dict[str, dict] = {} if item else {paper: {} for paper in self.papers}
        # The tables may be those of another item, whose overrides count then.
        for one in (item, *item.numbers_of) if item else ():
            mine, overrides = papers.setdefault(one.paper, {}), self.config["papers"][one.paper]
            mine |= {key: overrides[key] for key in [one.tables_of] if key in overrides}
        return json.dumps({**self.config, "papers": papers})

    @property
    def scale(self) -> str:
        """The name of the scale, and of the folder of its results."""
        return self.config["scale"]

    @property
    def workflow_command(self) -> str:
        """The command that makes all items."""
        return f"snakemake --cores all{_configfile(self)}"

    @property
    def config_file(self) -> Path:
        """The merged configuration, saved beside the results."""
        return RESULTS / self.scale / "config.yaml"

    @property
    def report(self) -> Path:
        """The folder of the pages."""
        return self.results / "report"

    @property
    def pages(self) -> list[Path]:
        """The overview, the page of all claims, and one page for each item."""
        names = ["index.html", "claims.html", *(item.page for item in self.items)]
        return [self.report / name for name in names]

    @property
    def accepted(self) -> Path:
        """The last accepted run of this scale, with which others are compared."""
        return RESULTS / "reference" / self.scale

    def data_folder(self, name: str) -> Path:
        """Where the prepared data set of this run lies; papers differ in the case of names."""
        return self.results / "data" / name.lower()

    def prepare(self, name: str) -> Path:
        """Put a data set into the results, by the policy of the configuration; its folder."""
        from kronbench.datasets import load

        folder = self.data_folder(name)
        load(name, policy=self.config["data"], mirror=self.config["mirror"]).save(folder)
        return folder

    def item(self, paper: str, name: str) -> Item:
        """The item of that name; one that the run does not have is refused."""
        for item in self.items:
            if (item.paper, item.name) == (paper, name):
                return item
        known = [f"{item.paper} {item.name}" for item in self.items]
        if near := difflib.get_close_matches(f"{paper} {name}", known):
            hint = f"did you mean {' or '.join(near)}?"
        else:
            hint = f"it has: {', '.join(known)}"
        raise InputError(f"there is no item '{paper} {name}' in this run; {hint}")

    @property
    def text(self) -> str:
        """The merged configuration, as it is saved."""
        return yaml.safe_dump(dict(self.config), sort_keys=False)

    def save(self) -> Path:
        """Write the merged configuration, unless it stands there already."""
        # A file that is written anew has a new time, by which Snakemake would repeat the page.
        if not (self.config_file.exists() and self.config_file.read_text() == self.text):
            write_text(self.config_file, self.text)
        return self.config_file


def measurements(plan: Plan) -> list[tuple[Item, str]]:
    """The jobs of a plan that measure: each part of each item that has tables of its own."""
    return [(item, part) for item in plan.items if item.has_tables for part in item.parts]


def _configfile(of):
    """The option of Snakemake; what is drawn from accepted tables has no merged configuration."""
    if of.results.name != f"accepted-{of.scale}":
        return f" --configfile {RESULTS / of.scale / 'config.yaml'}"
    return "" if of.scale == "default" else f" --configfile config/{of.scale}.yaml"
