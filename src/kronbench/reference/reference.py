"""The last accepted run of a scale: its verdicts, tables and machine, as committed files.

``results/reference/<scale>/`` holds ``verdicts.csv``, the result tables (``accepted.py``),
the numbers of at most 1 MiB that items make of them under ``<paper>/<item>.csv``, what their
columns are in ``columns.json``, and ``machine.json``. A run is compared with it; only ``accept``
writes it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import checked, editing, read_json, write_text
from kronbench.reference.accepted import (
    changed_since,
    keep_numbers,
    keep_parts,
    sidecars_of,
    surrogates_among,
)
from kronbench.reference.verdicts import (
    NOT_RUN,
    UNTESTED,
    columns_kept,
    matrix,
    read_verdicts,
    timed,
)
from kronbench.runner.columns import Columns, columns_shown, recorded
from kronbench.runner.items import Item, Plan, measurements
from kronbench.runner.results import OVER_CAP, read_numbers

# The scale whose verdicts stand in README.md, between these two lines.
README_SCALE = "paper"
BEGIN, END = "<!-- verdicts: written by kronbench accept -->", "<!-- end of the verdicts -->"

# What is recorded of a run, beside its data and packages.
_SURROUNDINGS = (
    *("revision", "blas", "cpu", "instructions", "threads", "cores", "python", "system"),
)

# Why a table may lack rows that another run has: the key of ``machine.json`` that lists such
# tables, and what its jobs say (the second as runner.solvers has it).
_SHORT = {"capped": OVER_CAP, "without": "is not installed"}


@dataclass(frozen=True)
class Move:
    """A claim whose verdict differs from the accepted run; empty texts where it had none.

    ``timed``: it rests on a clock, or is untested without rows that a time cap took or that a
    solver would make that is not installed: another machine or hour may judge otherwise.
    """

    id: str
    before: str
    now: str
    measured_before: str
    measured_now: str
    timed: bool


def read_machine(target: Path) -> dict:
    """What an accepted run says of its surroundings."""
    return read_json(target / "machine.json")


def columns_of(folder: Path, tables: Iterable[str]) -> dict[str, Columns]:
    """What a run says of the columns of its numbers, by ``<paper>/<item>``.

    From ``columns.json`` of an accepted run, or from the records beside the numbers.
    """
    if (folder / "columns.json").exists():
        records = read_json(folder / "columns.json")
    else:
        files = {name: folder / f"{name}.json" for name in tables}
        records = {
            name: read_json(file).get("columns") for name, file in files.items() if file.exists()
        }
    return {name: recorded(record) for name, record in records.items() if record}


def cut_short_of(folder: Path, tables: Iterable[str]) -> frozenset[str]:
    """The tables, ``<paper>/<item>``, of which a run says that they lack rows.

    A time cap took them, or a solver would make them that is not installed.
    """
    if (folder / "machine.json").exists():
        machine = read_machine(folder)
        return frozenset(name for key in _SHORT for name in machine.get(key, ()))
    return frozenset(name for name in tables if _cut_short(folder / f"{name}.json"))


def _cut_short(record):
    if not record.exists():
        return False
    skipped = read_json(record).get("skipped", ())
    return any(words in line for line in skipped for words in _SHORT.values())


def _cut_short_in_either(plan):
    return cut_short_of(plan.accepted, ()) | _cut_short_items(plan)


def _cut_short_items(plan):
    items = (item for item in plan.items if _cut_short(item.output("json")))
    return frozenset(f"{item.paper}/{item.name}" for item in items)


def surroundings(folder: Path) -> dict:
    """What the numbers of a run rest on beside its seed, from its sidecars or ``machine.json``.

    Data by their names, each as in :func:`_content`; revision, versions and machine. Where parts
    of the run differ a value is the list of all; what was not recorded is left out.
    """
    if (folder / "machine.json").exists():
        known = ("data", "packages", *_SURROUNDINGS)
        return {key: value for key, value in read_machine(folder).items() if key in known}
    return _described(
        read_json(path, data=dict | None, environment=dict)
        for path in sorted(folder.glob("*/tables/**/*.json"))
    )


def _described(sidecars):
    data, packages, found = {}, {}, {}
    for sidecar in sidecars:
        if sidecar["data"]:
            data.setdefault(sidecar["data"]["name"].lower(), []).append(_content(sidecar["data"]))
        environment = sidecar["environment"]
        for name, version in environment.get("packages", {}).items():
            packages.setdefault(name, []).append(version)
        for key in _SURROUNDINGS:
            if key in environment:
                found.setdefault(key, []).append(environment[key])
    # One for each copy of the library (numpy and scipy bring their own), without its threads.
    found["blas"] = [
        " ".join(pool[key] for key in ("internal_api", "version", "architecture") if key in pool)
        for pools in found.get("blas", [])
        for pool in pools
    ]
    described = {
        "data": {name: distinct(data[name]) for name in sorted(data)},
        "packages": {name: distinct(versions) for name, versions in packages.items()},
    }
    return described | {key: distinct(values) for key, values in found.items() if values}


def _content(data):
    """What identifies the data: 12 digits of a sha256 over those of its files, if it has any."""
    sums = sorted(file["sha256"] for file in data["files"])
    digits = hashlib.sha256("".join(sums).encode()).hexdigest()[:12] if sums else ""
    if data["source"] in ("surrogate", "generated"):
        return f"{data['source']} {digits}".strip()
    return digits


def distinct(values: Iterable) -> object:
    """The one value that all share, or the list of those that there are."""
    seen = []
    for value in values:
        if value not in seen:
            seen.append(value)
    return seen[0] if len(seen) == 1 else sorted(seen, key=str)


def moves(
    accepted: pd.DataFrame, verdicts: pd.DataFrame, cut_short: Collection[str] = ()
) -> list[Move]:
    """Claims that are new, gone, or have another verdict, in the order of the run.

    ``cut_short`` are the tables, ``<paper>/<item>``, that lack rows in either run.
    """
    found, frames = [], (accepted, verdicts)
    for name in [*verdicts.index, *accepted.index.difference(verdicts.index, sort=False)]:
        before, now = (
            tuple(frame.loc[name, ["verdict", "measured"]]) if name in frame.index else ("", "")
            for frame in frames
        )
        if before[0] != now[0]:
            rows = [frame.loc[name] for frame in frames if name in frame.index]
            clock = len(rows) == 2 and (
                all(map(timed, rows))
                or (
                    UNTESTED in (before[0], now[0])
                    and f"{rows[1]['paper']}/{rows[1]['item']}" in cut_short
                )
            )
            found.append(Move(name, before[0], now[0], before[1], now[1], clock))
    return found


def moved_since_accepted(plan: Plan, verdicts: pd.DataFrame) -> list[Move] | None:
    """The moves of this run against the accepted one; None where none was ever accepted.

    Only claims on the papers of the plan are compared.
    """
    path = plan.accepted / "verdicts.csv"
    if not path.exists():
        return None
    accepted = read_verdicts(path)
    accepted = accepted[accepted["paper"].isin(list(plan.papers))]
    return moves(accepted, verdicts, _cut_short_in_either(plan))


def described(move: Move) -> str:
    """One line: what moved, from what to what, with what was measured."""
    if not move.before:
        return f"{move.id}: new, {move.now} ({move.measured_now})"
    if not move.now:
        return f"{move.id}: gone, was {move.before}"
    return (
        f"{move.id}: {move.before} -> {move.now} (was: {move.measured_before}; "
        f"now: {move.measured_now})"
    )


def accept(plan: Plan, write: bool = False, surrogates: bool = False) -> str:
    """Compare the verdicts of a finished run with the accepted ones, which ``write`` replaces.

    Parameters
    ----------
    surrogates : bool
        Also where surrogate data step in for those of the accepted run, or are new.

    Returns
    -------
    str
        Such data, every verdict that moves, and whether it was written.

    Raises
    ------
    InputError
        The run has no page yet, lacks a file or papers that the accepted run has, or has a file
        that is not as it was written; it has surrogate data and ``surrogates`` does not allow
        them.
    """
    source = plan.report / "claims.csv"
    if not source.exists():
        raise InputError(f"{source} is missing; finish the run first: snakemake makes it last")
    verdicts, target = read_verdicts(source), plan.accepted
    if (target / "verdicts.csv").exists():
        accepted = read_verdicts(target / "verdicts.csv")
        lost = sorted(set(accepted["paper"]) - set(plan.papers))
        if lost:
            raise InputError(
                f"this run has no {', '.join(lost)}, which the accepted run has; "
                "accept a run of all papers"
            )
        moved = moves(accepted, verdicts, _cut_short_in_either(plan))
        clock = sum(move.timed for move in moved)
        lines = [
            f"{len(moved) - clock} of {len(verdicts)} verdicts move against {target}, beside "
            f"{clock} on times"
        ]
        lines += [f"  {described(move)}" for move in sorted(moved, key=lambda move: move.timed)]
    else:
        lines = [f"{len(verdicts)} verdicts; nothing was accepted at scale '{plan.scale}' before"]
    jobs = measurements(plan)
    files = [
        item.table(part).with_suffix(kind) for item, part in jobs for kind in (".csv", ".json")
    ]
    files += [item.output("csv") for item in plan.items]
    for file in files:
        if not file.exists():
            raise InputError(f"{file} of this run is lost: make it again (snakemake {file})")
    for file in files:
        if file.suffix == ".csv":
            checked(file)
    lines, flags = _asked(plan, jobs, lines, write, surrogates)
    if not write:
        return "\n".join([*lines, f"nothing was written; add {flags} to accept this run"])
    return "\n".join([*lines, *_write(plan, verdicts, jobs, plan.items, whole=True)])


def accept_parts(
    plan: Plan,
    judged: Callable[[Plan, Collection[Item]], pd.DataFrame],
    papers: Collection[str] = (),
    write: bool = False,
    surrogates: bool = False,
) -> str:
    """Accept what is measured of a run that is not finished.

    A part counts that was made from what is in the checkout now. Claims are judged whose items are
    finished; others keep their accepted verdict, unless a part of their item is accepted anew.
    What was accepted of other parts stays.

    Parameters
    ----------
    judged : callable
        A verdict on each claim of a plan from some of its items, as ``report.page.verdicts_on``.
    papers : collection of str
        Only of these papers; of all, if empty.
    surrogates : bool
        As :func:`accept` has it.

    Returns
    -------
    str
        Surrogate data, what is accepted, what is stale, every verdict that moves, and whether it
        was written.

    Raises
    ------
    InputError
        There is no such paper, no such part, or nothing finished to judge; there is surrogate
        data that ``surrogates`` does not allow.
    """
    if unknown := sorted(set(papers) - set(plan.papers)):
        raise InputError(f"this run has no paper '{unknown[0]}'; it has: {', '.join(plan.papers)}")
    jobs, stale = [], []
    for item, part in measurements(plan):
        record = item.table(part).with_suffix(".json")
        if item.table(part).exists() and record.exists() and item.paper in (papers or plan.papers):
            changed = changed_since(plan, item, part, read_json(record))
            if changed:
                stale.append(f"stale, not accepted: {item.paper} {item.name} {part} ({changed})")
            else:
                jobs.append((item, part))
    if not jobs:
        raise InputError("; ".join(["no part of this run can be accepted", *stale]))
    made = {(item.paper, item.name, part) for item, part in jobs}
    of_tables = {(paper, name) for paper, name, _ in made}

    def whole(item):
        parts = ((item.paper, item.tables_of, part) for part in item.parts)
        return made.issuperset(parts) and all(map(whole, item.numbers_of))

    items = [item for item in plan.items if item.finished and whole(item)]
    touched = {(i.paper, i.name) for i in plan.items if (i.paper, i.tables_of) in of_tables}
    verdicts = judged(plan, items)[columns_kept()]
    file = plan.accepted / "verdicts.csv"
    accepted = read_verdicts(file) if file.exists() else verdicts.iloc[:0]
    for name, row in verdicts[verdicts["measured"] == NOT_RUN].iterrows():
        if name in accepted.index and (row["paper"], row["item"]) not in touched:
            verdicts.loc[name] = accepted.loc[name]
    moved = moves(accepted, verdicts) if len(accepted) else []
    waiting = (verdicts["measured"] == NOT_RUN).sum()
    lines = [
        *stale,
        f"{len(jobs)} of {len(measurements(plan))} parts; {len(items)} of {len(plan.items)} items "
        f"are finished; {waiting} of {len(verdicts)} claims are not tested, since {NOT_RUN}",
        *(f"  {described(move)}" for move in moved if move.measured_now != NOT_RUN),
    ]
    lines, flags = _asked(plan, jobs, lines, write, surrogates)
    if not write:
        return "\n".join([*lines, f"nothing was written; add {flags} to accept these parts"])
    return "\n".join([*lines, *_write(plan, verdicts, jobs, items)])


def _asked(plan, jobs, lines, write, allowed):
    """The lines, after one on new surrogates, and the options that accept all; or a refusal."""
    new, known = (
        ", ".join(f"{name} ({count} part{'s' * (count > 1)})" for name, count in parts.items())
        for parts in surrogates_among(plan, jobs)
    )
    if known:
        lines = [f"surrogate data, as the accepted run has them: {known}", *lines]
    if not new:
        return lines, "--yes"
    found = f"surrogate data, where the accepted run has real data or none: {new}"
    if write and not allowed:
        raise InputError(f"{found}; nothing was written; add --surrogates to accept them too")
    return [found, *lines], "--yes --surrogates"


def verdict_matrix(target: Path) -> str:
    """The accepted verdicts by paper as a Markdown table, with machine and date."""
    verdicts, machine = read_verdicts(target / "verdicts.csv"), read_machine(target)
    counts = matrix(verdicts)
    lines = [
        f"| paper | {' | '.join(counts.columns)} |",
        "|---|" + "---|" * len(counts.columns),
    ]
    for paper, row in counts.iterrows():
        lines.append(f"| `{paper}` | {' | '.join(map(str, row))} |")
    cpu = machine["cpu"] if isinstance(machine["cpu"], str) else " and ".join(machine["cpu"])
    lines += [
        "",
        f"Scale `{target.name}`, {machine['last'][:10]}, {cpu}, {machine['cores']} cores.",
    ]
    return "\n".join(lines)


def update_readme(readme: Path, target: Path) -> None:
    """Put the matrix between its two lines of the file; a file without them is left alone."""
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    if BEGIN in text and END in text:
        before, rest = text.split(BEGIN)
        block = f"{BEGIN}\n{verdict_matrix(target)}\n{END}"
        write_text(readme, before + block + rest.split(END)[1])


def _write(plan, verdicts, jobs, items, whole=False):
    """Put result tables, the numbers of items and the verdicts in place of what was accepted.

    In place of all of it for a ``whole`` run.
    """
    with editing(plan.accepted) as copy:
        if whole:
            shutil.rmtree(copy)
            copy.mkdir()
        staged = dataclasses.replace(plan, reference=copy.parent)
        left_out = _fill(staged, verdicts, jobs, items)
        size = sum(path.stat().st_size for path in copy.rglob("*") if path.is_file())
    if plan.scale == README_SCALE:
        update_readme(Path("README.md"), plan.accepted)
    return [
        *(f"no room for {name}: {size:,} bytes" for name, size in left_out.items()),
        f"written to {plan.accepted} ({size / 2**20:.1f} MiB); commit it with a sentence on what "
        "moved",
    ]


def _fill(plan, verdicts, jobs, items):
    """Write what is accepted into the folder of the plan; the files for which there is no room."""
    target = plan.accepted
    file = target / "columns.json"
    columns = read_json(file) if file.exists() else {}
    for item in items:
        columns[f"{item.paper}/{item.name}"] = columns_shown(item).record(read_numbers(item))
    verdicts.to_csv(target / "verdicts.csv")
    write_text(file, json.dumps(columns, indent=1) + "\n")
    left_out = keep_numbers(plan, items) | keep_parts(plan, jobs)
    sidecars = sidecars_of(plan)
    times = sorted(str(sidecar["environment"].get("time")) for sidecar in sidecars)
    machine = _described(sidecars) | {"first": times[0], "last": times[-1]}
    machine |= {key: _saying(plan, words) for key, words in _SHORT.items()}
    machine |= {"left_out": _left_out(target, left_out)}
    write_text(target / "machine.json", json.dumps(machine, indent=1) + "\n")
    return machine["left_out"]


def _left_out(target, left_out):
    """What is left out, with what was so before and is not there yet."""
    if (target / "machine.json").exists():
        left_out = read_machine(target).get("left_out", {}) | left_out
    return {name: left_out[name] for name in sorted(left_out) if not (target / name).exists()}


def _saying(plan, words):
    """The items, ``<paper>/<item>``, of which an accepted part says these words."""
    saying = {
        (sidecar["paper"], sidecar["item"])
        for sidecar in sidecars_of(plan)
        if any(words in line for line in sidecar["skipped"])
    }
    return sorted(
        f"{item.paper}/{item.name}"
        for item in plan.items
        if item.parts and (item.paper, item.tables_of) in saying
    )
