"""Make a finished run the accepted one of its scale, with which later runs are compared."""

from __future__ import annotations

import io
import json

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import checked, read_json, replacing
from kronbench.reference.accepted import (
    files_of,
    joined,
    moved_since_accepted,
    packed,
    source_of,
    surroundings,
)
from kronbench.reference.verdicts import read_verdicts
from kronbench.runner.items import Plan, measurements
from kronbench.runner.read_results import ACCEPTED, read_sidecar


def accept(plan: Plan, write: bool = False) -> str:
    """Tell which verdicts of a finished run move against the accepted run, and replace that one.

    Without ``write`` nothing is replaced. A run is refused that has no page, lacks papers of the
    accepted one, has a damaged file, or surrogates where the accepted one has real data.
    """
    source, target = plan.report / "claims.csv", plan.accepted
    if not source.exists():
        raise InputError(
            f"{source} is missing; finish the run first, since snakemake makes it last"
        )
    verdicts = read_verdicts(source)
    moved = moved_since_accepted(plan, verdicts)
    if moved is None:
        lines = [f"{len(verdicts)} verdicts; nothing was accepted at scale '{plan.scale}' before"]
    else:
        accepted = read_verdicts(target / "verdicts.csv")
        if lost := sorted(set(accepted["paper"]) - set(plan.papers)):
            raise InputError(
                f"this run has no {', '.join(lost)}, which the accepted run has; "
                "accept a run of all papers"
            )
        clock = sum(move.timed for move in moved)
        lines = [
            f"{len(moved) - clock} of {len(verdicts)} verdicts move against {target}, and "
            f"{clock} on times",
            *(f"  {move}" for move in sorted(moved, key=lambda move: move.timed)),
        ]
    contents = _contents(plan, verdicts)
    if not write:
        return "\n".join([*lines, "nothing was written; add --yes to accept this run"])
    stale = set(target.rglob("*")) - {target / name for name in contents}
    for name, content in contents.items():
        with replacing(target / name) as temporary:
            temporary.write_bytes(content)
    for file in stale:  # last, so that a command that is broken off loses no table
        if not file.is_dir():
            file.unlink()
    size = sum(map(len, contents.values())) / 2**20
    lines.append(f"written to {target} ({size:.1f} MiB); commit it with a sentence on what moved")
    if plan.scale == "paper":
        lines.append("to write its verdicts into the README: python docs/results.py")
    return "\n".join(lines)


def _contents(plan, verdicts):
    """The files of the accepted run, by their path in its folder."""
    contents, records, costs, texts = {}, {}, [], {}
    for item, part in measurements(plan):
        sidecar, text = read_sidecar(item, part), checked(item.table(part)).decode()
        texts[item.table(part)] = text
        _refuse_surrogate(plan, item, part, sidecar)
        sidecar.pop(ACCEPTED, None)
        table, record = _places(plan, item, part)
        contents[table], contents[record] = packed(text), _as_json(sidecar)
        costs.append(_cost(sidecar, text))
    for item in plan.items:
        name, text = f"{item.paper}/{item.name}", checked(item.output("csv")).decode()
        record = read_json(item.output("json"), columns=dict, skipped=list)
        records[name] = {key: record[key] for key in ("columns", "skipped")}
        if item.parts and text == joined(texts[item.table(part)] for part in item.parts):
            # What is the same as its tables is not kept twice.
            records[name]["tables"] = [_places(plan, item, part)[0] for part in item.parts]
        else:
            contents[f"{name}.csv"] = text.encode()
    contents["items.json"] = _as_json(records)
    contents["verdicts.csv"] = verdicts.to_csv().encode()
    contents["costs.csv"] = pd.DataFrame(costs).to_csv(index=False).encode()
    contents["machine.json"] = _as_json(surroundings(plan.results))
    return contents


def _places(plan, item, part):
    return [file.relative_to(plan.accepted).as_posix() for file in files_of(plan, item, part)]


def _refuse_surrogate(plan, item, part, sidecar):
    before = files_of(plan, item, part)[1]
    if source_of(sidecar) == "surrogate" and before.exists():
        if source_of(read_json(before)) != "surrogate":
            raise InputError(
                f"{item.paper} {item.name} {part} has surrogate data here, but real data in "
                "the accepted run: accept a run with the real data (docs/real.md)"
            )


def _as_json(content):
    return (json.dumps(content, indent=1) + "\n").encode()


def _cost(sidecar, text):
    """Seconds and memory of a job; seconds of the processor where it may run beside others."""
    threads = sidecar["environment"]["threads"]
    seconds = sidecar["cpu_seconds" if threads == 1 else "seconds"]
    peaks = pd.read_csv(io.StringIO(text), usecols=["peak_mib"])["peak_mib"]
    return {
        **{key: sidecar[key] for key in ("paper", "item", "part")},
        "threads": threads,
        "seconds": round(seconds, 1),
        "peak_mib": round(peaks.max()),
    }
