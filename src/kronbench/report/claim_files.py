"""The files of claims: read, matrix entries and identities made into claims, and checked."""

from __future__ import annotations

import csv
import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kronbench.errors import InputError
from kronbench.reference.verdicts import EVIDENCE, IDENTITY, PAPER
from kronbench.report import checks, comparisons
from kronbench.report.claim_columns import check_claim, check_headline
from kronbench.report.outcomes import Outcome
from kronbench.resources import claim_files
from kronbench.runner.items import Plan
from kronbench.settings import number_or_text, read_yaml, validate

# A measured number in a text: a decimal fraction, a percentage, a multiple, seconds.
_NUMBERS = re.compile(r"\d*\.\d+|\d+\s?%|\d+ (?:times|seconds|ms|s)\b")
_PLACEHOLDER = re.compile(r"\{(\w[\w.-]*)\}")
_REQUIRED = ("id", "place", "sentence", "item")
_NO_ARGUMENTS = {"kind", "where"}  # what an entry 'check' has beside arguments
_DEFAULTS = {"kind": EVIDENCE, "whose": PAPER}


@dataclass(frozen=True)
class Statements:
    """What the files of claims say of the papers of a plan, each with its ``paper``.

    Attributes
    ----------
    claims : list of dict
        What is judged, and what could not be, in the order of the text.
    headlines : list of dict
        Numbers that are shown.
    inconsistencies : list of dict
        Where the papers contradict themselves or their data: ``place`` and ``what``.
    """

    claims: list[dict]
    headlines: list[dict]
    inconsistencies: list[dict]


def load_statements(plan: Plan) -> Statements:
    """Read the files of claims on the papers of a plan; of a paper without one nothing is said.

    Raises
    ------
    InputError
        A file breaks the schema; a placeholder or an identity has no value; two claims have one
        id; a claim reads no known item, has neither check nor reason, names no known check, or
        names what its rows cannot have (``check_claim``).
    """
    statements = Statements([], [], [])
    known = {(item.paper, item.name) for item in plan.items}
    seen = set()
    for paper in plan.papers:
        waiting = _identities(plan, paper)
        for path in claim_files(paper):
            file = _named(path)
            content = read_yaml(path)
            validate(content, "claims", file)
            for part in ("headlines", "inconsistencies"):
                entries = content.get(part, [])
                getattr(statements, part).extend({"paper": paper, **entry} for entry in entries)
            for entry in content.get("headlines", []):
                place = f"{file}: headline '{entry['sentence']}'"
                check_headline(place, {"paper": paper, **entry}, plan)
            for entry in content.get("claims", []):
                for claim in _claims(entry, content.get("shared", {}), waiting, path):
                    place, claim = (
                        f"{file}: claim '{claim['id']}'",
                        {**_DEFAULTS, "paper": paper, **claim},
                    )
                    _add_correction(claim, plan.papers[paper].get("protocol", {}))
                    _check(place, paper, claim, seen, known)
                    check_claim(place, claim, plan)
                    statements.claims.append(claim)
        for item, name in waiting:
            raise InputError(
                f"papers/{paper}/paper.yaml: {item} has the identity '{name}', which no entry "
                "'identities' of its claims names"
            )
    return statements


def _named(path):
    """A file of claims in messages: ``papers/<paper>/claims/<name>``."""
    return "/".join(("papers", *path.parts[-3:]))


def _identities(plan, paper):
    """The claims on the rows of items that state identities, by item and key."""
    return {
        (item, key): {
            "id": f"{paper}-{key}",
            "place": said["place"],
            "sentence": said["sentence"],
            "item": item,
            "kind": IDENTITY,
            "strictness": said.get("strictness", "strict"),
            "check": {
                "kind": "vanishes",
                "value": entry.get("identity_column", "deviation"),
                "tolerance": said["tolerance"],
                "where": f"key == '{key}'",
            },
        }
        for item, entry in plan.papers[paper]["items"].items()
        for key, said in entry.get("identities", {}).items()
    }


def _claims(entry, shared, waiting, path):
    """What an entry stands for; identities that it names are taken out of ``waiting``."""
    file = _named(path)
    if "identities" in entry:
        item = entry.get("item", shared.get("item"))
        for key in entry["identities"]:
            if (item, key) not in waiting:
                raise InputError(
                    f"{file}: the entry 'identities' names '{key}', which {item} does not have, "
                    "or which was named before"
                )
            yield waiting.pop((item, key))
        return
    if "id" not in entry:
        raise InputError(f"{file}: a claim ({entry.get('sentence', entry)}) lacks the key 'id'")
    entry = dict(entry)
    changes = entry.pop("but", [])
    claims = {}
    for claim in _each(_overlaid(shared, entry), path):
        if claim["id"] in claims:
            raise InputError(
                f"{file}: claim '{entry['id']}' makes '{claim['id']}' twice; "
                "put what it is 'for' into its id"
            )
        claims[claim["id"]] = claim
    for change in changes:
        for part in _each(change, path):
            if part["id"] not in claims:
                raise InputError(
                    f"{file}: claim '{entry['id']}' does not make '{part['id']}', which its entry "
                    f"'but' changes; it makes: {', '.join(claims)}"
                )
            claims[part["id"]] = _overlaid(claims[part["id"]], part)
    yield from claims.values()


