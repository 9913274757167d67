"""The command line: the library's commands, and those that run papers.

A command imports what it needs when it is called, so that a misspelt one fails at once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from kronbench import cli
from kronbench.cli import PATH, SET, positive, say, use_path
from kronbench.errors import InputError
from kronbench.own_pairs import PAIR_SOLVERS
from kronbench.solvers import nearest
from kronbench_suite.runner.end_with_workflow import exit_with_parent

_CONFIG_TEXT = "results/<scale>/config.yaml, which a run writes, or settings as JSON"
_CONFIG = {"required": True, "metavar": "FILE", "help": _CONFIG_TEXT}


def main(argv: list[str] | None = None) -> int:
    """Run one command, as :func:`kronbench.cli.main` does; a job ends with its workflow."""
    exit_with_parent()
    return cli.main(argv, make_parser())


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    groups = (
        "evaluate to score: your own pairs and predictions. data to completion: data sets and the "
        "suite. run to compile: called by the jobs of the workflow."
    )
    adders = _add_score, cli.add_data, _add_own_methods, _add_suite, _add_jobs
    return cli.parser_of(cli.add_own_pairs, *adders, groups=groups)


def _add_score(add):
    """The command on predictions of a published test set."""
    score = add("score", _score, "score predictions of a published test set").add_argument
    text = "table: row id, column id, columns of predictions; or an .npz that a run wrote"
    score("predictions", metavar="FILE", help=text)
    score("--data", metavar="NAME", help="for a table: the data set, e.g. davis")
    score("--folds", metavar="NAME", help="for a table: the fold, e.g. deepdta-1")
    text = "for an .npz: also score the mean of these, e.g. KronRidge,LightGBM; repeatable"
    score("--mean", action="append", default=[], metavar="A,B", help=text)
    score("--partial", action="store_true", help="score the others if test pairs are missing")
    score("--json", action="store_true", help="print all numbers as JSON")


def _add_own_methods(add):
    """The commands on a user's own solver or paper."""
    help_ = "check that a solver, or the folder of a paper, can be run"
    check = add("check", _check, help_).add_argument
    check("solver", metavar="MODULE.CLASS|FOLDER", help="import path of the class, or a folder")
    check("--path", **PATH)
    help_ = "compare your solver with others, or run your own paper"
    run = add("run-with", _run_with, help_).add_argument
    text = "a solver's class, a file that names several, or the folder of a paper"
    run("solver", metavar="MODULE.CLASS|FILE.yaml|FOLDER", help=text)
    text = "e.g. airola, or a folder (default: all that compare methods); after a folder, an item"
    run("paper", nargs="?", help=text)
    run("item", nargs="?", help="e.g. table-6 (default: all of the paper)")
    run("--set", **SET)
    run("--name", help="name of its row (default: the name of the class)")
    run("--path", **PATH)
    run("--registry", metavar="FILE", help="file of your own data sets")
    run("--data", action="append", default=[], metavar="NAME", help="replaces the items' data")
    text = "also show the rows of another solver, in a file of its run-with; repeatable"
    run("--add", action="append", default=[], metavar="FILE.csv", help=text)
    _add_how(run)


def _add_suite(add):
    """The commands that make figures, get data, and compare and keep runs."""
    help_ = "make figures and tables: all, those of a paper, or one"
    figures = add("figures", _figures, help_).add_argument
    figures("paper", nargs="?", help="e.g. stock (default: all papers)")
    figures("item", nargs="?", help="e.g. table-6.1 (default: all items of the paper)")
    _add_how(figures)
    page = add("page", _page, "draw the accepted run, without data and without measuring")
    page.add_argument("--scale", default="default", help="smoke, default or paper")
    help_ = "compare two runs; the exit status is 1 if results moved"
    compare = add("compare", _compare, help_).add_argument
    compare("a", type=Path, help="results/<scale>, or results/reference/<scale>")
    compare("b", type=Path)
    accept = add("accept", _accept, "make a run the reference for later runs").add_argument
    accept("--yes", action="store_true", help="write it (default: only list what moves)")
    accept("--config", **_CONFIG)
    help_ = "pack a finished run into one file, to keep or publish"
    archive = add("archive", _archive, help_).add_argument
    archive("results", type=Path, help="results/<scale>")
    archive("-o", "--out", type=Path, required=True, metavar="FILE.zip")
    archive("--author", metavar="NAME", help="author of the run, for its description")
    completion = add("completion", _completion, "print the completion script for a shell")
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])


