"""``python -m kronbench``: one command for each kind of job.

Everything here is reading arguments, calling one function of a lower floor, and writing its
result under its name.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from pathlib import Path

import kronbench
from kronbench.cli_outside import add_commands as add_outside
from kronbench.cli_own_pairs import add_commands as add_own_pairs, positive
from kronbench.errors import InputError, printable
from kronbench.files import refusal
from kronbench.runner.end_with_workflow import follow_workflow


def main(argv: list[str] | None = None) -> int:
    """Run one command; an error is one sentence on standard error.

    The exit status is 2 for bad input, 1 if a file cannot be written or memory runs out, and 130
    if the command is interrupted.
    """
    # A process of our own, before it loads a BLAS: threads that spin for 26 ms after each call of
    # it would stand in the way of numba's, and rows would count as disturbed by others.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "12")  # 2^12 cycles, its default is 2^26
    follow_workflow()
    if os.getcwd() not in sys.path:  # where a solver of the user's may lie; as with python -m
        sys.path.append(os.getcwd())
    arguments = _parser().parse_args(argv)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.captureWarnings(True)
    try:
        return arguments.command(arguments) or 0
    except InputError as error:
        print(f"kronbench: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("kronbench: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe has gone; nothing is lost
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if not (sentence := refusal(error)):
            raise
        print(f"kronbench: error: {printable(sentence)}", file=sys.stderr)
        return 1
    except MemoryError as error:
        command = " ".join(sys.argv[1:] if argv is None else argv)
        detail = f" ({error})" if str(error) else ""
        print(
            f"kronbench: error: '{command}' ran out of memory{detail}; give it a machine with "
            "more, let fewer jobs run at once (--cores 1), or make the item smaller in the "
            "configuration",
            file=sys.stderr,
        )
        return 1


def _parser():
    parser = argparse.ArgumentParser(prog="kronbench", description=main.__doc__)
    parser.add_argument("--version", action="version", version=kronbench.__version__)
    add = _adder(parser, "COMMAND")

    figures = add("figures", _figures, "make the figures and tables: all, of a paper, or one")
    figures.add_argument("paper", nargs="?", help="its key, such as stock; all without")
    figures.add_argument("item", nargs="?", help="such as table-6.1; all of the paper without")
    figures.add_argument("--scale", default="default", help="smoke: minutes; paper: hours")
    figures.add_argument("--cores", default="all", help="a number, or all of them")
    figures.add_argument("--dry-run", action="store_true", help="print the commands alone")
    run = add("run", _run, "measure one part of an item into its result table")
    run.add_argument("paper")
    run.add_argument("item")
    run.add_argument("part", help="a data set of the item, or 'all' where it needs none")
    run.add_argument("--threads", type=positive, default=os.cpu_count(), help="for BLAS and numba")
    render = add("render", _render, "draw one item from its result tables")
    render.add_argument("paper")
    render.add_argument("item")
    prepare = add("prepare", _prepare, "put a data set into the results of a run")
    prepare.add_argument("name")
    report = add("report", _report, "check the claims and write the page, or that of a part")
    accept = add("accept", _accept, "make a run the reference for later runs")
    accept.add_argument("--yes", action="store_true", help="write it; without, only what moves")
    accept.add_argument(
        "--surrogates",
        action="store_true",
        help="with --yes, also random data in place of files that could not be had",
    )
    accept.add_argument("--parts", action="store_true", help="what an unfinished run has")
    accept.add_argument(
        "--paper", action="append", default=[], help="only parts of this paper; repeatable"
    )
    restore = add("restore", _restore, "take one part of an item from the accepted run")
    for name in ("paper", "item", "part"):
        restore.add_argument(name)
    page = add("page", _page, "draw all of the accepted run, without data or measuring")
    page.add_argument("--scale", default="default", help="of the project")
    capacity = add("capacity", _capacity, "estimate the hours of a run on nodes of a cluster")
    capacity.add_argument("--cores", type=positive, default=16, help="of a node")
    capacity.add_argument("--scale", help="of the project, run or not; in place of --config")
    capacity.add_argument("--config", type=Path, help="merged configuration of a run")
    compile_ = add("compile", _compile, "compile what timed jobs need into numba's cache")
    compile_.add_argument("--out", type=Path, required=True, help="a record of what was compiled")
    for command in (run, render, prepare, report, accept, restore, compile_):
        command.add_argument("--config", required=True, type=Path, help="merged configuration")

    compare = add("compare", _compare, "list what moved between two runs; status 1 if results did")
    compare.add_argument("a", type=Path, help="results/<scale>, or results/reference/<scale>")
    compare.add_argument("b", type=Path)
    archive = add("archive", _archive, "a finished run as one file, to keep or publish")
    archive.add_argument("results", type=Path, help="results/<scale>")
    archive.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.zip")
    archive.add_argument(
        "--limit", type=int, default=256, help="MiB; beyond it the largest files are left out"
    )
    archive.add_argument("--author", metavar="NAME", help="who made the run, for its description")
    verify = add("verify", _verify, "check that an archive is as it was written")
    verify.add_argument("archive", type=Path, metavar="FILE.zip")
    costs = add("costs", _costs, "record what the jobs of a finished run cost")
    costs.add_argument("results", type=Path, help="results/<scale>")
    costs.add_argument("--yes", action="store_true", help="write it; without, only what changes")
    add("manual", _manual, "write config/README.md")
    add_own_pairs(add)
    add_outside(add, parser)

    data = add("data", None, "the data sets: list, fetch, verify, describe")
    add = _adder(data, "ACTION")
    add("list", _data_list, "every data set, with its size and source files")
    fetch = add("fetch", _data_fetch, "get and check the files of one data set")
    fetch.add_argument("name")
    fetch.add_argument("--policy", choices=["auto", "real", "surrogate"], default="auto")
    fetch.add_argument("--out", type=Path, help="folder for data.npz and provenance.json")
    verify = add("verify", _data_verify, "check every file that is at hand")
    verify.add_argument("names", nargs="*")
    describe = add("describe", _data_describe, "shape, files, licence and citation")
    describe.add_argument("name")
    return parser


def _adder(parser, metavar):
    """Adds a command to a parser: its name, the function that does it, its help."""
    commands = parser.add_subparsers(required=True, metavar=metavar)

    def add(name, function, text):
        command = commands.add_parser(name, help=text)
        command.set_defaults(command=function)
        return command

    return add


def _figures(arguments):
    from kronbench.reference.figures import make_figures

    return make_figures(
        arguments.paper,
        arguments.item,
        arguments.scale,
        arguments.cores,
        only_shown=arguments.dry_run,
    )


def _run(arguments):
    from kronbench.runner.items import load_plan
    from kronbench.runner.job import run_job

    plan = load_plan(arguments.config)
    run_job(plan, plan.item(arguments.paper, arguments.item), arguments.part, arguments.threads)


def _render(arguments):
    from kronbench.report.render import render
    from kronbench.runner.items import load_plan

    plan = load_plan(arguments.config)
    render(plan.item(arguments.paper, arguments.item))


def _report(arguments):
    from kronbench.report.page import write_report
    from kronbench.runner.items import load_plan

    print(write_report(load_plan(arguments.config)))


def _accept(arguments):
    from kronbench.reference.reference import accept, accept_parts
    from kronbench.runner.items import load_plan

    plan = load_plan(arguments.config)
    how = {"write": arguments.yes, "surrogates": arguments.surrogates}
    if arguments.parts or arguments.paper:
        from kronbench.report.page import verdicts_on

        print(accept_parts(plan, verdicts_on, arguments.paper, **how))
    else:
        print(accept(plan, **how))


def _restore(arguments):
    from kronbench.reference.accepted import restore
    from kronbench.runner.items import load_plan

    plan = load_plan(arguments.config)
    restore(plan, plan.item(arguments.paper, arguments.item), arguments.part)


def _page(arguments):
    from kronbench.reference.figures import plan_of_scale
    from kronbench.report.accepted_page import draw_accepted

    print(draw_accepted(plan_of_scale(arguments.scale)))


def _compare(arguments):
    from kronbench.reference.compare import compare, markdown, moved, read_run

    a, b = read_run(arguments.a), read_run(arguments.b)
    differences = compare(a, b)
    print(markdown(a, b, differences))
    return int(moved(differences))


def _archive(arguments):
    from kronbench.reference.archive import archive

    print(archive(arguments.results, arguments.out, arguments.limit, arguments.author))


def _costs(arguments):
    from kronbench.reference.costs import update_costs

    print(update_costs(arguments.results, write=arguments.yes))


def _capacity(arguments):
    from kronbench.reference.costs import capacity_table
    from kronbench.reference.figures import plan_of_scale
    from kronbench.runner.items import load_plan

    if (arguments.config is None) == (arguments.scale is None):
        raise InputError("give --scale, of the project, or --config, of a run")
    plan = load_plan(arguments.config) if arguments.config else plan_of_scale(arguments.scale)
    print(capacity_table(plan, arguments.cores))


def _verify(arguments):
    from kronbench.reference.archive import verify

    found = verify(arguments.archive)
    for complaint in found.complaints:
        print(complaint)
    if not found.complaints:
        print(f"{arguments.archive}: {found.files} files as written, sha256 {found.sha256}")
    return int(bool(found.complaints))


def _prepare(arguments):
    from kronbench.runner.items import load_plan
    from kronbench.runner.prepared_data import prepare

    prepare(load_plan(arguments.config), arguments.name)


def _manual(arguments):
    from kronbench.files import write_text
    from kronbench.report.config_manual import manual
    from kronbench.resources import config_path

    write_text(config_path("README.md"), manual())


def _compile(arguments):
    from kronbench.files import write_text
    from kronbench.runner import environment
    from kronbench.runner.items import load_plan
    from kronbench.runner.warm_up import warm_up

    warm_up([item.parameters for item in load_plan(arguments.config).items if item.timed])
    write_text(arguments.out, json.dumps(environment.describe(os.cpu_count()), indent=1))


def _data_list(arguments):
    from kronbench import datasets

    for name in datasets.names():
        print(f"{name:22s} {datasets.describe(name)['title']}")


def _data_fetch(arguments):
    from kronbench import datasets

    data = datasets.load(arguments.name, policy=arguments.policy)
    if arguments.out:
        data.save(arguments.out)
    sizes = ", ".join(
        f"{key} {'x'.join(map(str, value.shape))}" for key, value in data.arrays.items()
    )
    print(f"{data.name}: source {data.source}; {sizes}")


def _data_verify(arguments):
    from kronbench import datasets

    bad = 0
    for name in arguments.names or datasets.names():
        for sound, line in datasets.verify(name):
            bad += not sound
            print(f"{name:22s} {line}")
    return 1 if bad else 0


def _data_describe(arguments):
    import yaml

    from kronbench import datasets

    print(yaml.safe_dump(datasets.describe(arguments.name), sort_keys=False, width=96), end="")
