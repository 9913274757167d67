"""What the columns of a result table are, as each experiment declares them in ``COLUMNS``.

A drawing that tabulates has a declaration of its own.

Nothing is guessed from the name of a column: which tell rows apart, which are a clock's, which
are counts is declared beside the function that makes them. A declaration is an expression of
the names of this module, so that it can be read without importing numba and the solvers.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pandas as pd

from kronbench.errors import InputError
from kronbench.runner.items import Item
from kronbench.runner.source_imports import file_of


@dataclass(frozen=True)
class Parameter:
    """The values of a column that the parameters of an item list.

    Attributes
    ----------
    path : tuple of str
        Where they stand: the keys of a mapping, the entries of a list, or one value; ``"*"`` goes
        on into each entry of either.
    suffix : str
        What the experiment adds to each of them, which makes it a text; None leaves it as it is.
    """

    path: tuple[str, ...]
    suffix: str | None = None

    def values(self, parameters: Mapping) -> Iterator:
        """The values of one scale; none where a parameter of the path is missing."""
        places = [parameters]
        for key in self.path:
            if key == "*":
                places = [entry for place in places for entry in _entries(place)]
            else:
                places = [place[key] for place in places if key in place]
        for place in places:
            # the names of a mapping
            for value in place if isinstance(place, Mapping | list) else [place]:
                yield value if self.suffix is None else f"{value}{self.suffix}"


@dataclass(frozen=True)
class Columns:
    """The columns that a table may have, by what they are; it need not have all of them.

    ``a | b`` has the columns of both; what ``b`` says of a column counts.

    Attributes
    ----------
    key : tuple of str
        They tell the rows apart: no two rows have the same values in all of them.
    repeats : tuple of str
        Those of the key that tell repeats of one measurement apart: folds, splits, draws.
    clock : tuple of str
        Read from a clock, or in proportion to it: seconds, rates. Said of a machine, never judged.
    ratios_of_clock : tuple of str
        Ratios and exponents of seconds of one run: judged, but not compared between runs.
    counts : tuple of str
        Whole numbers.
    numbers : tuple of str
        All other numbers that the mathematics, the data and the seed determine, and printed ones.
    texts : tuple of str
        What is said of a row without telling it apart; flags too.
    conditions : tuple of str
        Under which a row was measured: memory, threads, other programs, where the data came from.
        Not compared between runs.
    values : mapping of str to tuple
        All values that a column has at any scale: fixed ones, and each a ``Parameter`` of the
        item. A column that is not named may have others.
    """

    key: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    clock: tuple[str, ...] = ()
    ratios_of_clock: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    values: Mapping[str, tuple] = field(default_factory=dict)

    def __or__(self, other: Columns) -> Columns:
        parts = {}
        for kind in _KINDS:
            mine = (name for name in getattr(self, kind) if name not in other)
            parts[kind] = (*mine, *getattr(other, kind))
        repeats = (*self.repeats, *other.repeats)
        return Columns(**parts, repeats=repeats, values={**self.values, **other.values})

    def __contains__(self, column: str) -> bool:
        return any(column in getattr(self, kind) for kind in _KINDS)

    def __iter__(self) -> Iterator[str]:
        return (name for kind in _KINDS for name in getattr(self, kind))

    @property
    def timed(self) -> tuple[str, ...]:
        """Whatever a clock has touched."""
        return (*self.clock, *self.ratios_of_clock)

    def key_of(self, frame: pd.DataFrame) -> list[str]:
        """The columns of the key that a table has; one that it lacks is the same in all rows."""
        return [name for name in self.key if name in frame]

    def known_values(self, parameters: Mapping, datasets: Iterable[str]) -> dict[str, set]:
        """The values that columns may have, by column, for the parameters of one item."""
        rules = dict(self.values)
        datasets = tuple(datasets)
        if datasets and "dataset" in self:  # an item of other items' numbers lists none
            rules["dataset"] = (*datasets, *rules.get("dataset", ()))
        known = {}
        for column, entries in rules.items():
            known[column] = set()
            for entry in entries:
                is_rule = isinstance(entry, Parameter)
                known[column].update(entry.values(parameters) if is_rule else [entry])
        return known

    def check(
        self, frame: pd.DataFrame, place: str, parameters: Mapping, datasets: Iterable[str]
    ) -> None:
        """Refuse a table that is not as declared.

        Parameters
        ----------
        frame : DataFrame
        place : str
            The module with the declaration, for the message.
        parameters, datasets
            Those of the item, for the values that they list.
        """
        for column in frame:
            if column not in self:
                raise InputError(f"{place}: COLUMNS does not declare the column '{column}'")
        key = self.key_of(frame)
        again = frame.duplicated(key, keep=False) if key else frame.index >= 1
        if again.any():
            row = ", ".join(f"{name} {frame.loc[again, name].iloc[0]}" for name in key)
            raise InputError(
                f"{place}: the key of COLUMNS does not tell {again.sum()} rows apart ({row}); "
                "give it a column that differs"
            )
        for column in self.counts:
            if column in frame:
                counted = frame[column].dropna().astype(float)
                if (counted != counted.round()).any():
                    raise InputError(f"{place}: the count '{column}' is no whole number")
        for column, known in self.known_values(parameters, datasets).items():
            if column in frame:
                strange = set(frame[column].dropna()) - known
                if strange:
                    raise InputError(
                        f"{place}: COLUMNS does not declare the value "
                        f"{_listed(strange)} of '{column}'"
                    )

    def record(self, frame: pd.DataFrame) -> dict[str, list[str]]:
        """What a sidecar keeps: the names of the columns that a table has, by what they are."""
        kinds = {kind: getattr(self, kind) for kind in ("repeats", *_KINDS)}
        found = {kind: [name for name in names if name in frame] for kind, names in kinds.items()}
        return {kind: names for kind, names in found.items() if names}


_KINDS = [
    entry.name for entry in dataclasses.fields(Columns) if entry.name not in ("repeats", "values")
]

# What the runner adds to each row.
RUNNER = Columns(
    key=("dataset",),
    counts=("seed",),
    conditions=("source", "peak_mib"),
    values={"source": ("download", "mirror", "manual", "own", "surrogate", "generated")},
)

# What ``Timing.columns`` says of timed work.
TIMING = Columns(
    clock=("seconds", "seconds_low", "seconds_high", "cpu_seconds"),
    conditions=("repeats", "threads", "processors", "waiting", "busy"),
)

# What every drawing says of its rows: of which data, where these came from, whether the machine
# was busy.
SHOWN = Columns(
    key=("dataset",),
    conditions=("source", "busy"),
    values={"source": RUNNER.values["source"]},
)


def recorded(record: Mapping[str, list[str]]) -> Columns:
    """The declaration that a sidecar or an accepted run keeps."""
    return Columns(**{kind: tuple(names) for kind, names in record.items()})


@functools.cache
def declared(module: str) -> Columns | None:
    """The ``COLUMNS`` of a module of this package, which is not imported; None if it has none."""
    file = file_of(module)
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COLUMNS":
            expression = compile(ast.Expression(node.value), str(file), "eval")
            names = {"Columns": Columns, "Parameter": Parameter, "SHOWN": SHOWN, "TIMING": TIMING}
            try:
                return eval(expression, {"__builtins__": {}}, names)
            except (NameError, TypeError) as error:
                raise InputError(
                    f"{file}: COLUMNS takes more than {', '.join(names)}: {error}"
                ) from None
    return None


def columns_measured(item: Item) -> Columns:
    """The columns of the result tables of an item, those of the runner among them."""
    columns = declared(item.experiment_module)
    if columns is None:
        raise InputError(f"{item.experiment_module} has no COLUMNS: say what its columns are")
    return RUNNER | columns


def columns_shown(item: Item) -> Columns:
    """The columns of the numbers that an item shows: those of its drawing, else as measured."""
    return declared(item.drawing_module) or columns_measured(item)


def _listed(values):
    return ", ".join(sorted(map(repr, values)))


def _entries(place):
    if isinstance(place, Mapping):
        return place.values()
    return place if isinstance(place, list) else [place]