def _add_jobs(add):
    """The commands that the workflow calls."""
    run = add("run", _run, "measure one part of an item into its result table").add_argument
    run("--threads", type=positive, default=os.cpu_count(), help="threads of BLAS and numba")
    render = add("render", _render, "draw one item from its result tables").add_argument
    for arg in (run, render):
        arg("paper")
        arg("item")
    run("part", help="a data set of the item, or 'all' if it has none")
    prepare = add("prepare", _prepare, "put a data set into the results of a run").add_argument
    prepare("name")
    report = add("report", _report, "judge the claims and write the pages, also of a part")
    compile_ = add("compile", _compile, "compile what timed jobs need").add_argument
    compile_("--out", type=Path, required=True, help="file that records what was compiled")
    text = "folder of results (default: results/<scale>)"
    for arg in (run, render, prepare, report.add_argument, compile_):
        arg("--config", **_CONFIG)
        if arg is not compile_:
            arg("--results", type=Path, metavar="FOLDER", help=text)


def _add_how(arg):
    arg("--scale", default="default", help="smoke (minutes), default, or paper (hours)")
    arg("--cores", default="all", help="a number, or all (the default)")
    arg("--dry-run", action="store_true", help="only print the commands")


def _score(arguments):
    if arguments.predictions.endswith(".npz"):
        from kronbench_suite.studies.field.score_predictions import score_kept

        table = score_kept(arguments.predictions, [mean.split(",") for mean in arguments.mean])
        if arguments.json:
            say(table.to_json(orient="records", indent=1))
        else:
            say(table.to_string(index=False, float_format="{:.4f}".format, na_rep="-"))
        return
    if not (arguments.data and arguments.folds):
        raise InputError(f"{arguments.predictions}: give --data and --folds of its test set")
    from kronbench_suite.studies.field.score_predictions import as_text, score_file

    result = score_file(
        arguments.predictions, arguments.data, arguments.folds, partial=arguments.partial
    )
    say(json.dumps(result, indent=1) if arguments.json else as_text(result))


def _check(arguments):
    broken = 0
    for part, wrong in _checked(arguments):
        mark = "BROKEN" if wrong else "ok"
        print(f"{mark:6}  {part}" + (f"\n        {wrong}" if wrong else ""))
        broken += bool(wrong)
    return 1 if broken else 0


def _checked(arguments):
    """The parts of a solver or of a paper's folder, each with what is wrong with it."""
    if _is_folder(arguments.solver):
        from kronbench_suite.commands import run_with
        from kronbench_suite.report.claim_files import load_statements

        plan, paper = run_with.plan_with_paper(arguments.solver)
        claims = load_statements(plan).claims
        yield f"{sum(claim['paper'] == paper for claim in claims)} claims read", ""
        yield from run_with.check_paper(plan, paper)
        solvers = run_with.solvers_of_pairs(plan, paper)
    else:
        use_path(arguments.path)
        solvers = [arguments.solver]
    from kronbench.own_pairs.solver_checks import check_solver

    for solver in solvers:
        for part, wrong in check_solver(solver):
            yield part if solver == arguments.solver else f"{solver}: {part}", wrong


def _is_folder(given):
    """Whether it is a folder; what can be nothing else, and is not there, is refused."""
    path = Path(given)
    is_solver = given in PAIR_SOLVERS or (os.sep not in given and "." in given)
    if path.is_dir() or path.suffix in (".yaml", ".yml") or is_solver:
        return path.is_dir()
    folders = [str(beside) for beside in path.parent.glob("*/") if path.parent.is_dir()]
    raise InputError(
        f"there is no folder {given}"
        + (nearest(str(path), folders) or ": give that of a paper, or the import path of a class")
    )


