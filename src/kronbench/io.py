"""Tables from CSV, TSV and Parquet files, and sequences from FASTA; ids are kept as text."""

from __future__ import annotations

import contextlib
import csv
import difflib
import gzip
import io
import itertools
import os
import stat
import unicodedata
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kronbench.errors import InputError, extra_for

if TYPE_CHECKING:
    import pandas as pd  # of the functions that read: names are compared without it

SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Columns of text that hold a fingerprint each, and what that is written in.
FINGERPRINTS = {"fp_hex": "hexadecimal digits", "fp_bits": "zeros and ones"}
_FASTA = (".fasta", ".fa", ".faa")
_PART = 1 << 16  # rows of a table of fingerprints that are read at a time


def is_fasta(path: str | Path) -> bool:
    """Whether the name of a file ends as that of a FASTA file, maybe packed by gzip."""
    return str(path).lower().removesuffix(".gz").endswith(_FASTA)


def read_table(path: str | Path, ids: int | Sequence[str] = 1) -> pd.DataFrame:
    """A table whose id columns are text, as :meth:`kronbench.PairData.from_frames` takes it.

    Parameters
    ----------
    path : str or Path
        A ``.csv`` or ``.tsv`` file in UTF-8 with a header, or the same packed as ``.csv.gz`` or
        ``.tsv.gz``; or, with pyarrow, a ``.parquet`` file.
    ids : int or list of str, default 1
        The columns of ids: how many at the left, or their names. "007" and "NA" are not changed.

    Returns
    -------
    DataFrame
        ``attrs["file"]`` is the path, which errors then name. A column with a cell that is no
        number is one of text, and so is a column of fingerprints, ``fp_hex`` or ``fp_bits``.
    """
    import pandas as pd

    parts = [*read_parts(path, ids)]
    if len(parts) == 1:
        return parts[0]
    numbered = isinstance(parts[0].index, pd.RangeIndex)  # ids in an index stay
    frame = pd.concat(parts, ignore_index=numbered)
    frame.attrs["file"] = str(path)
    return frame


def read_parts(
    path: str | Path, ids: int | Sequence[str] = 1, categories: bool = False
) -> Iterator[pd.DataFrame]:
    """The table of :func:`read_table` in parts of 65,536 rows where it has fingerprints.

    With ``categories`` it is whole, and the columns of ids are categories of texts: a number a
    row, where a text takes ten times the memory.
    """
    # The end of the name says the form.
    path = Path(path)
    separator = SEPARATORS.get(Path(path.stem).suffix if path.suffix == ".gz" else path.suffix)
    if separator is None and path.suffix != ".parquet":
        raise InputError(f"{path} is not a table that can be read: give .csv, .tsv or .parquet")
    check_readable(path)
    # Read it; whatever the system refuses is one sentence.
    try:
        if separator is None:
            parts = _read_parquet(path, ids if categories else None)
        else:
            parts = _read_text(path, separator, ids, categories)
        found = False
        for frame in parts:
            # A table has a row, and its columns of ids.
            if frame.empty:
                break
            n, found = frame.shape[1], True
            if not isinstance(ids, int):
                check_columns(path, list(frame.columns), ids)
            elif n < ids:
                columns = "column" if n == 1 else "columns"
                raise InputError(f"{path} has {n} {columns}: the first {ids} are ids")
            frame.attrs["file"] = str(path)
            yield frame
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if not found:
        raise InputError(f"{path} has no rows below its header: give at least one")


def read_fasta(path: str | Path) -> pd.Series:
    """The sequences of a FASTA file by their ids, such as those of proteins.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8 with any name, packed by gzip if it ends in ``.gz``. A record is a line
        ``>id text`` and the lines of its sequence below, whose blanks are left out.

    Returns
    -------
    Series of str
        By the first word of each header: of UniProt's ``>sp|P00533|EGFR_HUMAN ...`` that is
        ``sp|P00533|EGFR_HUMAN``. ``attrs["file"]`` is the path, which errors then name.
    """
    import pandas as pd

    path = Path(path)
    check_readable(path)
    try:
        with open_table(path) as file:
            lines = file.read().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    starts = [at for at, line in enumerate(lines) if line.startswith(">")]
    if not starts or "".join(lines[: starts[0]]).strip():
        raise InputError(f"{path} does not begin with a line '>id': give a FASTA file")
    records: dict[str, str] = {}
    for start, end in itertools.pairwise([*starts, len(lines)]):
        # The first word behind ">", and all that stands below it without blanks.
        name = "".join(lines[start][1:].split()[:1])
        sequence = "".join("".join(lines[start + 1 : end]).split())
        if not name or not sequence or name in records:
            wanted = "sequence" if name and not sequence else "id of its own"
            raise InputError(f"{path}, line {start + 1}: '{name}' has no {wanted}: give it one")
        records[name] = sequence
    found = pd.Series(records, name="sequence").rename_axis("id")
    found.attrs["file"] = str(path)
    return found


