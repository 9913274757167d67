"""The report: an overview, a page of claims, one page for each item; the lines that end the run.

Each page has its style, pictures and data inside, so that it can be sent alone.
"""

from __future__ import annotations

import base64
import collections
import dataclasses
import gzip
import io
import itertools
import re
import shutil
import struct
import textwrap
from collections.abc import Callable, Iterable

import pandas as pd
import yaml

from kronbench import __version__
from kronbench.errors import InputError
from kronbench.files import checked, read_json, replacing_all
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
    matrix,
    moved_since_accepted,
)
from kronbench_suite.resources import (
    ADDED_PAPERS,
    checkout_path,
    package_path,
    paper_folder,
)
from kronbench_suite.runner.accepted_tables import UNKNOWN, changed_since
from kronbench_suite.runner.columns import columns_shown
from kronbench_suite.runner.items import RESULTS, Plan, measurements
from kronbench_suite.runner.read_results import origin, read_numbers, read_sidecars

CAUSES = {
    "": "",
    "paper": "the paper itself",
    "data": "other data",
    "age": "newer hardware or software",
    "setting": "a choice that the paper does not state",
    "ours": "our own doing",
    "unknown": "unknown",
}
_TITLES = {
    PAPER: "claims of the papers",
    FIELD: "claims of other publications",
    OURS: "claims of our own",
}
_ASKS = {THESE_DATA: "on these data", NEW_DATA: "for new data"}
# Pictures of the overview, as far as the run has them on real data.
_PICTURES = ("airola/figure-7", "rivals/figure-2", "stock/figure-4")
# What a citation begins with: "A. Author, B. C. Other, ", or nothing.
_AUTHORS = re.compile(r"(?:(?:[A-Z]\. )+[^,]+, )*")
_COUNTS = "no one two three four five six seven eight nine".split()
_FEW_CLAIMS = 8  # contradicted ones that are told one by one at the end of a run
_FEW_ROWS = 200  # of a figure, whose numbers are shown below it
_LARGE = 1 << 18  # bytes of a file that a page holds compressed
# What the technical part of a page tells of a claim.
_CHECKED = ("item", "also", "reads", "check", "not_at", "untestable", "because")


def write_report(plan: Plan, each: Callable = map) -> str:
    """Judge the claims; write the pages, ``claims.csv`` and ``summary.txt``.

    Of a run that is not finished only the pages of what is there are written, into ``part/``;
    those of accepted tables are whole in any case. ``each`` maps as ``map`` does, or in parallel.
    Returns the summary: what was rendered, what is missing or rests on surrogates, verdicts that
    moved since the accepted run, what was skipped.
    """
    # Claims are judged if all their items are finished; the whole plan and its statements stay.
    statements = load_statements(plan)
    missing = [item for item in plan.items if not item.finished]
    whole, all_statements = plan, statements
    if missing:
        statements, plan = _finished_part(statements, plan)
    verdicts = judge_all(statements.claims, plan, each)
    facts = {"control": control(statements.claims, plan, each)}
    # The pages of accepted tables also show the claims whose items are not there.
    if missing and plan.from_accepted:
        judged = {verdict.id: verdict for verdict in verdicts}
        none = Outcome(UNTESTED, NOT_RUN)
        claims = all_statements.claims
        verdicts = [judged.get(claim["id"]) or Verdict.on(claim, none) for claim in claims]
        plan = dataclasses.replace(plan, papers=whole.papers)
        statements = all_statements
    # The table of verdicts, and what moved in it since the accepted run.
    columns = [field.name for field in dataclasses.fields(Verdict)]
    table = pd.DataFrame(map(dataclasses.asdict, verdicts), columns=columns).set_index("id")
    moved = moved_since_accepted(plan, table)
    if missing and moved:
        moved = [move for move in moved if move.now and move.measured_now != NOT_RUN]
    # The pages: of the claims first what a reader of them looks for.
    verdicts.sort(key=lambda v: (CONTRADICTED, UNDECIDED, UNTESTED, HOLDS).index(v.verdict))
    # Those on a paper from outside do not tell what the run lacks of the others.
    added = ADDED_PAPERS.keys() & plan.papers
    shown = [item for item in missing if not added or item.paper in added]
    part = bool(missing) and not plan.from_accepted
    facts |= _facts(statements.claims, verdicts, plan, whole)
    facts |= {"missing": [f"{item.paper} {item.name}" for item in shown], "part": part}
    facts |= {"matrix": matrix(table), "inconsistencies": statements.inconsistencies}
    facts["moved"] = None if moved is None else [str(m) for m in moved if not m.timed]
    facts["clock"] = [str(move) for move in moved or () if move.timed]
    pages = {"index.html": "overview", "claims.html": "claims"}
    texts = {name: _filled(template, facts) for name, template in pages.items()}
    for entry in facts["entries"]:
        texts[entry["item"].page] = _filled("item", facts, **entry)
    # The files: an unfinished run has the pages of what is there, beside earlier whole ones.
    summary = _summary_text(moved, facts)
    part_folder = plan.report / "part"
    shutil.rmtree(part_folder, ignore_errors=True)
    folder = part_folder if part else plan.report
    shown_folder = folder if part else RESULTS / plan.results.name / "report"
    summary += f"\npage{' of what is there' if part else ''}: {shown_folder / 'index.html'}"
    if not part:
        texts |= {"claims.csv": table.to_csv(), "summary.txt": summary + "\n"}
    with replacing_all(folder / name for name in texts) as temporaries:
        for temporary, text in zip(temporaries, texts.values(), strict=True):
            temporary.write_text(text, encoding="utf-8")
    for file in folder.glob("*.html"):  # the page of an item that is no more
        if file.name not in texts:
            file.unlink()
    return summary


