"""Tables in the paper's layout as HTML and Markdown."""

import xml.etree.ElementTree as ElementTree

from kronbench_suite.report.layout import Cell, Grid
from kronbench_suite.report.render import tables_as_markdown, templates

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
    shades=(("far", "more than 10 % away"),),
)
LEGEND = [
    "In brackets: the printed number.",
    "Bold: the best number measured here.",
    "‡ surrogate data, which say nothing about the paper.",
    "° other programs kept the machine busy.",
]


def test_tables_as_markdown():
    lines = tables_as_markdown("paper table-1", "All", [GRID], ["E"]).split("\n")
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


def test_a_missing_number_says_why_and_a_score_leads_to_its_predictions():
    cells = [
        Cell(
            "0.75", "0.01", best=True, bar=(10, 50, 90), key="0.7512", link="../p/tables/t/a.npz"
        ),
        Cell(stamps=("not run",), remark="too long"),
        Cell("0.7", stamps=("noted",), remark="of few pairs"),
    ]
    heads, made = [("a",), ("b",), ("c",)], (("a", "../p/tables/t/a.npz", "run p t a"),)
    grid = Grid("All of it", ("",), [("TS",)], heads, [cells], folded=True, made=made)
    said = {"name": "t", "title": "t", "grids": [grid], "surrogates": [], "others": []}
    text = templates().get_template("table.html.j2").render(**said)
    page = ElementTree.fromstring("<body>" + text.partition("<body>")[2].rpartition("</html>")[0])
    score, empty, noted = list(page.iter("td"))[1:]
    assert score.find("a").attrib == {"href": "../p/tables/t/a.npz", "tabindex": "-1"}
    assert score.find("a/b").text == "0.75"
    assert score.find("i").get("style") == "--low:10%;--mid:50%;--high:90%"
    # sorted by the number behind the text; nothing goes last, whatever is said there
    assert [td.get("data-key") for td in (score, empty, noted)] == ["0.7512", "", "0.7"]
    assert "".join(empty.itertext()) == "\N{EN DASH}Not run: too long"
    assert (empty.get("title"), noted.get("title")) == ("Not run: too long", "of few pairs")
    assert "".join(noted.itertext()) == "0.7†, of few pairs"
    folded, listed = page.iter("details")
    assert folded.find("summary").text == "All of it"
    assert "".join(listed.find("ul/li").itertext()) == "a: predictions, run p t a"
    row = next(line for line in tables_as_markdown(**said).split("\n") if line.startswith("| TS"))
    assert row == "| TS | **0.75** ± 0.01 | \N{EN DASH} | 0.7† |"


def test_html():
    """One page with every number, its marks, and the stamp of surrogate data."""
    said = {"name": "paper table-1", "title": "A < B", "grids": [GRID], "surrogates": ["E"]}
    template = templates().get_template("table.html.j2")
    text = template.render(**said, others=[], elsewhere=[])
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
