"""The commands for who brings a solver: check, run-with; and the completion of all commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from kronbench.completion import SHELLS, script
from kronbench.errors import InputError


def add_commands(
    add: Callable[..., argparse.ArgumentParser], parser: argparse.ArgumentParser
) -> None:
    """Add them to the parser of ``kronbench``."""
    check = add("check", _check, "whether a solver, or a paper's folder, keeps the contract")
    check.add_argument(
        "solver", metavar="MODULE.CLASS|FOLDER", help="import path of the class; or a folder"
    )
    add_path(check)

    with_ = add(
        "run-with", _run_with, "run the items that compare methods with yours, or a paper of yours"
    )
    with_.add_argument(
        "solver",
        metavar="MODULE.CLASS|FILE.yaml|FOLDER",
        help="a solver's class, a file that names several, or the folder of a paper",
    )
    with_.add_argument("paper", nargs="?", help="all that compare methods without")
    with_.add_argument("item", nargs="?")
    with_.add_argument("--scale", default="default", help="smoke: minutes; paper: hours")
    with_.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter; repeatable"
    )
    with_.add_argument("--name", help="of its row; the name of the class without")
    add_path(with_)
    with_.add_argument("--registry", metavar="FILE", help="data sets of your own")
    with_.add_argument(
        "--data", action="append", default=[], metavar="NAME", help="in place of the items' data"
    )
    with_.add_argument("--cores", default="all", help="a number, or all of them")
    with_.add_argument("--dry-run", action="store_true", help="print the commands alone")

    completion = add("completion", None, "the completion of commands for a shell")
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(command=lambda given: print(script(given.shell, parser), end=""))


def add_path(command: argparse.ArgumentParser) -> None:
    """Add ``--path``, which :func:`use_path` makes known."""
    command.add_argument(
        "--path", metavar="FOLDER", help="that holds the module, if not installed"
    )


def use_path(path: str | None) -> None:
    """Let modules of a folder be imported; InputError where it is none."""
    if path is None:
        return
    from kronbench.reference.run_with import whole_path
    from kronbench.runner.outside import use_outside

    folder = whole_path(path)
    if not (path and folder.is_dir()):
        raise InputError(f"--path {path!r} is no folder: give the one that holds your module")
    use_outside({"path": str(folder)})


def _check(arguments):
    if Path(arguments.solver).is_dir():
        parts = _check_paper(arguments.solver)
    else:
        use_path(arguments.path)
        from kronbench.own_pairs.recipe import find_solver

        find_solver(arguments.solver)  # a path that leads nowhere, before scikit-learn is imported
        from kronbench.own_pairs.contract import check_solver

        parts = check_solver(arguments.solver)
    broken = 0
    for part, wrong in parts:
        said = "BROKEN" if wrong else "-" if wrong is None else "ok"
        print(f"{said:6}  {part}" + (f"\n        {wrong}" if wrong else ""))
        broken += bool(wrong)
    return 1 if broken else 0


def _run_with(arguments):
    from kronbench.own_pairs.recipe import read_assignments
    from kronbench.reference.run_with import outside_of_file, outside_of_options, run_with
    from kronbench.runner.outside import use_outside

    given = vars(arguments)
    if Path(arguments.solver).is_dir():
        for name in ("paper", "item", "set", "name", "path", "registry", "data"):
            if given[name]:
                raise InputError(f"{name} is for a solver, and {arguments.solver} is a folder")
        return _run_paper(arguments)
    if Path(arguments.solver).suffix in (".yaml", ".yml"):
        for name in ("set", "name", "path", "registry", "data"):
            if given[name]:
                raise InputError(f"--{name} is for a single solver: {arguments.solver} says it")
        outside = outside_of_file(arguments.solver)
        use_outside(outside.user)
    else:
        use_path(arguments.path)
        outside = outside_of_options(
            arguments.solver,
            read_assignments(arguments.solver, arguments.set),
            *(given[name] for name in ("name", "path", "registry", "data")),
        )
    return run_with(
        outside,
        _check_contract,
        arguments.paper,
        arguments.item,
        arguments.scale,
        arguments.cores,
        only_shown=arguments.dry_run,
    )


def _run_paper(arguments):
    from kronbench.reference.paper_folder import plan_with_paper, run_paper
    from kronbench.report.claim_files import load_statements

    plan, paper = plan_with_paper(arguments.solver, arguments.scale)
    load_statements(plan)  # before any job
    return run_paper(plan, paper, arguments.cores, arguments.dry_run)


def _check_paper(folder):
    from kronbench.reference.paper_folder import check_paper, plan_with_paper
    from kronbench.report.claim_files import load_statements

    plan, paper = plan_with_paper(folder)
    claims = load_statements(plan).claims
    yield f"{sum(claim['paper'] == paper for claim in claims)} claims read", ""
    yield from check_paper(plan, paper)


def _check_contract(solver, parameters):
    from kronbench.own_pairs.contract import check_keeps_contract

    check_keeps_contract(solver, parameters)
