"""Claims against the declared columns: a claim that names what no scale has is refused.

A value that another scale has may be missing in a run: then the claim is not tested there. One
that no scale has is a slip of the pen, and is told before any job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kronbench.errors import InputError
from kronbench.report.queries import columns_compared
from kronbench.runner.columns import Columns, columns_measured, columns_shown
from kronbench.runner.items import Plan, load_scales

# Arguments of a check that name one column, and those that name values of one.
_COLUMNS = ("value", "ours", "paper", "interval", "over", "between", "among", "at_largest")
_VALUES = {"between": ("low", "high", "slow", "fast"), "among": ("leader", "name")}
# Checks of seconds in which the unit cancels.
_RELATIVE_CHECKS = {"ratio", "scales"}


@dataclass(frozen=True)
class _Known:
    """What the rows of a claim can have: their columns, and the values of some of them."""

    of: str
    columns: Columns
    values: Mapping[str, set]

    def check_column(self, place, column):
        if column not in self.columns:
            raise InputError(
                f"{place} names the column '{column}', which {self.of} does not have; it has: "
                + ", ".join(self.columns)
            )

    def check_value(self, place, column, value):
        if value not in self.values.get(column, {value}):
            known = ", ".join(sorted(map(str, self.values[column]))) or "none"
            raise InputError(
                f"{place} asks for {column} '{value}', which {self.of} has at no scale; "
                f"it has: {known}"
            )

    def check_where(self, place, where):
        for compared in columns_compared(where, place):
            self.check_column(place, compared.column)
            for value in compared.values:
                self.check_value(place, compared.column, value)


def check_claim(place: str, claim: Mapping, plan: Plan) -> None:
    """Refuse a claim on columns or values that its items do not have.

    Raises
    ------
    InputError
        A column that is not declared, a value that no scale has, repeats along a column that does
        not tell repeats apart, ``timing`` that does not say whether a clock has touched the column
        that is judged, or a verdict on absolute seconds.
    """
    measured = claim.get("reads", "numbers") == "measurements"
    known = _known(claim, plan, measured)
    if "check" in claim:
        check = claim["check"]
        _check_arguments(place, check, known)
        timed = _read(check) in known.columns.timed
        if timed and not claim.get("timing"):
            raise InputError(
                f"{place} reads the timed column '{_read(check)}': add 'timing: true'"
            )
        if claim.get("timing") and not timed:
            raise InputError(f"{place} reads no column of a clock: leave out 'timing: true'")
    if "because" in claim:
        shown_by = {"item": claim["item"], **claim["because"]["shown_by"], "paper": claim["paper"]}
        of_reason = _known(shown_by, plan, shown_by.get("reads") == "measurements")
        of_reason.check_column(f"{place}, its reason,", shown_by["value"])
        of_reason.check_where(f"{place}, its reason,", shown_by["where"])


def check_headline(place: str, entry: Mapping, plan: Plan) -> None:
    """Refuse a headline on columns or values that its item does not have, as for claims."""
    known = _known(entry, plan, measured=False)
    for column in (*entry["of"], entry["theirs"], entry["ours"], entry["times"]):
        known.check_column(place, column)
    known.check_where(place, entry["where"])


def _read(check):
    """The column that a check judges."""
    return check.get("value", check.get("ours", "ours"))


def _check_arguments(place, check, known):
    if check["kind"] == "agrees":
        check = {"ours": "ours", "paper": "paper", **check}
    spread = check.get("spread", {}).get("over", ())
    named = [check[key] for key in _COLUMNS if key in check]
    for column in (*named, *check.get("by", ()), *spread):
        known.check_column(place, column)
    for column in spread:
        if column not in known.columns.repeats:
            raise InputError(
                f"{place} takes the spread over '{column}', which does not tell repeats of "
                f"{known.of} apart; these do: {', '.join(known.columns.repeats) or 'none'}"
            )
    for key, sides in _VALUES.items():
        if key in check:
            for side in sides:
                if side in check:
                    known.check_value(place, check[key], check[side])
    if "where" in check:
        known.check_where(place, check["where"])
    if _read(check) in known.columns.clock and check["kind"] not in _RELATIVE_CHECKS:
        raise InputError(
            f"{place} judges absolute seconds, which depend on the machine as on the method: "
            f"give a ratio of one run, or move it to 'headlines'"
        )


def _known(entry, plan, measured):
    names = (entry["item"], *entry.get("also", ()))
    columns, values = Columns(), {}
    for name in names:
        item = plan.item(entry["paper"], name)
        its = columns_measured(item) if measured else columns_shown(item)
        columns |= its
        for scale in (plan, *(plan for plan in load_scales() if entry["paper"] in plan.papers)):
            item = scale.item(entry["paper"], name)
            for column, found in its.known_values(item.parameters, item.parts).items():
                values.setdefault(column, set()).update(found)
    if len(names) > 1:  # the rows of several items are told apart by this
        columns |= Columns(key=("item",))
        values["item"] = set(names)
    return _Known(f"{entry['paper']} {' and '.join(names)}", columns, values)
