"""The pages in a real browser: filters and order by address, copies, narrow screens, no errors.

What screen readers and keyboards need is checked by axe-core, where ``KRONBENCH_AXE`` names its
``axe.min.js``: ``npm install --prefix FOLDER axe-core`` puts it into
``FOLDER/node_modules/axe-core/``.
"""

import dataclasses
import html
import json
import os
import re
import shutil
import subprocess

import pytest

from kronbench_suite.report import render
from kronbench_suite.report.layout import Cell, Grid
from kronbench_suite.report.page import write_report
from tests.report.test_report import claim, curves, say, scores, write_results

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
AXE = os.environ.get("KRONBENCH_AXE")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on this machine")

# Runs last and writes down what a reader would see; errors are collected from the beginning.
BEFORE = """<script>
window.seen = {errors: []};
window.addEventListener("error", (event) => window.seen.errors.push(event.message));
</script>"""
AFTER = """<script>
setTimeout(() => {
  const rows = [...document.querySelectorAll("#claims-table tbody tr")];
  Object.assign(window.seen, {
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    pictures: [...document.images].every((image) => image.complete && image.naturalWidth > 0),
    shown: rows.filter((row) => !row.hidden).map((row) => row.id),
    said: document.getElementById("shown")?.textContent,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name)
      .filter((name) => !name.startsWith("data:")),
    unnamed: [...document.querySelectorAll("img, button, input, select, a")].filter(
      (element) => element.tagName === "IMG" ? !element.hasAttribute("alt")
        : !(element.textContent || element.ariaLabel || element.labels?.length)).length,
    sorted: [...document.querySelectorAll("#claims-table th[aria-sort]")].map((th) => th.ariaSort),
  });
  document.body.dataset.seen = JSON.stringify(window.seen);
}, 300);
</script>"""


@pytest.fixture
def page(plan, monkeypatch):
    figure, table = items = plan.item("airola", "figure-3"), plan.item("airola", "table-6")
    plan = dataclasses.replace(plan, items=items)
    write_results(figure, curves())
    auc = {"KronSVM": [0.6, 0.7], "KNN": [0.55, 0.55], "SGD hinge": [float("nan")]}
    write_results(table, scores(auc), source="surrogate")
    for item in items:
        render.render(item)
    holds, wrong = (claim(kind="at_least", value="auc", bound=bound) for bound in (0, 2))
    judged = [
        holds | {"id": "holds-b", "strictness": "loose"},
        holds | {"id": "holds-a", "strictness": "strict", "whose": "ours"},
        wrong | {"id": "wrong", "strictness": "loose"},
    ]
    say(monkeypatch, *judged)
    write_report(plan)
    return plan.report / "index.html"


def seen(page, address="", width=1200, after=AFTER, options=(), name="claims.html"):
    """What a browser shows at an address of a page beside the overview."""
    text = page.with_name(name).read_text()
    watched = page.with_name("watched.html")
    watched.write_text(
        text.replace("<head>", "<head>" + BEFORE).replace("</body>", after + "</body>")
    )
    return opened(f"{watched.resolve().as_uri()}{address}", f"--window-size={width},900", *options)


