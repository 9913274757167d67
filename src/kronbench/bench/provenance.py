"""What makes a result stale: the files and settings that the jobs of a run depend on.

A measurement depends on what can change a number in its table, and on nothing else: neither on
other experiments, nor on captions, nor on the report. Files are followed through the imports of
the package, name by name, from the modules that a job starts with.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from kronbench import datasets
from kronbench.bench.items import Item, Plan
from kronbench.bench.solvers import find_module, import_paths
from kronbench.bench.source_definitions import definitions_of
from kronbench.bench.source_imports import defining_module, file_of, imported_modules
from kronbench.resources import claim_files, config_path, package_path

# They carry names, paths and sentences. What they decide about a job is among its parameters.
_CARRIERS = frozenset(
    f"kronbench.{name}"
    for name in (
        *("bench.items", "bench.provenance", "bench.source_definitions", "bench.source_imports"),
        *("errors", "files", "resources", "settings"),
    )
)
# The warm-up comes before the clock, and no untimed column may depend on it; it uses something of
# every floor. The data of a job come from its data file, which has a rule.
_BEFORE_THE_CLOCK = frozenset({"kronbench.bench.warm_up", "kronbench.datasets"})
# Of an item, what only the page shows.
_WORDS = ("title", "caption")


def table_sources(item: Item) -> list[str]:
    """Files whose change makes the result tables of an item stale.

    The experiment, the solvers named in its parameters, the runner with clock and seeds, and the
    settings of threads in ``kronbench/__init__.py``. A solver of another package counts with the
    file of its module.
    """
    modules, solvers, foreign = _starts(item)
    modules += [defining_module(*solver) for solver in solvers]
    return sorted({*sources_of(*modules, but=_CARRIERS | _BEFORE_THE_CLOCK), *foreign})


def _starts(item):
    """What a measurement begins with: modules, solvers of this package, files of others."""
    modules = ["kronbench", "kronbench.bench.job", item.experiment_module]
    solvers, foreign = [], set()
    for path in import_paths(item.parameters):
        module, _, name = path.rpartition(".")
        if file_of(module):
            solvers.append((module, name))
        elif file := find_module(module):
            foreign.add(_shown(file))
    return modules, solvers, foreign


def table_settings(item: Item) -> dict:
    """What an experiment is told, and whether it has the machine for itself."""
    return {"parameters": dict(item.parameters), "timed": item.timed}


def data_sources(name: str) -> list[str]:
    """Files whose change makes a prepared data set stale: its parser and surrogate, the fetching.

    Not those of other formats, nor the runner, which only hands on what the configuration says.
    """
    # It imports every format.
    package = _shown(file_of("kronbench.datasets"))
    return sorted({package, *sources_of(*_data_modules(name), but=_CARRIERS)})


def _data_modules(name):
    fixed = ("kronbench.datasets.dataset", "kronbench.datasets.fetch")
    return [*fixed, *datasets.modules_of(name)]


def data_settings(name: str, mirror: str | None = None) -> dict:
    """The registry entry of a data set; all of it goes into its ``provenance.json``.

    Without the advice on a file that is missing, which no result rests on. The user's own files
    of which no checksum is registered count with the one that they have (``mirror``: as for
    ``datasets.load``): one that is edited makes the data set stale.
    """
    entry = dataclasses.asdict(datasets.registry.find(name))
    settings = {key: value for key, value in entry.items() if key != "manual"}
    if own := datasets.own_sums(name, mirror=mirror):
        settings["sums"] = own
    return settings


def table_digests(item: Item) -> dict[str, str]:
    """One sha256 of the ``sources`` and one of the ``settings`` of an item's result tables.

    They are the same on every machine and wherever the checkout lies. Of the files that Snakemake
    watches, only the definitions count that the measurement can reach.
    """
    modules, solvers, foreign = _starts(item)
    starts = [*((module, None) for module in modules), *solvers]
    reached = definitions_of(*starts, but=_CARRIERS | _BEFORE_THE_CLOCK)
    return {
        "sources": _digest([reached, _contents(sorted(foreign))]),
        "settings": _digest(table_settings(item)),
    }


def data_digest(name: str, mirror: str | None = None) -> str:
    """One sha256 of all that a prepared data set depends on: registry entry, files, parser."""
    reached = definitions_of(*((module, None) for module in _data_modules(name)), but=_CARRIERS)
    package = _contents([file_of("kronbench.datasets")])
    return _digest([data_settings(name, mirror), package, reached])


def _contents(paths):
    """The sha256 of each file, by its place in the package; of others by its name."""
    package, found = package_path().parent, {}
    for path in (Path(path).resolve() for path in paths):
        inside = path.is_relative_to(package)
        name = path.relative_to(package).as_posix() if inside else path.name
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _digest(content):
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def drawing_sources(item: Item) -> list[str]:
    """Files whose change makes a figure or table stale, the paper's numbers among them."""
    modules = ("kronbench.report.render", item.drawing_module)
    templates = package_path("report", "templates").glob("table*") if item.layout else ()
    files = map(_shown, [*_printed(item), *templates])
    return sorted({*sources_of(*modules, but=_CARRIERS), *files})


def drawing_settings(item: Item) -> dict:
    """All that is known of an item but its words, which only the page shows.

    Of the items whose numbers it takes, where these are.
    """
    entry = dataclasses.asdict(dataclasses.replace(item, numbers_of=()))
    entry["numbers_of"] = [str(path) for path in item.drawn_from if item.numbers_of]
    return {key: value for key, value in entry.items() if key not in _WORDS}


def page_sources(plan: Plan) -> list[str]:
    """Files whose change makes the page stale.

    Its code, templates, claims, the printed numbers that these quote, paper files, and the
    verdicts with which it compares.
    """
    papers = [config_path("papers", f"{paper}.yaml") for paper in plan.papers]
    templates = package_path("report", "templates").iterdir()
    accepted = [file for file in [plan.accepted / "verdicts.csv"] if file.exists()]
    claims = [file for paper in plan.papers for file in claim_files(paper)]
    files = map(_shown, [*papers, *claims, *_printed(*plan.items), *templates, *accepted])
    # What is here is asked by the page of accepted tables alone, which is no job.
    return sorted(
        {*sources_of("kronbench.report.page", but={"kronbench.bench.provenance"}), *files}
    )


def sources_of(*modules: str, but: Iterable[str] = ()) -> list[str]:
    """Files of this package that modules import, directly or not, themselves included.

    Parameters
    ----------
    modules : str
        Import paths.
    but : iterable of str
        Modules that are left out, with what only they import.
    """
    seen, waiting = set(but), list(modules)
    files = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        files.add(_shown(file_of(name)))
        waiting += imported_modules(name)
    return sorted(files)


def _printed(*items):
    """The files of printed numbers of items."""
    for item in items:
        names = [item.printed] if isinstance(item.printed, str) else item.printed or ()
        yield from (config_path("paper_values", name) for name in names)


def _shown(path):
    """Relative where it can be: the results of a checkout that was moved are not stale."""
    path, here = Path(path), Path.cwd()
    return os.fspath(path.relative_to(here) if path.is_relative_to(here) else path)
