"""The items of a run: which items of which papers, with which parameters, into which files.

Read from a merged configuration and the ``paper.yaml`` of each paper; it knows names and paths,
and nothing of what an experiment does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import json
import os
import re
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from kronbench.errors import InputError
from kronbench.files import write_text
from kronbench.resources import config_path, without_credentials
from kronbench.solvers import check_entries, import_object, import_paths, nearest
from kronbench.yaml_files import number_or_text, read_yaml, validate
from kronbench_suite.resources import (
    ADDED_PAPERS,
    add_paper,
    claim_files,
    paper_path,
    printed_path,
    shipped_papers,
)
from kronbench_suite.runner.provenance import names_in, parameters_of

RESULTS = Path("results")


@dataclass(frozen=True)
class Item:
    """One figure or table of a paper, as this run makes it."""

    paper: str
    name: str
    title: str
    caption: str
    drawing: str
    datasets: tuple[str, ...]
    parameters: Mapping
    scale: str
    results: Path  # results/<scale>, wherever that lies
    tables_of: str  # the item whose result tables it draws: itself, unless it says otherwise
    protocol: Mapping  # that of its paper
    layout: tuple[Mapping, ...]  # the tables of a table item; none of a figure
    experiment: str = ""
    drawing_options: Mapping = dataclasses.field(default_factory=dict)
    printed: str | list[str] | None = None
    timed: bool = False
    keeps_predictions: bool = False
    numbers_of: tuple[Item, ...] = ()  # items whose numbers it brings together; measures none

    @property
    def experiment_module(self) -> str:
        """The import path of its experiment, in the folder of its paper."""
        return f"kronbench_suite.papers.{self.paper}.measure.{self.experiment}"

    @property
    def drawing_module(self) -> str:
        """The import path of its drawing, in the folder of its paper."""
        return f"kronbench_suite.papers.{self.paper}.draw.{self.drawing}"

    @property
    def folder(self) -> Path:
        """``results/<scale>/<paper>``."""
        return self.results / self.paper

    @property
    def parts(self) -> tuple[str, ...]:
        """One result table each: the data sets, or ``("all",)`` where none is needed."""
        return () if self.numbers_of else self.datasets or ("all",)

    @property
    def measures(self) -> bool:
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
        return [printed_path(self.paper, name) for name in names]

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
        """The folder of the page."""
        return self.results / "report"

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
        if not (self.config_file.exists() and self.config_file.read_text() == self.text):
            write_text(self.config_file, self.text)
        return self.config_file


def load_plan(config: Mapping | str | Path) -> Plan:
    """The plan of a merged configuration: a mapping, its JSON, or the file that holds it."""
    if isinstance(config, str) and config.startswith("{"):
        config = json.loads(config)
    elif isinstance(config, str | Path):
        file, config = config, read_yaml(config)
        wanted = "results/<scale>/config.yaml, which a run writes"
        if not isinstance(config, Mapping):
            raise InputError(f"{file} holds no settings; give {wanted}")
        if "papers" in config and "seed" not in config:
            raise InputError(
                f"{file} only has settings that differ from config/config.yaml; give the "
                f"whole configuration, {wanted}"
            )
    validate(config, "config", "the configuration")
    mirror = config["mirror"] or ""
    # The configuration is kept beside the results, and goes with them into archives.
    if without_credentials(mirror) != mirror or ("://" in mirror and "?" in mirror):
        raise InputError(
            "mirror: an address with a user name, a password or a query would be kept with the "
            "results; give it in the variable KRONBENCH_MIRROR, which is not"
        )
    use_outside(config.get("user", {}))
    papers, items = {}, []
    for paper, overrides in config["papers"].items():
        if paper not in (known := [*shipped_papers(), *ADDED_PAPERS]):
            raise InputError(f"papers: there is no paper '{paper}'; known are: {', '.join(known)}")
        papers[paper] = content = read_yaml(paper_path(paper, "paper.yaml"))
        validate(content, "paper", f"papers/{paper}/paper.yaml")
        if content.get("claims") != "none" and not claim_files(paper):
            raise InputError(
                f"{paper_path(paper, 'claims')} has no file of claims, so its page has no "
                "verdicts: write 'claims: none' in paper.yaml if that is meant"
            )
        for name in overrides:
            if name not in content["items"]:
                raise InputError(
                    f"papers.{paper}: there is no item '{name}'; "
                    f"known are: {', '.join(content['items'])}"
                )
        own = [_item(paper, name, content, overrides, config) for name in content["items"]]
        for key in content.get("protocol", {}).get("parameters", {}):
            if not any(key in item.parameters for item in own):
                raise InputError(
                    f"papers/{paper}/paper.yaml: protocol: no item reads the parameter '{key}'"
                )
        items += own
    items = tuple(_gathered(items, papers))
    return Plan(config=config, papers=papers, items=items, results=RESULTS / config["scale"])


def use_outside(user: Mapping) -> None:
    """Make solvers, data sets and papers of a configuration's ``user`` known to this process."""
    for folder in map(Path, user.get("papers", ())):
        if folder.name in shipped_papers():
            raise InputError(f"{folder} has the name of a shipped paper: rename the folder")
        if not re.fullmatch("[a-z][a-z0-9-]*", folder.name):
            raise InputError(
                f"{folder}: its name becomes that of the paper: use lower-case letters, digits "
                "and hyphens, a letter first"
            )
        if not (folder / "paper.yaml").is_file():
            raise InputError(
                f"{folder} has no paper.yaml: a paper is a folder with paper.yaml, claims/, "
                "printed/, measure/ and draw/ (docs/tutorials/paper.md)"
            )
        add_paper(folder)
    if path := user.get("path"):
        if not Path(path).is_dir():
            raise InputError(f"user.path: {path} is not a folder: run 'kronbench run-with' again")
        if path not in sys.path:
            sys.path.insert(0, path)
    if registry := user.get("registry"):
        os.environ["KRONBENCH_REGISTRY"] = registry


