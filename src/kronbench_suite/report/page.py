"""The report: one self-contained page for a run, and the lines that end the run."""

from __future__ import annotations

import base64
import collections
import dataclasses
import re
import struct
import textwrap
from collections.abc import Iterable

import pandas as pd

from kronbench import __version__
from kronbench.errors import InputError
from kronbench.files import checked, read_json, replacing_all, write_text
from kronbench.yaml_files import read_yaml
from kronbench_suite.report.claim_files import load_statements
from kronbench_suite.report.judge import Verdict, control, judge_all
from kronbench_suite.report.layout import arrange, long_table
from kronbench_suite.report.outcomes import Outcome
from kronbench_suite.report.render import templates
from kronbench_suite.report.verdicts import (
    CONTRADICTED,
    FIELD,
    HOLDS,
    NEW_DATA,
    NOT_RUN,
    OURS,
    PAPER,
    THESE_DATA,
    UNDECIDED,
    UNTESTED,
    VERDICTS,
    moved_since_accepted,
)
from kronbench_suite.resources import ADDED_PAPERS, package_path
from kronbench_suite.runner.accepted_tables import UNKNOWN, changed_since
from kronbench_suite.runner.columns import columns_shown
from kronbench_suite.runner.items import RESULTS, Plan, measurements
from kronbench_suite.runner.read_results import origin, read_numbers, read_sidecars

_CAUSES = {
    "": "",
    "paper": "the paper",
    "data": "other data",
    "age": "newer hardware or software",
    "setting": "a choice that is not printed",
    "ours": "our own doing",
    "unknown": "unknown",
}
_TITLES = {
    PAPER: "claims of the papers",
    FIELD: "claims of other publications",
    OURS: "claims of our own",
}
_ASKS = {THESE_DATA: "on these data", NEW_DATA: "for new data"}
# Verdicts that are folded below an item, since no reader has to act on them.
_FOLDED = (HOLDS, UNTESTED)
# Items at the top, as far as the run has them: printed numbers, the board, the time ladder.
_PICTURES = ("airola/figure-7", "rivals/figure-2", "performance/figure-3")
# What a citation begins with: "A. Author, B. C. Other, ", or nothing.
_AUTHORS = re.compile(r"(?:(?:[A-Z]\. )+[^,]+, )*")
_FEW_CLAIMS = 8  # contradicted ones that are told one by one at the end of a run


def write_report(plan: Plan) -> str:
    """Judge the claims; write the page, ``claims.csv`` and ``summary.txt``.

    Of a run that is not finished only ``part.html`` is written, the page of what is there; the
    page of accepted tables is whole in any case. Returns the summary: what was rendered, what is
    missing or rests on surrogates, verdicts that moved since the accepted run, what was skipped.
    """
    # Claims are judged if all their items are finished; the whole plan and its statements stay.
    statements = load_statements(plan)
    missing = [f"{item.paper} {item.name}" for item in plan.items if not item.finished]
    whole, all_statements = plan, statements
    if missing:
        statements, plan = _finished_part(statements, plan)
    verdicts = judge_all(statements.claims, plan)
    # The page of accepted tables also shows the claims whose items are not there.
    if missing and plan.from_accepted:
        judged = {verdict.id: verdict for verdict in verdicts}
        none = Outcome(UNTESTED, NOT_RUN)
        claims = all_statements.claims
        verdicts = [judged.get(claim["id"]) or Verdict.on(claim, none) for claim in claims]
    # The table of verdicts, and what moved in it since the accepted run.
    columns = [field.name for field in dataclasses.fields(Verdict)]
    table = pd.DataFrame(map(dataclasses.asdict, verdicts), columns=columns).set_index("id")
    moved = moved_since_accepted(plan, table)
    if missing and moved:
        moved = [move for move in moved if move.now and move.measured_now != NOT_RUN]
    # The page: of the claims first what a reader of them looks for.
    verdicts.sort(key=lambda v: (CONTRADICTED, UNDECIDED, UNTESTED, HOLDS).index(v.verdict))
    # A page on a paper from outside does not tell what the run lacks of the others.
    added = ADDED_PAPERS.keys() & plan.papers
    shown = [name for name in missing if not added or name.split()[0] in added]
    facts = _facts(statements.claims, verdicts, plan, whole)
    facts |= {"missing": shown, "part": bool(missing)}
    template = templates().get_template("page.html.j2")
    page = template.render(
        **facts,
        inconsistencies=(all_statements if plan.from_accepted else statements).inconsistencies,
        moved=None if moved is None else [str(m) for m in moved if not m.timed],
        clock=[str(move) for move in moved or () if move.timed],
    )
    # The files: an unfinished run has the page of what is there, beside an earlier whole one.
    summary = _summary_text(moved, facts)
    part = plan.report / "part.html"
    if missing and not plan.from_accepted:
        write_text(part, page)
        return f"{summary}\npage of what is there: {part}"
    part.unlink(missing_ok=True)
    summary += f"\npage: {RESULTS / plan.results.name / 'report' / 'index.html'}"
    names = ("index.html", "claims.csv", "summary.txt")
    with replacing_all(plan.report / name for name in names) as (new_page, claims, told):
        new_page.write_text(page, encoding="utf-8")
        table.to_csv(claims)
        told.write_text(summary + "\n", encoding="utf-8")
    return summary


