"""``python -m kronbench``: each command reads its arguments and calls one function.

A command imports what it needs when it is called, so that a misspelt one fails at once.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import warnings
from pathlib import Path

import kronbench
from kronbench.errors import InputError, extra_for, printable
from kronbench.files import os_error_advice
from kronbench.own_pairs import PAIR_SOLVERS
from kronbench.runner.end_with_workflow import exit_with_parent
from kronbench.runner.solvers import nearest

# Arguments of several commands.
_CONFIG_TEXT = "results/<scale>/config.yaml, which a run writes, or settings as JSON"
_CONFIG = {"required": True, "metavar": "FILE", "help": _CONFIG_TEXT}
_PATH = {"metavar": "FOLDER", "help": "folder of the solver's module, if not installed"}
_SET_TEXT = "a parameter of the solver, e.g. reg=0.1 or row_kernel=gaussian; repeatable"
_RECIPE = ("seed", "scale", "selects")
_SET = {"action": "append", "default": [], "metavar": "NAME=VALUE", "help": _SET_TEXT}


def main(argv: list[str] | None = None) -> int:
    """Run one command. An error is one sentence on standard error.

    The exit status is 2 for bad input, 1 if a file cannot be written or memory runs out, and 130
    if the command is interrupted.
    """
    # Before a BLAS is loaded: its threads spin for 26 ms after each call, which would hold up the
    # threads of numba, and timed rows would count as disturbed.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "12")  # 2^12 cycles, its default is 2^26
    exit_with_parent()
    if os.getcwd() not in sys.path:  # which may hold a user's solver; as with python -m
        sys.path.append(os.getcwd())
    arguments = _parser().parse_args(argv)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.captureWarnings(True)
    warnings.formatwarning = lambda message, *_: f"warning: {message}"
    status = 1
    try:
        with extra_for("this command"):
            return arguments.function(arguments) or 0
    except InputError as error:
        sentence, status = str(error), 2
    except KeyboardInterrupt:
        print("kronbench: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe has gone; nothing is lost
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if not (sentence := printable(os_error_advice(error))):
            raise
    except MemoryError as error:
        command = " ".join(sys.argv[1:] if argv is None else argv)
        detail = f" ({error})" if str(error) else ""
        sentence = (
            f"'{command}' ran out of memory{detail}; give it a machine with more, let fewer jobs "
            "run at once (--cores 1), or make the item smaller in the configuration"
        )
    print(f"kronbench: error: {sentence}", file=sys.stderr)
    return status


def _parser():
    parser = argparse.ArgumentParser(prog="kronbench", description=main.__doc__)
    parser.add_argument("--version", action="version", version=kronbench.__version__)
    groups = (
        "evaluate, fit, predict, score: your own pairs and predictions. check to completion: "
        "the suite. run to compile: called by the jobs of the workflow."
    )
    add = _adder(parser, "COMMAND", title="commands", description=groups)
    _add_own_pairs(add)
    _add_own_methods(add)
    _add_suite(add)
    _add_jobs(add)
    return parser


def _adder(parser, metavar, **words):
    """A function that adds a command to a parser: its name, its function, its help."""
    commands = parser.add_subparsers(required=True, metavar=metavar, **words)

    def add(name, function, text):
        command = commands.add_parser(name, help=text)
        command.set_defaults(function=function, command=name)
        return command

    return add


def _add_own_pairs(add):
    """The commands on a user's own pairs and predictions."""
    new = "what is new in a test pair: nothing (A), its row (B), its column (C), both (D)"
    evaluate = add("evaluate", _evaluate, "score a solver on your own pairs").add_argument
    fit = add("fit", _fit, "fit a solver to your own pairs").add_argument
    files = {
        "pairs": "pairs: row id, column id, label; .csv, .tsv (also .gz), or .parquet",
        "rows": "row vertices: id, then numbers, similarities to all ids, or fingerprints",
        "cols": "column vertices, in the same form",
    }
    columns = {
        "row": "row ids (default: the first)",
        "col": "column ids (default: the second)",
        "label": "labels (default: the third)",
    }
    solver = f"one of {', '.join(PAIR_SOLVERS)}, or the import path of a class"
    scaled = "scale features to mean 0 and variance 1 over the training vertices"
    selected = "choose reg and kernel widths not given by --set, by inner folds"
    for arg in (evaluate, fit):
        for name, text in files.items():
            arg(f"--{name}", metavar="FILE", help=f"table of {text}")
        arg("--data", metavar="NAME", help="data set of your registry, instead of three tables")
        for name, text in columns.items():
            arg(f"--{name}", metavar="NAME", help=f"column of the pairs with {text}")
        arg("--solver", required=True, help=solver)
        arg("--set", **_SET)
        arg("--scale", action="store_true", help=scaled)
        arg("--select", action="store_true", dest="selects", help=selected)
        arg("--seed", type=_seed, default=0, help="seed of splits (default: 0)")
    evaluate("--path", **_PATH)
    evaluate("--setting", choices=[*"ABCD", "all"], default="all", help=new)
    evaluate("--splits", type=_positive, default=3, help="number of folds (default: 3)")
    evaluate("--repeats", type=_positive, default=5, help="number of random splits (default: 5)")
    text = "keep vertices linked by similarities of S or more in one fold; report the leak"
    evaluate("--similarity", type=float, metavar="S", help=text)
    fit("--setting", choices=[*"ABCD"], default="A", help=f"for --select; {new}")
    fit("-o", "--out", type=Path, required=True, metavar="MODEL.kron")
    predict = add("predict", _predict, "predict pairs with a fitted model").add_argument
    predict("model", type=Path, metavar="MODEL.kron", help="file that fit wrote")
    predict("--pairs", required=True, metavar="FILE", help="table of pairs to predict")
    predict("--rows", metavar="FILE", help="table of rows that are new to the model")
    predict("--cols", metavar="FILE", help="table of columns that are new to the model")
    predict("-o", "--out", type=Path, required=True, metavar="FILE.csv")
    score = add("score", _score, "score predictions of a published test set").add_argument
    text = "table: row id, column id, columns of predictions; or an .npz that a run wrote"
    score("predictions", metavar="FILE", help=text)
    score("--data", metavar="NAME", help="for a table: the data set, e.g. davis")
    score("--folds", metavar="NAME", help="for a table: the fold, e.g. deepdta-1")
    text = "for an .npz: also score the mean of these, e.g. KronRidge,LightGBM; repeatable"
    score("--mean", action="append", default=[], metavar="A,B", help=text)
    score("--partial", action="store_true", help="score the others if test pairs are missing")
    for arg in (evaluate, score):
        arg("--json", action="store_true", help="print all numbers as JSON")


