"""The papers' headlines on speed and memory: theirs, ours by their method, ours by our best."""

import textwrap

import numpy as np
import pandas as pd

from kronbench_suite.papers.stock.plot.leave_one_out_table import seconds_of
from kronbench_suite.report.estimates import disturbed, exponent
from kronbench_suite.report.numbers import format_number, name_of
from kronbench_suite.report.style import ALARM, new_figure, shared_legend
from kronbench_suite.runner.columns import SHOWN, Columns

MARKS_SURROGATES = True  # at their lines
PRINTED, THEIR_WAY, OUR_WAY = "printed", "by the paper's method", "by our best"
_BLAS_TIME, _BLAS_TIMES = "seconds at the BLAS rate", "seconds over these"
# The columns at the right: ratios of two times.
RATIOS = {
    "printed /\ntheir way": "the paper's method, times faster than printed",
    "printed /\nour best": "times faster than printed",
    "their way /\nour best": "times faster than the paper's method",
    "our best /\nBLAS": _BLAS_TIMES,
}
# What is compared, and the name of its axis.
QUANTITIES = {
    "seconds": "seconds",
    "MiB": "largest resident set, MiB",
    "exponent of seconds": "exponent of the seconds",
}

COLUMNS = SHOWN | Columns(
    key=("paper", "headline"),
    clock=(
        *("seconds, by the paper's method", "seconds, by our best"),
        "seconds at the BLAS rate",
    ),
    ratios_of_clock=(
        *("times faster than printed", "the paper's method, times faster than printed"),
        "times faster than the paper's method",
        *("exponent of seconds, by the paper's method", "exponent of seconds, by our best"),
        "seconds over these",
    ),
    conditions=("MiB, by the paper's method", "MiB, by our best"),
)


def tabulate(frame, item, printed):
    """One row for each entry of the plot's ``headlines``, whose rows lie in other items.

    An entry names the ``item`` and ``where`` its rows are, the ``quantity``, what is ``printed``
    (a column or a number), and for ``theirs`` and ``ours`` which of the rows, and the ``value``, a
    column or what is computed from columns. ``differs`` says how our best is another fit than the
    paper's. Exponents are of the value over the column ``over``. "seconds at the BLAS rate" are
    those in which a matrix product carries out the ``operations`` of an entry, "seconds over
    these" how many times as long our best takes.
    """
    table = []
    _, gflops = _side(frame, item.plot_options["rate"], "ours")
    for entry in item.plot_options["headlines"]:
        (their_rows, theirs), (our_rows, best) = (
            _side(frame, entry, side) for side in ("theirs", "ours")
        )
        if np.isnan([theirs, best]).all():  # the run lacks both sides
            continue
        rows, kind = pd.concat([their_rows, our_rows]), entry["quantity"]
        # A printed number is in the entry, or a time such as ">3d" in a column of the rows.
        printed = entry.get("printed", np.nan)
        if isinstance(printed, str):
            printed = next(iter(rows[printed].dropna()), np.nan)
        bound = isinstance(printed, str) and printed.startswith(">")  # the least that it can be
        printed = seconds_of(printed) if isinstance(printed, str) else float(printed)
        surrogate = (rows["source"] == "surrogate").any()
        row = {"paper": entry["item"].partition("/")[0], "headline": entry["name"]}
        row |= {"quantity": kind, "our best differs": entry.get("differs", "")}
        # The printed number, ours by the paper's method, and our best.
        row |= {f"{kind}, {PRINTED}": printed, "printed is a bound": bound}
        row |= {f"{kind}, {THEIR_WAY}": theirs, f"{kind}, {OUR_WAY}": best}
        # Where the numbers come from.
        row |= {"busy": disturbed(rows), "of": entry["item"]}
        row["dataset"] = ", ".join(rows["dataset"].unique())
        row["source"] = "surrogate" if surrogate else rows["source"].iloc[0]
        # Ratios of two times, and of one to that of as many operations in a matrix product.
        if kind == "seconds":
            row["times faster than printed"] = printed / best
            row["the paper's method, times faster than printed"] = printed / theirs
            row["times faster than the paper's method"] = theirs / best
        if "operations" in entry and len(our_rows):
            operations = float(our_rows.eval(entry["operations"]).sum())
            row[_BLAS_TIME] = operations / (1e9 * gflops)
            row[_BLAS_TIMES] = best / row[_BLAS_TIME]
        table.append(row)
    return pd.DataFrame(table)


