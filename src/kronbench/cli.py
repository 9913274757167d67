"""The command line of the library: each command reads its arguments and calls one function.

A command imports what it needs when it is called, so that a misspelt one fails at once. The suite
adds its own commands to these (``kronbench_suite.cli``); ``kronbench`` has all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import logging
import os
import shlex
import signal
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path

import kronbench
from kronbench.errors import InputError, extra_for, printable
from kronbench.files import os_error_advice
from kronbench.own_pairs import KEPT, PAIR_SOLVERS

# Arguments of several commands.
PATH = {"metavar": "FOLDER", "help": "folder of the solver's module, if not installed"}
_SET_TEXT = "a parameter of the solver, e.g. reg=0.1 or row_kernel=gaussian; repeatable"
_RECIPE_OPTIONS = ("seed", "scale", "selects")
SET = {"action": "append", "default": [], "metavar": "NAME=VALUE", "help": _SET_TEXT}


_DESCRIPTION = """Run one command. An error is one sentence on standard error.

The exit status is 2 for bad input, 1 if a file cannot be written or memory runs out, and 130
if the command is interrupted.
"""


class _WhenAsked(types.ModuleType):
    """A module that is imported when something of it is asked for."""

    def __getattr__(self, name):
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def main(argv: list[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    """Run one command of ``parser``, by default of the library alone; the exit status.

    An InputError is one sentence on standard error.
    """
    # Before a BLAS is loaded: its threads spin for 26 ms after each call, which would hold up the
    # threads of numba, and timed rows would count as disturbed.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "12")  # 2^12 cycles, its default is 2^26
    argv = sys.argv[1:] if argv is None else argv
    arguments = (parser or parser_of(add_own_pairs, add_data)).parse_args(argv)
    arguments.typed = shlex.join(argv)
    if _may_import_here(arguments) and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # as with python -m
    # scikit-learn's base imports it, and uses none of it: half of the time in which pairs are
    # predicted by a model in a file.
    sys.modules.setdefault("scipy.stats", _WhenAsked("scipy.stats"))
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.captureWarnings(True)
    warnings.formatwarning = lambda message, *_: f"warning: {message}"
    status = 1
    try:
        with extra_for("this command"), _no_interrupt_lost():
            status = arguments.function(arguments) or 0
            print(end="", flush=True)  # a full disk is told here, and not at the exit
            return status
    except InputError as error:
        sentence, status = str(error), 2
    except KeyboardInterrupt:
        print("kronbench: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe has gone; nothing is lost
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        if error.filename is None and Path(frame.f_code.co_filename).name == "cli.py":  # a print
            error.filename = "standard output"
        if not (sentence := printable(os_error_advice(error))):
            raise
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        sentence = (
            f"'{arguments.typed}' ran out of memory{detail}; give it a machine with more, let "
            "fewer jobs run at once (--cores 1), or make the item smaller in the configuration"
        )
    print(f"kronbench: error: {sentence}", file=sys.stderr)
    return status


@contextlib.contextmanager
def _no_interrupt_lost():
    """An interrupt where Python cannot raise it, such as in a callback of numba, comes again."""
    otherwise = sys.unraisablehook

    def come_again(lost):
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            return otherwise(lost)
        again = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()

    sys.unraisablehook = come_again
    try:
        yield
    finally:
        sys.unraisablehook = otherwise


def _may_import_here(arguments):
    """Whether the working directory may hold a user's solver: not where files alone are read."""
    if arguments.command == "evaluate":
        return "." in arguments.solver
    return arguments.command not in ("fit", "predict", "screen", "score")


def parser_of(*adders: Callable, groups: str | None = None) -> argparse.ArgumentParser:
    """The parser of the commands that ``adders`` add; ``groups`` says what they are for."""
    parser = argparse.ArgumentParser(prog="kronbench", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=kronbench.__version__)
    add = adder(parser, "COMMAND", title="commands", description=groups)
    for add_commands in adders:
        add_commands(add)
    return parser


