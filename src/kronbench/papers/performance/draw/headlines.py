"""The papers' headlines on speed and memory: theirs, ours by their method, ours by our best."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from kronbench.errors import InputError
from kronbench.papers.stock.draw.leave_one_out_table import seconds_of
from kronbench.report.estimates import disturbed, doubts, exponent
from kronbench.report.numbers import format_number
from kronbench.report.style import ALARM, new_figure, shared_legend
from kronbench.runner.columns import SHOWN, Columns
from kronbench.runner.items import Item

MARKS_SURROGATES = True  # at their lines
PRINTED, THEIR_WAY, OUR_WAY = "printed", "by the paper's method", "by our best"
_BLAS_TIME = "seconds at the BLAS rate"
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
    numbers=("seconds, printed", "MiB, printed", "exponent of seconds, printed"),
    texts=("quantity", "our best differs", "printed is a bound", "of"),
    conditions=("MiB, by the paper's method", "MiB, by our best"),
    values={"quantity": ("seconds", "MiB", "exponent of seconds")},
)


def tabulate(frame: pd.DataFrame, item: Item, printed: None) -> pd.DataFrame:
    """One row for each entry of the drawing's ``headlines``, whose rows lie in other items.

    An entry names the ``item`` and ``where`` its rows are, the ``quantity``, what is ``printed``
    (a column, or a number of the paper's text), and for ``theirs`` (by the paper's method) and
    ``ours`` (by our best) which of the rows, and the ``value``, a column or what is computed from
    columns; so many ``rows`` are added up, one unless said. ``differs`` says how our best is
    another fit than the paper's. Exponents are of the value over the column ``over``, by least
    squares on logarithms. "seconds at the BLAS rate" are those in which a matrix product on this
    machine carries out the ``operations`` of an entry, "seconds over these" how many times as long
    our best takes; with fewer operations it takes less. What was not measured is missing, and an
    entry without anything of ours is left out.
    """
    options = item.drawing_options
    rate = 1e9 * _number(_selected(frame, item, options["rate"], "ours"), options["rate"])
    rows = [_row(frame, item, entry, rate) for entry in options["headlines"]]
    return pd.DataFrame([row for row in rows if row is not None])


def _row(frame, item, entry, rate):
    sides = {name: _selected(frame, item, entry, name) for name in ("theirs", "ours")}
    found = {name: _number(side, entry) for name, side in sides.items()}
    rows = pd.concat(sides.values())
    if np.isnan(list(found.values())).all():
        return None
    best = found["ours"]
    printed, bound = _printed(rows, entry)
    row = {
        "paper": entry["item"].partition("/")[0],
        "headline": entry["name"],
        "quantity": entry["quantity"],
        "our best differs": entry.get("differs", ""),
        f"{entry['quantity']}, {PRINTED}": printed,
        "printed is a bound": bound,
        f"{entry['quantity']}, {THEIR_WAY}": found["theirs"],
        f"{entry['quantity']}, {OUR_WAY}": best,
    }
    if entry["quantity"] == "seconds":
        row["times faster than printed"] = printed / best
        row["the paper's method, times faster than printed"] = printed / found["theirs"]
        row["times faster than the paper's method"] = found["theirs"] / best
    if "operations" in entry and len(sides["ours"]):
        row[_BLAS_TIME] = float(sides["ours"].eval(entry["operations"]).sum()) / rate
        row["seconds over these"] = best / row[_BLAS_TIME]
    return row | {
        "busy": disturbed(rows),
        "of": entry["item"],
        "dataset": ", ".join(rows["dataset"].unique()),
        "source": "surrogate" if (rows["source"] == "surrogate").any() else rows["source"].iloc[0],
    }


def _selected(frame, item, entry, side):
    """The rows of one side of an entry, with their numbers in the column ``number``."""
    rows = frame[frame["of"] == entry["item"]]
    if rows.empty or entry.get(side) is None:  # its paper may not be in the run
        return rows.iloc[:0]
    told = {"value": entry.get("value"), "where": None, **entry[side]}
    for where in filter(None, (entry.get("where"), told["where"])):
        rows = rows.query(where)
    try:
        numbers = rows[told["value"]] if told["value"] in rows else rows.eval(told["value"])
    except (SyntaxError, pd.errors.UndefinedVariableError):
        raise InputError(
            f"the headline '{entry.get('name', 'rate')}' of {item.paper} {item.name} takes "
            f"'{told['value']}', which is neither a column of {entry['item']} nor computed from "
            f"them; it has: {', '.join(rows.dropna(axis=1, how='all'))}"
        ) from None
    return rows.assign(number=numbers).dropna(subset=["number"])


def _number(rows, entry):
    """The number of one side; NaN where not all of its rows were measured."""
    if "over" in entry:
        return exponent(rows[entry["over"]], rows["number"]) if len(rows) else np.nan
    wanted = entry.get("rows", 1)
    if len(rows) > wanted:
        raise InputError(
            f"the headline '{entry['name']}' selects {len(rows)} rows of {entry['item']} where "
            f"{wanted} are added up: narrow its 'where'"
        )
    return float(rows["number"].sum()) if len(rows) == wanted else np.nan


def _printed(rows, entry):
    """The printed number, and whether it is the least that it can have been."""
    value = entry.get("printed")
    if isinstance(value, str):
        value = rows[value].dropna().iloc[0] if rows[value].notna().any() else None
    if isinstance(value, str):
        return seconds_of(value), value.startswith(">")
    return (np.nan if value is None else float(value)), False


def draw(numbers: pd.DataFrame, item: Item) -> Figure:
    """A panel for each quantity, a line for each headline."""
    kinds = [kind for kind in QUANTITIES if (numbers["quantity"] == kind).any()]
    heights = [(numbers["quantity"] == kind).sum() + 1.5 for kind in kinds]
    inches = 0.6 + 0.34 * sum(heights)
    figure, axes = new_figure(
        len(kinds), 1, width=9.2, height=inches / len(kinds), height_ratios=heights
    )
    for panel, kind in zip(axes[:, 0], kinds, strict=True):
        _panel(panel, numbers[numbers["quantity"] == kind].reset_index(drop=True), kind)
    shared_legend(figure, axes, loc="outside lower center", ncols=4)
    return figure


def _panel(panel, rows, kind):
    places = np.arange(len(rows))[::-1]
    columns = [f"{kind}, {way}" for way in (PRINTED, THEIR_WAY, OUR_WAY)]
    for place, (_, row) in zip(places, rows.iterrows(), strict=True):
        ends = row[columns].astype(float).dropna()
        panel.plot([ends.min(), ends.max()], [place, place], color="0.8", lw=1, zorder=1)
    styles = {
        PRINTED: {"marker": "D", "color": "0.45", "label": "printed"},
        THEIR_WAY: {"marker": "o", "mfc": "white", "color": "C0", "label": "ours, their way"},
        OUR_WAY: {"marker": "o", "color": "C0", "label": "ours, our best"},
    }
    for way, style in styles.items():
        panel.plot(rows[f"{kind}, {way}"], places, ls="", ms=5, zorder=3, **style)
    if _BLAS_TIME in rows and kind == "seconds":
        style = {"marker": "|", "ms": 9, "mew": 1.5, "color": "C4"}
        panel.plot(rows[_BLAS_TIME], places, ls="", label="BLAS time of Algorithm 1", **style)
    if kind == "seconds":
        panel.set_xscale("log")
        for place, (_, row) in zip(places, rows.iterrows(), strict=True):
            panel.annotate(
                _told(row), (1, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", va="center", fontsize=7, annotation_clip=False,
            )  # fmt: skip
    else:
        panel.set_xlim(0, 1.05 * rows[columns].astype(float).max(axis=None))
    panel.set_yticks(places, [_named(row) for _, row in rows.iterrows()])
    for label, surrogate in zip(
        panel.get_yticklabels(), rows["source"] == "surrogate", strict=True
    ):
        if surrogate:
            label.set_color(ALARM)
    panel.set_ylim(-0.7, len(rows) - 0.3)
    panel.set_xlabel(QUANTITIES[kind])


def _told(row):
    """How many times faster than printed, their way and our best, and how many BLAS times."""
    told = []
    theirs, best, over_theirs = (
        row[f"{way}times faster than {what}"]
        for way, what in (
            ("the paper's method, ", PRINTED), ("", PRINTED), ("", "the paper's method"),
        )
    )  # fmt: skip
    bound = "> " if row["printed is a bound"] else ""
    if np.isfinite(theirs):
        told.append(f"{bound}{_two_digits(theirs)} and {_two_digits(best)} times faster")
    elif np.isfinite(best):
        told.append(f"{bound}{_two_digits(best)} times faster")
    elif np.isfinite(over_theirs):
        told.append(f"{_two_digits(over_theirs)} times faster than their way")
    if np.isfinite(row.get("seconds over these", np.nan)):
        told.append(f"{_two_digits(row['seconds over these'])} BLAS times")
    return "; ".join(told)


def _two_digits(value):
    return format_number(float(f"{value:.2g}"), digits=2)


def _named(row):
    name = f"{row['headline']} ({doubts(row)})" if doubts(row) else row["headline"]
    return f"{name}\n{row['our best differs']}" if row["our best differs"] else name
