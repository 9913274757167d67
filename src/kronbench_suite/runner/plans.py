"""The plan of a run, read from a merged configuration and the ``paper.yaml`` of each paper."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
import reprlib
import sys
from collections.abc import Mapping
from pathlib import Path

from kronbench.errors import InputError
from kronbench.resources import config_path, without_credentials
from kronbench.yaml_files import read_yaml, validate
from kronbench_suite.resources import ADDED_PAPERS, add_paper, paper_folder, shipped_papers
from kronbench_suite.runner.item_entries import read_item
from kronbench_suite.runner.items import RESULTS, Plan

# The key among the papers of a configuration that stands for all shipped ones it does not list.
OTHERS = "others"


def load_plan(config: Mapping | str | Path) -> Plan:
    """The plan of a merged configuration: a mapping, its JSON, or the file that holds it."""
    # Read and check the settings, and find the papers that they are about.
    config = dict(_settings(config))
    validate(config, "config", "the configuration")
    _check_mirror(config["mirror"] or "")
    use_outside(config.get("user", {}))
    config["papers"] = _listed(config["papers"])
    # Read each paper, and make an item of each of its entries.
    papers, items = {}, []
    for paper, overrides in config["papers"].items():
        papers[paper] = content = _read_paper(paper)
        # What a paper.yaml says of this scale comes first, and jobs are told the outcome.
        mine = content.get("scales", {}).get(config.get("base", "default"), {})
        config["papers"][paper] = changes = _laid_over(mine, overrides)
        items += _items_of(paper, content, changes, config)
        _check_scales(paper, content, config)
    # Items that bring numbers together are told of the items that have these.
    items = tuple(_gathered(items, papers))
    return Plan(config=config, papers=papers, items=items, results=RESULTS / config["scale"])


def _settings(config):
    """The settings of a configuration in any of its three forms."""
    if isinstance(config, Mapping):
        return config
    if isinstance(config, str) and config.startswith("{"):
        return json.loads(config)
    file, config = config, read_yaml(config)
    wanted = "results/<scale>/config.yaml, which a run writes"
    if not isinstance(config, Mapping):
        raise InputError(f"{file} holds no settings; give {wanted}")
    if "papers" in config and "seed" not in config:
        raise InputError(
            f"{file} only has settings that differ from config/config.yaml; give the "
            f"whole configuration, {wanted}"
        )
    return config


def _check_mirror(mirror):
    """Refuse a secret: the configuration is kept with the results, and goes into archives."""
    if without_credentials(mirror) != mirror or ("://" in mirror and "?" in mirror):
        raise InputError(
            "mirror: an address with a user name, a password or a query would be kept with the "
            "results; give it in the variable KRONBENCH_MIRROR, which is not"
        )


def _listed(papers):
    """Papers with their overrides; ``others`` is each shipped paper that is not listed itself."""
    shipped = shipped_papers()
    named = {paper: changes for paper, changes in papers.items() if paper != OTHERS}
    for paper in named:
        if paper not in (known := [*shipped, *ADDED_PAPERS]):
            raise InputError(f"papers: there is no paper '{paper}'; known are: {', '.join(known)}")
    return named | {paper: {} for paper in shipped if OTHERS in papers and paper not in named}


def _read_paper(paper):
    """The content of a ``paper.yaml``, once its form is checked and its claims are there."""
    folder = paper_folder(paper)
    content = read_yaml(folder.path / "paper.yaml")
    validate(content, "paper", f"papers/{paper}/paper.yaml")
    if content.get("claims") != "none" and not folder.claims:
        raise InputError(
            f"{folder.path / 'claims'} has no file of claims, so its page has no "
            "verdicts: write 'claims: none' in paper.yaml if that is meant"
        )
    return content


def _check_scales(paper, content, config):
    """Refuse a fault in the paper's settings of any scale now, not when that scale is run."""
    for scale, changes in content.get("scales", {}).items():
        try:
            _items_of(paper, content, changes, config)
        except InputError as error:
            raise InputError(f"papers/{paper}/paper.yaml: scales: {scale}: {error}") from None


def _items_of(paper, content, changes, config):
    """The items of a paper, as a scale changes them."""
    known = ", ".join(content["items"])
    for name in changes.keys() - content["items"].keys():
        raise InputError(f"papers.{paper}: there is no item '{name}'; known are: {known}")
    items = [read_item(paper, name, content, changes, config) for name in content["items"]]
    # Each parameter of the protocol has a reader, or it is misspelt.
    read = {key for item in items for key in item.parameters}
    for key in content.get("protocol", {}).get("parameters", {}).keys() - read:
        raise InputError(
            f"papers/{paper}/paper.yaml: protocol: no item reads the parameter '{key}'"
        )
    return items


def use_outside(user: Mapping) -> None:
    """Make solvers, data sets and papers of a configuration's ``user`` known to this process."""
    # A paper's folder becomes a package by its name, beside those of the suite.
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
                "printed/, measure/ and plot/ (docs/tutorials/paper.md)"
            )
        add_paper(folder)
    if path := user.get("path"):
        if not Path(path).is_dir():
            raise InputError(f"user.path: {path} is not a folder: run 'kronbench run-with' again")
        if path not in sys.path:  # the user's modules come before installed ones
            sys.path.insert(0, path)
    if registry := user.get("registry"):
        os.environ["KRONBENCH_REGISTRY"] = registry


@functools.cache
def load_scales() -> tuple[Plan, ...]:
    """The plans of the scales that the project has: the default one, and those laid over it."""
    base = read_yaml(config_path("config.yaml"))
    changes = [read_yaml(config_path(f"{name}.yaml")) for name in ("smoke", "paper")]
    return tuple(map(load_plan, [base, *(_laid_over(base, change) for change in changes)]))


def check_scale(plan: Plan) -> None:
    """Refuse the name of a scale of the project for other settings than its own.

    Where the data come from is free: each table says it.
    """
    for shipped in load_scales():
        if shipped.scale != plan.scale:
            continue
        mine, its = dict(_flat(plan.config)), dict(_flat(shipped.config))
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
