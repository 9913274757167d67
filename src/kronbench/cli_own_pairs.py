"""The commands on pairs and predictions of a user: evaluate, fit, predict, score."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from kronbench.cli_outside import add_path, use_path
from kronbench.errors import InputError, printable
from kronbench.own_pairs import PAIR_SOLVERS

_NEW = "what is new in a test pair: nothing (A), its row (B), its column (C), both (D)"


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add them to the parser of ``kronbench``."""
    evaluate = add("evaluate", _evaluate, "score a solver on your own pairs")
    fit = add("fit", _fit, "fit a solver to your own pairs")
    for command in (evaluate, fit):
        for name, text in (
            (
                "pairs",
                "pairs: row id, column id, label; .csv, .tsv (also .gz), or .parquet",
            ),
            ("rows", "row vertices: id, then numbers, similarities to all ids, or fingerprints"),
            ("cols", "the same of column vertices"),
        ):
            command.add_argument(f"--{name}", metavar="FILE", help=text)
        text = "data set of the loader 'pairs' in your registry, in place of the three tables"
        command.add_argument("--data", metavar="NAME", help=text)
        for name, text in (("row", "row ids"), ("col", "column ids"), ("label", "labels")):
            text = f"column of the pairs with the {text}, if not in the order above"
            command.add_argument(f"--{name}", metavar="NAME", help=text)
        command.add_argument(
            "--solver",
            required=True,
            help=f"one of {', '.join(PAIR_SOLVERS)}, or the import path of a class",
        )
        command.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a parameter of the solver, such as reg=0.1 or row_kernel=gaussian; repeatable",
        )
        command.add_argument(
            "--scale",
            action="store_true",
            help="features of mean 0 and variance 1, by the vertices that train",
        )
        command.add_argument(
            "--select",
            action="store_true",
            help="choose reg and kernel widths that no --set has, by inner folds, or by leaving "
            "out each pair; a value beyond the grid is given by --set",
        )
        for side, name in (("row", "row"), ("col", "column")):
            text = f"kernel of rank N from N of the {name} vertices, where these are very many"
            command.add_argument(f"--{side}-landmarks", type=positive, metavar="N", help=text)
        text = "of the splits and the landmarks (default: 0)"
        command.add_argument("--seed", type=_seed, default=0, help=text)
    add_path(evaluate)
    evaluate.add_argument("--setting", choices=[*"ABCD", "all"], default="all", help=_NEW)
    evaluate.add_argument(
        "--splits", type=positive, default=3, help="folds of pairs or vertices (default: 3)"
    )
    text = "times to redraw the splits (default: 5)"
    evaluate.add_argument("--repeats", type=positive, default=5, help=text)
    evaluate.add_argument("--json", action="store_true", help="all numbers, as JSON")
    fit.add_argument("--setting", choices=[*"ABCD"], default="A", help=f"for --select; {_NEW}")
    fit.add_argument("-o", "--out", type=Path, required=True, metavar="MODEL.kron")
    predict = add("predict", _predict, "predict pairs with a fitted model")
    predict.add_argument("model", type=Path, metavar="MODEL.kron", help="what fit wrote")
    predict.add_argument("--pairs", required=True, metavar="FILE", help="pairs to predict")
    for name in ("rows", "cols"):
        predict.add_argument(f"--{name}", metavar="FILE", help=f"table of {name} new to the model")
    predict.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.csv")
    score = add("score", _score, "score predictions of a published test set")
    score.add_argument(
        "predictions",
        metavar="FILE",
        help="table: row id, column id, one column of predictions or more",
    )
    score.add_argument("--data", required=True, metavar="NAME", help="a data set, such as davis")
    score.add_argument("--folds", required=True, metavar="NAME", help="such as deepdta-1")
    score.add_argument("--partial", action="store_true", help="although test pairs are missing")
    score.add_argument("--json", action="store_true", help="all numbers, as JSON")


def say(text: str) -> None:
    """Print lines at once; what a terminal would act on, as from an id or a file, is escaped."""
    print("\n".join(map(printable, text.split("\n"))), flush=True)


def positive(text: str) -> int:
    """A number of at least 1 from an argument."""
    if not _is_whole(text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 1")
    return int(text)


def _is_whole(text):
    return text.isascii() and text.isdecimal() and len(text) <= 10


def _seed(text):
    if not _is_whole(text) or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to 2^32 - 1")
    return int(text)


def _evaluate(arguments):
    use_path(arguments.path)
    from kronbench.own_pairs.jobs import evaluate_files

    result = evaluate_files(
        _tables(arguments),
        arguments.solver,
        arguments.set,
        settings="ABCD" if arguments.setting == "all" else arguments.setting,
        n_splits=arguments.splits,
        n_repeats=arguments.repeats,
        seed=arguments.seed,
        scale=arguments.scale,
        selects=arguments.select,
        landmarks=(arguments.row_landmarks, arguments.col_landmarks),
    )
    from kronbench.own_pairs.evaluate import as_text

    say(json.dumps(result, indent=1) if arguments.json else as_text(result))


def _fit(arguments):
    from kronbench.own_pairs.jobs import fit_files

    say(
        fit_files(
            _tables(arguments),
            arguments.out,
            arguments.solver,
            arguments.set,
            setting=arguments.setting,
            seed=arguments.seed,
            scale=arguments.scale,
            selects=arguments.select,
            landmarks=(arguments.row_landmarks, arguments.col_landmarks),
        )
    )


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
    from kronbench.own_pairs.jobs import predict_files

    say(
        predict_files(
            arguments.model, arguments.pairs, arguments.out, arguments.rows, arguments.cols
        )
    )


def _score(arguments):
    from kronbench.own_pairs.predictions import as_text, score_file

    result = score_file(
        arguments.predictions, arguments.data, arguments.folds, partial=arguments.partial
    )
    say(json.dumps(result, indent=1) if arguments.json else as_text(result))
