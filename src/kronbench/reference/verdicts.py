"""The words of a verdict, and the file that keeps the verdicts of a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kronbench.errors import InputError

HOLDS, UNDECIDED, CONTRADICTED, UNTESTED = VERDICTS = (
    *("holds", "undecided", "contradicted", "not tested"),
)

# A paper says it, or we do, or others of the field print it, whom no item of a paper shows.
PAPER, OURS, FIELD = WHOSE = ("paper", "ours", "field")

# Why a claim is not tested whose items are not there.
NOT_RUN = "not run yet"

_COLUMNS = ["id", "paper", "item", "whose", "timing", "verdict", "cause", "measured"]


def read_verdicts(path: str | Path) -> pd.DataFrame:
    """Verdicts by claim id, from ``verdicts.csv`` or from the ``claims.csv`` of a run.

    Raises
    ------
    InputError
        The file is damaged, or of a version with other verdicts.
    """
    try:
        verdicts = pd.read_csv(path, keep_default_na=False)
    except ValueError as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    lacking = [column for column in _COLUMNS if column not in verdicts]
    if lacking:
        raise InputError(
            f"{path} lacks the column '{lacking[0]}': it is of an earlier version; "
            "make its run anew"
        )
    return verdicts[_COLUMNS].set_index("id")


def columns_kept() -> list[str]:
    """The columns of ``verdicts.csv`` beside the id, by which its rows are found."""
    return _COLUMNS[1:]


def timed(verdict: pd.Series) -> bool:
    """Whether a row of these rests on a clock, so that another run may judge otherwise."""
    return str(verdict["timing"]) == "True"


def matrix(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many claims have which verdict, a row for each paper in the order of the run.

    Columns are the verdicts on what the papers say, or on its row what the field prints; then, as
    "12 of 13", how many claims of our own hold.
    """
    own = verdicts["whose"] == OURS
    papers = verdicts["paper"].unique()
    counts = pd.crosstab(verdicts["paper"][~own], verdicts["verdict"][~own])
    counts = counts.reindex(index=papers, columns=VERDICTS, fill_value=0).astype(object)
    held = (verdicts["verdict"] == HOLDS)[own].groupby(verdicts["paper"]).agg(["sum", "size"])
    counts["our own"] = [
        "{sum} of {size}".format(**held.loc[paper]) if paper in held.index else "0"
        for paper in papers
    ]
    return counts
