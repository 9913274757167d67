"""Make a finished run the accepted one, with which later runs are compared."""

from __future__ import annotations

import io
import json

import pandas as pd

from kronbench.errors import InputError
from kronbench.files import checked, read_json, replacing
from kronbench_suite.report.verdicts import moved_since_accepted, read_verdicts
from kronbench_suite.runner.accepted_tables import files_of, joined, packed, surroundings
from kronbench_suite.runner.items import Plan, measurements
from kronbench_suite.runner.read_results import read_sidecar


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
    # What moves against the accepted run, which this one would replace.
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
    # New files first: a command that is broken off loses no table.
    stale = set(target.rglob("*")) - {target / name for name in contents}
    for name, content in contents.items():
        with replacing(target / name) as temporary:
            temporary.write_bytes(content)
    for file in stale:
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

    def places(item, part):
        return [file.relative_to(plan.accepted).as_posix() for file in files_of(plan, item, part)]

    # Each table that was measured, packed, with its sidecar and what its job cost.
    for item, part in measurements(plan):
        sidecar, text = read_sidecar(item, part), checked(item.table(part)).decode()
        texts[item.table(part)] = text
        before = files_of(plan, item, part)[1]
        if _source_of(sidecar) == "surrogate" and before.exists():
            if _source_of(read_json(before)) != "surrogate":
                raise InputError(
                    f"{item.paper} {item.name} {part} has surrogate data here, but real data in "
                    "the accepted run: accept a run with the real data (docs/real.md)"
                )
        table, record = places(item, part)
        contents[table], contents[record] = packed(text), _as_json(sidecar)
        # A job of one thread may have run beside others, so that its processor seconds count.
        threads = sidecar["environment"]["threads"]
        peaks = pd.read_csv(io.StringIO(text), usecols=["peak_mib"])["peak_mib"]
        seconds = round(sidecar["cpu_seconds" if threads == 1 else "seconds"], 1)
        cost = {key: sidecar[key] for key in ("paper", "item", "part")} | {"threads": threads}
        costs.append(cost | {"seconds": seconds, "peak_mib": round(peaks.max())})
    # What each item shows, unless it is the same as its tables, which are not kept twice.
    for item in plan.items:
        name, text = f"{item.paper}/{item.name}", checked(item.output("csv")).decode()
        record = read_json(item.output("json"), columns=dict, skipped=list)
        records[name] = {key: record[key] for key in ("columns", "skipped")}
        if item.parts and text == joined(texts[item.table(part)] for part in item.parts):
            records[name]["tables"] = [places(item, part)[0] for part in item.parts]
        else:
            contents[f"{name}.csv"] = text.encode()
    contents["items.json"] = _as_json(records)
    contents["verdicts.csv"] = verdicts.to_csv().encode()
    contents["costs.csv"] = pd.DataFrame(costs).to_csv(index=False).encode()
    contents["machine.json"] = _as_json(surroundings(plan.results))
    return contents


def _source_of(sidecar):
    return (sidecar.get("data") or {}).get("source")


def _as_json(content):
    return (json.dumps(content, indent=1) + "\n").encode()
