"""The workflow for those who do not know Snakemake: everything, a paper, or one item."""

from __future__ import annotations

import difflib
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from kronbench.errors import InputError
from kronbench.solvers import nearest
from kronbench_suite.runner.items import Item, Plan
from kronbench_suite.runner.plans import load_scales

LOCKED = (
    "kronbench: error: another run is active in this folder, or was killed and left its lock: "
    "wait for it to end; if none is active, call 'snakemake --unlock', then the same command again"
)


def make_figures(
    paper: str | None, name: str | None, scale: str, cores: str, only_shown: bool = False
) -> int:
    """Make everything, a paper or one item in the current checkout; the exit status."""
    check_checkout(cores)
    plan = plan_of_scale(scale)
    # No target is everything, the name of a paper all of its items, a file one item.
    target = []
    if paper is not None and paper not in plan.papers:
        near = difflib.get_close_matches(paper, plan.papers) or plan.papers
        raise InputError(f"there is no paper '{paper}': give {' or '.join(near)}")
    if name is not None:
        target = [str(plan.item(paper, name).target)]
    elif paper is not None:
        target = [paper]
    laid_over = [] if scale == "default" else ["--configfile", f"config/{scale}.yaml"]
    return _run(plan, target, ["--cores", cores, *laid_over], only_shown)


def make_items(plan: Plan, items: Iterable[Item], cores: str, only_shown: bool = False) -> int:
    """Make some items of a plan of one's own, and a page of them; the exit status.

    With ``only_shown`` the commands are printed, and nothing is written.
    """
    if only_shown:
        print(f"# without --dry-run, {plan.config_file} is written before:", flush=True)
    else:
        plan.save()
    options = ["--cores", cores, "--configfile", str(plan.config_file)]
    return _run(plan, [str(item.target) for item in items], options, only_shown)


def check_checkout(cores: str) -> None:
    """InputError unless the workflow can be run here, and on so many cores."""
    if not Path("Snakefile").exists():
        raise InputError(
            f"{Path.cwd()} has no Snakefile: figures need a checkout of the project (git "
            "clone), not only the package"
        )
    number = cores.isascii() and cores.isdecimal() and len(cores) < 6
    if cores != "all" and not (number and int(cores) > 0):
        raise InputError(f"cores is {cores!r}: give a number of at least 1, or 'all'")


def plan_of_scale(scale: str) -> Plan:
    """The plan of one of the project's scales; InputError where there is no such scale."""
    plans = {plan.scale: plan for plan in load_scales()}
    if scale not in plans:
        hint = nearest(scale, plans) or f": give one of {', '.join(plans)}"
        raise InputError(f"there is no scale '{scale}'{hint}")
    return plans[scale]


def _run(plan, targets, options, only_shown):
    """Print each command and, unless ``only_shown``, run it; the first exit status that is not 0.

    The programs are those of this environment, whether or not it is an active one.
    """
    commands = [["snakemake", *targets, *options]]
    if targets:  # a whole run makes its page itself
        commands.append(["kronbench", "report", "--config", str(plan.config_file)])
    for command in commands:
        print(shlex.join(command), flush=True)
        if not only_shown:
            module = {"kronbench": "kronbench_suite"}.get(command[0], command[0])
            done = subprocess.run([sys.executable, "-m", module, *command[1:]], check=False)
            # A lock that a killed run left behind needs a command of its own.
            if done.returncode:
                if any(Path(".snakemake/locks").glob("*")):
                    print(LOCKED, file=sys.stderr)
                return done.returncode
    return 0
