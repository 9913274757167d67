"""What makes a result stale: one digest of the code and the settings that a job depends on.

A measurement depends on what can change a number in its table, and on nothing else: neither on
other experiments, nor on captions, nor on the report. Modules are followed through the imports of
the package, name by name, from those that a job starts with; docstrings and comments do not count.
The digests are parameters of the jobs, so that no source file is among their inputs.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from kronbench import datasets
from kronbench.resources import claim_files, package_path, paper_path, printed_path
from kronbench.runner.items import Item, Plan
from kronbench.runner.solvers import find_module, import_paths
from kronbench.runner.source_imports import (
    defining_module,
    file_of,
    imported_modules,
    read_module,
)

# They carry names, paths and sentences. What they decide about a job is among its parameters.
_CARRIERS = frozenset(
    f"kronbench.{name}"
    for name in (
        *("runner.items", "runner.provenance", "runner.source_imports"),
        *("errors", "files", "resources", "yaml_files"),
    )
)
# Warm-up comes before the clock, and no untimed column may depend on them; they
# use something of every floor. The data of a job come from its data file, which has a rule.
_BEFORE_THE_CLOCK = frozenset({"kronbench.runner.warm_up", "kronbench.datasets"})
# Of an item, what only the page shows.
_WORDS = ("title", "caption")


def table_digests(item: Item) -> dict[str, str]:
    """One sha256 of the ``sources`` and one of the ``settings`` of an item's result tables.

    They are the same on every machine and wherever the checkout lies.
    """
    return {"sources": _digest(table_code(item)), "settings": _digest(table_settings(item))}


def table_code(item: Item) -> dict[str, str]:
    """The sha256 of the code of each module that can change a number of an item's tables.

    The experiment, the solvers named in its parameters, the runner with clock and seeds, and the
    settings of threads in ``kronbench/__init__.py``. A solver of another package counts with the
    file of its module.
    """
    modules, foreign = ["kronbench", "kronbench.runner.job", item.experiment_module], {}
    for path in import_paths(item.parameters):
        module, _, name = path.rpartition(".")
        if file_of(module):
            modules.append(defining_module(module, name))
        elif file := find_module(module):
            foreign[module] = _sha256(Path(file).read_bytes())
    return code_of(*modules, but=_CARRIERS | _BEFORE_THE_CLOCK) | foreign


def table_settings(item: Item) -> dict:
    """What an experiment is told, and whether it has the machine for itself."""
    return {"parameters": dict(item.parameters), "timed": item.timed}


def data_settings(name: str, mirror: str | None = None) -> dict:
    """The registry entry of a data set; all of it goes into its ``provenance.json``.

    Without the advice on a file that is missing, and its folder, which no result rests on. The
    user's own files of which no checksum is registered count with the one that they have
    (``mirror``: as for ``datasets.load``): one that is edited makes the data set stale.
    """
    entry = dataclasses.asdict(datasets.registry.find(name))
    settings = {key: value for key, value in entry.items() if key not in ("manual", "folder")}
    if own := datasets.own_sums(name, mirror=mirror):
        settings["sums"] = own
    return settings


def data_digest(name: str, mirror: str | None = None) -> str:
    """One sha256 of all that a prepared data set depends on: registry entry, files, parser."""
    return _digest([data_settings(name, mirror), data_code(name)])


def data_code(name: str) -> dict[str, str]:
    """The sha256 of the code of each module that makes a data set: fetching, parser, surrogate.

    Not of the parsers of other formats, nor of the runner, which hands on the configuration.
    """
    makers = ("kronbench.datasets.dataset", "kronbench.datasets.fetch", *datasets.modules_of(name))
    # The package itself imports every format.
    package = {"kronbench.datasets": _code_sum("kronbench.datasets")}
    return package | code_of(*makers, but=_CARRIERS)


def drawing_digest(item: Item) -> str:
    """One sha256 of what a figure or table depends on, the paper's numbers among it."""
    templates = package_path("report", "templates").glob("table*") if item.layout else ()
    code = code_of("kronbench.report.render", item.drawing_module, but=_CARRIERS)
    return _digest([code, _contents([*_printed(item), *templates]), drawing_settings(item)])


def drawing_settings(item: Item) -> dict:
    """All that is known of an item but its words, which only the page shows.

    Of the items whose numbers it takes, where these are.
    """
    entry = dataclasses.asdict(dataclasses.replace(item, numbers_of=()))
    entry["numbers_of"] = [str(path) for path in item.drawn_from if item.numbers_of]
    return {key: value for key, value in entry.items() if key not in _WORDS}


def page_digest(plan: Plan) -> str:
    """One sha256 of what the page depends on beside results.

    Its code, templates, claims, the printed numbers that these quote, paper files, and the
    verdicts with which it compares.
    """
    papers = [paper_path(paper, "paper.yaml") for paper in plan.papers]
    claims = [file for paper in plan.papers for file in claim_files(paper)]
    templates = package_path("report", "templates").iterdir()
    accepted = [file for file in [plan.accepted / "verdicts.csv"] if file.exists()]
    files = [*papers, *claims, *_printed(*plan.items), *templates, *accepted]
    # What is in provenance is asked by the page of accepted tables alone, which is no job.
    code = code_of("kronbench.report.page", but={"kronbench.runner.provenance"})
    return _digest([code, _contents(files)])


def code_of(*modules: str, but: Iterable[str] = ()) -> dict[str, str]:
    """The sha256 of the code of what modules import, directly or not, themselves included."""
    seen, waiting, found = set(but), list(modules), {}
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        found[name] = _code_sum(name)
        waiting += imported_modules(name)
    return found


@functools.cache
def _code_sum(module):
    return _sha256(read_module(module).code.encode())


def _contents(paths):
    """The sha256 of each file, by the end of its path: folders may lie anywhere."""
    return {"/".join(path.parts[-3:]): _sha256(path.read_bytes()) for path in map(Path, paths)}


def _digest(content):
    return _sha256(json.dumps(content, sort_keys=True, default=str).encode())


def _sha256(content):
    return hashlib.sha256(content).hexdigest()


def _printed(*items):
    """The files of printed numbers of items."""
    for item in items:
        names = [item.printed] if isinstance(item.printed, str) else item.printed or ()
        yield from (printed_path(item.paper, name) for name in names)
