"""What the columns of a result table are, as each experiment declares them in ``COLUMNS``.

A drawing that tabulates has a declaration of its own. Nothing is guessed from a column's name. A
declaration is an expression of the names of this module, read without importing numba.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Mapping, Sequence

import pandas as pd

from kronbench.errors import InputError
from kronbench_suite.runner.items import Item
from kronbench_suite.runner.provenance import file_of


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a table that are more than numbers and texts to compare, by what they are.

    A table need not have all of them. All others are determined by the mathematics, the data and
    the seed, and are compared between runs. ``a | b`` has those of both; what ``b`` says counts.

    - ``key``: they tell the rows apart: no two rows have the same values in all of them.
    - ``repeats``: those of the key that tell repeats of one measurement apart: folds, splits,
      draws.
    - ``clock``: read from a clock, or in proportion to it: seconds, rates. Claims never judge
      them.
    - ``ratios_of_clock``: ratios and exponents of seconds of one run: judged, but not compared
      between runs.
    - ``conditions``: how a row was measured: memory, threads, other programs, where the data came
      from. Not compared between runs.
    - ``rounding``: what only rounding makes: deviations of two exact ways from each other, and
      ``x_reversed``, the number ``x`` in another order of sums, missing where both orders agree.
      Compared between runs, but other instructions may move it (docs/comparing.md).
    """

    key: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    clock: tuple[str, ...] = ()
    ratios_of_clock: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    rounding: tuple[str, ...] = ()

    def __or__(self, other: Columns) -> Columns:
        parts = {}
        # A column has one kind, that of ``other`` if both declare it.
        for kind in _KINDS:
            mine = (name for name in getattr(self, kind) if name not in other)
            parts[kind] = (*mine, *getattr(other, kind))
        # These two are marks on columns that have a kind, or are compared.
        for kind in ("repeats", "rounding"):
            parts[kind] = (*getattr(self, kind), *getattr(other, kind))
        return Columns(**parts)

    def __contains__(self, column: str) -> bool:
        return any(column in getattr(self, kind) for kind in _KINDS)

    @property
    def timed(self) -> tuple[str, ...]:
        """Whatever a clock has touched."""
        return (*self.clock, *self.ratios_of_clock)

    def compared(self, frame: pd.DataFrame) -> list[str]:
        """The columns of a table whose values two runs have in common."""
        return [name for name in frame if name not in self]

    def decided_by_rounding(self, frame: pd.DataFrame, column: str = "") -> pd.Series:
        """Whether another order of sums has other numbers, row by row.

        In a column with such numbers of its own these decide, in another any of them.
        """
        others = [name for name in self.rounding if name.endswith(REVERSED) and name in frame]
        others = [name for name in others if name == column + REVERSED] or others
        decided = pd.Series(False, frame.index)
        for name in others:
            decided |= differs(frame[name.removesuffix(REVERSED)], frame[name])
        return decided

    def check(self, frame: pd.DataFrame, place: str) -> None:
        """Refuse a table whose rows the key does not tell apart; ``place`` declares the key."""
        key = [name for name in self.key if name in frame]  # one that it lacks is always the same
        again = frame.duplicated(key, keep=False) if key else frame.index >= 1
        if again.any():
            row = ", ".join(f"{name} {frame.loc[again, name].iloc[0]}" for name in key)
            raise InputError(
                f"{place}: the key of COLUMNS does not tell {again.sum()} rows apart "
                f"({row}); add a column that differs"
            )

    def record(self, frame: pd.DataFrame) -> dict[str, list[str]]:
        """What a sidecar keeps: the names of the columns that a table has, by what they are."""
        kinds = dataclasses.asdict(self).items()
        found = {kind: [name for name in names if name in frame] for kind, names in kinds}
        return {kind: names for kind, names in found.items() if names}


_KINDS = ("key", "clock", "ratios_of_clock", "conditions")

# The end of a column's name that has the numbers of another order of sums.
REVERSED = "_reversed"
# The part of a number beyond which two orders of sums have other numbers: a million times the
# rounding of one operation and more.
_APART = 1e-9

# What the runner adds to each row.
RUNNER = Columns(key=("dataset",), conditions=("source", "peak_mib"))

# What ``Timing.columns`` says of timed work.
TIMING = Columns(
    clock=("seconds", "seconds_low", "seconds_high", "cpu_seconds"),
    conditions=("repeats", "threads", "processors", "waiting", "busy"),
)

# What every drawing says of its rows.
SHOWN = Columns(key=("dataset",), conditions=("source", "busy"))


def recorded(record: Mapping[str, list[str]]) -> Columns:
    """The declaration that a sidecar or an accepted run keeps."""
    kinds = [field.name for field in dataclasses.fields(Columns)]
    return Columns(**{kind: tuple(record.get(kind, ())) for kind in kinds})


def differs(numbers: pd.Series, again: pd.Series) -> pd.Series:
    """Whether numbers of two orders of sums are apart by more than a part of 1e-9, one by one.

    A number that one of them lacks differs from nothing.
    """
    return (numbers - again).abs() > _APART * numbers.abs()


def beside(frame: pd.DataFrame, again: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A table with ``x_reversed`` for each name x: what ``again`` has where it differs."""
    return frame.assign(
        **{name + REVERSED: again[name].where(differs(frame[name], again[name])) for name in names}
    )


@functools.cache
def declared(module: str) -> Columns | None:
    """The ``COLUMNS`` of a module of this package, which is not imported; None if it has none."""
    file = file_of(module)
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COLUMNS":
            expression = compile(ast.Expression(node.value), str(file), "eval")
            names = {"Columns": Columns, "SHOWN": SHOWN, "TIMING": TIMING}
            try:
                return eval(expression, {"__builtins__": {}}, names)
            except (NameError, TypeError) as error:
                raise InputError(
                    f"{file}: COLUMNS takes more than {', '.join(names)}: {error}"
                ) from None
    return None


def columns_measured(item: Item) -> Columns:
    """The columns of the result tables of an item, those of the runner among them."""
    # The plan refuses a measurement without COLUMNS, so there is a declaration.
    return RUNNER | declared(item.measure_module)


def columns_shown(item: Item) -> Columns:
    """The columns of the numbers that an item shows: those of its drawing, else as measured."""
    return declared(item.plot_module) or columns_measured(item)
