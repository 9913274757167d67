"""Tables in the paper's layout as Markdown, as LaTeX and as a picture."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from kronbench.report.formulas import apart
from kronbench.report.layout import Cell, Grid
from kronbench.report.style import ALARM

_PAGE_WIDTH = 11.0  # inches of a landscape page between narrow margins
_GAP = 0.16  # inches between columns
SIGNS = {"surrogate": "‡", "busy": "°"}
_MEANINGS = {
    "surrogate": "surrogate data, which say nothing about the paper",
    "busy": "the machine was busy with something else",
}


def legend(grids: Sequence[Grid]) -> list[str]:
    """What brackets, bold numbers and signs in the cells of these tables mean."""
    cells = [cell for grid in grids for line in grid.cells for cell in line]
    stamps = {stamp for cell in cells for stamp in cell.stamps}
    return [
        *(["In brackets: printed."] if any(cell.printed for cell in cells) else []),
        *(["Bold: the best of ours."] if any(cell.best for cell in cells) else []),
        *(f"{SIGNS[stamp]} {said}." for stamp, said in _MEANINGS.items() if stamp in stamps),
    ]


def cell_text(cell: Cell, bold: str = "{}") -> str:
    """A cell in one line, ours set with the template ``bold`` where it is the best."""
    if "not run" in cell.stamps:
        return "not run"
    if not (cell.text or cell.printed):
        return "\N{EN DASH}"
    ours = (bold if cell.best else "{}").format(cell.text)
    signs = "".join(SIGNS[stamp] for stamp in cell.stamps)
    spread = f"± {cell.spread}" if cell.spread else ""
    printed = f"({cell.printed})" if cell.printed else ""
    return " ".join(filter(None, (ours + signs, spread, printed)))


def markdown(title: str, grids: Sequence[Grid]) -> str:
    """The tables in the Markdown of GitHub."""
    blocks = [f"**{_markdown(title)}**"]
    for grid in grids:
        heads = [", ".join(filter(None, head)) for head in grid.heads]
        rules = ["---"] * len(grid.stub) + ["---:" if n else "---" for n in grid.numeric()]
        lines = [[_markdown(text) for text in (*grid.stub, *heads)], rules]
        for label, cells in zip(grid.labels, grid.cells, strict=True):
            shown = [cell_text(_escaped(cell, _markdown), "**{}**") for cell in cells]
            lines.append([*map(_markdown, label), *shown])
        blocks += [_markdown(grid.title)] if grid.title else []
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        blocks += map(_markdown, grid.notes)
    return "\n\n".join([*blocks, *map(_markdown, legend(grids))]) + "\n"


def latex(title: str, label: str, grids: Sequence[Grid]) -> str:
    """The tables as one ``table`` of LaTeX with the packages booktabs and graphicx.

    What is wider than the text is scaled down to it.
    """
    parts = [f"{_latex(grid.title)}\n\n{_tabular(grid)}" for grid in grids]
    notes = [note for grid in grids for note in grid.notes] + legend(grids)
    return "\n".join(
        [
            r"% \usepackage{booktabs, graphicx}",
            r"\begin{table}[p]\centering\small",
            rf"\caption{{{_latex(title)}}}\label{{{label}}}",
            "\n\\bigskip\n".join(parts),
            "",
            r"\medskip\begin{minipage}{\linewidth}\footnotesize",
            "\n\n".join(map(_latex, notes)),
            r"\end{minipage}",
            r"\end{table}",
            "",
        ]
    )


def picture(grids: Sequence[Grid]) -> Figure:
    """Tables in the paper's layout as a picture, columns as wide as their text.

    What is wider than a page is set in smaller letters.
    """
    size = 7.0
    figure = Figure()
    renderer = FigureCanvasAgg(figure).get_renderer()

    def wide(text, weight="normal"):
        """Inches of a text, and of a gap behind it."""
        drawn = Text(0, 0, text, fontsize=size, fontweight=weight, figure=figure)
        return drawn.get_window_extent(renderer).width / figure.dpi + _GAP

    tables = [_written(grid, wide) for grid in grids]
    width = max((sum(widths) for _, widths in tables), default=3.0)
    size *= min(1.0, _PAGE_WIDTH / width)
    scale = size / 7.0
    row = 0.19 * scale
    notes = [note for grid in grids for note in grid.notes] + legend(grids)
    below = [line for note in notes for line in textwrap.wrap(note, max(60, int(16 * width)))]
    n_rows = sum(1.5 + sum(map(_rows, lines)) for lines, _ in tables) + len(below)
    height = row * n_rows + 0.5
    figure.set_size_inches(max(3.0, width * scale + 0.2), height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, figure.get_figwidth()), ylim=(height, 0))
    axes.axis("off")

    def rule(first, last):
        """A line above the row at hand, between two places."""
        axes.plot([first, last], [y - 0.7 * row] * 2, "k", linewidth=0.6)

    y = 0.4
    for (lines, widths), grid in zip(tables, grids, strict=True):
        starts = 0.1 + scale * np.cumsum([0, *widths])
        ends = starts[1:] - _GAP * scale

        if grid.title:
            axes.text(starts[0], y, grid.title, fontsize=size, style="italic")
            y += row
        depth = len(grid.heads[0])
        for place, line in enumerate(lines):
            if place in (0, depth):
                rule(starts[0], ends[-1])
            elif place < depth:
                at = len(grid.stub)
                for _, columns in grid.spans(place - 1):
                    rule(starts[at], ends[at + columns - 1])
                    at += columns
            for k, (text, right, weight, colour) in enumerate(line):
                x = ends[k] if right else starts[k]
                axes.text(
                    x, y, text, fontsize=size, ha="right" if right else "left",
                    fontweight=weight, color=colour,
                )  # fmt: skip
            y += row * _rows(line)
        rule(starts[0], ends[-1])
        y += 0.5 * row
    for line in below:
        axes.text(0.1, y, line, fontsize=size, color="#444444")
        y += row
    return figure


def _tabular(grid):
    stub = len(grid.stub)
    columns = "l" * stub + "".join("r" if numeric else "l" for numeric in grid.numeric())
    lines = []
    depth = len(grid.heads[0])
    for level in range(depth):
        innermost = level == depth - 1
        names = [_latex(name) if innermost else "" for name in grid.stub]
        rules, at = [], stub + 1
        for text, width in grid.spans(level):
            names.append(rf"\multicolumn{{{width}}}{{c}}{{{_latex(text)}}}")
            rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines.append(rf"{' & '.join(names)} \\{'' if innermost else ''.join(rules)}")
    lines.append(r"\midrule")
    for names, cells in zip(grid.names(), grid.cells, strict=True):
        shown = [
            _latex_signs(cell_text(_escaped(cell, _latex), r"\textbf{{{}}}")) for cell in cells
        ]
        lines.append(rf"{' & '.join([*map(_latex, names), *shown])} \\")
    body = "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule"])
    fitted = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    return f"{fitted}\n{body}\n\\end{{tabular}}}}"


def _escaped(cell, escaped):
    texts = {name: escaped(getattr(cell, name)) for name in ("text", "spread", "printed")}
    return replace(cell, **texts)


def _markdown(text):
    pieces = apart(text)
    for k in range(0, len(pieces), 2):
        pieces[k] = re.sub(r"([\\`*_|<$])", r"\\\1", pieces[k])
    pieces[1::2] = [f"${formula}$" for formula in pieces[1::2]]
    return "".join(pieces)


# Signs that LaTeX does not print as they stand.
_ESCAPES = {
    **{sign: f"\\{sign}" for sign in "%&_#{}$"},
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
    **{"<": "$<$", ">": "$>$", "|": "$|$"},
}
_SIGNS = {
    **{"±": r"$\pm$", "·": r"$\cdot$", "≥": r"$\ge$", "∞": r"$\infty$"},
    **{"\N{EN DASH}": "--", "\N{MINUS SIGN}": "$-$"},
    **{"‡": r"$^\ddagger$", "°": r"$^\circ$", "\u2009": r"\,"},
}
_RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))


def _latex(text):
    pieces = apart(text)
    for k in range(0, len(pieces), 2):
        pieces[k] = _latex_signs("".join(_ESCAPES.get(sign, sign) for sign in pieces[k]))
    pieces[1::2] = [f"${formula}$" for formula in pieces[1::2]]
    return "".join(pieces)


def _latex_signs(text):
    raised = "".join(_RAISED)
    text = re.sub(
        f"[{raised}]+", lambda run: f"$^{{{''.join(_RAISED[sign] for sign in run[0])}}}$", text
    )
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def _rows(line):
    """How many rows a line is high: the limits of a sum stand below it."""
    return 1.6 if any("\\sum" in text for text, *_ in line) else 1


def _written(grid, wide):
    """The lines of a table, heads first: text, alignment, weight, colour; and widths in inches."""
    stub, numeric = len(grid.stub), grid.numeric()
    lines = []
    depth = len(grid.heads[0])
    for level in range(depth):
        names = grid.stub if level == depth - 1 else [""] * stub
        line = [(name, False, "bold", "black") for name in names]
        at = 0
        for text, columns in grid.spans(level):
            right = columns == 1 and numeric[at]
            line.append((text, right, "bold", "black"))
            line += [("", False, "normal", "black")] * (columns - 1)
            at += columns
        lines.append(line)
    for names, cells in zip(grid.names(), grid.cells, strict=True):
        line = [(name, False, "normal", "black") for name in names]
        for cell, right in zip(cells, numeric, strict=True):
            colour = ALARM if "surrogate" in cell.stamps else "black"
            line.append((cell_text(cell), right, "bold" if cell.best else "normal", colour))
        lines.append(line)
    innermost = lines[depth - 1 :]
    widths = [max(wide(*line[k][::2]) for line in innermost) for k in range(len(lines[0]))]
    # a head above several columns needs room for itself
    for level in range(depth - 1):
        at = stub
        for text, columns in grid.spans(level):
            lacking = wide(text, "bold") - sum(widths[at : at + columns])
            widths[at + columns - 1] += max(0.0, lacking)
            at += columns
    return lines, widths