def adder(parser, metavar, **words):
    """A function that adds a command to a parser: its name, its function, its help."""
    commands = parser.add_subparsers(required=True, metavar=metavar, **words)

    def add(name, function, text):
        command = commands.add_parser(name, help=text)
        command.set_defaults(function=function, command=name)
        return command

    return add


def add_own_pairs(add):
    """The commands on a user's own pairs and predictions."""
    new = "what is new in a test pair: nothing (A), its row (B), its column (C), both (D)"
    evaluate = add("evaluate", _evaluate, "score a solver on your own pairs").add_argument
    fit = add("fit", _fit, "fit a solver to your own pairs").add_argument
    files = {
        "pairs": "pairs: row id, column id, label; .csv, .tsv (also .gz), or .parquet",
        "rows": "row vertices: id, then numbers, similarities to all ids, fingerprints, or a "
        "column 'smiles' or 'sequence'; or a FASTA file, or scipy.sparse's .npz with ids beside",
        "cols": "column vertices, in the same form",
    }
    columns = {
        "row": "row ids (default: the first)",
        "col": "column ids (default: the second)",
        "label": "labels (default: the third)",
    }
    solver = f"one of {', '.join(PAIR_SOLVERS)}, or the import path of a class"
    kept = f"one of {', '.join(KEPT)}"
    scaled = "scale features to mean 0 and variance 1 over the training vertices"
    selected = "choose reg and kernel widths not given by --set, by inner folds"
    # Both take tables, their columns, and a solver with its parameters.
    for arg in (evaluate, fit):
        for name, text in files.items():
            arg(f"--{name}", metavar="FILE", help=f"table of {text}")
        arg("--data", metavar="NAME", help="data set of your registry, instead of three tables")
        for name, text in columns.items():
            arg(f"--{name}", metavar="NAME", help=f"column of the pairs with {text}")
        arg("--solver", required=True, help=solver if arg is evaluate else kept)
        arg("--set", **SET)
        arg("--scale", action="store_true", help=scaled)
        arg("--select", action="store_true", dest="selects", help=selected)
        arg("--seed", type=_seed, default=0, help="seed of splits (default: 0)")
    # evaluate scores on splits; fit has them inside alone, to choose by.
    evaluate("--path", **PATH)
    evaluate("--setting", choices=[*"ABCD", "all"], default="all", help=new)
    evaluate("--splits", type=positive, default=3, help="number of folds (default: 3)")
    evaluate("--repeats", type=positive, default=5, help="number of random splits (default: 5)")
    text = "keep vertices linked by similarities of S or more in one fold; report the leak"
    evaluate("--similarity", type=float, metavar="S", help=text)
    text = "also the share of test labels in intervals of this level; 1 to 11 times the fits"
    evaluate("--interval", type=float, metavar="P", help=text)
    fit("--setting", choices=[*"ABCD"], default="A", help=f"for --select; {new}")
    text = "leave pairs out in each setting, for predict --interval; takes up to 40 fits more"
    fit("--intervals", action="store_true", help=text)
    fit("-o", "--out", type=Path, required=True, metavar="MODEL.kron")
    evaluate("--json", action="store_true", help="print all numbers as JSON")
    text = "folder for a page, index.html, with pictures of the scores and the best new pairs"
    evaluate("--report", type=Path, metavar="FOLDER", help=text)
    # predict asks for the vertices alone that its model does not know, screen for all to rank.
    predict = add("predict", _predict, "predict pairs with a fitted model").add_argument
    screen = add("screen", _screen, "rank all pairs with a fitted model").add_argument
    vertices = {
        predict: "{} that are new to the model",
        screen: "the {} to rank (default: those of the model)",
    }
    for arg, text in vertices.items():
        arg("model", type=Path, metavar="MODEL.kron", help="file that fit wrote")
        for name, of_side in (("rows", "rows"), ("cols", "columns")):
            arg(f"--{name}", metavar="FILE", help=f"file of {text.format(of_side)}")
        text = "write intervals of this level, such as 0.9, by a model of fit --intervals"
        arg("--interval", type=float, metavar="P", help=text)
        arg("-o", "--out", type=Path, required=True, metavar="FILE", help=".csv, .tsv or .parquet")
    predict("--pairs", required=True, metavar="FILE", help="table of pairs to predict")
    screen("--known", metavar="FILE", help="table of pairs to leave out, as those of training are")
    text = "number of pairs to write (default: 100, or all that --per-row leaves)"
    screen("--top", type=positive, help=text)
    screen("--per-row", type=positive, metavar="K", help="at most K pairs of each row")
    screen("--smallest", action="store_true", help="smallest predictions first, e.g. of Kd")