def _facts(claims, verdicts, plan, whole):
    """What the page tells of the plan of the finished items, and of the accepted parts of all."""
    facts = {"plan": plan, "verdicts": verdicts, "control": control(claims, plan)}
    facts |= {"order": VERDICTS, "causes": _CAUSES, "asks": _ASKS, "folded": _FOLDED}
    # The items with all that is shown of them, by paper; findings and pictures at the top.
    entries = [_item_facts(item, verdicts) for item in plan.items]
    by_name = {f"{entry['item'].paper}/{entry['item'].name}": entry for entry in entries}
    facts["papers"] = []
    for key, paper in plan.papers.items():
        authors = _AUTHORS.match(paper["citation"])[0].rstrip(", ")
        of_paper = [entry for entry in entries if entry["item"].paper == key]
        facts["papers"].append({"key": key, **paper, "authors": authors, "entries": of_paper})
    facts["findings"] = [finding for finding in findings() if finding["item"] in by_name]
    facts["pictures"] = [by_name[name] for name in _PICTURES if name in by_name]
    # Verdicts in groups: whose claims they are, and whether they ask of these data or of new ones.
    facts["groups"] = {
        f"{title}, {where}": [v for v in verdicts if (v.whose, v.asks) == (whose, asks)]
        for whose, title in _TITLES.items()
        for asks, where in _ASKS.items()
    }
    # Contradicted claims that are not our own: by paper, then those of one sentence together.
    alike = {claim["id"]: claim.get("alike", claim["sentence"]) for claim in claims}
    contradicted = collections.defaultdict(lambda: collections.defaultdict(list))
    for verdict in verdicts:
        if verdict.verdict == CONTRADICTED and verdict.whose != OURS:
            contradicted[verdict.paper][alike[verdict.id]].append(verdict)
    facts["contradicted"] = contradicted
    # Claims on intervals: how many are contradicted, all, and how many chance would contradict.
    by_chance = [verdict for verdict in verdicts if verdict.chance and verdict.whose == PAPER]
    n_contradicted = sum(verdict.verdict == CONTRADICTED for verdict in by_chance)
    chances = sum(verdict.chance for verdict in by_chance)
    facts["chance"] = n_contradicted, len(by_chance), chances
    # Accepted parts of which something changed in this checkout, by what it is.
    changed = collections.defaultdict(list)
    for item, part in measurements(whole) if plan.from_accepted else ():
        record = item.table(part).with_suffix(".json")
        if record.exists() and (why := changed_since(whole, item, part, read_json(record))):
            changed[why].append(f"{item.paper} {item.name} {part}")
    facts |= {"changed": changed, "unknown": UNKNOWN, "n_parts": len(measurements(whole))}
    # Where the numbers come from: machines, and data that are surrogates, or the user's own.
    sidecars = [sidecar for entry in entries for sidecar in entry["sidecars"]]
    places = [sidecar["environment"] for sidecar in sidecars]
    cpus = dict.fromkeys(f"{place['cpu']}, {place['cores']} cores" for place in places)
    date = max(str(place["time"]) for place in places)[:10]
    facts |= {"machine": {"cpu": " and ".join(cpus), "date": date}, "surroundings": places[0]}
    resting = [entry for entry in entries if entry["record"]["surrogates"]]
    surrogates = {name for entry in resting for name in entry["record"]["surrogates"]}
    sources = [sidecar["data"] or {} for sidecar in sidecars]
    own = {source["name"] for source in sources if source.get("source") == "own"}
    facts |= {"resting": resting, "surrogates": sorted(surrogates), "own": sorted(own)}
    # What was left out, and the seconds of all measurements.
    skipped = where_skipped((entry["name"], entry["record"]["skipped"]) for entry in entries)
    measured = [entry for entry in entries if entry["item"].has_tables]
    seconds = sum(entry["record"]["seconds"] for entry in measured)
    return facts | {"skipped": skipped, "seconds": seconds}