def opened(address, *options):
    """What a page has written down at its end."""
    command = [
        *(BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"),
        *("--disable-background-networking", "--virtual-time-budget=6000", "--dump-dom"),
        *(*options, address),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    return json.loads(html.unescape(found[1]))


NAMES = ("index.html", "claims.html", "airola-figure-3.html", "airola-table-6.html")
TABLE = NAMES[-1]


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_there_and_nothing_is_asked_for(page, name):
    found = seen(page, name=name)
    assert found["errors"] == []
    assert found["requests"] == []
    assert found["unnamed"] == 0
    assert found["pictures"]
    assert found.get("said") == ("3 of 3 claims" if name == "claims.html" else None)


def test_the_address_filters_and_sorts(page):
    found = seen(page, "#claims?verdict=contradicted")
    assert found["shown"] == ["claim-wrong"]
    assert found["said"] == "1 of 3 claims"
    assert seen(page, "#claims?paper=stock")["shown"] == []
    assert seen(page, "#claims?strictness=strict")["shown"] == ["claim-holds-a"]
    assert seen(page, "#claims?q=UNKNOWN")["shown"] == ["claim-wrong"]
    assert seen(page, "#claims?cause=unknown")["shown"] == ["claim-wrong"]
    assert seen(page, "#claims?whose=ours")["shown"] == ["claim-holds-a"]
    assert seen(page, "#claims?verdict=holds&strictness=loose")["shown"] == ["claim-holds-b"]
    found = seen(page, "#claims?sort=0-")
    assert found["shown"][0] == "claim-wrong"
    assert found["sorted"][0] == "descending"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_on_a_phone(page, name):
    # the smallest window of this browser is 500 wide; a frame is as narrow as a phone
    phone = page.with_name("phone.html")
    seen(page, name=name)
    phone.write_text(
        '<iframe src="watched.html" style="width:360px;height:800px" onload="setTimeout(() => '
        "{ document.body.dataset.seen = this.contentDocument.body.dataset.seen; }, 900)"
        '"></iframe>'
    )
    found = opened(phone.resolve().as_uri(), "--allow-file-access-from-files")
    assert found["overflow"] <= 0


def test_a_table_is_set_as_in_the_paper_and_copied_as_its_files(page):
    read = """<script>
    const shown = document.querySelector(".layout");
    document.body.dataset.seen = JSON.stringify({
      first: [...shown.tBodies[0].rows[0].cells].map((cell) => cell.textContent.trim()),
      marked: shown.querySelectorAll("td.outside").length,
      copy: copied(document.querySelector("button[data-copy=md]")),
      folded: !document.querySelector(".numbers").checkVisibility(),
    });
    </script>"""
    found = seen(page, after=read, name=TABLE)
    assert found["first"][0] == "KronSVM"
    assert re.search(r"\n0.650‡ ± 0.\d{3} \(0.62\)\n", "\n".join(found["first"]) + "\n")
    assert found["marked"] > 0
    assert found["copy"] == (page.parents[1] / "airola" / "table-6.md").read_text()
    assert found["folded"]


def test_a_table_is_sorted_and_filtered_by_its_numbers(page):
    read = r"""<script>
    const one = document.querySelector(".layout");
    one.tHead.innerHTML = "<tr><th rowspan=2>a</th><td rowspan=2></td><th>g</th></tr>"
      + "<tr><th>n</th></tr>";
    const numbers = ["−0.5 (1)", "1.2·10⁻³", "10\u2009000", "9.5", "", "≥ 0.45"];
    one.tBodies[0].innerHTML = numbers.map((number, at) => `<tr>${at % 3 ? "" :
      `<th rowspan=3>x${at}</th>`}<th>${at}</th><td>${number}</td></tr>`).join("");
    sortable(one);
    const [label, head] = one.tHead.querySelectorAll("[aria-sort]");
    const shown = () => [...one.tBodies[0].rows].filter((row) => !row.hidden)
      .map((row) => row.cells[0].textContent + row.cells[1].textContent);
    const press = (head) => {
      head.querySelector("button").click();
      return [head.ariaSort, shown()];
    };
    const seen = {
      heads: one.tHead.querySelectorAll("[aria-sort]").length,
      up: press(head), down: press(head), label: press(label), other: head.ariaSort,
    };
    filterable(one);
    const field = document.querySelector(".filter input");
    field.value = "X0 000";
    field.dispatchEvent(new Event("input"));
    const line = field.closest(".filter").textContent;
    seen.kept = [field.labels[0].textContent.trim(), line, shown()];
    document.body.dataset.seen = JSON.stringify(seen);
    </script>"""
    found = seen(page, after=read, name=TABLE)
    assert found["heads"] == 2
    assert found["up"] == ["ascending", ["x00", "x01", "x35", "x33", "x02", "x34"]]
    assert found["down"] == ["descending", ["x02", "x33", "x35", "x01", "x00", "x34"]]
    assert found["label"][1][:3] == ["x02", "x01", "x00"], "in the order that it had"
    assert found["other"] == "none"
    assert found["kept"] == ["filter", "filter  1 of 6 rows", ["x02"]]


def test_a_single_table_is_sorted_and_filtered_by_row_and_column(page):
    """By the numbers behind the texts; equal ones keep their order, and nothing comes last."""
    means = [0.7512, 0.7514, None, 0.7512, *[7e-05] * 6]
    cells = [
        [Cell("0.751", "0.1", key=str(mean)) if mean else Cell(stamps=("not run",), remark="9 h")]
        for mean in means
    ]
    names = [(f"m{at}",) for at in range(len(means))]
    heads, cells = [("AUC", "NR"), ("AUC", "E"), ("C", "Ki")], [3 * line for line in cells]
    content = {"name": "t", "title": "t", "surrogates": [], "others": []}
    grid = Grid("", ("method",), names, heads, cells)
    text = render.templates().get_template("table.html.j2").render(grids=[grid], **content)
    page.write_text(text)
    read = """<script>addEventListener("DOMContentLoaded", () => {
    const [one] = document.querySelectorAll(".layout");
    const head = one.tHead.rows[1].cells[0];
    const shown = (cells) => [...cells].filter((cell) => !cell.hidden);
    const press = () => {
      head.querySelector("button").click();
      return [head.ariaSort, [...one.tBodies[0].rows].map((row) => row.cells[0].textContent)];
    };
    const type = (words) => {
      const field = document.querySelector("input");
      field.value = words;
      field.dispatchEvent(new Event("input"));
      return [shown(one.tBodies[0].rows).length, shown(one.tBodies[0].rows[0].cells).length,
        [...one.tHead.rows].map((row) => shown(row.cells).map((cell) => cell.textContent)),
        one.tHead.rows[0].cells[1].colSpan];
    };
    document.body.dataset.seen = JSON.stringify(
      {up: press(), down: press(), typed: ["nr", "m0 ki", "", "auc"].map(type)});
    });</script>"""
    found = seen(page, after=read, name=page.name)
    low = [f"m{at}" for at in range(4, 10)]
    assert found["up"] == ["ascending", [*low, "m0", "m3", "m1", "m2"]]
    assert found["down"] == ["descending", ["m1", "m0", "m3", *low, "m2"]]
    assert found["typed"] == [
        [10, 2, [["method", "AUC"], ["NR"]], 1],
        [1, 2, [["method", "C"], ["Ki"]], 1],
        [10, 4, [["method", "AUC", "C"], ["NR", "E", "Ki"]], 2],
        [10, 3, [["method", "AUC"], ["NR", "E"]], 2],
    ]


def test_what_is_long_and_folded_is_packed_until_it_is_unfolded(page):
    """The page has not its text; unfolded, it has every row, which is sorted and says why."""
    labels = [(f"row {at}",) for at in range(400)]
    cells = [[Cell(f"{at}.5", remark="<few> pairs", numeric=True)] for at in range(400)]
    grid = Grid("All of it", ("method",), labels, [("AUC",)], cells, folded=True)
    content = {"name": "t", "title": "t", "grids": [grid], "surrogates": [], "others": []}
    text = render.templates().get_template("table.html.j2").render(**content)
    assert "row 399" not in text
    page.write_text(text)
    read = """<script>addEventListener("DOMContentLoaded", () => {
    new MutationObserver((_, watch) => {
      const table = document.querySelector("table");
      if (!table?.querySelector(".sort")) return;
      watch.disconnect();
      const rows = [...table.tBodies[0].rows];
      for (const _ of [1, 2]) table.tHead.rows[0].cells[1].querySelector("button").click();
      const [first] = table.tBodies[0].rows;
      document.body.dataset.seen = JSON.stringify({
        labels: rows.map((row) => row.cells[0].textContent),
        highest: [first.cells[0].textContent, first.cells[1].title],
        filters: document.querySelectorAll(".filter input").length,
      });
    }).observe(document.body, { childList: true, subtree: true });
    document.querySelector("details").open = true;
    });</script>"""
    found = seen(page, after=read, name=page.name)
    assert found["labels"] == [label for (label,) in labels]
    assert found["highest"] == ["row 399", "<few> pairs"]
    assert found["filters"] == 1


@pytest.mark.parametrize(("width", "wide"), [(400, True), (1900, False)])
def test_a_table_has_the_width_of_the_window_or_says_that_it_goes_on(page, width, wide):
    read = """<script>
    const grid = document.querySelector(".layout");
    grid.rows[0].cells[0].style.minWidth = "1400px";
    stops();
    document.body.dataset.seen = JSON.stringify({
      wide: grid.parentElement.classList.contains("wide"),
      hint: getComputedStyle(grid.parentElement, "::before").content,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    });
    </script>"""
    found = seen(page, width=width, after=read, name=TABLE)
    assert found["wide"] == wide
    assert ("scroll" in found["hint"]) == wide
    assert found["overflow"] <= 0


@pytest.mark.skipif(AXE is None, reason="KRONBENCH_AXE names no axe.min.js of axe-core")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1200, 500])
@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_nothing_stands_in_the_way_of_a_screen_reader(page, width, scheme, name):
    shutil.copy(AXE, page.with_name("axe.js"))
    run = """<script src="axe.js"></script><script>
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    axe.run().then(({ passes, violations }) => {
      document.body.dataset.seen = JSON.stringify({
        dark: matchMedia("(prefers-color-scheme: dark)").matches,
        passes: passes.length,
        violations: violations.map(({ id, impact, nodes }) => [impact, id, nodes[0].html]),
      });
    });
    </script>"""
    scheme_option = f"--blink-settings=preferredColorScheme={scheme}"
    found = seen(page, width=width, after=run, options=[scheme_option], name=name)
    assert found["dark"] == (scheme == 0)
    assert found["passes"] > 20
    assert [entry for entry in found["violations"] if entry[0] != "minor"] == []