def _run_with(arguments):
    from kronbench_suite.commands import figures, run_with

    figures.check_checkout(arguments.cores)
    how = arguments.cores, arguments.dry_run
    is_paper = _is_folder(arguments.solver)
    is_file = Path(arguments.solver).suffix in (".yaml", ".yml")
    options = ["set", "name", "path", "registry", "data", "add"]
    refused = [*options, "item"] if is_paper else options if is_file else ()
    for name in refused:
        if getattr(arguments, name):
            raise InputError(
                f"{name} is for a single solver: leave it out with {arguments.solver}"
            )
    if is_paper:
        from kronbench_suite.report.claim_files import load_statements

        plan, paper = run_with.plan_with_paper(arguments.solver, arguments.scale)
        load_statements(plan)  # before any job
        items = [item for item in plan.items if item.paper == paper]
        if name := arguments.paper:  # the word after the folder
            items = [plan.item(paper, name)]
        return figures.make_items(plan, items, *how)

    from kronbench.own_pairs.recipe import read_assignments
    from kronbench.own_pairs.solver_checks import check_keeps_contract

    if is_file:
        outside = run_with.outside_of_file(arguments.solver)
    else:
        use_path(arguments.path)
        parameters = read_assignments(arguments.solver, arguments.set)
        given = {name: getattr(arguments, name) for name in options[1:]}
        outside = run_with.outside_of_options(arguments.solver, parameters, **given)
    wanted = arguments.paper, arguments.item, arguments.scale
    plan, items, left_out = run_with.plan_with_solvers(outside, *wanted)
    for entry in outside.solvers.values():
        check_keeps_contract(entry["solver"], entry["parameters"])
    for sentence in left_out:
        print(f"left out: {sentence}", file=sys.stderr)
    status = figures.make_items(plan, items, *how)
    if not (status or arguments.dry_run):
        for item in items:
            if item.layout:
                print(f"\n{item.output('md').read_text(encoding='utf-8').strip()}")
            print(f"\n{item.paper} {item.name}: {item.target}")
        for path in run_with.write_rows(plan, items, outside):
            print(f"others can compare with your rows: --add {path}")
    return status


def _figures(arguments):
    from kronbench_suite.commands.figures import make_figures

    wanted = arguments.paper, arguments.item, arguments.scale
    return make_figures(*wanted, arguments.cores, arguments.dry_run)


def _page(arguments):
    from kronbench_suite.commands.figures import plan_of_scale
    from kronbench_suite.report.accepted_page import draw_accepted

    print(draw_accepted(plan_of_scale(arguments.scale)))


def _compare(arguments):
    from kronbench_suite.accepted.compare import compare, markdown, moved, read_run

    a, b = read_run(arguments.a), read_run(arguments.b)
    differences = compare(a, b)
    print(markdown(a, b, differences))
    return int(moved(differences))


def _archive(arguments):
    from kronbench_suite.accepted.archive import archive

    print(archive(arguments.results, arguments.out, arguments.author))


def _accept(arguments):
    from kronbench_suite.accepted.accept import accept

    print(accept(_plan(arguments), write=arguments.yes))


def _plan(arguments):
    """The plan of a configuration, with its results where the command is told."""
    from kronbench_suite.runner.plans import load_plan

    plan, results = load_plan(arguments.config), getattr(arguments, "results", None)
    return plan.at(results) if results else plan


def _run(arguments):
    from kronbench_suite.runner.job import run_job

    plan = _plan(arguments)
    item = plan.item(arguments.paper, arguments.item)
    run_job(plan, item, arguments.part, arguments.threads)


def _render(arguments):
    from kronbench_suite.report.render import render

    render(_plan(arguments).item(arguments.paper, arguments.item))


def _prepare(arguments):
    _plan(arguments).prepare(arguments.name)


def _report(arguments):
    from kronbench_suite.report.page import write_report

    print(write_report(_plan(arguments)))


def _compile(arguments):
    from kronbench.files import write_text
    from kronbench_suite.runner.job import describe
    from kronbench_suite.runner.warm_up import warm_up

    warm_up(path for item in _plan(arguments).items if item.timed for path in item.solvers)
    write_text(arguments.out, json.dumps(describe(os.cpu_count()), indent=1))


def _completion(arguments):
    import shtab

    def mark_files(parser):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    mark_files(command)
            elif action.type is Path or "FILE" in str(action.metavar):
                action.complete = shtab.FILE

    parser = make_parser()
    mark_files(parser)
    print(shtab.complete(parser, arguments.shell))
