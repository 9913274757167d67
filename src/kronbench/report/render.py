"""From the result tables of an item to its files: numbers, pictures, tables, record."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Sequence

import matplotlib
import pandas as pd

from kronbench.errors import InputError
from kronbench.files import replacing_all
from kronbench.report import typeset
from kronbench.report.layout import Grid, arrange
from kronbench.report.printed import read_printed
from kronbench.report.style import STYLE, stamp
from kronbench.resources import printed_path
from kronbench.runner.columns import columns_shown
from kronbench.runner.items import Item
from kronbench.runner.read_results import other_data_of, read_results, read_sidecars, read_table

_TEXTS = {"html": typeset.html, "md": typeset.markdown, "tex": typeset.latex}


def render(item: Item) -> None:
    """Draw or set one item, and write the numbers that it shows.

    The module ``papers/<paper>/draw/<drawing>.py`` has ``draw(frame, item) -> Figure`` for a
    figure, or ``tabulate(frame, item, printed) -> DataFrame`` for a table that the ``layout`` of
    the item sets, ``printed`` being the paper's numbers (a list where the item names several
    files) or None. If both exist, ``draw`` plots what is tabulated. ``COLUMNS`` declares the
    columns of what is tabulated; where nothing is, they are those of the experiment.
    """
    frame, sidecars = read_results(item), read_sidecars(item)
    drawing = importlib.import_module(item.drawing_module)
    is_table = not hasattr(drawing, "draw")
    if is_table != bool(item.layout):
        raise InputError(
            f"papers/{item.paper}/paper.yaml: {item.name} is a "
            + ("table: give it a layout" if is_table else "figure: it has no layout")
        )
    numbers, columns = frame, columns_shown(item)
    if hasattr(drawing, "tabulate"):
        numbers = drawing.tabulate(frame, item, read_printed(item))
        place = f"drawing {item.paper}.{item.drawing}"
        if missing := {"dataset", "source"} - set(numbers):
            raise InputError(
                f"{place}: its table has no column {' and no '.join(sorted(missing))}: keep those "
                "of the rows, which say what is a surrogate's"
            )
        columns.check(numbers, place)
    resting = numbers if item.numbers_of else frame
    surrogates = sorted(resting.loc[resting["source"] == "surrogate", "dataset"].unique())
    shown = set(", ".join(numbers["dataset"].astype(str)).split(", "))
    others = [
        f"{part}: {text}"
        for part, text in other_data_of(item).items()
        if not item.numbers_of or part in shown  # it takes a few rows of the others
    ]
    own = () if item.numbers_of else sidecars  # the others say theirs themselves
    skipped = [line for sidecar in own for line in sidecar["skipped"]]
    with replacing_all(map(item.output, item.kinds)) as temporaries:
        new = dict(zip(item.kinds, temporaries, strict=True))
        numbers.to_csv(new["csv"], index=False)
        if is_table:
            grids = grids_of(item, read_table(new["csv"]), skipped)
            for suffix, text_of in _TEXTS.items():
                name = f"{item.paper} {item.name}"
                text = text_of(name, item.title, grids, surrogates, others)
                new[suffix].write_text(text, encoding="utf-8")
        else:
            with matplotlib.rc_context(STYLE):
                figure = drawing.draw(numbers, item)
                marked = getattr(drawing, "MARKS_SURROGATES", False)
                stamp(figure, surrogates, others, across=not marked)
                # Fixed dates make pictures of equal numbers equal files.
                for suffix, metadata in (("pdf", {"CreationDate": None}), ("png", {})):
                    figure.savefig(new[suffix], metadata=metadata)
        record = {
            "kind": "table" if is_table else "figure",
            "columns": columns.record(numbers),
            "surrogates": surrogates,
            "other_data": others,
            "skipped": skipped,
            "seconds": round(sum(sidecar["seconds"] for sidecar in own), 1),
            "sha256": {
                kind: hashlib.sha256(file.read_bytes()).hexdigest()
                for kind, file in new.items()
                if kind != "json"
            },
        }
        new["json"].write_text(json.dumps(record, indent=1), encoding="utf-8")


def grids_of(item: Item, numbers: pd.DataFrame, skipped: Sequence[str] = ()) -> list[Grid]:
    """The tables of an item in its paper's layout, from its numbers as read from its CSV."""
    names = [item.printed] if isinstance(item.printed, str) else item.printed or []
    texts = [pd.read_csv(printed_path(item.paper, name), dtype=str) for name in names]
    return arrange(item, numbers, texts, skipped)
