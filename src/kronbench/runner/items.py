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
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from kronbench.errors import InputError
from kronbench.files import write_text
from kronbench.resources import (
    added_papers,
    claim_files,
    config_path,
    paper_path,
    printed_path,
    shipped_papers,
    without_credentials,
)
from kronbench.runner.outside import use_outside
from kronbench.runner.solvers import check_entries, check_import_path, import_paths
from kronbench.runner.source_imports import read_module
from kronbench.yaml_files import number_or_text, read_yaml, validate

RESULTS = Path("results")

# Settings that say where data come from, and whether accepted parts are taken.
_ORIGINS = ("data", "mirror", "parts")
_MEASURED = (".csv", ".json")
_UNSET = object()


@dataclass(frozen=True)
class Item:
    """One figure or table of a paper, as this run makes it."""

    paper: str
    name: str
    title: str
    caption: str
    experiment: str
    drawing: str
    drawing_options: Mapping
    layout: tuple[Mapping, ...]  # the tables of a table item; none of a figure
    datasets: tuple[str, ...]
    parameters: Mapping
    printed: str | list[str] | None
    timed: bool
    keeps_predictions: bool
    scale: str
    results: Path  # results/<scale>, wherever that lies
    tables_of: str  # the item whose result tables it draws: itself, unless it says otherwise
    numbers_of: tuple[Item, ...] = ()  # items whose numbers it brings together; measures none
    from_accepted: bool = False  # see Plan.of_accepted
    protocol: Mapping = dataclasses.field(default_factory=dict)  # that of its paper

    @property
    def experiment_module(self) -> str:
        """The import path of its experiment, in the folder of its paper."""
        return f"kronbench.papers.{self.paper}.measure.{self.experiment}"

    @property
    def drawing_module(self) -> str:
        """The import path of its drawing, in the folder of its paper."""
        return f"kronbench.papers.{self.paper}.draw.{self.drawing}"

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
        """The result tables, or the numbers of other items, from which it is rendered.

        Each with its sidecar, and of the others the sidecars of their tables too.
        """
        files = [self.table(part).with_suffix(kind) for part in self.parts for kind in _MEASURED]
        for other in self.numbers_of:
            files += [other.output("csv"), other.output("json")]
            files += [file for file in other.drawn_from if file.suffix == ".json"]
        return tuple(files)

    def table(self, part: str) -> Path:
        """The result table of one job; its sidecar has the suffix ``.json``."""
        return self.folder / "tables" / self.tables_of / f"{part}.csv"

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
        return all(file.exists() for file in files) and all(
            other.finished for other in self.numbers_of
        )

    def command(self, part: str) -> str:
        """The command that repeats one job alone, in an active environment."""
        config = RESULTS / self.scale / "config.yaml"
        return f"python -m kronbench run {self.paper} {self.tables_of} {part} --config {config}"

    @property
    def workflow_command(self) -> str:
        """The command that makes the item alone, with the data and tables that it needs."""
        target = dataclasses.replace(self, results=RESULTS / self.scale).target
        return f"snakemake {target} --cores all{_configfile(self.scale, self.from_accepted)}"


