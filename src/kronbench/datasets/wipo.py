"""WIPO-alpha, patents in the tree of the International Patent Classification (Seeger 2006, 8.2).

The index of the collection gives each document's place in the tree and the official split. The
texts come from the user's own copy of the collection; for section D there are 100 published
features made from the real texts. The titles of the classification are real texts on such a tree.
"""

from __future__ import annotations

import functools
import re
import warnings
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from kronbench.datasets.dataset import Arrays
from kronbench.datasets.fetch import Files
from kronbench.errors import InputError, extra_for

_SYMBOL_LETTERS = (1, 3, 4, 7)  # letters of a section, a class, a subclass and a main group
_TITLE_SYMBOL_LETTERS = (3, 4, 8)  # the same in the file of titles, of one section
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_WORD = re.compile(r"[a-z]{2,}")
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][\w.-]*;")


def parse_index(files: Files, *, section: str | None = None) -> Arrays:
    """The tree of all sections, or below one, and each document's place in it.

    ``files`` has ``train`` and ``test``, lists of paths ``./D/01/D/001/US9812345_30121998.xml``.
    Classes are the main groups that have documents, in alphabetical order.
    """
    return _placed(_listed(files, section), section)


def parse_records(files: Files, *, section: str) -> Arrays:
    """Bags of words of title and claims of one section, from the user's copy of the collection.

    ``files`` has ``train`` and ``test``, the index, and ``collection``: a zip archive of the XML
    records, each below its path of the index. Rows are counts of stems, scaled to unit norm; that
    of a record without any word is zero.
    """
    documents = _listed(files, section)
    texts = _texts_of_records(files["collection"], documents)
    return {"X": unit_counts(texts), **_placed(documents, section)}


def parse_features(files: Files, *, section: str, n_features: int) -> Arrays:
    """Features of one section made by others from the real texts, scaled to rows of unit norm.

    ``files`` has ``train`` and ``test``, the index, and ``train_features`` and ``test_features``:
    arrays in numpy's format, one row a document in the alphabetical order of the paths.
    """
    documents = _listed(files, section)
    documents.sort(key=lambda document: (document[2], document[1]))
    placed = _placed(documents, section)
    n_test, X = int(placed["is_test"].sum()), []
    for half, size in (("train", len(documents) - n_test), ("test", n_test)):
        # A header as Python 2 wrote it gives a warning, and is read.
        with files[f"{half}_features"].open() as stream, warnings.catch_warnings(action="ignore"):
            values = np.lib.format.read_array(stream, allow_pickle=False)
        X.append(values.reshape(size, n_features))
    return {"X": unit_rows(np.vstack(X)), **placed}


def parse_titles(files: Files, *, section: str) -> Arrays:
    """Each subgroup's title is a document, its main group the class.

    ``files`` has ``titles``: lines of a symbol, such as D01B0001020000, a tab and its English
    title. Rows are counts of stems, scaled to unit norm; that of a title without any word is zero.
    The tree below the section has classes, subclasses, and main groups that have subgroups.
    """
    groups, titles = [], []
    for line in files["titles"].text().splitlines():
        symbol, _, title = line.partition("\t")
        if symbol[8:] not in ("", "000000"):  # the main group itself has the number 0
            groups.append(symbol[: _TITLE_SYMBOL_LETTERS[-1]])
            titles.append(title)
    return {"X": unit_counts(titles), **_tree(groups, _TITLE_SYMBOL_LETTERS)}


def _tree(groups, levels):
    """The tree of the prefixes, of these lengths, of main groups, and each document's class."""
    names = [""]
    for length in levels:
        names.extend(sorted({group[:length] for group in groups}))
    node = {name: index for index, name in enumerate(names)}
    above = dict(zip(levels, (0, *levels), strict=False))
    parents = [-1, *(node[name[: above[len(name)]]] for name in names[1:])]
    n_inner = sum(len(name) < levels[-1] for name in names)
    return {
        "y": np.array([node[group] - n_inner for group in groups]),
        "parents": np.array(parents),
    }


def _listed(files, section):
    """(main group, path, is in the test half) of each document, e.g. ("D01D001", "D/01/...")."""
    documents = []
    for half in ("train", "test"):
        for line in files[half].text("latin-1").upper().splitlines():
            path = line.strip().removeprefix("./")
            if section is None or path.startswith(section):
                documents.append(("".join(path.split("/")[:4]), path, half == "test"))
    return documents


def _placed(documents, section):
    """Classes, tree and split of documents; the root is the section, where one is given."""
    levels = _SYMBOL_LETTERS if section is None else _SYMBOL_LETTERS[1:]
    placed = _tree([group for group, _, _ in documents], levels)
    return {**placed, "is_test": np.array([is_test for _, _, is_test in documents])}


def _texts_of_records(file, documents):
    """Yield title and claims in English of each document, from the zip archive of all records."""
    with file.open() as stream, zipfile.ZipFile(stream) as archive:
        # Paths of the index are the last five parts of those in the archive, in any case.
        places = {"/".join(name.upper().split("/")[-5:]): name for name in archive.namelist()}
        lacking = [path for _, path, _ in documents if path not in places]
        if lacking:
            raise InputError(
                f"{file.name} lacks {len(lacking)} of {len(documents)} records, among them "
                f"{lacking[0]}: pack the whole collection"
            )
        for group, path, _ in documents:
            # Entities of the collection's DTD stand for signs; the parser does not know them.
            content = _ENTITY.sub(b" ", archive.read(places[path]))
            try:
                record = ElementTree.fromstring(content)
            except (ElementTree.ParseError, LookupError, ValueError) as error:
                raise InputError(
                    f"{file.name}, {path} is not XML that can be read: {error}"
                ) from None
            main = getattr(record.find("ipcs"), "attrib", {}).get("mc", "")
            if not main.upper().startswith(group):
                raise InputError(
                    f"{file.name}, {path}: the main symbol is {main!r}, expected one that starts "
                    f"with {group}"
                )
            yield " ".join(
                text
                for part in (*record.iterfind("tis/ti"), *record.iterfind("cls/cl"))
                if part.get(_LANGUAGE, "EN") == "EN"
                for text in part.itertext()
            )


def stems(text: str) -> list[str]:
    """Stems of the words of ``text``, letters only, in their order, without English stop words."""
    # Imported here: every command that only plans imports this module, scikit-learn takes seconds.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [stem(word) for word in _WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS]


@functools.cache
def stem(word: str) -> str:
    """Stem of a lower-case word, by An algorithm for suffix stripping, Program 14(3), 1980."""
    with extra_for("the text of documents"):
        import snowballstemmer
    # Porter's own program leaves words of two letters alone; the paper's rules would cut "as".
    return snowballstemmer.stemmer("porter").stemWord(word) if len(word) > 2 else word


def unit_counts(texts: Iterable[str]) -> sparse.csr_array:
    """(n, V) counts of the stems of ``texts``, in their order, in rows of unit norm or zero."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(analyzer=stems, dtype=np.float64).fit_transform(texts)
    return sparse.csr_array(unit_rows(counts))


def unit_rows(X: np.ndarray | sparse.csr_array) -> np.ndarray | sparse.csr_array:
    """Rows of Euclidean length one; rows of zeros stay."""
    from sklearn.preprocessing import normalize

    return normalize(X)