def _filled(template, facts, **more):
    return templates().get_template(f"{template}.html.j2").render(**facts | more)


def _facts(claims, verdicts, plan, whole):
    """What the pages tell of the plan of the finished items, and of the accepted parts of all."""
    facts = {"plan": plan, "verdicts": verdicts}
    facts |= {"order": VERDICTS, "causes": CAUSES, "asks": _ASKS}
    # The items with all that is shown of them, by paper; of accepted tables those that lack, too.
    checks = {claim["id"]: _technical(claim) for claim in claims}
    wanted = whole.items if plan.from_accepted else plan.items
    entries = [_item_facts(item, verdicts, checks, plan) for item in wanted]
    for before, entry in itertools.pairwise(entries):
        before["after"], entry["before"] = entry, before
    facts["entries"], measured = entries, [entry for entry in entries if entry["record"]]
    facts["page_of"] = {(entry["item"].paper, entry["item"].name): entry for entry in entries}
    by_name = {f"{entry['item'].paper}/{entry['item'].name}": entry for entry in measured}
    facts["papers"], n_papers = [], 0
    for key, paper in plan.papers.items():
        authors = _AUTHORS.match(paper["citation"])[0].rstrip(", ")
        of_paper = [entry for entry in entries if entry["item"].paper == key]
        study = "studies" in paper_folder(key).package
        n_papers += 0 if study else 1 + ("counterparts" in paper)
        facts["papers"].append({"key": key, **paper, "authors": authors, "entries": of_paper})
        facts["papers"][-1]["study"] = study
    facts["n_papers"] = _COUNTS[n_papers] if n_papers < len(_COUNTS) else n_papers
    facts["findings"] = [
        finding | {"entry": by_name[finding["item"]]}
        for finding in findings()
        if finding["item"] in by_name
    ]
    # Of a checkout the page that tells them at length is inside: a page may be sent alone.
    path = checkout_path("docs", "findings.md")
    story = alone(path.read_text(encoding="utf-8")).encode() if path.exists() else b""
    facts["story"] = _data_address("md", story) if story else ""
    pictures = [by_name[name] for name in _PICTURES if name in by_name]
    facts["pictures"] = [
        entry | {"small": _small(entry["item"].output("png"))}
        for entry in pictures
        if not entry["record"]["surrogates"]
    ]
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
    sidecars = [sidecar for entry in measured for sidecar in entry["sidecars"]]
    places = [sidecar["environment"] for sidecar in sidecars]
    cpus = dict.fromkeys(f"{place['cpu']}, {place['cores']} cores" for place in places)
    date = max(str(place["time"]) for place in places)[:10]
    facts |= {"machine": {"cpu": " and ".join(cpus), "date": date}, "surroundings": places[0]}
    resting = [entry for entry in measured if entry["record"]["surrogates"]]
    surrogates = {name for entry in resting for name in entry["record"]["surrogates"]}
    sources = [sidecar["data"] or {} for sidecar in sidecars]
    own = {source["name"] for source in sources if source.get("source") == "own"}
    facts |= {"resting": resting, "surrogates": sorted(surrogates), "own": sorted(own)}
    # What was left out, and the seconds of all measurements.
    skipped = where_skipped((entry["name"], entry["record"]["skipped"]) for entry in measured)
    timed = [entry for entry in measured if entry["item"].has_tables]
    seconds = sum(entry["record"]["seconds"] for entry in timed)
    return facts | {"skipped": skipped, "seconds": seconds}


