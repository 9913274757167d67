"""WIPO-alpha, patents in the tree of the International Patent Classification (Seeger 2006, 8.2).

The index of the collection gives each document's place in the tree and the official split. The
texts come from the user's own copy of the collection, or are drawn in their place (`corpus`); for
section D there are 100 published features made from the real texts.
"""

from __future__ import annotations

import re
import tokenize
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kronbench.datasets.archives import member_bytes, zip_archive
from kronbench.datasets.corpus import CorpusLaw, random_tree, sizes_with_total
from kronbench.datasets.dataset import Loader
from kronbench.datasets.fetch import LocalFile
from kronbench.datasets.plain_text import excerpt, text_lines
from kronbench.datasets.words import drawn_words, stems, unit_counts, unit_rows
from kronbench.errors import InputError

_LEVELS = (1, 3, 4, 7)  # letters of a section, a class, a subclass and a main group
_LISTED = re.compile(r"\./(([A-H])/(\d\d)/([A-Z])/(\d{3})/[^/\s]+\.XML)")
_RECORD_LIMIT = 1 << 24  # bytes of one record
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][\w.-]*;")


def parse_index(files: Mapping[str, LocalFile]) -> dict[str, np.ndarray]:
    """The tree of all sections and each document's place in it.

    Parameters
    ----------
    files : mapping
        ``train`` and ``test``: lists of paths ``./D/01/D/001/US9812345_30121998.xml``.

    Returns
    -------
    dict
        ``y`` (n,) classes 0..C-1, the main groups in alphabetical order; ``is_test`` (n,) bool,
        the official split; ``parents`` (n_nodes,): root, sections, classes, subclasses, groups.

    Raises
    ------
    InputError
        A line is not such a path.
    """
    return _placed(_listed(files), _LEVELS)


def surrogate_index(
    rng: np.random.Generator,
    *,
    levels: Sequence[int],
    n_documents: int,
    n_test: int,
    median_size: float,
) -> dict[str, np.ndarray]:
    """A random tree with ``levels[l]`` nodes at depth l + 1, and log-normal class sizes."""
    parents = random_tree(rng, [1, *levels])
    y = _random_labels(rng, levels[-1], n_documents, median_size)
    return {"y": y, "parents": parents, "is_test": rng.permutation(n_documents) < n_test}


