"""From the result tables of an item to its files: numbers, pictures, tables, record."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import importlib
import json
import re
from collections.abc import Sequence

import jinja2
import matplotlib

from kronbench.errors import InputError
from kronbench.files import replacing_all
from kronbench_suite.report.layout import Grid, arrange
from kronbench_suite.report.numbers import read_printed
from kronbench_suite.report.style import STYLE, stamp
from kronbench_suite.runner.columns import columns_shown
from kronbench_suite.runner.items import Item
from kronbench_suite.runner.read_results import (
    other_data_of,
    read_results,
    read_sidecars,
    read_table,
)

# Signs of what stands in a cell, and what they mean.
_SIGNS = {
    "surrogate": ("‡", "surrogate data, which say nothing about the paper"),
    "busy": ("°", "other programs kept the machine busy"),
    "noted": ("†", "with a remark: point at the number, or see the CSV"),
}

_BOLD = "Bold: the best number measured here."
_LEVEL = (
    "Bold: the best and those tied with it (comparisons with the best share the 5 %). "
    "Bars: 95 % intervals, on one scale for numbers that are compared."
)


def render(item: Item) -> None:
    """Plot or set one item, and write the numbers that it shows.

    The module ``papers/<paper>/plot/<name>.py`` has ``draw(frame, item) -> Figure`` for a figure,
    or ``tabulate(frame, item, printed) -> DataFrame`` for a table that the ``layout`` of the item
    sets, ``printed`` being the paper's numbers (a list where the item names several files) or
    None. If both exist, ``draw`` plots what is tabulated. ``COLUMNS`` declares the columns of what
    is tabulated; where nothing is, they are those of the measurement.
    """
    frame, sidecars = read_results(item), read_sidecars(item)
    plot = importlib.import_module(item.plot_module)
    is_table = not hasattr(plot, "draw")
    if is_table != bool(item.layout):
        raise InputError(
            f"papers/{item.paper}/paper.yaml: {item.name} is a "
            + ("table: give it a layout" if is_table else "figure: it has no layout")
        )
    numbers = _tabulated(plot, frame, item) if hasattr(plot, "tabulate") else frame
    # What its data are, if not the paper's: surrogates, or others. An item that takes a few rows
    # of other items names the data of these rows alone, and leaves to them what was skipped.
    resting = numbers if item.numbers_of else frame
    surrogates = sorted(resting.loc[resting["source"] == "surrogate", "dataset"].unique())
    datasets = set(", ".join(numbers["dataset"].astype(str)).split(", "))
    others = [
        f"{part}: {text}"
        for part, text in other_data_of(item).items()
        if not item.numbers_of or part in datasets
    ]
    own_sidecars = () if item.numbers_of else sidecars
    skipped = [line for sidecar in own_sidecars for line in sidecar["skipped"]]
    # All files are replaced together, or none.
    with replacing_all(map(item.output, item.kinds)) as temporaries:
        new = dict(zip(item.kinds, temporaries, strict=True))
        numbers.to_csv(new["csv"], index=False)
        if is_table:
            content = {
                "name": f"{item.paper} {item.name}",
                "title": item.title,
                "grids": arrange(item, read_table(new["csv"]), skipped),
                "surrogates": surrogates,
                "others": others,
            }
            page = templates().get_template("table.html.j2").render(**content)
            new["html"].write_text(page, encoding="utf-8")
            new["md"].write_text(tables_as_markdown(**content), encoding="utf-8")
        else:
            with matplotlib.rc_context(STYLE):
                figure = plot.draw(numbers, item)
                marked = getattr(plot, "MARKS_SURROGATES", False)
                stamp(figure, surrogates, others, across=not marked)
                # Fixed dates make pictures of equal numbers equal files.
                for suffix, metadata in (("pdf", {"CreationDate": None}), ("png", {})):
                    figure.savefig(new[suffix], metadata=metadata)
        # The record that the page reads, with the sums of all other files.
        record = {
            "kind": "table" if is_table else "figure",
            "columns": columns_shown(item).record(numbers),
            "surrogates": surrogates,
            "other_data": others,
            "skipped": skipped,
            "seconds": round(sum(sidecar["seconds"] for sidecar in own_sidecars), 1),
            "sha256": {
                kind: hashlib.sha256(file.read_bytes()).hexdigest()
                for kind, file in new.items()
                if kind != "json"
            },
        }
        new["json"].write_text(json.dumps(record, indent=1), encoding="utf-8")


def _tabulated(plot, frame, item):
    """What ``plot`` tabulates of measured rows, if its columns are as declared."""
    printed = read_printed(item)
    numbers = plot.tabulate(frame, item, printed[0] if len(printed) == 1 else printed or None)
    place = f"plot {item.paper}.{item.plot}"
    if missing := {"dataset", "source"} - set(numbers):
        raise InputError(
            f"{place}: its table has no column {' and no '.join(sorted(missing))}: keep those "
            "of the rows, which say what is a surrogate's"
        )
    columns_shown(item).check(numbers, place)
    return numbers


@functools.cache
def templates() -> jinja2.Environment:
    """The templates of the page and of single tables."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kronbench_suite.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    signs = {name: sign for name, (sign, _) in _SIGNS.items()}
    environment.globals.update(signs=signs, legend=legend)
    environment.filters["packed"] = _packed
    return environment