@dataclass(frozen=True)
class Plan:
    """All items of a run, in the order of the papers' configuration."""

    config: Mapping
    papers: Mapping[str, Mapping]
    items: tuple[Item, ...]
    results: Path  # results/<scale>, wherever that lies
    from_accepted: bool = False
    reference: Path = RESULTS / "reference"

    def of_accepted(self) -> Plan:
        """The same items, drawn from the accepted tables into ``results/accepted-<scale>``.

        Nothing is measured there, and what a run measured is never among it.
        """
        return self.at(RESULTS / f"accepted-{self.scale}", from_accepted=True)

    def at(self, results: Path, **changes: bool) -> Plan:
        """The same items, whose files lie in another folder than ``results/<scale>``."""

        def moved(item):
            others = tuple(map(moved, item.numbers_of))
            return dataclasses.replace(item, numbers_of=others, results=results, **changes)

        items = tuple(map(moved, self.items))
        return dataclasses.replace(self, items=items, results=results, **changes)

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
        return f"snakemake --cores all{_configfile(self.scale, self.from_accepted)}"

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
        return self.reference / self.scale

    @property
    def verdicts(self) -> list[Path]:
        """What the page compares this run with, as far as it is there."""
        files = (self.accepted / name for name in ("verdicts.csv", "items.json"))
        return [file for file in files if file.exists()]

    def data_folder(self, name: str) -> Path:
        """Where the prepared data set of this run lies; papers differ in the case of names."""
        return self.results / "data" / name.lower()

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
        if not isinstance(config, Mapping):
            raise InputError(
                f"{file} holds no settings; give results/<scale>/config.yaml, which a run writes"
            )
        if "papers" in config and "seed" not in config:
            raise InputError(
                f"{file} only has settings that differ from config/config.yaml; give the "
                "whole configuration, "
                "results/<scale>/config.yaml, which a run writes"
            )
    validate(config, "config", "the configuration")
    _check_mirror(config["mirror"] or "")
    use_outside(config.get("user", {}))
    papers, items = {}, []
    for paper, overrides in config["papers"].items():
        if paper not in (known := [*shipped_papers(), *added_papers()]):
            raise InputError(f"papers: there is no paper '{paper}'; known are: {', '.join(known)}")
        papers[paper] = read_yaml(paper_path(paper, "paper.yaml"))
        validate(papers[paper], "paper", f"papers/{paper}/paper.yaml")
        if papers[paper].get("claims") != "none" and not claim_files(paper):
            raise InputError(
                f"{paper_path(paper, 'claims')} has no file of claims, so its page has no "
                "verdicts: write 'claims: none' in paper.yaml if that is meant"
            )
        entries = papers[paper]["items"]
        for name in overrides:
            if name not in entries:
                raise InputError(
                    f"papers.{paper}: there is no item '{name}'; known are: {', '.join(entries)}"
                )
        protocol = papers[paper].get("protocol", {})
        items += [_item(paper, name, entries, overrides, config, protocol) for name in entries]
    items = tuple(_gathered(items, papers))
    return Plan(config=config, papers=papers, items=items, results=RESULTS / config["scale"])


@functools.cache
def load_scales() -> tuple[Plan, ...]:
    """The plans of the scales that the project has: the default one, and those laid over it."""
    return tuple(map(load_plan, _scales()))


def check_scale(plan: Plan) -> None:
    """Refuse the name of a scale of the project for other settings than its own.

    Its results would be taken for those of the scale. Where the data come from is free: each
    table says it.
    """
    for shipped in _scales():
        if shipped["scale"] != plan.scale:
            continue
        mine, its = dict(_flat(plan.config)), dict(_flat(shipped))
        for place in {**its, **mine}:
            if mine.get(place, _UNSET) != its.get(place, _UNSET) and place not in _ORIGINS:
                raise InputError(
                    f"{place} is {_value_at(mine, place)}; in the project's own scale "
                    f"'{plan.scale}' it is {_value_at(its, place)}: give one --configfile, "
                    "and other settings a scale of their own (--config scale=NAME)"
                )


def _scales():
    """The configurations of the scales that the project has."""
    base = read_yaml(config_path("config.yaml"))
    changes = [read_yaml(config_path(f"{name}.yaml")) for name in ("smoke", "paper")]
    return [_laid_over(base, change) for change in ({}, *changes)]


def measurements(plan: Plan) -> list[tuple[Item, str]]:
    """The jobs of a plan that measure: each part of each item that has tables of its own."""
    own = [item for item in plan.items if item.measures]
    return [(item, part) for item in own for part in item.parts]


def _configfile(scale, from_accepted):
    """The option of Snakemake; what is drawn from accepted tables has no merged configuration."""
    if not from_accepted:
        return f" --configfile {RESULTS / scale / 'config.yaml'}"
    return "" if scale == "default" else f" --configfile config/{scale}.yaml"


def _flat(config, place=""):
    """The settings of a configuration by the keys that lead to them, joined by points."""
    for key, value in config.items():
        nested = isinstance(value, Mapping)
        yield f"{place}{key}", {} if nested else value
        if nested:
            yield from _flat(value, f"{place}{key}.")


def _value_at(settings, place):
    return reprlib.repr(settings[place]) if place in settings else "not set"


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