def parse_records(
    files: Mapping[str, LocalFile], *, section: str
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Bags of words of one section, from the user's own copy of the collection.

    Parameters
    ----------
    files : mapping
        ``train`` and ``test``: the index; ``collection``: a zip archive of the XML records, each
        below its path of the index.
    section : str
        A letter, A to H.

    Returns
    -------
    dict
        ``X`` csr (n, V), counts of the stems in title and claims, scaled to rows of unit norm (a
        record without any word keeps a zero row); ``y``, ``is_test``, ``parents`` as in
        `parse_index` for the tree below the section. Categories without documents do not occur.

    Raises
    ------
    InputError
        The archive lacks a record, or a record is not well-formed XML with a main symbol that
        agrees with its path.
    """
    documents = [document for document in _listed(files) if document[0][0] == section]
    texts = _texts(files["collection"], documents)
    return {"X": unit_counts(texts), **_placed(documents, _LEVELS[1:])}


def surrogate_section(
    rng: np.random.Generator,
    files: Mapping[str, LocalFile] | None = None,
    *,
    section: str,
    levels: Sequence[int],
    n_documents: int,
    n_test: int,
    median_size: float,
) -> dict[str, np.ndarray | sparse.csr_array]:
    """Drawn words on the real documents' labels and tree, or on a random tree without the index.

    The laws were tuned roughly to the paper's flat accuracies: a ridge classifier reaches 33 % in
    section D, where the paper has 40 %.
    """
    if files and {"train", "test"} <= files.keys():
        documents = [document for document in _listed(files) if document[0][0] == section]
        placed = _placed(documents, _LEVELS[1:])
    else:
        placed = surrogate_index(
            rng, levels=levels, n_documents=n_documents, n_test=n_test, median_size=median_size
        )
    n_documents = len(placed["y"])
    law = CorpusLaw(
        n_words=round(20000 * (n_documents / 1710) ** 0.55),
        exponent=1.05,
        shift=2.7,
        log_length=5.3,
        spread=0.6,
        shares=(0.85, 0.04, 0.07, 0.04),
        supports=(400, 200, 80),
    )
    return {"X": drawn_words(rng, placed, law), **placed}


def parse_features(
    files: Mapping[str, LocalFile], *, section: str, n_features: int
) -> dict[str, np.ndarray]:
    """Features of one section made by others from the real texts, scaled to rows of unit norm.

    Parameters
    ----------
    files : mapping
        ``train`` and ``test``: the index; ``train_features`` and ``test_features``: (n, d) arrays
        in numpy's format, one row a document in the alphabetical order of the paths.

    Returns
    -------
    dict
        ``X`` (n, d) and ``y``, ``is_test``, ``parents`` as in `parse_records`.

    Raises
    ------
    InputError
        An array is not (documents of the half, ``n_features``), or holds NaN or infinite values.
    """
    documents = [document for document in _listed(files) if document[0][0] == section]
    documents.sort(key=lambda document: (document[2], document[1]))
    placed = _placed(documents, _LEVELS[1:])
    n_test = int(placed["is_test"].sum())
    X = [
        _read_array(files["train_features"], (len(documents) - n_test, n_features)),
        _read_array(files["test_features"], (n_test, n_features)),
    ]
    return {"X": unit_rows(np.vstack(X)), **placed}


def surrogate_features(
    rng: np.random.Generator,
    files: Mapping[str, LocalFile] | None = None,
    *,
    n_features: int,
    **shape: Any,
) -> dict[str, np.ndarray]:
    """Leading singular directions of the surrogate of the section's words."""
    from sklearn.decomposition import TruncatedSVD

    arrays = surrogate_section(rng, files, **shape)
    reduction = TruncatedSVD(n_features, random_state=int(rng.integers(2**31)))
    return {**arrays, "X": unit_rows(reduction.fit_transform(arrays["X"]))}


LOADERS = {
    "wipo-index": Loader("classes", parse=parse_index, surrogate=surrogate_index),
    "wipo-text": Loader(
        "documents",
        parse=parse_records,
        surrogate=surrogate_section,
        surrogate_files=("train", "test"),
    ),
    "wipo-features": Loader(
        "vectors",
        parse=parse_features,
        surrogate=surrogate_features,
        surrogate_files=("train", "test"),
    ),
}


def _listed(files):
    """(main group, path, is in the test half) of each document, e.g. ("D01D001", "D/01/...")."""
    documents = []
    for half in ("train", "test"):
        for number, line in enumerate(text_lines(files[half], "latin-1"), start=1):
            match = _LISTED.fullmatch(line.upper().strip())
            if match is None:
                raise InputError(
                    f"{files[half].name}, line {number}: {excerpt(line.strip())} is not a path "
                    "such as ./D/01/D/001/US9812345_30121998.xml"
                )
            path, *symbol = match.groups()
            documents.append(("".join(symbol), path, half == "test"))
    if not documents:
        raise InputError(f"{files['train'].name} and {files['test'].name} list no document")
    return documents


def _placed(documents, levels):
    """Classes, tree and split of documents, with the prefixes of these lengths as nodes."""
    placed = placed_in_tree([group for group, _, _ in documents], levels)
    return {**placed, "is_test": np.array([is_test for _, _, is_test in documents])}


def placed_in_tree(groups: Sequence[str], levels: Sequence[int]) -> dict[str, np.ndarray]:
    """The tree of the prefixes of symbols, and each document's class in it.

    Parameters
    ----------
    groups : list of n str
        The main group of each document, such as "D01D001".
    levels : sequence of int
        Lengths of the prefixes that are nodes, the last that of a main group.

    Returns
    -------
    dict
        ``y`` (n,) classes in alphabetical order, ``parents`` (n_nodes,).
    """
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


def _random_labels(rng, n_classes, n_documents, median_size):
    """Shuffled labels with log-normal class sizes of the given median and, by their sum, mean."""
    spread = np.sqrt(2 * np.log(n_documents / n_classes / median_size))
    sizes = sizes_with_total(rng.lognormal(0.0, spread, n_classes), n_documents)
    return rng.permutation(np.repeat(np.arange(n_classes), sizes))


def _texts(file, documents):
    """Title and claims of each document, read one at a time."""
    has_words = False
    with file.open() as stream, zip_archive(stream, file.name) as archive:
        places = _places(file, archive, {path for _, path, _ in documents})
        lacking = [path for _, path, _ in documents if path not in places]
        if lacking:
            raise InputError(
                f"{file.name} lacks {len(lacking)} of {len(documents)} records, among them "
                f"{lacking[0]}: pack the whole collection"
            )
        for group, path, _ in documents:
            place = f"{file.name}, {path}"
            content = member_bytes(archive, places[path], _RECORD_LIMIT, place)
            text = _title_and_claims(content, group, place)
            has_words = has_words or bool(stems(text))
            yield text
    if not has_words:
        raise InputError(f"{file.name}: no record has a word in title or claims")


def _places(file, archive, wanted):
    """The members that hold the records, by their paths of the index."""
    places = {}
    for member in archive.infolist():
        path = "/".join(member.filename.upper().split("/")[-5:])
        if path not in wanted:
            continue
        other = places.setdefault(path, member)
        if (other.CRC, other.file_size) != (member.CRC, member.file_size):
            raise InputError(
                f"{file.name}: {excerpt(other.filename)} and {excerpt(member.filename)} are "
                "different records of one document: pack the collection once"
            )
    return places


def _title_and_claims(content, group, place):
    # A word bomb of entities needs their declarations, which no record has.
    if b"<!ENTITY" in content.replace(b"\0", b""):
        raise InputError(f"{place} declares entities: records of the collection do not")
    # Entities of the collection's DTD stand for signs, not letters; the parser does not know them.
    try:
        record = ElementTree.fromstring(_ENTITY.sub(b" ", content))
    except ElementTree.ParseError as error:
        raise InputError(f"{place} is not well-formed XML: {error}") from None
    except (LookupError, ValueError) as error:
        raise InputError(f"{place} is in an encoding that cannot be read: {error}") from None
    symbols = record.find("ipcs")
    main = "" if symbols is None else symbols.get("mc", "")
    if not main.upper().startswith(group):
        raise InputError(
            f"{place}: the main symbol is {excerpt(main)}, expected one that starts with {group}"
        )
    parts = [*record.iterfind("tis/ti"), *record.iterfind("cls/cl")]
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    return " ".join(
        text for part in parts if part.get(language, "EN") == "EN" for text in part.itertext()
    )


def _read_array(file, shape):
    headers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    # A header as Python 2 wrote it gives a warning, and is read.
    with file.open() as stream, warnings.catch_warnings(action="ignore"):
        try:
            version = np.lib.format.read_magic(stream)
            if version not in headers:
                raise ValueError(f"version {version}")
            # The header is checked before it is believed, since memory is reserved by it.
            found, _, dtype = headers[version](stream)
            if found != shape:
                raise InputError(f"{file.name}: the array is {found}, expected {shape}")
            if dtype.kind != "f":
                raise InputError(f"{file.name} holds entries that are no finite numbers")
            stream.seek(0)
            values = np.lib.format.read_array(stream, allow_pickle=False)
        except InputError:
            raise
        except (ValueError, EOFError, SyntaxError, tokenize.TokenError, RecursionError) as error:
            raise InputError(
                f"{file.name} is not an array in numpy's format: {' '.join(str(error).split())}"
            ) from None
    if not np.isfinite(values).all():
        raise InputError(f"{file.name} holds entries that are no finite numbers")
    return values