@functools.cache
def load_scales() -> tuple[Plan, ...]:
    """The plans of the scales that the project has: the default one, and those laid over it."""
    return tuple(map(load_plan, _scales()))


def check_scale(plan: Plan) -> None:
    """Refuse the name of a scale of the project for other settings than its own.

    Where the data come from is free: each table says it.
    """
    for shipped in _scales():
        if shipped["scale"] != plan.scale:
            continue
        mine, its = dict(_flat(plan.config)), dict(_flat(shipped))
        for place in {**its, **mine}:
            if mine.get(place, ...) != its.get(place, ...) and place not in ("data", "mirror"):
                told = [
                    reprlib.repr(of[place]) if place in of else "not set" for of in (mine, its)
                ]
                raise InputError(
                    f"{place} is {told[0]}; in the project's own scale "
                    f"'{plan.scale}' it is {told[1]}: give one --configfile, "
                    "and other settings a scale of their own (--config scale=NAME)"
                )


def _scales():
    base = read_yaml(config_path("config.yaml"))
    changes = [read_yaml(config_path(f"{name}.yaml")) for name in ("smoke", "paper")]
    return [base, *(_laid_over(base, change) for change in changes)]


def measurements(plan: Plan) -> list[tuple[Item, str]]:
    """The jobs of a plan that measure: each part of each item that has tables of its own."""
    return [(item, part) for item in plan.items if item.measures for part in item.parts]


def _configfile(of):
    """The option of Snakemake; what is drawn from accepted tables has no merged configuration."""
    if of.results.name != f"accepted-{of.scale}":
        return f" --configfile {RESULTS / of.scale / 'config.yaml'}"
    return "" if of.scale == "default" else f" --configfile config/{of.scale}.yaml"


def _flat(config, place=""):
    """The settings of a configuration by the keys that lead to them, joined by points."""
    for key, value in config.items():
        nested = isinstance(value, Mapping)
        yield f"{place}{key}", {} if nested else value
        if nested:
            yield from _flat(value, f"{place}{key}.")


def _laid_over(base, change):
    """As Snakemake does with configuration files: mappings merge, all else is replaced."""
    merged = {**base, **change}
    for key in base.keys() & change.keys():
        if isinstance(base[key], Mapping) and isinstance(change[key], Mapping):
            merged[key] = _laid_over(base[key], change[key])
    return merged


def _gathered(items, papers):
    """The items, with those whose numbers each brings together, as far as the run has them."""
    known = {f"{item.paper}/{item.name}": item for item in items}
    entries = {key: papers[item.paper]["items"][item.name] for key, item in known.items()}
    for key, item in known.items():
        wanted = entries[key].get("numbers_of", ())
        sources = [there for there in wanted if there.partition("/")[0] in papers]
        for there in sources:
            if there not in known or "numbers_of" in entries[there]:
                raise InputError(
                    f"papers/{item.paper}/paper.yaml: {item.name} takes the numbers of "
                    f"'{there}': give an item that has some of its own"
                )
        if sources or not wanted:  # none of a run without the papers whose numbers it takes
            yield dataclasses.replace(item, numbers_of=tuple(known[there] for there in sources))


