"""A paper from outside: a folder, planned, measured, drawn and judged like the shipped ones."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from kronbench import datasets
from kronbench.reference.figures import check_checkout, make_items, plan_of_scale
from kronbench.reference.run_with import whole_path
from kronbench.resources import paper_path
from kronbench.runner.columns import Columns
from kronbench.runner.items import Plan, load_plan
from kronbench.runner.outside import commit_of, use_outside
from kronbench.settings import read_yaml


def plan_with_paper(folder: str | Path, scale: str = "default") -> tuple[Plan, str]:
    """The plan of a scale with one paper more, and its name; its results have their own folder.

    Parameters
    ----------
    folder : path
        The folder of the paper, whose name is that of the paper.
    scale : str
        One of the project's; ``scales`` in paper.yaml says what the paper's items do there.

    Raises
    ------
    InputError
        The folder is no paper's, or something in it is missing or wrong: which file, and what
        would be right.
    """
    folder = whole_path(folder)
    user = {"papers": [str(folder)]}
    if commit := commit_of(folder):
        user["commit"] = commit
    use_outside(user)
    base = plan_of_scale(scale)
    config = copy.deepcopy(dict(base.config))
    overrides = read_yaml(folder / "paper.yaml").get("scales", {}).get(scale, {})
    config |= {"scale": f"{scale}-with-{folder.name}", "user": user}
    config["papers"] = {folder.name: overrides, **config["papers"]}
    return load_plan(config), folder.name


def run_paper(plan: Plan, paper: str, cores: str, only_shown: bool) -> int:
    """Measure, draw and judge all items of a paper from outside; its page lists the others too.

    Returns
    -------
    int
        The exit status of the first command that fails, else 0.
    """
    check_checkout(cores)
    own = [item for item in plan.items if item.paper == paper]
    for name in {name for item in own for name in item.datasets}:
        datasets.describe(name)
    return make_items(plan, own, cores, only_shown)


def check_paper(plan: Plan, paper: str) -> Iterator[tuple[str, str]]:
    """The contracts that the modules of a paper's folder keep: a part, and what is wrong or "".

    That its files are there and fit each other is checked by :func:`load_plan` before.
    """
    for item in plan.items:
        if item.paper != paper:
            continue
        for part, module in (("measure", item.experiment), ("draw", item.drawing)):
            if module:
                wrong = "; ".join(
                    _wrong(import_module(f"kronbench.papers.{paper}.{part}.{module}"), part)
                )
                yield f"{item.name}: {paper_path(paper, part, module)}.py", wrong


def _wrong(module, part):
    wanted = {
        "run": ["spec", "data", "rng"],
        "draw": ["frame", "item"],
        "tabulate": ["frame", "item", "printed"],
    }
    name = "run"
    if part == "draw":  # of a module with both, draw gets what tabulate returned
        name = "tabulate" if hasattr(module, "tabulate") else "draw"
    if not module.__doc__:
        yield "it has no docstring that says what it is"
    if list(inspect.signature(getattr(module, name)).parameters) != wanted[name]:
        yield f"{name} takes other parameters than {', '.join(wanted[name])}"
    if part == "measure" and not isinstance(module.COLUMNS, Columns):
        yield "COLUMNS is no kronbench.runner.columns.Columns"
