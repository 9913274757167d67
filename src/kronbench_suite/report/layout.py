"""The numbers of an item as its paper lays them out: methods by data sets, settings by data sets.

``layout`` in the schema of ``paper.yaml`` says how: an item's table has a line for each number.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import median

import pandas as pd

from kronbench.errors import InputError
from kronbench_suite.report.numbers import (
    format_entry,
    format_number,
    is_missing,
    is_number,
    name_of,
    read_printed,
)
from kronbench_suite.runner.columns import columns_shown
from kronbench_suite.runner.items import Item

# Beyond these shares of the printed number a difference is marked, and marked more strongly.
APART, FAR = 0.01, 0.1

# Half the 95 % interval of ``ours``; that of another column X is named "X ±".
HALF = "±"

# What an entry of ``values`` may name a column for.
_COLUMNS = ("ours", "spread", "printed", "at_least", "level", "remark")

# Stands among ``rows`` or ``columns`` of a layout for the names of its values.
VALUE = "value"


@dataclass(frozen=True)
class Cell:
    """One cell: ours ± spread (printed), as shown."""

    text: str = ""
    spread: str = ""
    printed: str = ""
    by: str = ""  # the signed difference from a printed number in another column
    best: bool = False  # the best, or level with it
    mark: str = ""  # the printed number is "outside" the interval; else "apart" or "far"
    stamps: tuple[str, ...] = ()  # "surrogate" (data), "busy" (machine), "noted", "not run"
    numeric: bool = False
    remark: str = ""  # why it was not run, or what is special about it
    bar: tuple[int, ...] = ()  # the interval and its middle, in percent of the scale of its group
    key: str = ""  # what it is sorted by, if not by its text
    link: str = ""  # the file of its predictions, from results/<scale>/<folder>/


@dataclass(frozen=True)
class Grid:
    """One table: ``labels`` (lines) by ``heads`` (columns), each a tuple from the outermost."""

    title: str
    stub: tuple[str, ...]
    labels: list[tuple[str, ...]]
    heads: list[tuple[str, ...]]
    cells: list[list[Cell]]
    notes: tuple[str, ...] = ()
    shades: tuple[tuple[str, str], ...] = ()  # what each mark that occurs says
    folded: bool = False
    made: tuple[tuple[str, str, str], ...] = ()  # data set, predictions, command

    def numeric(self) -> list[bool]:
        """For each column, whether it holds numbers."""
        columns = zip(*self.cells, strict=True)
        return [any(cell.numeric and cell.text for cell in column) for column in columns]

    def spans(self, level: int) -> list[tuple[str, int]]:
        """The heads of one level with the columns that each spans, all below one outer head."""
        return _runs([head[: level + 1] for head in self.heads])

    def stubs(self) -> list[list[tuple[str, int]]]:
        """The labels that begin in each line, with the number of lines that each spans."""
        stubs = [[] for _ in self.labels]
        for level in range(len(self.stub)):
            at = 0
            for text, n_lines in _runs([label[: level + 1] for label in self.labels]):
                stubs[at].append((text, n_lines))
                at += n_lines
        return stubs


def arrange(item: Item, table: pd.DataFrame, skipped: Sequence[str] = ()) -> list[Grid]:
    """The tables of an item, as its ``layout`` says; tables without a line are left out.

    ``table`` is its long table, ``skipped`` what its jobs skipped, as sentences for a note below.
    """
    printed = read_printed(item, dtype=str)
    # The ways in which each number of the paper is printed, such as 0.7 and .70.
    texts = {}
    for text in itertools.chain.from_iterable(frame.to_numpy().ravel() for frame in printed):
        with contextlib.suppress(ValueError):  # a name or a note
            texts.setdefault(float(text), []).append(text)
    grids = [grid for panel in item.layout if (grid := _grid(item, panel, table, texts))]
    remarks = any("remark" in spec for p in item.layout for spec in p["values"].values())
    if grids and skipped and not remarks:
        note = f"Not run: {'; '.join(dict.fromkeys(skipped))}."
        grids[-1] = replace(grids[-1], notes=(*grids[-1].notes, note))
    if grids and item.keeps_predictions:
        made = [
            (name_of(part), _predictions(item, part), item.command(part)) for part in item.parts
        ]
        grids[-1] = replace(grids[-1], made=tuple(made))
    return grids


def _predictions(item, part):
    """The file of a part's predictions, from any folder beside that of its paper; "" of none."""
    there = item.keeps_predictions and item.table(part).with_suffix(".npz").exists()
    return f"../{item.paper}/tables/{item.tables_of}/{part}.npz" if there else ""


