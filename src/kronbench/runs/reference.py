"""The last accepted run of a scale: its verdicts, small tables and machine, as committed files.

``results/reference/<scale>/`` holds ``verdicts.csv``, the tables of at most 1 MiB under
``<paper>/<item>.csv``, what their columns are in ``columns.json``, and ``machine.json``. A run is
compared with it; only ``accept`` writes it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kronbench.bench.columns import Columns, columns_shown, recorded
from kronbench.bench.items import Plan
from kronbench.bench.results import OVER_CAP, read_numbers, read_sidecars
from kronbench.errors import InputError
from kronbench.files import replacing, write_text
from kronbench.runs.verdicts import UNTESTED, matrix, read_verdicts, timed

# The scale whose verdicts stand in README.md, between these two lines.
README_SCALE = "default"
BEGIN, END = "<!-- verdicts: written by kronbench accept -->", "<!-- end of the verdicts -->"

# What is recorded of a run, beside its data and packages.
_SURROUNDINGS = (
    *("revision", "blas", "cpu", "instructions", "threads", "cores", "python", "system"),
)

_LARGEST = 1 << 20  # bytes of a table that is worth a place in the repository


@dataclass(frozen=True)
class Move:
    """A claim whose verdict differs from the accepted run; empty texts where it had none.

    ``timed``: it rests on a clock, or is untested without rows that a time cap took, so that
    another machine or hour may judge otherwise.
    """

    id: str
    before: str
    now: str
    measured_before: str
    measured_now: str
    timed: bool


def read_machine(target: Path) -> dict:
    """What an accepted run says of its surroundings."""
    return json.loads((target / "machine.json").read_text(encoding="utf-8"))


def columns_of(folder: Path, tables: Iterable[str]) -> dict[str, Columns]:
    """What a run says of the columns of its numbers, by ``<paper>/<item>``.

    From ``columns.json`` of an accepted run, or from the records beside the numbers.
    """
    if (folder / "columns.json").exists():
        records = json.loads((folder / "columns.json").read_text(encoding="utf-8"))
    else:
        files = {name: folder / f"{name}.json" for name in tables}
        records = {
            name: json.loads(file.read_text(encoding="utf-8")).get("columns")
            for name, file in files.items()
            if file.exists()
        }
    return {name: recorded(record) for name, record in records.items() if record}


def capped_of(folder: Path, tables: Iterable[str]) -> frozenset[str]:
    """The tables, ``<paper>/<item>``, of which a run says that a time cap has cut them short."""
    if (folder / "machine.json").exists():
        return frozenset(read_machine(folder).get("capped", ()))
    return frozenset(name for name in tables if _capped(folder / f"{name}.json"))


def _capped(record):
    if not record.exists():
        return False
    skipped = json.loads(record.read_text(encoding="utf-8")).get("skipped", ())
    return any(OVER_CAP in line for line in skipped)


def _capped_in_either(plan):
    return capped_of(plan.accepted, ()) | _capped_items(plan)


def _capped_items(plan):
    items = (item for item in plan.items if _capped(item.output("json")))
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
        json.loads(path.read_text(encoding="utf-8"))
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
    accepted: pd.DataFrame, verdicts: pd.DataFrame, capped: Collection[str] = ()
) -> list[Move]:
    """Claims that are new, gone, or have another verdict, in the order of the run.

    ``capped`` are the tables, ``<paper>/<item>``, that a time cap has cut short in either run.
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
                    and f"{rows[1]['paper']}/{rows[1]['item']}" in capped
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
    return moves(accepted, verdicts, _capped_in_either(plan))


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


def accept(plan: Plan, write: bool = False) -> str:
    """Compare the verdicts of a finished run with the accepted ones, which ``write`` replaces.

    Returns
    -------
    str
        Every verdict that moves, and whether it was written.

    Raises
    ------
    InputError
        The run has no page yet, or lacks papers that the accepted run has.
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
        moved = moves(accepted, verdicts, _capped_in_either(plan))
        clock = sum(move.timed for move in moved)
        lines = [
            f"{len(moved) - clock} of {len(verdicts)} verdicts move against {target}, beside "
            f"{clock} on times"
        ]
        lines += [f"  {described(move)}" for move in sorted(moved, key=lambda move: move.timed)]
    else:
        lines = [f"{len(verdicts)} verdicts; nothing was accepted at scale '{plan.scale}' before"]
    if not write:
        return "\n".join([*lines, "nothing was written; add --yes to accept this run"])
    _write(plan, verdicts, target)
    if plan.scale == README_SCALE:
        update_readme(Path("README.md"), target)
    return "\n".join([*lines, f"written to {target}; commit it with a sentence on what moved"])


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


def _write(plan, verdicts, target):
    for paper in plan.papers:
        shutil.rmtree(target / paper, ignore_errors=True)
    with replacing(target / "verdicts.csv") as temporary:
        verdicts.to_csv(temporary)
    columns = {}
    for item in plan.items:
        numbers = read_numbers(item)
        if item.output("csv").stat().st_size <= _LARGEST:
            columns[f"{item.paper}/{item.name}"] = columns_shown(item).record(numbers)
            with replacing(target / item.paper / f"{item.name}.csv") as temporary:
                numbers.to_csv(temporary, index=False)
    write_text(target / "columns.json", json.dumps(columns, indent=1) + "\n")
    machine = _machine(plan) | {"capped": sorted(_capped_items(plan))}
    write_text(target / "machine.json", json.dumps(machine, indent=1) + "\n")


def _machine(plan):
    """What the parts of the run say of their surroundings, and when they were measured."""
    sidecars = [sidecar for item in plan.items for sidecar in read_sidecars(item)]
    times = sorted(str(sidecar["environment"].get("time")) for sidecar in sidecars)
    return _described(sidecars) | {"first": times[0], "last": times[-1]}
