"""Tables in the paper's layout as HTML, Markdown and LaTeX."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence

import jinja2

from kronbench.report.layout import Cell, Grid

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


# Each takes the name and title of an item, its grids, its surrogates, and how its data differ from
# the paper's.


def html(name, title, grids, surrogates, others=()) -> str:
    """The tables as one self-contained page, as the page of the run shows them too."""
    template = templates().get_template("table.html.j2")
    stamps = {"surrogates": surrogates, "others": others}
    return template.render(name=name, title=title, grids=grids, **stamps)


def markdown(name, title, grids, surrogates, others=()) -> str:
    """The tables in the Markdown of GitHub."""
    lines = [f"{name}: {title}", *_stamp(surrogates, others)]
    blocks = [f"**{_markdown(line)}**" for line in lines]
    for grid in grids:
        heads = [", ".join(filter(None, head)) for head in grid.heads]
        rules = ["---"] * len(grid.stub) + ["---:" if n else "---" for n in grid.numeric()]
        lines = [[_markdown(text) for text in (*grid.stub, *heads)], rules]
        for label, cells in zip(grid.labels, grid.cells, strict=True):
            shown = [_cell_text(cell, "**{}**", _markdown) for cell in cells]
            lines.append([*map(_markdown, label), *shown])
        blocks += [_markdown(grid.title)] if grid.title else []
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        blocks += map(_markdown, grid.notes)
    return "\n\n".join([*blocks, *map(_markdown, legend(grids))]) + "\n"


def latex(name, title, grids, surrogates, others=()) -> str:
    """The tables as one ``table`` of LaTeX with booktabs and graphicx, as wide as the text."""
    parts = [rf"\textbf{{{_latex(line)}}}" + "\n" for line in _stamp(surrogates, others)]
    parts += [f"{_latex(grid.title)}\n\n{_tabular(grid)}" for grid in grids]
    notes = [note for grid in grids for note in grid.notes] + legend(grids)
    return "\n".join(
        [
            r"% \usepackage{booktabs, graphicx}",
            r"\begin{table}[p]\centering\small",
            rf"\caption{{{_latex(f'{name}: {title}')}}}\label{{{name.replace(' ', '-')}}}",
            "\n\\bigskip\n".join(parts),
            "",
            r"\medskip\begin{minipage}{\linewidth}\footnotesize",
            "\n\n".join(map(_latex, notes)),
            r"\end{minipage}",
            r"\end{table}",
            "",
        ]
    )


def _stamp(surrogates, others):
    lines = [f"Surrogate data: {', '.join(surrogates)}"] if surrogates else []
    return lines + [f"Other data than the paper's: {text}" for text in others]


def _cell_text(cell: Cell, bold: str, escaped: Callable[[str], str]) -> str:
    """A cell in one line, ours set with the template ``bold`` where it is the best."""
    if "not run" in cell.stamps:
        return "not run"
    if not (cell.text or cell.printed):
        return "\N{EN DASH}"
    ours = (bold if cell.best else "{}").format(escaped(cell.text))
    signs = "".join(_SIGNS[stamp] for stamp in cell.stamps)
    spread = f"± {escaped(cell.spread)}" if cell.spread else ""
    printed = f"({escaped(cell.printed)})" if cell.printed else ""
    return " ".join(filter(None, (ours + signs, spread, printed)))


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
    for begun, cells in zip(grid.stubs(), grid.cells, strict=True):
        names = [""] * (stub - len(begun)) + [_latex(text) for text, _ in begun]
        shown = [_latex_signs(_cell_text(cell, r"\textbf{{{}}}", _latex)) for cell in cells]
        lines.append(rf"{' & '.join([*names, *shown])} \\")
    body = "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule"])
    fitted = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    return f"{fitted}\n{body}\n\\end{{tabular}}}}"


def _markdown(text):
    return re.sub(r"([\\`*_|<$])", r"\\\1", text)


# Signs that LaTeX does not print as they stand.
_ESCAPES = {
    **{sign: f"\\{sign}" for sign in "%&_#{}$"},
    **{"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"},
    **{"<": "$<$", ">": "$>$", "|": "$|$"},
}
_TEXT = {"\N{EN DASH}": "--", "‡": r"$^\ddagger$", "°": r"$^\circ$", "\N{THIN SPACE}": r"\,"}
_MATHS = {
    **{"±": r"\pm", "×": r"\times", "·": r"\cdot", "⊗": r"\otimes", "∞": r"\infty"},
    **{"\N{MINUS SIGN}": "-", "≥": r"\ge", "≤": r"\le", "≠": r"\ne", "≈": r"\approx"},
    **{"⌊": r"\lfloor", "⌋": r"\rfloor", "‖": r"\|", "∂": r"\partial", "≫": r"\gg"},
    **{"→": r"\to", "Σ": r"\sum", "½": r"\frac12", "¼": r"\frac14"},
}


def _latex(text):
    text = "".join(_ESCAPES.get(sign, sign) for sign in unicodedata.normalize("NFD", text))
    text = re.sub("([A-Za-z])\N{COMBINING CIRCUMFLEX ACCENT}", r"$\\hat{\1}$", text)
    return _latex_signs(unicodedata.normalize("NFC", text))


def _latex_signs(text):
    """Signs of Unicode as LaTeX has them: raised and lowered letters, Greek, operators."""
    pieces = []
    for kind, run in itertools.groupby(text, _place):
        letters = "".join(
            _latex_sign(unicodedata.normalize("NFKD", sign) if kind else sign) for sign in run
        )
        pieces.append(f"${kind}{{{letters.replace('$', '')}}}$" if kind else letters)
    return "".join(pieces)


def _place(sign):
    """Whether a sign is raised (^) or lowered (_)."""
    kind = unicodedata.decomposition(sign).partition(" ")[0]
    return {"<super>": "^", "<sub>": "_"}.get(kind, "")


def _latex_sign(sign):
    if sign in _MATHS:
        return f"${_MATHS[sign]}$"
    name = unicodedata.name(sign, "")
    if not name.startswith("GREEK"):
        return _TEXT.get(sign, sign)
    # Unicode spells one of them in its own way.
    letter = "lambda" if sign in "λΛ" else name.rpartition(" ")[2].lower()
    return f"$\\{letter.title() if 'CAPITAL' in name else letter}$"
