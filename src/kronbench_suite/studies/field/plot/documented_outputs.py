"""Printed lines of a documentation beside ours, and a summary of each file of them."""

import pandas as pd

from kronbench.intervals import half_of_all, interval_factor
from kronbench_suite.runner.columns import SHOWN, Columns

COLUMNS = SHOWN | Columns(
    key=("part", "file", "reading", "line"),
    rounding=(
        *("ours_reversed", "mean of orders", "deviation of orders"),
        *("band", "share within", "share within_low", "share within_high"),
    ),
)

_DIGITS = 0.5e-6 + 1e-12  # half a unit of the sixth decimal, and the rounding of a difference


def tabulate(frame, item, printed):
    """One row for each file and reading, then one for each of their lines.

    ``lines that differ`` has printed lines that ours lack among them. Of lines in several orders
    of sums, ``band`` is half the widest interval in which 95 % of all orders lie, by the t
    distribution, and ``share within`` that of the printed lines in theirs; it is known to lie
    between its ``_low`` and ``_high``, since a few orders tell no more of their deviation than an
    interval of 99 %. ``best`` is of test lines where there are such, and ``best at`` its exponent
    of two or iteration; ``smallest last step`` is the least that a line of the last hundred
    iterations adds to the one before.
    """
    printed = printed.rename(columns={"score": "printed score", "at": "printed at"})
    lines = frame.merge(printed, on=["file", "line"], how="left", validate="many_to_one")
    names = {"order_mean": "mean of orders", "order_deviation": "deviation of orders"}
    names["value_reversed"] = "ours_reversed"
    lines = lines.rename(columns={"value": "ours"} | names)
    lines["difference"] = (lines["ours"] - lines["printed"]).abs()
    of_file = printed.groupby("file")["line"].nunique()
    keys = ["dataset", "source", "file", "reading"]
    files = [
        dict(zip(keys, key, strict=True)) | _file_summary(part, item, of_file[key[2]])
        for key, part in lines.groupby(keys, sort=False)
    ]
    own = [*keys, "line", "score", "at", "ours", "printed", "difference", "ties", *names.values()]
    lines = lines.reindex(columns=own).assign(part="line")
    return pd.concat([pd.DataFrame(files), lines], ignore_index=True)


def _file_summary(part, item, n_printed):
    """The row of one file and reading."""
    come_out = int((part["difference"] <= _DIGITS).sum())  # not without ours, nor without theirs
    several = part.dropna(subset=["mean of orders"])
    orders, deviation = item.parameters["orders"] + 1, several["deviation of orders"]
    half = deviation * interval_factor(orders, 1.0)
    apart = (several["printed"] - several["mean of orders"]).abs()

    def within(reach):
        return (apart <= reach + _DIGITS).mean() if len(several) else None

    least, most = (half_of_all(orders, end) for end in (0.005, 0.995))
    tested = part[part["score"] == "test"] if (part["score"] == "test").any() else part
    by_iteration = part["iteration"].notna().all()
    at = tested["iteration" if by_iteration else "exponent"]
    alone = part["second_exponent"].isna().all()
    ours, printed = tested["ours"].idxmax(), tested["printed"].idxmax()
    # The least step of the last hundred iterations; NaN where one of their lines is missing.
    smallest = None
    if by_iteration:
        values = part.set_index("iteration")["ours"].sort_index()
        hundred = values.index.max() - 100
        if hundred in values.index:
            smallest = values.loc[hundred:].diff().iloc[1:].min(skipna=False)
    row = {"part": "file", "what": item.plot_options["what"][part["file"].iloc[0]]}
    # Lines that come out to the printed digits, and how far the others are.
    row |= {"lines": len(part), "come out": come_out}
    row["lines that differ"] = max(len(part), n_printed) - come_out
    row["beyond ties"] = int((part["difference"] > _DIGITS + part["ties"]).sum())
    row |= {"largest difference": part["difference"].max(), "band": half.max()}
    # The share of printed lines within the interval of ours in several orders of sums.
    row |= {"share within": within(half), "share within_low": within(deviation * least)}
    row["share within_high"] = within(deviation * most)
    # The best line of each side.
    row |= {"best": tested["ours"][ours], "printed best": tested["printed"][printed]}
    row |= {"best at": at[ours] if alone else None}
    row |= {"printed best at": at[printed] if alone else None}
    return row | {"smallest last step": smallest}
