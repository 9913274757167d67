"""Titles of the International Patent Classification: real texts on the tree of WIPO-alpha."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from scipy import sparse

from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import text_lines
from kronbench.datasets.wipo import placed_in_tree
from kronbench.datasets.words import stems, unit_counts
from kronbench.errors import InputError

_SYMBOL = re.compile(r"[A-H](\d\d([A-Z](\d{4}(\d{6}))?)?)?", re.ASCII)
_LEVELS = (3, 4, 8)  # letters of a class, a subclass and a main group


def parse_titles(
    files: Mapping[str, LocalFile], *, section: str
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Each subgroup's title is a document, its main group the class.

    ``files`` has ``titles``: lines of a symbol, such as D01B0001020000, a tab and its English
    title. Rows are counts of stems, scaled to unit norm; that of a title without any word is zero.
    The tree below the section has classes, subclasses, and main groups that have subgroups.
    """
    file, groups, titles = files["titles"], [], []
    for number, line in enumerate(text_lines(file, "utf-8"), start=1):
        symbol, tab, title = line.partition("\t")
        match = _SYMBOL.fullmatch(symbol)
        if match is None or not tab or symbol[0] != section:
            raise InputError(
                f"{file.name}, line {number}: {line[:40]!r} is not a symbol of section {section} "
                "such as D01B0001020000, a tab and a title"
            )
        if match[4] not in (None, "000000"):  # the main group itself has the number 0
            groups.append(symbol[: _LEVELS[-1]])
            titles.append(title)
    if not any(map(stems, titles)):
        raise InputError(f"{file.name} has no subgroup with a word in its title")
    return {"X": unit_counts(titles), **placed_in_tree(groups, _LEVELS)}