def _add_own_methods(add):
    """The commands on a user's own solver or paper."""
    help_ = "check that a solver, or the folder of a paper, can be run"
    check = add("check", _check, help_).add_argument
    check("solver", metavar="MODULE.CLASS|FOLDER", help="import path of the class, or a folder")
    check("--path", **_PATH)
    help_ = "compare your solver with others, or run your own paper"
    run = add("run-with", _run_with, help_).add_argument
    text = "a solver's class, a file that names several, or the folder of a paper"
    run("solver", metavar="MODULE.CLASS|FILE.yaml|FOLDER", help=text)
    text = "e.g. airola (default: all that compare methods); after a folder, an item of it"
    run("paper", nargs="?", help=text)
    run("item", nargs="?", help="e.g. table-6 (default: all of the paper)")
    run("--set", **_SET)
    run("--name", help="name of its row (default: the name of the class)")
    run("--path", **_PATH)
    run("--registry", metavar="FILE", help="file of your own data sets")
    run("--data", action="append", default=[], metavar="NAME", help="replaces the items' data")
    text = "also show the rows of another solver, in a file of its run-with; repeatable"
    run("--add", action="append", default=[], metavar="FILE.csv", help=text)
    _add_how(run)


def _add_suite(add):
    """The commands that make figures, get data, and compare and keep runs."""
    help_ = "make figures and tables: all, those of a paper, or one"
    figures = add("figures", _suite, help_).add_argument
    figures("paper", nargs="?", help="e.g. stock (default: all papers)")
    figures("item", nargs="?", help="e.g. table-6.1 (default: all items of the paper)")
    _add_how(figures)
    page = add("page", _suite, "draw the accepted run, without data and without measuring")
    page.add_argument("--scale", default="default", help="smoke, default or paper")
    data = _adder(add("data", None, "data sets: list, fetch, describe"), "ACTION")
    data("list", _data, "list all data sets with their titles")
    fetch = data("fetch", _data, "get and check the files of one data set").add_argument
    fetch("name")
    fetch("--policy", choices=["auto", "real", "surrogate"], default="auto")
    fetch("--out", type=Path, help="folder for data.npz and provenance.json")
    describe = data("describe", _data, "show shape, files, licence and citation")
    describe.add_argument("name")
    help_ = "compare two runs; the exit status is 1 if results moved"
    compare = add("compare", _suite, help_).add_argument
    compare("a", type=Path, help="results/<scale>, or results/reference/<scale>")
    compare("b", type=Path)
    accept = add("accept", _job, "make a run the reference for later runs").add_argument
    accept("--yes", action="store_true", help="write it (default: only list what moves)")
    accept("--config", **_CONFIG)
    help_ = "pack a finished run into one file, to keep or publish"
    archive = add("archive", _suite, help_).add_argument
    archive("results", type=Path, help="results/<scale>")
    archive("-o", "--out", type=Path, required=True, metavar="FILE.zip")
    archive("--author", metavar="NAME", help="author of the run, for its description")
    completion = add("completion", _completion, "print the completion script for a shell")
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])