def _packed(text):
    """A long text as base64 of its gzip, which table.js unpacks."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def legend(grids: Sequence[Grid]) -> list[str]:
    """What brackets, bold numbers and signs in the cells of these tables mean."""
    cells = [cell for grid in grids for line in grid.cells for cell in line]
    stamps = {stamp for cell in cells for stamp in cell.stamps}
    return [
        *(["In brackets: the printed number."] if any(cell.printed for cell in cells) else []),
        *([_BOLD] if any(cell.best and not cell.bar for cell in cells) else []),
        *([_LEVEL] if any(cell.bar for cell in cells) else []),
        *(f"{sign} {said}." for stamp, (sign, said) in _SIGNS.items() if stamp in stamps),
    ]


def tables_as_markdown(name, title, grids, surrogates, others=()) -> str:
    """The tables of an item in Markdown of GitHub, with what its data are if not the paper's."""
    lines = [f"{name}: {title}"]
    lines += [f"Surrogate data: {', '.join(surrogates)}"] if surrogates else []
    lines += [f"Other data than the paper's: {text}" for text in others]
    blocks = [f"**{_escaped(line)}**" for line in lines]
    # A table of GitHub has one line of heads, and no label spans lines.
    for grid in grids:
        heads = [", ".join(filter(None, head)) for head in grid.heads]
        rules = ["---"] * len(grid.stub) + ["---:" if n else "---" for n in grid.numeric()]
        lines = [[_escaped(text) for text in (*grid.stub, *heads)], rules]
        for label, cells in zip(grid.labels, grid.cells, strict=True):
            lines.append([*map(_escaped, label), *map(_cell_text, cells)])
        blocks += [_escaped(grid.title)] if grid.title else []
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        blocks += map(_escaped, grid.notes)
    return "\n\n".join([*blocks, *map(_escaped, legend(grids))]) + "\n"


def _cell_text(cell):
    """Ours with its signs, ± spread, and the printed number in brackets."""
    if "not run" in cell.stamps and not cell.remark:
        return "not run"
    if not (cell.text or cell.printed):
        return "\N{EN DASH}"
    ours = _escaped(cell.text)
    ours = f"**{ours}**" if cell.best else ours
    signs = "".join(_SIGNS[stamp][0] for stamp in cell.stamps)
    spread = f"± {_escaped(cell.spread)}" if cell.spread else ""
    printed = f"({_escaped(cell.printed)})" if cell.printed else ""
    return " ".join(filter(None, (ours + signs, spread, printed)))


def _escaped(text):
    return re.sub(r"([\\`*_|<$])", r"\\\1", text)