def _grid(item, panel, table, texts):
    down, across = panel.get("rows", []), panel["columns"]
    keys = [key for key in (*down, *across) if key != VALUE]
    values = {name: {"ours": name, **spec} for name, spec in panel["values"].items()}
    _check_layout(item, panel, table, keys, values)
    # The lines of the table that this panel shows, each with a place of its own.
    for column, wanted in panel.get("where", {}).items():
        table = table[table[column].isin(wanted if isinstance(wanted, list) else [wanted])]
    if table.empty:
        return None
    twice = table[table.duplicated(keys, keep=False)]
    if len(twice):
        which = ", ".join(f"{key} {twice[key].iloc[0]}" for key in keys)
        raise InputError(
            f"the layout of {item.paper} {item.name} does not distinguish {len(twice)} lines of "
            f"its table ({which}): name one more column among its rows or columns"
        )
    records = {
        tuple(None if is_missing(record[key]) else record[key] for key in keys): record
        for record in table.to_dict("records")
    }
    places = [dict(zip(keys, key, strict=True)) for key in records]
    lines, heads = (_axis_labels(names, places, values, item) for names in (down, across))
    pairs = printed_columns(table.columns, columns_shown(item).timed)

    # Each cell, and the groups of cells among which the best is searched.
    cells, compared = {}, {}
    links = {part: _predictions(item, part) for part in item.parts}
    for line, head in itertools.product(lines, heads):
        named = dict(zip((*down, *across), (*line, *head), strict=True))
        name = named.pop(VALUE, next(iter(values)))
        spec, record = values[name], records.get(tuple(named[key] for key in keys))
        cells[line, head] = _cell(spec, record, named, pairs, texts, panel.get("shaded"))
        if "among" in spec and record is not None and is_number(record[spec["ours"]]):
            link = links.get(record["dataset"], "") if "level" in spec else ""
            cells[line, head] = replace(cells[line, head], link=link)
            named[VALUE] = name
            del named[spec["among"]]
            compared.setdefault((name, *named.items()), []).append((record, (line, head)))
    # The best among cells that differ in the key ``among`` alone.
    for (name, *_), group in compared.items():
        cells |= _level(values[name], group, cells)

    # Notes below: that of the layout, why cells are empty, then those of single lines.
    notes = [panel["note"]] if "note" in panel else []
    why = {}
    for (line, _), cell in cells.items():
        if cell.remark and "not run" in cell.stamps:
            why.setdefault(cell.remark, {})[_written(down, line)[-1]] = None
    said = [f"{', '.join(labels)}: {remark}" for remark, labels in why.items()]
    notes += [f"Not run: {'; '.join(said)}."] if said else []
    if "notes" in panel:
        notes += [
            f"{', '.join(map(format_entry, key))}: {record[panel['notes']]}."
            for key, record in records.items()
            if not is_missing(record[panel["notes"]])
        ]
    # What each mark that occurs says of the printed number.
    bounds = [f"{100 * share:g} %" for share in (APART, FAR)]
    bounds = [f"a factor of {factor:g}" for factor in panel.get("shaded", ())] or bounds
    meanings = {"outside": "outside the 95 % interval"}
    meanings |= {m: f"more than {b} away" for m, b in zip(("apart", "far"), bounds, strict=True)}
    marks = {cell.mark for cell in cells.values()}
    return Grid(
        title=panel.get("title", ""),
        stub=tuple(panel.get("stub", ["" if key == VALUE else key for key in down])),
        labels=[_written(down, line) for line in lines],
        heads=[_written(across, head) for head in heads],
        cells=[[cells[line, head] for head in heads] for line in lines],
        notes=tuple(notes),
        shades=tuple((mark, words) for mark, words in meanings.items() if mark in marks),
        folded=panel.get("folded", False),
    )


