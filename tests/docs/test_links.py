"""Links between the pages lead somewhere: files that exist, headings that stand there."""

import re

import pytest

from tests.docs.pages import ROOT, name_of, pages, prose

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page):
    """The names of a page's headings, as forges and Sphinx make them."""
    heads = _HEADING.findall(
        re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    )
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_to_files_and_headings_that_are_there(page):
    for target in _LINK.findall(prose(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{name_of(page)} links to {target}"
        assert file.is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(file), f"{name_of(page)} links to {target}"