def _item(paper, name, content, overrides, config):
    entries, protocol = content["items"], content.get("protocol", {})
    entry, override, place = entries[name], overrides.get(name, {}), f"papers.{paper}.{name}"
    source = entry.get("tables_of", name)
    if source != name:
        if source not in entries or "tables_of" in entries[source]:
            raise InputError(
                f"papers/{paper}/paper.yaml: {name} draws the tables of '{source}': "
                "give an item that has an experiment"
            )
        if override:
            raise InputError(f"{place} draws the tables of {source}: set these keys there")
        entry, override = {**entries[source], **entry}, overrides.get(source, {})
    if "numbers_of" in entry and override:
        raise InputError(
            f"{place} combines the numbers of other items: set these keys there "
            f"({', '.join(entry['numbers_of'])})"
        )
    # What the scale changes of the parameters of the paper's protocol and of the item: those that
    # its experiment reads. Others would make its tables stale without changing a number.
    known, given = {}, entry.get("parameters", {})
    if "numbers_of" not in entry:
        module = f"{paper}.measure.{entry['experiment']}"
        try:
            _check_module(paper, "measure", entry["experiment"], {"run", "COLUMNS"})
            known = parameters_of(f"kronbench_suite.papers.{module}")
        except InputError as error:
            raise InputError(f"{paper} {name}: {error}") from None
    for key in given:
        if key not in known:
            raise InputError(
                f"papers/{paper}/paper.yaml: {name}: unknown parameter '{key}'"
                + (nearest(key, known) or f"; the docstring of {module} has: {', '.join(known)}")
            )
    shared = protocol.get("parameters", {})
    base = {key: value for key, value in {**shared, **given}.items() if key in known}
    changes = {key: _from_text(value) for key, value in override.items() if key != "datasets"}
    for key, value in changes.items():
        if key not in base:
            known = ", ".join(["datasets", *base])
            raise InputError(f"{place}: unknown key '{key}'; this item knows: {known}")
        if _kind(value) != _kind(base[key]) and base[key] is not None:
            raise InputError(
                f"{place}: {key} is {reprlib.repr(value)}; "
                f"give {_kind(base[key])}, such as {reprlib.repr(base[key])}"
            )
        _check_folds(place, key, value, base[key], protocol.get("folds"))
    parameters = {**base, **changes, "seed": config["seed"]}
    if "time_cap" in known:
        parameters["time_cap"] = config["time_cap"]
    for key, choices in known.items():
        value = parameters.get(key, ()) if choices else ()
        for choice in [value] if isinstance(value, str) else value:
            if choice not in choices:
                hint = nearest(choice, choices) or f"; known are: {', '.join(choices)}"
                raise InputError(f"{place}: {key}: there is no '{choice}'{hint}")
    # What it names has to be there: modules, printed numbers, solvers.
    try:
        _check_module(paper, "draw", entry["drawing"], set())
        printed = entry.get("printed") or ()
        for file in [printed] if isinstance(printed, str) else printed:
            if not (path := printed_path(paper, file)).is_file():
                raise InputError(f"there is no file of printed numbers {path}")
        check_entries(parameters)
        for path in import_paths(parameters):
            module, _, solver = path.rpartition(".")
            known = names_in(module)
            if known is None:
                # One of another package that is not installed: its job skips it, with the reason.
                with contextlib.suppress(ModuleNotFoundError):
                    import_object(path)
            elif solver not in known:
                raise InputError(
                    f"unknown solver path '{path}': {module} has no '{solver}'"
                    + nearest(solver, known)
                )
    except InputError as error:
        raise InputError(f"{paper} {name}: {error}") from None
    taken = "title drawing experiment drawing_options printed timed keeps_predictions".split()
    return Item(
        paper=paper,
        name=name,
        caption=" ".join(entry["caption"].split()),
        datasets=tuple(override.get("datasets", entry.get("datasets", ()))),
        parameters=parameters,
        scale=config["scale"],
        results=RESULTS / config["scale"],
        tables_of=source,
        protocol=protocol,
        layout=tuple(entries[name].get("layout", ())),
        **{key: entry[key] for key in taken if key in entry},
    )


def _from_text(value):
    """Numbers and flags out of texts, which Snakemake makes of them in nested --config values."""
    if isinstance(value, Mapping):
        return {key: _from_text(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_from_text(entry) for entry in value]
    if isinstance(value, str):
        named = {"true": True, "false": False, "null": None}
        return named.get(value.lower(), number_or_text(value))
    return value


def _kind(value):
    """What a parameter is; lists and mappings (one entry a data set) stand for each other."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a text" if isinstance(value, str) else "a list or mapping"


def _check_folds(place, key, value, known, n_folds):
    """Refuse folds that the paper's split has not: by number, or those that its file names."""
    is_list = isinstance(known, list)
    named = is_list and any(isinstance(fold, str) for fold in known)
    if key not in ("fold", "folds", "timed_folds") or not isinstance(value, int | list):
        return
    # A number as ``folds`` is how many there are.
    if (key == "folds" and not is_list) or (not named and n_folds is None):
        return
    right = known if named else list(range(n_folds))
    for fold in value if isinstance(value, list) else [value]:
        if fold not in right or isinstance(fold, bool | float):
            raise InputError(f"{place}: {key}: there is no fold {fold!r}; known are: {right}")


def _check_module(paper, part, module, needs):
    names = names_in(f"kronbench_suite.papers.{paper}.{part}.{module}")
    file = paper_path(paper, part, f"{module}.py")
    if names is None:
        raise InputError(f"there is no module {file}")
    if missing := needs - names:
        raise InputError(f"{file} has no {' and no '.join(sorted(missing))}")
    if part == "draw" and not {"draw", "tabulate"} & names:
        raise InputError(
            f"{file} has neither draw(frame, item), for a figure, nor "
            "tabulate(frame, item, printed), for a table"
        )