def findings() -> list[dict]:
    """The findings at the top of the page, each with its ``item`` and ``sentence``."""
    return read_yaml(package_path("report", "templates", "findings.yaml"))


def _finished_part(statements, plan):
    """The claims whose items are all finished, and the plan of these items alone."""
    items = tuple(item for item in plan.items if item.finished)
    if not items:
        raise InputError(
            f"no item of scale '{plan.scale}' is finished; make one with: "
            f"{plan.items[0].workflow_command}"
        )
    finished = {(item.paper, item.name) for item in items}
    # A claim whose cause is shown by another item is judged without its cause.
    claims = []
    for claim in statements.claims:
        names = (claim["item"], *claim.get("also", ()))
        if finished.issuperset((claim["paper"], name) for name in names):
            shown_by = claim.get("because", {}).get("shown_by", {}).get("item", claim["item"])
            if (claim["paper"], shown_by) not in finished:
                claim = {key: value for key, value in claim.items() if key != "because"}
            claims.append(claim)
    papers = {key: paper for key, paper in plan.papers.items() if key in dict(finished)}
    part = dataclasses.replace(plan, items=items, papers=papers)
    # Inconsistencies whose place names such an item: "table 6.1", "figure 6".
    named = []
    for entry in statements.inconsistencies:
        places = re.findall(r"(table|figure|section)s? ([\d.]*\d)", entry["place"])
        if any((entry["paper"], f"{kind}-{number}") in finished for kind, number in places):
            named.append(entry)
    return dataclasses.replace(statements, claims=claims, inconsistencies=named), part


def _item_facts(item, verdicts):
    """Everything that the page shows of an item."""
    record = read_json(
        item.output("json"), kind=str, surrogates=list, skipped=list, seconds=int | float
    )
    shown = {"rows": None, "size": None}
    if record["kind"] == "figure":
        picture = checked(item.output("png"))
        shown["picture"] = base64.b64encode(picture).decode()
        # Width and height stand in the header of a PNG; with them the page keeps its place.
        shown["size"] = struct.unpack(">II", picture[16:24])
    else:
        table = read_numbers(item)
        shown["columns"] = list(table)
        shown["rows"] = long_table(table, columns_shown(item).timed)
        shown["grids"] = arrange(item, table, record["skipped"])
        shown["markdown"] = checked(item.output("md")).decode()
    # A damaged table ends the page, also where only a picture shows it.
    for part in item.parts:
        checked(item.table(part))

    # What its numbers rest on: program, scale, seed, revision, machine, data
    sidecars, data = read_sidecars(item), []
    places = sorted({origin(sidecar["environment"]) for sidecar in sidecars})
    last = max(str(sidecar["environment"]["time"]) for sidecar in sidecars)
    for sidecar in sidecars:
        source = sidecar["data"] or {"source": "generated", "files": []}
        sums = [f"sha256 {file['sha256'][:12]}" for file in source["files"]]
        data.append(f"{sidecar['part']} ({', '.join([source['source'], *sums])})")
    caption = sentences(item.caption)
    name = f"{item.paper} {item.name}"
    citation = f"Kronbench {__version__}, {name}, scale {item.scale}, "
    citation += f"seed {item.parameters['seed']}, {'; '.join(places)}, {last}; "
    citation += f"data: {', '.join(data)}"
    claims = [v for v in verdicts if (v.paper, v.item) == (item.paper, item.name)]
    shown |= {"item": item, "name": name, "record": record, "sidecars": sidecars}
    shown |= {"seen": " ".join(caption[:2]), "how": " ".join(caption[2:])}
    return shown | {"claims": claims, "citation": citation}


