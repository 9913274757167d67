"""Tables in the paper's layout as HTML, Markdown and LaTeX."""

import re
import shutil
import subprocess
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest

from kronbench.papers.airola.draw import complexity, losses
from kronbench.papers.stock.draw import shortcut_accuracy, system_residuals
from kronbench.report import typeset
from kronbench.report.layout import Cell, Grid

GRID = Grid(
    title="50 % of nᵢ",
    stub=("set_ting", "method"),
    labels=[("A", "TS*"), ("A", "KK")],
    heads=[("AUC", "nr"), ("AUC", "e"), ("time", "nr")],
    cells=[
        [
            Cell("0.9420", "0.010", "0.942", best=True, mark="far", numeric=True),
            Cell(stamps=("not run",)),
            Cell("1.2·10⁻¹⁵", numeric=True, stamps=("busy",)),
        ],
        [
            Cell("0.9", printed="0.90", numeric=True, stamps=("surrogate",)),
            Cell("aᵢⱼ"),
            Cell(printed=">3d", numeric=True),
        ],
    ],
    notes=("a|b < c & d",),
)
LEGEND = [
    "In brackets: the printed number.",
    "Bold: the best number measured here.",
    "‡ surrogate data, which say nothing about the paper.",
    "° other programs kept the machine busy.",
]


def texts_of(value):
    """All texts in nested tuples and mappings."""
    if isinstance(value, str):
        return [value]
    return [text for part in getattr(value, "values", lambda: value)() for text in texts_of(part)]


FORMULAS = texts_of(
    [
        *(losses.FORMULAS, complexity.PRINTED, shortcut_accuracy.FORMULAS),
        system_residuals.PRINTED,
        ("R̂ (Ĝ ⊗ K̂) Rᵀ a", "n × n, 2⁻⁷ ≤ σ² ≠ ∞, Ψ / n → Φ"),
        ("row ⌊i/c⌋ of Q", "‖f‖² ≥ 0, dr ≫ n", "∂²J/∂a² ≈ 0"),
    ]
)


def test_markdown():
    lines = typeset.markdown("paper table-1", "All", [GRID], ["E"]).split("\n")
    assert lines == [
        "**paper table-1: All**",
        "",
        "**Surrogate data: E**",
        "",
        "50 % of nᵢ",
        "",
        r"| set\_ting | method | AUC, nr | AUC, e | time, nr |",
        "| --- | --- | ---: | --- | ---: |",
        r"| A | TS\* | **0.9420** ± 0.010 (0.942) | not run | 1.2·10⁻¹⁵° |",
        "| A | KK | 0.9‡ (0.90) | aᵢⱼ | (>3d) |",
        "",
        r"a\|b \< c & d",
        "",
        *[line for sentence in LEGEND for line in (sentence, "")],
    ]


def test_latex():
    text = typeset.latex("paper table-1", "50 % better", [GRID], ["e_x"])
    lines = text.split("\n")
    assert r"\textbf{Surrogate data: e\_x}" in lines
    assert r"\caption{paper table-1: 50 \% better}\label{paper-table-1}" in lines
    assert lines[lines.index(r"\toprule") - 1] == r"\begin{tabular}{llrlr}"
    assert (
        r" &  & \multicolumn{2}{c}{AUC} & \multicolumn{1}{c}{time} \\"
        r"\cmidrule(lr){3-4}\cmidrule(lr){5-5}"
    ) in lines
    assert (
        r"A & TS* & \textbf{0.9420} $\pm$ 0.010 (0.942) & not run"
        r" & 1.2$\cdot$10$^{-15}$$^\circ$ \\"
    ) in lines
    assert r" & KK & 0.9$^\ddagger$ (0.90) & a$_{ij}$ & ($>$3d) \\" in lines  # "A" is said once
    assert r"a$|$b $<$ c \& d" in lines
    assert text.isascii()
    assert text.count("{") == text.count("}")
    rows = [line for line in lines if line.endswith(r"\\")]
    assert [row.replace(r"\&", "").count("&") for row in rows] == [4, 4, 4]
    for environment in ("table", "tabular", "minipage"):
        assert (
            text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 1
        )


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no LaTeX on this machine")
def test_latex_compiles(tmp_path):
    formulas = Grid("", ("",), [(text,) for text in FORMULAS], [("",)], [[Cell()]] * len(FORMULAS))
    grid = typeset.latex("a table", "A title", [GRID, formulas], ["E"])
    text = rf"\documentclass{{article}}\usepackage{{booktabs,graphicx}}\begin{{document}}{grid}"
    (tmp_path / "table.tex").write_text(rf"{text}\end{{document}}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize("text", sorted(set(FORMULAS)))
def test_every_formula_is_set_in_latex(text):
    """No sign is left that LaTeX does not know, and no letter and number is lost."""
    (line,) = (line for line in typeset.latex("", text, [], []).split("\n") if "caption" in line)
    assert line.isascii()
    assert line.count("{") == line.count("}")
    assert line.count("$") % 2 == 0
    kept = re.sub(r"\\[A-Za-z]+", "", line)
    wanted = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    assert re.findall("[A-Za-z0-9]", kept) == re.findall("[A-Za-z0-9]", wanted)


def test_html():
    """One page with every number, its marks, and the stamp of surrogate data."""
    text = typeset.html("paper table-1", "A < B", [GRID], ["E"])
    assert "<title>Kronbench: paper table-1</title>" in text
    assert "A &lt; B" in text
    assert "src=" not in text
    assert "href=" not in text
    page = ElementTree.fromstring("<body>" + text.partition("<body>")[2].rpartition("</html>")[0])
    assert "Surrogate data: E" in [part.text for part in page.iter("p")]
    (box,) = (part for part in page.iter("div") if part.get("role") == "region")
    assert "surrogate" in box.get("class")  # across the table, as across a figure
    assert ".surrogate table { background: url(" in text
    heads = [[(th.text, th.get("colspan")) for th in tr.iter("th")] for tr in box.iter("tr")][:2]
    assert heads == [
        [("set_ting", None), ("method", None), ("AUC", "2"), ("time", None)],
        [("nr", None), ("e", None), ("nr", None)],
    ]
    cells = [td for tr in box.find("table/tbody").iter("tr") for td in tr.iter("td")]
    assert ["".join(td.itertext()) for td in cells] == [
        *("0.9420 ± 0.010 (0.942)", "not run", "1.2·10⁻¹⁵°"),
        *("0.9‡ (0.90)", "aᵢⱼ", " (>3d)"),
    ]
    assert cells[0].find("b").text == "0.9420"
    assert "far" in cells[0].get("class").split()
    assert "doubt" in cells[3].get("class").split()
    assert [td.find("span[@class='printed']") is not None for td in cells] == [
        *(True, False, False, True, False, True)
    ]
    legend = "".join(list(page.iter("p"))[-1].itertext())
    assert all(sentence in legend for sentence in LEGEND)
    assert "more than 10 %" in legend