def add_data(add):
    """The commands on data sets."""
    data = adder(add("data", None, "data sets: list, fetch, describe"), "ACTION")
    data("list", _data_list, "list all data sets with their titles")
    fetch = data("fetch", _data_fetch, "get and check the files of one data set").add_argument
    fetch("name")
    fetch("--policy", choices=["auto", "real", "surrogate"], default="auto")
    fetch("--out", type=Path, help="folder for data.npz and provenance.json")
    describe = data("describe", _data_describe, "show shape, files, licence and citation")
    describe.add_argument("name")


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    return _whole(text, 1, 10**10, "a number of at least 1")


def _seed(text):
    return _whole(text, 0, 2**32 - 1, "a whole number from 0 to 2^32 - 1")


def _whole(text, least, most, wanted):
    """A whole number in a range; the digits are ASCII, as int() does not ask for."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= 10
    if not is_number or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return int(text)


def say(text):
    """Print lines at once, with control characters, such as from an id, escaped."""
    print("\n".join(map(printable, text.split("\n"))), flush=True)


def _evaluate(arguments):
    use_path(arguments.path)
    from kronbench.own_pairs.commands import evaluate_files

    result = evaluate_files(
        _tables(arguments),
        arguments.solver,
        arguments.set,
        settings="ABCD" if arguments.setting == "all" else arguments.setting,
        n_splits=arguments.splits,
        n_repeats=arguments.repeats,
        similarity=arguments.similarity,
        interval=arguments.interval,
        report=arguments.report,
        command=f"kronbench {arguments.typed}",
        **{name: getattr(arguments, name) for name in _RECIPE_OPTIONS},
    )
    from kronbench.own_pairs.evaluate import scores_as_text

    say(json.dumps(result, indent=1) if arguments.json else scores_as_text(result))


def _fit(arguments):
    from kronbench.own_pairs.commands import fit_files

    names = ("setting", "intervals", *_RECIPE_OPTIONS)
    options = {name: getattr(arguments, name) for name in names}
    say(fit_files(_tables(arguments), arguments.out, arguments.solver, arguments.set, **options))


def _tables(arguments):
    """The files and columns of three tables, given one by one or by the name of a data set."""
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
    say(predict_files(arguments.model, *files, interval=arguments.interval))


def _screen(arguments):
    from kronbench.own_pairs.commands import screen_files

    names = "model", "out", "rows", "cols", "known", "interval", "per_row", "smallest"
    top = arguments.top or (None if arguments.per_row else 100)
    say(screen_files(top=top, **{name: getattr(arguments, name) for name in names}))


def use_path(path):
    """Let modules of a folder be imported."""
    if path is None:
        return
    if not (path and os.path.isdir(path)):
        raise InputError(f"--path {path!r} is not a folder: give the one that holds your module")
    sys.path.insert(0, os.path.abspath(path))


def _data_list(arguments):
    from kronbench import datasets

    for name in datasets.names():
        print(f"{name:22s} {datasets.describe(name)['title']}")


def _data_fetch(arguments):
    from kronbench import datasets

    data = datasets.load(arguments.name, policy=arguments.policy)
    if arguments.out:
        data.save(arguments.out)
    sizes = [f"{key} {'x'.join(map(str, of.shape))}" for key, of in data.arrays.items()]
    print(f"{data.name}: source {data.source}; {', '.join(sizes)}")


def _data_describe(arguments):
    import yaml

    from kronbench import datasets

    known = datasets.describe(arguments.name)
    print(yaml.safe_dump(known, sort_keys=False, width=96), end="")