@contextlib.contextmanager
def open_table(path: Path) -> Iterator[Any]:
    """The bytes of a table or of sequences, unpacked where they are packed by gzip."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} is not a complete gzip file ({error}): compress it again"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8: save it in UTF-8") from None


def check_readable(path: str | Path) -> None:
    """InputError unless a file can be read and has an end: no folder, pipe or device."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            Path(path).open("rb").close()
            return
    except (OSError, ValueError) as error:  # a name with a character that none can have
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}") from None
    what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
    raise InputError(f"{path} is {what}, which cannot be read: give the name of a file")


def check_columns(table: str | Path, columns: Sequence[str], wanted: Sequence[str]) -> None:
    """InputError, with the nearest name, unless a table has all columns that are wanted."""
    for name in wanted:
        if name not in columns:
            raise InputError(f"{table} has no column '{name}'{did_you_mean(name, columns)}")


def did_you_mean(name: str, known: Sequence[str], otherwise: str = "") -> str:
    """The nearest of known names as the end of a sentence; the first few where none is near.

    ``otherwise`` is said in place of these few.
    """
    if twin := other_form(name, known):
        return twin
    if near := difflib.get_close_matches(name, known, n=1, cutoff=0.5):
        return f": did you mean '{near[0]}'?"
    some = ", ".join(f"'{entry}'" for entry in list(known)[:5])
    return otherwise or f": it has {some}{' ...' if len(known) > 5 else ''}"


def other_form(name: str, known: Sequence[str]) -> str:
    """The known name that looks the same, in another Unicode form, as the end of a sentence."""
    composed = {unicodedata.normalize("NFC", entry): entry for entry in known}
    twin = composed.get(unicodedata.normalize("NFC", name))
    if twin is None:
        return ""
    return f": it has '{twin}' in another Unicode form (NFC, NFD); give both the same"


def _read_text(path, separator, ids, categories):
    """The parts of a table in text: its header is looked at first, then pandas reads it."""
    import pandas as pd

    try:
        with open_table(path) as file:
            text = io.TextIOWrapper(file, "utf-8-sig", newline="")
            header = next(csv.reader(text, delimiter=separator), [])
        # Pandas would read these files too, and make something else of them.
        if not header:
            raise InputError(f"{path} is empty: give a header and one row for each entry")
        if any("\0" in name for name in header):
            raise InputError(f"{path} holds bytes that are not text: give a table")
        if len(header) == 1 and separator == "," and (";" in header[0] or "\t" in header[0]):
            raise InputError(f"{path} is not separated by commas: save it with commas, or as .tsv")
        if twice := [name for name, count in Counter(header).items() if count > 1]:
            raise InputError(f"{path} has two columns '{twice[0]}': give each a different name")
        ids = header[:ids] if isinstance(ids, int) else [name for name in ids if name in header]
        in_parts = not (categories or {*header}.isdisjoint(FINGERPRINTS))
        with open_table(path) as file, warnings.catch_warnings():
            # Of rows longer than the header pandas would drop the end, with this warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            options = {"chunksize": _PART} if in_parts else {}
            read = pd.read_csv(
                file,
                sep=separator,
                names=header,
                header=0,
                index_col=False,
                dtype=dict.fromkeys([*ids, *FINGERPRINTS], str),
                keep_default_na=False,
                encoding="utf-8-sig",
                low_memory=False,
                **options,
            )
            if in_parts:
                yield from (part.reset_index(drop=True) for part in read)
            else:
                yield read.astype(dict.fromkeys(ids, "category")) if categories else read
    except csv.Error as error:  # of the header
        raise InputError(f"{path} has a header that cannot be read: {error}") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        detail = str(error).rpartition("C error: ")[2].strip().rstrip(".")
        raise InputError(
            f"{path} does not have as many cells in each row as in its header: {detail}"
        ) from None


def _read_parquet(path, ids):
    """The parts of a Parquet file, or all of it with the columns ``ids`` as categories."""
    import pandas as pd

    with extra_for(path):
        from pyarrow import parquet
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if ids is None and not {*names}.isdisjoint(FINGERPRINTS):
                for part in file.iter_batches(_PART):
                    yield part.to_pandas().rename(columns=str)
                return
        ids = names[:ids] if isinstance(ids, int) else ids and [*{*ids} & {*names}]
        frame = pd.read_parquet(path, engine="pyarrow", read_dictionary=ids)
    except (ValueError, TypeError) as error:  # pyarrow's own errors are of these kinds
        raise InputError(f"{path} is not a Parquet file that can be read: {error}") from None
    yield frame.rename(columns=str)