def _item(paper, name, entries, overrides, config, protocol):
    entry, override = entries[name], overrides.get(name, {})
    source = entry.get("tables_of", name)
    if source != name:
        if source not in entries or "tables_of" in entries[source]:
            raise InputError(
                f"papers/{paper}/paper.yaml: {name} draws the tables of '{source}': "
                "give an item that has an experiment"
            )
        if override:
            raise InputError(
                f"papers.{paper}.{name} draws the tables of {source}: set these keys there"
            )
        entry, override = {**entries[source], **entry}, overrides.get(source, {})
    if "numbers_of" in entry and override:
        raise InputError(
            f"papers.{paper}.{name} combines the numbers of other items: set these keys there "
            f"({', '.join(entry['numbers_of'])})"
        )
    base = {**protocol.get("parameters", {}), **entry.get("parameters", {})}
    datasets = override.get("datasets", entry.get("datasets", ()))
    changes = {key: _from_text(value) for key, value in override.items() if key != "datasets"}
    for key, value in changes.items():
        if key not in base:
            raise InputError(
                f"papers.{paper}.{name}: unknown key '{key}'; "
                f"this item knows: {', '.join(['datasets', *base])}"
            )
        if _kind(value) != _kind(base[key]) and base[key] is not None:
            raise InputError(
                f"papers.{paper}.{name}: {key} is {reprlib.repr(value)}; "
                f"give {_kind(base[key])}, such as {reprlib.repr(base[key])}"
            )
        _check_folds(f"papers.{paper}.{name}", key, value, base[key], protocol.get("folds"))
    if "numbers_of" not in entry:
        _check_module(paper, name, "measure", entry["experiment"], {"run", "COLUMNS"})
    _check_module(paper, name, "draw", entry["drawing"], set())
    for file in [printed] if isinstance(printed := entry.get("printed"), str) else printed or ():
        if not (path := printed_path(paper, file)).is_file():
            raise InputError(f"{paper} {name}: there is no file of printed numbers {path}")
    parameters = {**base, **changes, "seed": config["seed"], "time_cap": config["time_cap"]}
    try:
        check_entries(parameters)
        for path in import_paths(parameters):
            # a solver of another package that is not installed: its job skips it, with the reason
            with contextlib.suppress(ModuleNotFoundError):
                check_import_path(path)
    except InputError as error:
        raise InputError(f"{paper} {name}: {error}") from None
    return Item(
        paper=paper,
        name=name,
        title=entry["title"],
        caption=" ".join(entry["caption"].split()),
        experiment=entry.get("experiment", ""),
        drawing=entry["drawing"],
        drawing_options=entry.get("drawing_options", {}),
        layout=tuple(entries[name].get("layout", ())),
        datasets=tuple(datasets),
        parameters=parameters,
        printed=entry.get("printed"),
        timed=entry.get("timed", False),
        keeps_predictions=entry.get("keeps_predictions", False),
        scale=config["scale"],
        results=RESULTS / config["scale"],
        tables_of=source,
        protocol=protocol,
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
    if key not in ("fold", "folds", "timed_folds") or not isinstance(value, int | list):
        return
    if key == "folds" and not isinstance(known, list):  # how many there are
        return
    named = isinstance(known, list) and any(isinstance(fold, str) for fold in known)
    if not named and n_folds is None:
        return
    right = known if named else list(range(n_folds))
    for fold in value if isinstance(value, list) else [value]:
        if fold not in right or isinstance(fold, bool | float):
            raise InputError(f"{place}: {key}: there is no fold {fold!r}; known are: {right}")


def _check_mirror(mirror):
    # The configuration is kept beside the results, and goes with them into archives.
    if without_credentials(mirror) != mirror or ("://" in mirror and "?" in mirror):
        raise InputError(
            "mirror: an address with a user name, a password or a query would be kept with the "
            "results; give it in the variable KRONBENCH_MIRROR, which is not"
        )


def _check_module(paper, name, part, module, needs):
    found = read_module(f"kronbench.papers.{paper}.{part}.{module}")
    file = paper_path(paper, part, f"{module}.py")
    if found is None:
        raise InputError(f"{paper} {name}: there is no module {file}")
    if missing := needs - found.names:
        raise InputError(f"{paper} {name}: {file} has no {' and no '.join(sorted(missing))}")
    if part == "draw" and not {"draw", "tabulate"} & found.names:
        raise InputError(
            f"{paper} {name}: {file} has neither draw(frame, item), for a figure, nor "
            "tabulate(frame, item, printed), for a table"
        )
