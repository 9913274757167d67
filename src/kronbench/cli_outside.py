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
    check = add("check", _check, "whether a solver keeps the contract; status 1 if it does not")
    check.add_argument("solver", metavar="MODULE.CLASS", help="import path of the class")
    add_path(check)

    with_ = add("run-with", _run_with, "run the items that compare methods with yours among them")
    with_.add_argument("solver", metavar="MODULE.CLASS|FILE.yaml", help="its class, or a file")
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
    from kronbench.bench.outside import use_outside

    folder = Path(path).expanduser().resolve()
    if not (path and folder.is_dir()):
        raise InputError(f"--path {path!r} is no folder: give the one that holds your module")
    use_outside({"path": str(folder)})


def _check(arguments):
    use_path(arguments.path)
    from kronbench.own_pairs.recipe import find_solver

    find_solver(arguments.solver)  # a path that leads nowhere, before scikit-learn is imported
    from kronbench.own_pairs.contract import check_solver

    broken = 0
    for part, wrong in check_solver(arguments.solver):
        said = "BROKEN" if wrong else "-" if wrong is None else "ok"
        print(f"{said:6}  {part}" + (f"\n        {wrong}" if wrong else ""))
        broken += bool(wrong)
    return 1 if broken else 0


def _run_with(arguments):
    from kronbench.bench.outside import use_outside
    from kronbench.own_pairs.recipe import read_assignments
    from kronbench.runs.run_with import outside_of_file, outside_of_options, run_with

    given = vars(arguments)
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


def _check_contract(solver, parameters):
    from kronbench.own_pairs.contract import check_keeps_contract

    check_keeps_contract(solver, parameters)
