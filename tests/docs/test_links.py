"""Links between the pages lead somewhere: files that exist, headings that stand there."""

import re

import pytest

from tests.docs.pages import DOCS, ROOT, blocks, name_of, pages, prose

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


def test_every_page_and_picture_is_reached_from_the_index():
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        if page.suffix == ".md":
            links = (target.partition("#")[0] for target in _LINK.findall(prose(page)))
            waiting += [
                (page.parent / path).resolve() for path in links if path and ":" not in path
            ]
    assert {page for page in pages() if DOCS in page.parents} <= reached
    assert {*(DOCS / "pictures").iterdir()} <= reached


def test_what_a_page_lists_as_its_contents_it_links_to():
    found = 0
    for page in pages():
        for block in blocks(page):
            if block.language == "{toctree}":
                listed = {f"{entry}.md" for entry in block.text.split() if entry[0] != ":"}
                assert listed <= {link.partition("#")[0] for link in _LINK.findall(prose(page))}
                found += len(listed)
    assert found == len([page for page in pages() if DOCS in page.parents]) - 1  # the index