def _technical(claim):
    """How a claim is selected and checked, as its file says it."""
    told = {key: claim[key] for key in _CHECKED if key in claim}
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100)


def alone(text: str) -> str:
    """A page of the documentation to send alone: its links to other pages tell where these are."""
    return re.sub(r"\[([^]]+)\]\((?![a-z]+:)([^)]+)\)", r"\1 (docs/\2)", text)


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


def _item_facts(item, verdicts, checks, plan):
    """Everything that the pages show of an item; of one that is not measured its words."""
    claims = [v for v in verdicts if (v.paper, v.item) == (item.paper, item.name)]
    caption = sentences(item.caption)
    shown = {"item": item, "name": f"{item.paper} {item.name}", "label": _label(item)}
    shown |= {"claims": claims, "checks": checks, "paper": plan.papers[item.paper]}
    shown |= {"seen": " ".join(caption[:2]), "how": " ".join(caption[2:])}
    shown |= {"record": None, "before": None, "after": None, "rows": None, "grids": ()}
    if not item.finished:
        return shown
    record = read_json(
        item.output("json"), kind=str, surrogates=list, skipped=list, seconds=int | float
    )
    table = read_numbers(item)
    if record["kind"] == "figure":
        picture = checked(item.output("png"))
        shown["picture"] = _data_address("png", picture)
        # Width and height stand in the header of a PNG; with them the page keeps its place.
        shown["size"] = struct.unpack(">II", picture[16:24])
    else:
        # Links to predictions would lead out of the folder.
        shown["grids"] = [
            dataclasses.replace(
                grid,
                cells=[[dataclasses.replace(cell, link="") for cell in row] for row in grid.cells],
                made=tuple((part, "", command) for part, _, command in grid.made),
            )
            for grid in arrange(item, table, record["skipped"])
        ]
    if record["kind"] == "table" or len(table) <= _FEW_ROWS:
        shown["columns"] = list(table)
        shown["rows"] = long_table(table, columns_shown(item).timed)
    # Its files in the page: what is large, compressed.
    shown["files"] = {}
    for kind in ("csv", "md" if record["kind"] == "table" else "pdf"):
        content, name = checked(item.output(kind)), f"{item.page[:-5]}.{kind}"
        if len(content) > _LARGE and kind != "md":
            content, name = gzip.compress(content, mtime=0), f"{name}.gz"
        shown["files"][name] = _data_address(kind, content)
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
    citation = f"Kronbench {__version__}, {shown['name']}, scale {item.scale}, "
    citation += f"seed {item.parameters['seed']}, {'; '.join(places)}, {last}; "
    citation += f"data: {', '.join(data)}"
    return shown | {"record": record, "sidecars": sidecars, "citation": citation}


def _label(item):
    """What readers call an item: "Table 4 (2016)"."""
    group, _, name = item.name.rpartition("/")
    kind, _, number = name.partition("-")
    return f"{kind.capitalize()} {number}".rstrip() + (f" ({group})" if group else "")


def _small(picture):
    """A picture in few colours, so that the overview is small."""
    from PIL import Image  # of Matplotlib, which the core lacks

    new = io.BytesIO()
    Image.open(picture).convert("RGB").quantize(256).save(new, "PNG", optimize=True)
    return _data_address("png", new.getvalue())


def _data_address(kind, content):
    """A file as an address."""
    mime = {"png": "image/png", "pdf": "application/pdf"}.get(kind, "text/plain")
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


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