def sentences(text: str) -> list[str]:
    """The sentences of a caption: two say what is seen, the others how it was measured."""
    return re.split(r"(?<=[.?!])(?<!et al\.) (?=[A-Z\"])", text)


def where_skipped(said: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    """Skip reasons, each with the items it applies to, from (item, reasons)."""
    items: dict[str, dict[str, None]] = collections.defaultdict(dict)
    for name, reasons in said:
        for reason in reasons:
            items[reason][name] = None
    return {reason: list(names) for reason, names in items.items()}


def _summary_text(moved, facts):
    """The lines that end a run, with what to do about surrogates."""
    plan, missing, surrogates = facts["plan"], facts["missing"], facts["surrogates"]
    n_items = len(plan.items)
    lines = [f"{n_items} {'item' if n_items == 1 else 'items'} rendered at scale '{plan.scale}'"]
    if plan.from_accepted:
        lines.append(f"nothing was measured here: all is drawn from {plan.accepted}")
    if missing:
        # a run for one item was asked for no other: the page names them
        names = ", ".join(missing) if plan.from_accepted else f"{len(missing)} other items"
        lines.append(f"  missing: {names}")
    # What moved, by name alone: the page has the numbers.
    lines += [
        f"  moved: {move.id}: {move.before or 'new'} -> {move.now or 'gone'}"
        for move in moved or ()
        if not move.timed
    ]
    if clock := [move.id for move in moved or () if move.timed]:
        lines.append(f"  other verdicts on times, which are not compared: {', '.join(clock)}")
    if moved is None:
        lines.append("no accepted run of this scale to compare with")
    for sentence, items in facts["skipped"].items():
        lines.append(f"not run: {sentence} ({', '.join(items)})")
    # What was not measured, and what is not real.
    where = ", ".join(entry["name"] for entry in facts["resting"])
    lines.append(f"surrogate data: {', '.join(surrogates) or 'none'}{where and f' (in {where})'}")
    lines = [_wrapped(line) for line in lines]
    if surrogates and plan.config["data"] == "auto" and not plan.from_accepted:
        named = plan.at(plan.config_file.parent)
        files = " ".join(str(named.data_folder(name) / "data.npz") for name in surrogates)
        lines.append(
            f"  to try again for the real data: snakemake --cores all --configfile "
            f"{plan.config_file} --forcerun {files}"
        )
    # Verdicts by whose claims they are; a few contradicted ones are told one by one.
    for title, group in facts["groups"].items():
        if counts := collections.Counter(verdict.verdict for verdict in group):
            told = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
            lines.append(f"  {title}: {told}")
    by_paper = facts["contradicted"].values()
    alike = [group for sentences in by_paper for group in sentences.values()]
    for first, *others in alike if len(alike) <= _FEW_CLAIMS else ():
        such = f"{1 + len(others)} claims such as: " if others else ""
        told = f"  contradicted: {such}{first.sentence} ({first.paper} {first.item})"
        lines.append(_wrapped(told))
    return "\n".join(lines)


def _wrapped(line):
    return textwrap.fill(line, 100, subsequent_indent="    ", break_long_words=False)
