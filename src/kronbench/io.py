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
    # The end of the name says the form.
    path = Path(path)
    separator = SEPARATORS.get(Path(path.stem).suffix if path.suffix == ".gz" else path.suffix)
    if separator is None and path.suffix != ".parquet":
        raise InputError(f"{path} is not a table that can be read: give .csv, .tsv or .parquet")
    check_readable(path)
    # Read it; whatever the system refuses is one sentence.
    try:
        frame = _read_parquet(path) if separator is None else _read_text(path, separator, ids)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    # A table has a row, and its columns of ids.
    if frame.empty:
        raise InputError(f"{path} has no rows below its header: give at least one")
    n = frame.shape[1]
    if not isinstance(ids, int):
        check_columns(path, list(frame.columns), ids)
    elif n < ids:
        columns = "column" if n == 1 else "columns"
        raise InputError(f"{path} has {n} {columns}: the first {ids} are ids")
    frame.attrs["file"] = str(path)
    return frame


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


def _read_text(path, separator, ids):
    """A table in text: its header is looked at first, then pandas reads it."""
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
        as_text = [*(header[:ids] if isinstance(ids, int) else ids), *FINGERPRINTS]
        with open_table(path) as file, warnings.catch_warnings():
            # Of rows longer than the header pandas would drop the end, with this warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                file,
                sep=separator,
                names=header,
                header=0,
                index_col=False,
                dtype=dict.fromkeys(as_text, str),
                keep_default_na=False,
                encoding="utf-8-sig",
                low_memory=False,
            )
    except csv.Error as error:  # of the header
        raise InputError(f"{path} has a header that cannot be read: {error}") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        detail = str(error).rpartition("C error: ")[2].strip().rstrip(".")
        raise InputError(
            f"{path} does not have as many cells in each row as in its header: {detail}"
        ) from None


def _read_parquet(path):
    import pandas as pd

    with extra_for(path):
        import pyarrow  # noqa: F401 (pandas' own sentence names no extra)
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (ValueError, TypeError) as error:  # pyarrow's own errors are of these kinds
        raise InputError(f"{path} is not a Parquet file that can be read: {error}") from None
    return frame.rename(columns=str)