def _level(spec, group, cells):
    """The cells of a group of records with their places, and which of them are the best.

    By a column of the table that says so, whose cells have bars, or by the number that they show:
    equal texts are equally good.
    """
    if "best" in spec:
        sign = 1 if spec["best"] == "highest" else -1
        best = cells[max(group, key=lambda entry: sign * entry[0][spec["ours"]])[1]].text
        return {
            place: replace(cells[place], best=len(group) > 1 and cells[place].text == best)
            for _, place in group
        }
    # The scale has all numbers, and the intervals of half of them at least.
    means = [record[spec["ours"]] for record, _ in group]
    halves = [record[spec["spread"]] for record, _ in group]
    halves = [half if is_number(half) else 0.0 for half in halves]
    low, high = (end(means) + side * median(halves) for end, side in ((min, -1), (max, 1)))
    return {
        place: replace(
            cells[place],
            best=record[spec["level"]] == 1,
            bar=tuple(
                round(100 * min(1, max(0, (mean + side * half - low) / ((high - low) or 1))))
                for side in (-1, 0, 1)
            ),
            key=f"{mean:.6g}",
        )
        for (record, place), mean, half in zip(group, means, halves, strict=True)
    }


def _check_layout(item, panel, table, keys, values):
    """Refuse a layout with columns that the table lacks, or several values in one cell."""
    named = [*keys, *panel.get("where", {}), *([panel["notes"]] if "notes" in panel else [])]
    named += [spec[use] for spec in values.values() for use in _COLUMNS if use in spec]
    if unknown := [column for column in named if column not in table]:
        raise InputError(
            f"the layout of {item.paper} {item.name} names the column '{unknown[0]}'; "
            f"its table has: {', '.join(table)}"
        )
    if len(values) > 1 and VALUE not in (*panel.get("rows", []), *panel["columns"]):
        raise InputError(
            f"the layout of {item.paper} {item.name} puts {len(values)} values into a cell: "
            f"name '{VALUE}' among its rows or columns"
        )


def _axis_labels(names, lines, values, item):
    """The labels of lines or heads that occur, each a tuple over ``names``, in their order.

    Data sets keep the order of the item, other entries that of the table, group by group. One
    that comes late, such as a method that only the last data set has, stands after the entry that
    it first follows.
    """
    if not names:
        return [()]
    first, *rest = names
    if first == VALUE:
        return [
            (name, *tail) for name in values for tail in _axis_labels(rest, lines, values, item)
        ]
    entries, before = [], None
    for line in lines:
        if line[first] not in entries:
            entries.insert(entries.index(before) + 1 if entries else 0, line[first])
        before = line[first]
    if first == "dataset":
        of_item = [name for name in item.datasets if name in entries]
        entries = [*of_item, *(entry for entry in entries if entry not in of_item)]
    return [
        (entry, *tail)
        for entry in entries
        for tail in _axis_labels(rest, [x for x in lines if x[first] == entry], values, item)
    ]


def _written(names, entries):
    return tuple(
        name_of(entry) if name == "dataset" else format_entry(entry)
        for name, entry in zip(names, entries, strict=True)
    )


