"""Titles of the International Patent Classification: real texts on the tree of WIPO-alpha."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.wipo import placed_in_tree
from kronbench.datasets.words import unit_counts

_LEVELS = (3, 4, 8)  # letters of a class, a subclass and a main group


def parse_titles(
    files: Mapping[str, LocalFile], *, section: str
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Each subgroup's title is a document, its main group the class.

    ``files`` has ``titles``: lines of a symbol, such as D01B0001020000, a tab and its English
    title. Rows are counts of stems, scaled to unit norm; that of a title without any word is zero.
    The tree below the section has classes, subclasses, and main groups that have subgroups.
    """
    groups, titles = [], []
    for line in files["titles"].text().splitlines():
        symbol, _, title = line.partition("\t")
        if symbol[8:] not in ("", "000000"):  # the main group itself has the number 0
            groups.append(symbol[: _LEVELS[-1]])
            titles.append(title)
    return {"X": unit_counts(titles), **placed_in_tree(groups, _LEVELS)}
