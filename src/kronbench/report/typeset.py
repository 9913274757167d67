"""Tables in the paper's layout as HTML and Markdown."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import jinja2

from kronbench.report.layout import Grid

_SIGNS = {"surrogate": "‡", "busy": "°"}
_MEANINGS = {
    "surrogate": "surrogate data, which say nothing about the paper",
    "busy": "other programs kept the machine busy",
}


@functools.cache
def templates() -> jinja2.Environment:
    """The templates of the page and of single tables."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kronbench.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals.update(signs=_SIGNS, legend=legend)
    return environment


def legend(grids: Sequence[Grid]) -> list[str]:
    """What brackets, bold numbers and signs in the cells of these tables mean."""
    cells = [cell for grid in grids for line in grid.cells for cell in line]
    stamps = {stamp for cell in cells for stamp in cell.stamps}
    return [
        *(["In brackets: the printed number."] if any(cell.printed for cell in cells) else []),
        *(["Bold: the best number measured here."] if any(cell.best for cell in cells) else []),
        *(f"{_SIGNS[stamp]} {said}." for stamp, said in _MEANINGS.items() if stamp in stamps),
    ]


# Each takes the name and title of an item, its grids, its surrogates, how its data differ from the
# paper's, and where it was measured, if not here.


def html(name, title, grids, surrogates, others=(), elsewhere=()) -> str:
    """The tables as one self-contained page, as the page of the run shows them too."""
    template = templates().get_template("table.html.j2")
    stamps = {"surrogates": surrogates, "others": others, "elsewhere": elsewhere}
    return template.render(name=name, title=title, grids=grids, **stamps)


def markdown(name, title, grids, surrogates, others=(), elsewhere=()) -> str:
    """The tables in the Markdown of GitHub."""
    lines = [f"{name}: {title}"]
    lines += [f"Surrogate data: {', '.join(surrogates)}"] if surrogates else []
    lines += [f"Other data than the paper's: {text}" for text in others]
    blocks = [f"**{_markdown(line)}**" for line in lines]
    for grid in grids:
        heads = [", ".join(filter(None, head)) for head in grid.heads]
        rules = ["---"] * len(grid.stub) + ["---:" if n else "---" for n in grid.numeric()]
        lines = [[_markdown(text) for text in (*grid.stub, *heads)], rules]
        for label, cells in zip(grid.labels, grid.cells, strict=True):
            lines.append([*map(_markdown, label), *map(_cell_text, cells)])
        blocks += [_markdown(grid.title)] if grid.title else []
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        blocks += map(_markdown, grid.notes)
    return "\n\n".join([*blocks, *map(_markdown, [*legend(grids), *elsewhere])]) + "\n"


def _cell_text(cell):
    if "not run" in cell.stamps:
        return "not run"
    if not (cell.text or cell.printed):
        return "\N{EN DASH}"
    ours = _markdown(cell.text)
    ours = f"**{ours}**" if cell.best else ours
    signs = "".join(_SIGNS[stamp] for stamp in cell.stamps)
    spread = f"± {_markdown(cell.spread)}" if cell.spread else ""
    printed = f"({_markdown(cell.printed)})" if cell.printed else ""
    return " ".join(filter(None, (ours + signs, spread, printed)))


def _markdown(text):
    return re.sub(r"([\\`*_|<$])", r"\\\1", text)