def _add_correction(claim, protocol):
    """Folds that share training pairs are corrected as the paper's protocol says."""
    spread = claim.get("check", {}).get("spread", {})
    if spread.get("over") == ["fold"] and "test_over_train" in protocol:
        spread.setdefault("test_over_train", protocol["test_over_train"])


def _overlaid(claim, change):
    """A claim with other keys; one that becomes untestable keeps only its words."""
    if "untestable" in change:
        claim = {key: claim[key] for key in (*_REQUIRED, "whose") if key in claim}
    return {**claim, **change}


def _each(entry, path):
    """The entry once for each combination of what it is ``for``, the last name fastest."""
    entry = dict(entry)
    where = f"{_named(path)}: claim '{entry['id']}'"
    printed = path.parents[1] / "printed"
    axes = [_cells(name, cells, printed, where) for name, cells in entry.pop("for", {}).items()]
    for combination in itertools.product(*axes):
        yield _filled(
            entry, {key: text for part in combination for key, text in part.items()}, where
        )


def _cells(name, cells, printed, where):
    """What ``{name}`` and ``{name.field}`` stand for, one mapping for each value of a name."""
    if isinstance(cells, str):
        file = printed / cells
        if not file.exists():
            raise InputError(f"{where}: there is no file printed/{cells}")
        with file.open(encoding="utf-8", newline="") as stream:
            lines = [list(line.items()) for line in csv.DictReader(stream)]
        cells = {
            line[0][1]: {field: number_or_text(text) for field, text in line} for line in lines
        }
        if len(cells) < len(lines):
            raise InputError(f"{where}: the first column of printed/{cells} names two lines alike")
    if not isinstance(cells, Mapping):
        cells = {value: {} for value in cells}
    for value, fields in cells.items():
        fields = fields if isinstance(fields, Mapping) else {"id": fields}
        yield {name: value, **{f"{name}.{field}": text for field, text in fields.items()}}


def _filled(entry, cells, where):
    """All texts with their placeholders filled; one that stands alone keeps its kind."""
    if isinstance(entry, Mapping):
        return {key: _filled(value, cells, where) for key, value in entry.items()}
    if isinstance(entry, list):
        return [_filled(value, cells, where) for value in entry]
    if not isinstance(entry, str):
        return entry
    for name in _PLACEHOLDER.findall(entry):
        if name not in cells:
            raise InputError(
                f"{where} has the placeholder {{{name}}}, which its 'for' does not give; "
                f"it gives: {', '.join(cells) or 'none'}"
            )
    if alone := _PLACEHOLDER.fullmatch(entry):
        return cells[alone[1]]
    return _PLACEHOLDER.sub(lambda found: str(cells[found[1]]), entry)


def _check(place, paper, claim, seen, known):
    for key in _REQUIRED:
        if key not in claim:
            raise InputError(f"{place} lacks the key '{key}'")
    if not re.fullmatch("[a-z0-9-]+", claim["id"]):
        raise InputError(f"{place} has an id with other characters than a to z, 0 to 9 and '-'")
    if claim["id"] in seen:
        raise InputError(f"{place} is given twice; give one of them another id")
    seen.add(claim["id"])
    for name in (claim["item"], *claim.get("also", ())):
        if (paper, name) not in known:
            raise InputError(f"{place} reads {paper} {name}, which is not an item")
    if ("check" in claim) == ("untestable" in claim):
        raise InputError(
            f"{place} needs either a check or, under 'untestable', why there can be none here"
        )
    if "check" in claim and "strictness" not in claim:
        raise InputError(f"{place} lacks the key 'strictness'")
    if "check" in claim:
        kind = claim["check"].get("kind", "")
        if find_check(kind) is None:
            raise InputError(
                f"{place} names the check '{kind}', which neither kronbench.report.checks nor "
                "kronbench.report.comparisons has"
            )
        arguments = {
            key: claim["check"][key] for key in claim["check"] if key not in _NO_ARGUMENTS
        }
        try:
            inspect.signature(find_check(kind)).bind(None, **arguments)
        except TypeError as error:
            raise InputError(
                f"{place} gives the check '{kind}' other arguments: {error}"
            ) from None
    if "because" in claim:
        item = claim["because"]["shown_by"].get("item", claim["item"])
        if (paper, item) not in known:
            raise InputError(f"{place} has a reason shown by {paper} {item}, which is not an item")
        if numbers := _NUMBERS.findall(claim["because"]["text"]):
            raise InputError(
                f"{place} has a reason that quotes '{numbers[0]}': name the rows that show it "
                "under 'shown_by', and their numbers are said with it"
            )


def find_check(kind: str) -> Callable[..., Outcome] | None:
    """The check of a name, or None."""
    for module in (checks, comparisons):
        if hasattr(found := getattr(module, kind, None), "rows_read"):
            return found
    return None
