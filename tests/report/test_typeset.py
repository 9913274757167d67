"""Tables in the paper's layout as Markdown and LaTeX, formulas on the page."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import matplotlib.mathtext
import pytest

from kronbench.errors import InputError
from kronbench.report import typeset
from kronbench.report.drawings.airola import complexity, losses
from kronbench.report.drawings.stock import shortcut_accuracy, system_residuals
from kronbench.report.formulas import apart, html, mathml, plain
from kronbench.report.layout import Cell, Grid

GRID = Grid(
    title="50 % of $n_f$",
    stub=("set_ting", "method"),
    labels=[("A", "TS*"), ("A", "KK")],
    heads=[("AUC", "nr"), ("AUC", "e"), ("time", "nr")],
    cells=[
        [
            Cell("0.9420", "0.010", "0.942", best=True, numeric=True),
            Cell(stamps=("not run",)),
            Cell("1.2·10⁻¹⁵", numeric=True, stamps=("busy",)),
        ],
        [
            Cell("0.9", printed="0.90", numeric=True, stamps=("surrogate",)),
            Cell("$a_{ij}$"),
            Cell(printed=">3d", numeric=True),
        ],
    ],
    notes=("a|b < c & d",),
)
LEGEND = [
    "In brackets: printed.",
    "Bold: the best of ours.",
    "‡ surrogate data, which say nothing about the paper.",
    "° the machine was busy with something else.",
]
FORMULAS = sorted(
    {
        formula
        for texts in (
            *losses.FORMULAS.values(),
            *system_residuals.PRINTED.values(),
            shortcut_accuracy.FORMULAS.values(),
            [f"$O({cost})$" for cost in complexity.PRINTED.values()],
        )
        for text in texts
        for formula in apart(text)[1::2]
    }
)


def test_markdown():
    lines = typeset.markdown("paper table-1", [GRID]).split("\n")
    assert lines == [
        "**paper table-1**",
        "",
        "50 % of $n_f$",
        "",
        r"| set\_ting | method | AUC, nr | AUC, e | time, nr |",
        "| --- | --- | ---: | --- | ---: |",
        r"| A | TS\* | **0.9420** ± 0.010 (0.942) | not run | 1.2·10⁻¹⁵° |",
        "| A | KK | 0.9‡ (0.90) | $a_{ij}$ | (>3d) |",
        "",
        r"a\|b \< c & d",
        "",
        *[line for sentence in LEGEND for line in (sentence, "")],
    ]


def test_latex():
    text = typeset.latex("50 % better", "paper-table-1", [GRID])
    lines = text.split("\n")
    assert r"\caption{50 \% better}\label{paper-table-1}" in lines
    assert lines[lines.index(r"\toprule") - 1] == r"\begin{tabular}{llrlr}"
    assert (
        r" &  & \multicolumn{2}{c}{AUC} & \multicolumn{1}{c}{time} \\"
        r"\cmidrule(lr){3-4}\cmidrule(lr){5-5}"
    ) in lines
    assert (
        r"A & TS* & \textbf{0.9420} $\pm$ 0.010 (0.942) & not run"
        r" & 1.2$\cdot$10$^{-15}$$^\circ$ \\"
    ) in lines
    assert r" & KK & 0.9$^\ddagger$ (0.90) & $a_{ij}$ & ($>$3d) \\" in lines  # "A" is said once
    assert r"a$|$b $<$ c \& d" in lines
    assert text.isascii() and text.count("{") == text.count("}")
    rows = [line for line in lines if line.endswith(r"\\")]
    assert [row.replace(r"\&", "").count("&") for row in rows] == [4, 4, 4]
    for environment in ("table", "tabular", "minipage"):
        assert (
            text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 1
        )


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="there is no LaTeX on this machine")
def test_latex_compiles(tmp_path):
    formulas = " ".join(f"${formula}$" for formula in FORMULAS)
    grid = typeset.latex("A title", "a-label", [GRID, GRID])
    text = rf"\documentclass{{article}}\usepackage{{booktabs,graphicx}}\begin{{document}}{grid}"
    (tmp_path / "table.tex").write_text(rf"{text}{formulas}\end{{document}}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_a_picture_has_every_text():
    figure = typeset.picture([GRID])
    texts = [text.get_text() for text in figure.axes[0].texts]
    for line in GRID.cells:
        for cell in line:
            assert typeset.cell_text(cell) in texts
    assert {"50 % of $n_f$", "set_ting", "AUC", *LEGEND} <= set(texts)
    assert texts.count("A") == 1
    bold = [text.get_text() for text in figure.axes[0].texts if text.get_weight() == "bold"]
    assert "0.9420 ± 0.010 (0.942)" in bold and "0.9‡ (0.90)" not in bold


@pytest.mark.parametrize("formula", FORMULAS)
def test_every_formula_is_set_on_the_page_and_in_the_picture(formula):
    tree = ElementTree.fromstring(f"<math>{mathml(formula)}</math>")
    kept = "".join(tree.itertext())
    # no letter and no number is lost, and the order stays
    signs = {"sum": "∑", "otimes": "⊗", "lambda": "λ", "frac": "", "mathbf": "", "mathrm": ""}
    plain = re.sub(r"\\([A-Za-z]+)", lambda name: signs.get(name[1], name[1]), formula)
    plain = re.sub(r"\\,|[{}^_\s]", "", plain)
    bold = {chr(0x1D400 + k): chr(ord("A") + k) for k in range(26)}
    assert kept.translate(str.maketrans({**bold, "\N{MINUS SIGN}": "-"})) == plain
    matplotlib.mathtext.MathTextParser("path").parse(f"${formula}$")


def test_formulas_in_plain_text():
    text = r"$\mathbf{H}^k$ divides by $1 - H^k_{ii}$, $\sigma^2$ for 5 $ or {less}"
    assert plain(text) == "H^k divides by 1 - H^k_ii, sigma^2 for 5 $ or {less}"


def test_formulas_as_mathml():
    assert mathml("a_{ij}^2") == (
        "<msubsup><mi>a</mi><mrow><mi>i</mi><mi>j</mi></mrow><mn>2</mn></msubsup>"
    )
    assert mathml(r"\frac{1}{2} \sum_i") == (
        "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"
        "<msub><mo>∑</mo><mi>i</mi></msub>"
    )
    assert mathml(r"\mathbf{K} \le 1.5") == "<mi>\U0001d40a</mi><mo>≤</mo><mn>1.5</mn>"
    assert html("1 < $p_i$ & $") == (
        "1 &lt; <math><msub><mi>p</mi><mi>i</mi></msub></math> &amp; $"
    )


@pytest.mark.parametrize("formula", ["a_", "{a", "a}", r"\nonsense", r"\frac{1}"])
def test_a_formula_that_cannot_be_set_is_named(formula):
    with pytest.raises(InputError, match="the formula"):
        mathml(formula)