def _cell(spec, record, named, pairs, texts, factors):
    """The cell of a line of the table, by an entry of ``values``; "not run" without a line."""
    if record is None:
        return Cell(stamps=("not run",))
    # Our number and the printed one, and how both are written.
    ours = record[spec["ours"]]
    column = spec.get("printed", pairs.get(spec["ours"]))
    expected = record[column] if column else None
    decimals = spec.get("decimals")
    if isinstance(decimals, Mapping):
        decimals = next((decimals[label] for label in named.values() if label in decimals), 0)
    shown = {"decimals": decimals, "digits": spec.get("digits", 3), "grouped": column is None}
    spread, like = record[spec["spread"]] if "spread" in spec else None, None
    # Both have the decimals that the larger one needs.
    if is_number(ours) and is_number(spread):
        like = max(abs(ours), abs(spread))
    text, spread = (format_number(number, **shown, like=like) for number in (ours, spread))
    if text and "at_least" in spec and record[spec["at_least"]] in (True, "True"):
        text = f"≥ {text}"
    # Doubts: surrogate data, and a busy machine where the number is a time.
    stamps = []
    if text and record.get("source") == "surrogate":
        stamps.append("surrogate")
    if text and spec.get("timed") and record.get("busy") in (True, "True"):
        stamps.append("busy")
    # Why the number is not there, or what is special about it.
    remark = "" if is_missing(record.get(spec.get("remark"))) else record[spec["remark"]]
    if remark:
        stamps.append("noted" if text else "not run")
    # The digits that the paper prints; if it prints a number in several ways, those like ours.
    printed, mark, rounding = format_number(expected, **shown), "", 0.0
    if is_number(expected) and expected in texts and not spec.get("derived"):
        ways = texts[expected]
        alike = [way for way in ways if len(way.partition(".")[2]) == (decimals or 0)]
        printed = (alike or ways)[0]
        rounding = 0.5 * 10.0 ** min(Decimal(way).as_tuple().exponent for way in ways)
    if column and pairs.get(spec["ours"]) == column and is_number(ours) and is_number(expected):
        half = record[spec["spread"]] if HALF in spec.get("spread", "") else None
        mark = distance(ours, expected, factors, rounding, half)
    return Cell(
        text=text,
        spread=spread,
        printed=printed,
        mark=mark,
        stamps=tuple(stamps),
        numeric=is_number(ours) or is_missing(ours),
        remark=remark,
    )


def _runs(labels):
    """The last entry of each run of equal labels, with the length of the run."""
    return [(key[-1], len(list(run))) for key, run in itertools.groupby(labels)]


def printed_columns(columns: Iterable[str], timed: Iterable[str] = ()) -> dict[str, str]:
    """The printed column that belongs to each of ours, by their names.

    ``paper`` belongs to ``ours``, ``paper X`` to ``X``. Seconds of two machines, which are
    ``timed``, are not compared, nor is ``printed X`` with ``X``, since it also stands beside
    numbers of other data.
    """
    columns = list(columns)
    pairs = {ours: "paper" if ours == "ours" else f"paper {ours}" for ours in columns}
    return {ours: p for ours, p in pairs.items() if p in columns and ours not in timed}


def distance(
    measured: float,
    printed: float,
    factors: Sequence[float] | None = None,
    rounding: float = 0.0,
    half: object = None,
) -> str:
    """How far a number is from the printed one: "" up to ``APART`` of it, "apart", "far".

    With ``half`` the width of its interval to one side, "outside" where the printed number is
    beyond that. With ``factors``, by the factor between two positive numbers, either way. A number
    that is nearer than ``rounding``, half a unit of the last printed digit, is not apart.
    """
    if is_number(half):
        return "outside" if abs(measured - printed) > max(half, rounding) else ""
    if factors is not None:
        away = max(measured / printed, printed / measured) if min(measured, printed) > 0 else 0
        return "far" if away > factors[1] else "apart" if away > factors[0] else ""
    difference = abs(measured - printed)
    if difference <= max(APART * abs(printed), rounding):
        return ""
    return "apart" if difference <= FAR * abs(printed) else "far"


def long_table(table: pd.DataFrame, timed: Iterable[str] = ()) -> list[list[Cell]]:
    """The rows of a table, with differences from printed numbers marked; ``timed`` are times."""
    pairs = printed_columns(table.columns, timed)
    has_differences = "difference" in table
    numeric = set(table.select_dtypes("number"))
    rows = []
    for record in table.to_dict("records"):
        row = {
            name: Cell(format_entry(value, digits=4), numeric=name in numeric)
            for name, value in record.items()
        }
        # Each of our numbers with a printed one has its difference and its mark.
        for ours, printed in pairs.items():
            measured, expected = record[ours], record[printed]
            if is_number(measured) and is_number(expected):
                difference = measured - expected
                by = (
                    ""
                    if has_differences or difference == 0
                    else format_number(difference, digits=2)
                )
                by = f"+{by}" if difference > 0 and by else by
                half = record.get(HALF if ours == "ours" else f"{ours} {HALF}")
                mark = distance(measured, expected, half=half)
                row[ours] = Cell(row[ours].text, by=by, mark=mark, numeric=True)
        rows.append(list(row.values()))
    return rows