def _add_jobs(add):
    """The commands that the workflow calls."""
    run = add("run", _job, "measure one part of an item into its result table").add_argument
    run("--threads", type=_positive, default=os.cpu_count(), help="threads of BLAS and numba")
    render = add("render", _job, "draw one item from its result tables").add_argument
    for arg in (run, render):
        arg("paper")
        arg("item")
    run("part", help="a data set of the item, or 'all' if it has none")
    prepare = add("prepare", _job, "put a data set into the results of a run").add_argument
    prepare("name")
    report = add("report", _job, "judge the claims and write the page, also of a part")
    compile_ = add("compile", _job, "compile what timed jobs need").add_argument
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


def _positive(text):
    return _whole(text, 1, 10**10, "a number of at least 1")


def _seed(text):
    return _whole(text, 0, 2**32 - 1, "a whole number from 0 to 2^32 - 1")


def _whole(text, least, most, wanted):
    is_number = text.isascii() and text.isdecimal() and len(text) <= 10
    if not is_number or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return int(text)


def _say(text):
    """Print lines at once, with control characters, such as from an id, escaped."""
    print("\n".join(map(printable, text.split("\n"))), flush=True)


def _evaluate(arguments):
    _use_path(arguments.path)
    from kronbench.own_pairs.commands import evaluate_files

    result = evaluate_files(
        _tables(arguments),
        arguments.solver,
        arguments.set,
        settings="ABCD" if arguments.setting == "all" else arguments.setting,
        n_splits=arguments.splits,
        n_repeats=arguments.repeats,
        similarity=arguments.similarity,
        **{name: getattr(arguments, name) for name in _RECIPE},
    )
    from kronbench.own_pairs.evaluate import as_text

    _say(json.dumps(result, indent=1) if arguments.json else as_text(result))


def _fit(arguments):
    from kronbench.own_pairs.commands import fit_files

    options = {name: getattr(arguments, name) for name in ("setting", *_RECIPE)}
    _say(fit_files(_tables(arguments), arguments.out, arguments.solver, arguments.set, **options))


def _tables(arguments):
    files, columns = ("pairs", "rows", "cols"), ("row", "col", "label")
    given = {name: getattr(arguments, name) for name in (*files, *columns)}
    if arguments.data is None:
        if missing := [f"--{name}" for name in files if given[name] is None]:
            raise InputError(f"{' and '.join(missing)} missing: give three tables, or --data NAME")
        return given
    if more := [f"--{name}" for name, value in given.items() if value is not None]:
        raise InputError(f"--data says where the tables are: leave out {' and '.join(more)}")
    from kronbench.datasets import own_tables

    return own_tables(arguments.data)


def _predict(arguments):
    from kronbench.own_pairs.commands import predict_files

    files = arguments.pairs, arguments.out, arguments.rows, arguments.cols
    _say(predict_files(arguments.model, *files))


def _score(arguments):
    if arguments.predictions.endswith(".npz"):
        from kronbench.own_pairs.score_predictions import score_kept

        table = score_kept(arguments.predictions, [mean.split(",") for mean in arguments.mean])
        if arguments.json:
            _say(table.to_json(orient="records", indent=1))
        else:
            _say(table.to_string(index=False, float_format="{:.4f}".format, na_rep="-"))
        return
    if not (arguments.data and arguments.folds):
        raise InputError(f"{arguments.predictions}: give --data and --folds of its test set")
    from kronbench.own_pairs.score_predictions import as_text, score_file

    result = score_file(
        arguments.predictions, arguments.data, arguments.folds, partial=arguments.partial
    )
    _say(json.dumps(result, indent=1) if arguments.json else as_text(result))


