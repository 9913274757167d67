"""The findings at the top of the page: those of docs/findings.md, whose numbers are compared."""

import re

import pytest

from kronbench_suite.commands.figures import plan_of_scale
from kronbench_suite.report.page import alone, findings
from tests.docs.pages import DOCS

SECTIONS = re.split(
    r"^## ", (DOCS / "findings.md").read_text(encoding="utf-8"), flags=re.MULTILINE
)
NUMBER = r"(?<![\w.])\d*\.\d+(?:e-\d+)?"


@pytest.mark.parametrize("found", findings(), ids=lambda found: found["item"])
def test_a_finding_is_told_at_length_with_the_same_numbers(found):
    plan_of_scale("paper").item(*found["item"].split("/", 1))
    of_item = [text for text in SECTIONS if f"`{found['item'].replace('/', ' ')}`" in text]
    numbers = set(re.findall(NUMBER, found["sentence"]))
    assert any(numbers <= set(re.findall(NUMBER, text)) for text in of_item)


def test_findings_that_are_sent_alone_have_no_link_into_a_folder():
    text = (DOCS / "findings.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", text)
    assert links
    shown = alone(text)
    assert "](" not in re.sub(r"\]\(https?:", "", shown)
    assert all(f"(docs/{link})" in shown for link in links)
    assert alone("[x](https://a.b) [y]") == "[x](https://a.b) [y]"
