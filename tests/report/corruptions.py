"""Corruptions of a result table that a claim on it should not survive."""

import numpy as np

from kronbench_suite.report import judge
from kronbench_suite.report.checks import CHECKS
from kronbench_suite.report.verdicts import UNTESTED


def corrupted(frame, column, rows=slice(None)):
    """Yield (name, frame) with the numbers of ``column`` spoiled in the rows with these labels."""
    numbers = frame.loc[rows, column].to_numpy(dtype=float)
    shuffled = np.random.default_rng(0).permutation(numbers)
    one = np.arange(len(numbers)) == len(numbers) // 2
    for name, spoiled in {
        "not a number": np.where(one, np.nan, numbers),
        "infinite": np.where(one, np.inf, numbers),
        "all not a number": np.full_like(numbers, np.nan),
        "other sign": -numbers,
        "all 0.01": np.full_like(numbers, 0.01),
        "all zero": np.zeros_like(numbers),
        "a hundred times": 100 * numbers,
        "every third one zero": np.where(np.arange(len(numbers)) % 3 == 1, 0, numbers),
        "reversed": numbers[::-1],
        "shuffled": shuffled,
    }.items():
        copy = frame.astype({column: float})
        copy.loc[rows, column] = spoiled
        yield name, copy


# Sentences of the kind "some" or "most" may survive one row without a number.
SOME = {"mostly_at_least"}
NOT_FINITE = ("not a number", "infinite", "all not a number")


def column_of(check):
    """The column of numbers that a check reads."""
    return check.get("value", "ours")


def moved_by(claim, frame, scale):
    """Verdict of a claim, and the names of the corruptions that change it.

    Spoiled are the rows that the verdict rests on.
    """
    verdict = judge.judge(claim, frame, scale).verdict
    if verdict == UNTESTED:
        return verdict, set()
    check = dict(claim["check"])
    rows_read, where = CHECKS[check.pop("kind")].rows_read, check.pop("where", None)
    rows = rows_read(frame.query(where) if where else frame, **check).index
    return verdict, {
        name
        for name, spoiled in corrupted(frame, column_of(check), rows)
        if judge.judge(claim, spoiled, scale).verdict != verdict
    }
