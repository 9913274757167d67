"""Titles of the International Patent Classification: real texts on the tree of WIPO-alpha."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from kronbench.datasets.corpus import CorpusLaw
from kronbench.datasets.dataset import Loader
from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import text_lines
from kronbench.datasets.wipo import placed_in_tree, surrogate_index
from kronbench.datasets.words import drawn_words, stems, unit_counts
from kronbench.errors import InputError

_SYMBOL = re.compile(r"[A-H](\d\d([A-Z](\d{4}(\d{6}))?)?)?", re.ASCII)
_LEVELS = (3, 4, 8)  # letters of a class, a subclass and a main group


def parse_titles(
    files: Mapping[str, LocalFile], *, section: str
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Each subgroup's title is a document, its main group the class.

    Parameters
    ----------
    files : mapping
        ``titles``: lines of a symbol, such as D01B0001020000, a tab and its English title.
    section : str
        A letter, A to H.

    Returns
    -------
    dict
        ``X`` csr (n, V), counts of the stems, scaled to rows of unit norm (a title without any
        word keeps a zero row); ``y``, and ``parents``, the tree below the section: classes,
        subclasses, and main groups that have subgroups.

    Raises
    ------
    InputError
        A line is not of that form, or belongs to another section.
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
        raise InputError(f"{file.name} holds no subgroup with a word in its title")
    return {"X": unit_counts(titles), **placed_in_tree(groups, _LEVELS)}


def surrogate_titles(
    rng: np.random.Generator,
    *,
    section: str,
    levels: Sequence[int],
    n_documents: int,
    median_size: float,
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Drawn titles of about eight words on a random tree of the section's size."""
    placed = surrogate_index(
        rng, levels=levels, n_documents=n_documents, n_test=0, median_size=median_size
    )
    law = CorpusLaw(
        n_words=round(4000 * (n_documents / 2900) ** 0.55),
        exponent=1.05,
        shift=2.7,
        log_length=2.0,
        spread=0.6,
        shares=(0.55, 0.10, 0.15, 0.20),
        supports=(400, 200, 80),
    )
    return {"X": drawn_words(rng, placed, law), "y": placed["y"], "parents": placed["parents"]}


LOADERS = {"ipc-titles": Loader("documents", parse=parse_titles, surrogate=surrogate_titles)}