def _side(frame, entry, side):
    """The rows of one side of an entry, and its number; NaN where it was not measured."""
    rows = frame[frame["of"] == entry["item"]]
    if rows.empty or entry.get(side) is None:  # its paper may not be in the run
        return rows.iloc[:0], np.nan
    for where in filter(None, (entry.get("where"), entry[side].get("where"))):
        rows = rows.query(where)
    value = entry[side].get("value", entry.get("value"))
    rows = rows.assign(number=rows[value] if value in rows else rows.eval(value))
    rows = rows.dropna(subset=["number"])
    if rows.empty:
        return rows, np.nan
    if "over" in entry:
        return rows, exponent(rows[entry["over"]], rows["number"])
    return rows, float(rows["number"].item())


def draw(numbers, item):
    """A panel for each quantity, a line for each headline."""
    parts = {kind: numbers[numbers["quantity"] == kind] for kind in QUANTITIES}
    parts = {kind: rows.reset_index(drop=True) for kind, rows in parts.items() if len(rows)}
    heights = [len(rows) + 1.7 for rows in parts.values()]
    height = (0.6 + 0.36 * sum(heights)) / len(parts)
    figure, axes = new_figure(len(parts), 1, height=height, height_ratios=heights)
    for panel, (kind, rows) in zip(axes[:, 0], parts.items(), strict=True):
        _panel(panel, rows, kind)
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure


def _panel(panel, rows, kind):
    places, records = np.arange(len(rows))[::-1], rows.to_dict("records")
    columns = [f"{kind}, {way}" for way in (PRINTED, THEIR_WAY, OUR_WAY)]
    values = rows[columns].astype(float)
    panel.hlines(places, values.min(axis=1), values.max(axis=1), color="0.8", lw=1, zorder=1)
    # Three marks on a line: printed, the paper's method here, and our best.
    looks = (
        {"marker": "D", "color": "0.45", "label": "printed"},
        {"marker": "o", "mfc": "white", "color": "C0", "label": "their way, here"},
        {"marker": "o", "color": "C0", "label": "our best"},
    )
    for column, look in zip(columns, looks, strict=True):
        panel.plot(rows[column], places, ls="", ms=5, zorder=3, **look)
    if kind == "seconds":
        panel.set_xscale("log")
        if _BLAS_TIME in rows:
            look = {"marker": "|", "ms": 9, "mew": 1.5, "color": "C4", "ls": ""}
            panel.plot(rows[_BLAS_TIME], places, label="BLAS time", **look)
        # The ratios of times stand at the right, in columns.
        lines = [RATIOS, *map(_ratios, records)]
        for place, texts in zip([len(rows), *places], lines, strict=True):
            for column, text in enumerate(texts):
                panel.annotate(
                    text, (1, place), (26 + 38 * column, 0), va="center", ha="center",
                    xycoords=("axes fraction", "data"), textcoords="offset points",
                    annotation_clip=False, fontsize=6.5,
                )  # fmt: skip
    else:
        panel.set_xlim(0, 1.05 * values.max(axis=None))
    # The names of the headlines; those that rest on surrogates are red.
    panel.set_yticks(places, [_named(row) for row in records])
    for label, source in zip(panel.get_yticklabels(), rows["source"], strict=True):
        label.set_linespacing(1)
        if source == "surrogate":
            label.set_color(ALARM)
    panel.tick_params(axis="y", labelsize=6.5)
    panel.set(xlabel=QUANTITIES[kind], ylim=(-0.7, len(rows) - 0.3))


def _ratios(row):
    """The entries below the heads, a dash where one of the two numbers is missing."""
    texts = []
    for head, column in RATIOS.items():
        ratio = row.get(column, np.nan)
        bound = "> " if row["printed is a bound"] and head.startswith("printed") else ""
        text = bound + format_number(float(f"{ratio:.2g}"), digits=2)
        texts.append(text if np.isfinite(ratio) else "-")
    return texts


def _named(row):
    name = row["headline"].replace(f", {row['dataset']},", f", {name_of(row['dataset'])},")
    doubts = ["surrogate data"] if row["source"] == "surrogate" else []
    doubts += ["busy machine"] if row["busy"] in (True, "True") else []
    name += f" ({', '.join(doubts)})" if doubts else ""
    texts = filter(None, [name, row["our best differs"]])
    return "\n".join(textwrap.fill(text, 48) for text in texts)
