"""The page in a real browser: filters and order by address, copies, narrow screens, no errors."""

import dataclasses
import json
import re
import shutil
import subprocess

import pytest

from kronbench.report import render
from kronbench.report.page import write_report
from tests.report.test_report import claim, curves, plan, say, write_results  # noqa: F401

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
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
    articles: document.querySelectorAll("article").length,
    thumbnails: document.querySelectorAll(".thumb img").length,
    pictures: [...document.images].every((image) => image.complete && image.naturalWidth > 0),
    shown: rows.filter((row) => !row.hidden).map((row) => row.id),
    said: document.getElementById("shown").textContent,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name)
      .filter((name) => !name.startsWith("data:")),
    unnamed: [...document.querySelectorAll("img, button, input, select, a")].filter(
      (element) => element.tagName === "IMG" ? !element.hasAttribute("alt")
        : !(element.textContent || element.ariaLabel || element.labels?.length)).length,
    sorted: [...document.querySelectorAll("th[aria-sort]")].map((th) => th.ariaSort),
  });
  document.body.dataset.seen = JSON.stringify(window.seen);
}, 300);
</script>"""


@pytest.fixture
def page(plan, monkeypatch):  # noqa: F811
    small = plan.item("airola", "figure-3")
    plan = dataclasses.replace(plan, items=(small,))
    write_results(small, curves())
    render.render(small)
    judged = [
        claim(kind="at_least", value="auc", bound=0) | {"id": "holds-b", "strictness": "loose"},
        claim(kind="at_least", value="auc", bound=0) | {"id": "holds-a", "strictness": "strict"},
        claim(kind="at_least", value="auc", bound=2) | {"id": "fails", "strictness": "loose"},
    ]
    say(monkeypatch, *judged)
    write_report(plan)
    return plan.report / "index.html"


def seen(page, address="", width=1200):
    """What a browser shows at an address of the page."""
    text = page.read_text()
    watched = page.with_name("watched.html")
    watched.write_text(
        text.replace("<head>", "<head>" + BEFORE).replace("</body>", AFTER + "</body>")
    )
    command = [
        BROWSER,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=4000",
        f"--window-size={width},900",
        "--dump-dom",
        f"{watched.resolve().as_uri()}{address}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    return json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&"))


def test_everything_is_there_and_nothing_is_asked_for(page):
    found = seen(page)
    assert found["errors"] == [] and found["requests"] == [] and found["unnamed"] == 0
    assert found["articles"] == 1 and found["thumbnails"] == 1 and found["pictures"]
    assert found["said"] == "3 of 3 claims"


def test_the_address_filters_and_sorts(page):
    found = seen(page, "#claims?verdict=fails")
    assert found["shown"] == ["claim-fails"] and found["said"] == "1 of 3 claims"
    assert seen(page, "#claims?paper=stock")["shown"] == []
    assert seen(page, "#claims?strictness=strict")["shown"] == ["claim-holds-a"]
    assert seen(page, "#claims?q=FAILS")["shown"] == ["claim-fails"]
    found = seen(page, "#claims?sort=0-")
    assert found["shown"][0] == "claim-fails" and found["sorted"][0] == "descending"


def test_nothing_is_cut_on_a_phone(page):
    # the smallest window of this browser is 500 wide; a frame is as narrow as a phone
    phone = page.with_name("phone.html")
    seen(page)
    phone.write_text(
        '<iframe src="watched.html" style="width:360px;height:800px" onload="setTimeout(() => '
        "{ document.body.dataset.seen = this.contentDocument.body.dataset.seen; }, 900)"
        '"></iframe>'
    )
    command = [
        *(BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"),
        *("--allow-file-access-from-files", "--virtual-time-budget=6000", "--dump-dom"),
        phone.resolve().as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr[-2000:]
    assert json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&"))["overflow"] <= 0