def _use_path(path):
    """Let modules of a folder be imported."""
    if path is None:
        return
    if not (path and os.path.isdir(path)):
        raise InputError(f"--path {path!r} is not a folder: give the one that holds your module")
    sys.path.insert(0, os.path.abspath(path))


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
        from kronbench.reference.run_with import check_paper, plan_with_paper
        from kronbench.report.claim_files import load_statements

        plan, paper = plan_with_paper(arguments.solver)
        claims = load_statements(plan).claims
        yield f"{sum(claim['paper'] == paper for claim in claims)} claims read", ""
        yield from check_paper(plan, paper)
    else:
        _use_path(arguments.path)
        from kronbench.own_pairs.contract import check_solver

        yield from check_solver(arguments.solver)


def _is_folder(given):
    """Whether it is a folder; what can be nothing else, and is not there, is refused."""
    path = Path(given)
    if path.is_dir() or path.suffix in (".yaml", ".yml") or (os.sep not in given and "." in given):
        return path.is_dir()
    folders = [str(beside) for beside in path.parent.glob("*/") if path.parent.is_dir()]
    raise InputError(
        f"there is no folder {given}"
        + (nearest(str(path), folders) or ": give that of a paper, or the import path of a class")
    )


def _run_with(arguments):
    from kronbench.reference import figures, run_with

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
        from kronbench.report.claim_files import load_statements

        plan, paper = run_with.plan_with_paper(arguments.solver, arguments.scale)
        load_statements(plan)  # before any job
        items = [item for item in plan.items if item.paper == paper]
        if name := arguments.paper:  # the word after the folder
            items = [plan.item(paper, name)]
        return figures.make_items(plan, items, *how)

    from kronbench.own_pairs.contract import check_keeps_contract
    from kronbench.own_pairs.recipe import read_assignments

    if is_file:
        outside = run_with.outside_of_file(arguments.solver)
    else:
        _use_path(arguments.path)
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


def _suite(arguments):
    """One of the commands on whole runs."""
    if arguments.command == "figures":
        from kronbench.reference.figures import make_figures

        wanted = arguments.paper, arguments.item, arguments.scale
        return make_figures(*wanted, arguments.cores, arguments.dry_run)
    if arguments.command == "compare":
        from kronbench.reference.compare import compare, markdown, moved, read_run

        a, b = read_run(arguments.a), read_run(arguments.b)
        differences = compare(a, b)
        print(markdown(a, b, differences))
        return int(moved(differences))
    if arguments.command == "page":
        from kronbench.reference.figures import plan_of_scale
        from kronbench.report.accepted_page import draw_accepted

        print(draw_accepted(plan_of_scale(arguments.scale)))
    else:
        from kronbench.reference.archive import archive

        print(archive(arguments.results, arguments.out, arguments.author))
    return 0


def _data(arguments):
    from kronbench import datasets

    if arguments.command == "list":
        for name in datasets.names():
            print(f"{name:22s} {datasets.describe(name)['title']}")
    elif arguments.command == "fetch":
        data = datasets.load(arguments.name, policy=arguments.policy)
        if arguments.out:
            data.save(arguments.out)
        sizes = [f"{key} {'x'.join(map(str, of.shape))}" for key, of in data.arrays.items()]
        print(f"{data.name}: source {data.source}; {', '.join(sizes)}")
    else:
        import yaml

        known = datasets.describe(arguments.name)
        print(yaml.safe_dump(known, sort_keys=False, width=96), end="")


def _job(arguments):
    """One of the commands that read the configuration of a run; the workflow calls most."""
    from kronbench.runner.items import load_plan

    plan = load_plan(arguments.config)
    if getattr(arguments, "results", None):
        plan = plan.at(arguments.results)
    if arguments.command == "run":
        from kronbench.runner.job import run_job

        item = plan.item(arguments.paper, arguments.item)
        run_job(plan, item, arguments.part, arguments.threads)
    elif arguments.command == "render":
        from kronbench.report.render import render

        render(plan.item(arguments.paper, arguments.item))
    elif arguments.command == "prepare":
        plan.prepare(arguments.name)
    elif arguments.command == "report":
        from kronbench.report.page import write_report

        print(write_report(plan))
    elif arguments.command == "accept":
        from kronbench.reference.accepted import accept

        print(accept(plan, write=arguments.yes))
    else:
        from kronbench.files import write_text
        from kronbench.runner.job import describe
        from kronbench.runner.warm_up import warm_up

        warm_up([item.parameters for item in plan.items if item.timed])
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

    parser = _parser()
    mark_files(parser)
    print(shtab.complete(parser, arguments.shell))
