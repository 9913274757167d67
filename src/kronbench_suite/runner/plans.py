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
from kronbench_suite.resources import (
    ADDED_PAPERS,
    add_paper,
    claim_files,
    paper_path,
    shipped_papers,
)
from kronbench_suite.runner.item_entries import read_item
from kronbench_suite.runner.items import RESULTS, Plan


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
        own = [read_item(paper, name, content, overrides, config) for name in content["items"]]
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
                "printed/, measure/ and plot/ (docs/tutorials/paper.md)"
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
