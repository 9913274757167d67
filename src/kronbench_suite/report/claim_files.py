"""The files of claims: read, entries with ``for`` filled in, and checked before any job."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import itertools
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from kronbench.errors import InputError
from kronbench.solvers import nearest
from kronbench.yaml_files import read_yaml, validate
from kronbench_suite.report.checks import CHECKS, judged_column
from kronbench_suite.report.verdicts import PAPER
from kronbench_suite.resources import paper_folder
from kronbench_suite.runner.columns import Columns, columns_measured, columns_shown
from kronbench_suite.runner.items import Plan
from kronbench_suite.runner.plans import load_scales
from kronbench_suite.runner.provenance import words_of_code

_LONGEST_NAME = 60  # characters of a column, or of an entry that a claim names
_WORD = re.compile(r"[^\W\d_]+")  # a word of a name: what code adds is joined by other characters
_PLACEHOLDER = re.compile(r"\{(\w[\w.-]*)\}")


@dataclass(frozen=True)
class Statements:
    """What the files of claims say of the papers of a plan, each a mapping with its ``paper``.

    ``claims`` are judged, or say why they cannot be; ``inconsistencies`` are places where a paper
    contradicts itself or its data.
    """

    claims: list[dict]
    inconsistencies: list[dict]


def load_statements(plan: Plan) -> Statements:
    """Read the files of claims on the papers of a plan; InputError names the first fault."""
    statements = Statements([], [])
    ids, names_of = set(), functools.cache(functools.partial(_names_of_items, plan))
    for paper in plan.papers:
        for path in paper_folder(paper).claims:
            file = "/".join(("papers", *path.parts[-3:]))
            content = read_yaml(path)
            validate(content, "claims", file)
            entries = content.get("inconsistencies", [])
            statements.inconsistencies.extend({"paper": paper, **entry} for entry in entries)
            for entry in content.get("claims", []):
                # what all entries of a file share, and what an entry says itself
                entry = {"paper": paper, "whose": PAPER, **content.get("shared", {}), **entry}
                for claim in _each(entry, f"{file}: claim '{entry['id']}'"):
                    # Folds share training pairs: the paper's protocol says how much.
                    protocol = plan.papers[paper].get("protocol", {})
                    spread = claim.get("check", {}).get("spread", {})
                    if spread.get("over") == ["fold"] and "test_over_train" not in spread:
                        spread |= protocol.get("spread", {})
                    _check_claim(f"{file}: claim '{claim['id']}'", claim, plan, ids, names_of)
                    statements.claims.append(claim)
    return statements


def _each(entry, where):
    """The entry once for each combination of what it is ``for``, the last name fastest.

    ``alike`` is the sentence that all of them share, with an ellipsis for each placeholder.
    """
    entry = {**entry, "alike": _PLACEHOLDER.sub("…", entry["sentence"])}
    # For each name the cells that it takes in turn: what {name} and {name.field} stand for.
    axes = []
    for name, values in entry.pop("for", {}).items():
        cells = []
        for value in values:
            fields = values[value] if isinstance(values, Mapping) else {}
            fields = fields if isinstance(fields, Mapping) else {"id": fields}
            cells.append({name: value} | {f"{name}.{key}": text for key, text in fields.items()})
        axes.append(cells)
    for combination in itertools.product(*axes):
        yield _filled(entry, ChainMap(*combination), where)


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
            raise InputError(f"{where} has the placeholder {{{name}}}, which its 'for' lacks")
    if alone := _PLACEHOLDER.fullmatch(entry):
        return cells[alone[1]]
    return _PLACEHOLDER.sub(lambda match: str(cells[match[1]]), entry)


def _check_claim(place, claim, plan, ids, names_of):
    """Refuse a claim that could not be judged, and say in it whether it reads a clock."""
    # Keys that every claim has, perhaps from what its file shares.
    for key in ("place", "item", "strictness"):
        if key not in claim and (key != "strictness" or "check" in claim):
            raise InputError(f"{place} lacks the key '{key}'")
    if not re.fullmatch("[a-z0-9-]+", claim["id"]):
        raise InputError(f"{place} has an id with other characters than a to z, 0 to 9 and '-'")
    if claim["id"] in ids:
        raise InputError(f"{place} is given twice; give one of them another id")
    ids.add(claim["id"])
    if ("check" in claim) == ("untestable" in claim):
        raise InputError(
            f"{place} needs either a check or, under 'untestable', why there can be none here"
        )
    # The items that it reads, and those that show its cause.
    columns = _columns(place, claim, claim.get("check", {}).get("where"), plan)
    claim["timing"] = False
    if "because" in claim:
        entry = shown_by(claim)
        _columns(f"{place}, its reason,", entry, entry["where"], plan)
        shown = [entry["value"], entry.get("by", [])]
        _check_names(f"{place}, its reason,", entry, shown, entry["where"], names_of)
    if "untestable" in claim:
        claim.pop("strictness", None)  # which its file shares
        return

    # The check, its arguments, and the columns of its repeats.
    arguments = dict(claim["check"])
    kind = arguments.pop("kind")
    where = arguments.pop("where", None)
    if kind not in CHECKS:
        raise InputError(
            f"{place} names the check '{kind}'; kronbench_suite.report.checks has "
            f"{', '.join(CHECKS)}"
        )
    try:
        inspect.signature(CHECKS[kind]).bind(None, **arguments)
    except TypeError as error:
        raise InputError(f"{place} gives the check '{kind}' other arguments: {error}") from None
    for column in arguments.get("spread", {}).get("over", ()):
        if column not in columns.repeats:
            raise InputError(
                f"{place} takes the spread over '{column}', which tells no repeats apart; "
                f"these do: {', '.join(columns.repeats) or 'none'}"
            )
    # Every name in it must be one that some scale has.
    named = [argument for key, argument in arguments.items() if key != "spread"]
    _check_names(place, claim, named, where, names_of)
    # Seconds of one machine are compared with each other alone.
    value = judged_column(arguments)
    if value in columns.clock and kind not in ("ratio", "scales"):  # where the unit cancels
        raise InputError(
            f"{place} judges absolute seconds, which depend on the machine as on the method: "
            "give a ratio of one run"
        )
    claim["timing"] = value in columns.timed


def shown_by(claim: Mapping) -> dict:
    """The rows and the column that show the reason of a claim."""
    return {"paper": claim["paper"], "item": claim["item"], **claim["because"]["shown_by"]}


def _columns(place, entry, where, plan):
    """What is declared of the columns of the items that an entry reads, by a query that can be."""
    columns = Columns()
    for name in (entry["item"], *entry.get("also", ())):
        if name not in plan.papers[entry["paper"]]["items"]:
            raise InputError(f"{place} reads {entry['paper']} {name}, which is not an item")
        item = plan.item(entry["paper"], name)
        measured = entry.get("reads") == "measurements"
        columns |= columns_measured(item) if measured else columns_shown(item)
    try:
        list(compared_in(where or "True"))
    except SyntaxError as error:
        raise InputError(
            f"{place} has a 'where' that cannot be read: {where} ({error.msg})"
        ) from None
    return columns


def _check_names(place, entry, named, where, names_of):
    """Refuse a name of a column or a row that no scale has, since nothing could make it.

    What a table has is known once it is measured. Before that, a name must stand in the
    parameters, the printed numbers or the code of the item, or each of its words must, since code
    joins names. Data sets are known by their whole names. Numbers are not looked for.
    """
    items = (entry["item"], *entry.get("also", ()))
    names, words = names_of(entry["paper"], items)
    asked = [[column, values] for column, values in compared_in(where or "True")]
    datasets = [value for column, values in asked if column == "dataset" for value in values]
    for name in _nested_texts([named, asked]):
        joined = all(word in words for word in _WORD.findall(name)) and name not in datasets
        if name not in names and not joined:
            raise InputError(
                f"{place} asks for '{name}', which {entry['paper']} {' and '.join(items)} has at "
                "no scale: neither parameters, printed numbers nor code name it"
                + nearest(name, sorted(names))
            )


def _names_of_items(plan, paper, item_names):
    """What can name a column or a row of some items at any scale, and the words of such names."""
    items = [plan.item(paper, name) for name in item_names]
    items += [other for item in items for other in item.numbers_of]
    names = {"item", "of", *item_names}
    for item in items:
        # from the parameters at every scale, the entry in paper.yaml, code, and printed tables
        content = plan.papers[item.paper]
        scales = [scale.config["papers"].get(item.paper, {}) for scale in load_scales()]
        scales += content.get("scales", {}).values()
        names.update(_nested_texts([scale.get(item.tables_of) for scale in scales]))
        entries = [content["items"][name] for name in {item.name, item.tables_of}]
        names.update(_nested_texts([entries, item.parameters]), words_of_code(item))
        for file in item.printed_files:
            table = pd.read_csv(file, dtype=str)
            names.update(table, *(table[column].dropna() for column in table))
    short = (name for name in names if len(name) <= _LONGEST_NAME)
    return names, {word for name in short for word in _WORD.findall(name)}


def _nested_texts(content):
    """All texts in nested lists and mappings, their keys among them."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping | list | tuple):
        for entry in content:
            yield from _nested_texts(entry)
            if isinstance(content, Mapping):
                yield from _nested_texts(content[entry])


def compared_in(where: str) -> Iterator[tuple[str, list]]:
    """Each column that a query names, and the values that it asks of one by ``==`` or ``in``."""
    # Names in backticks, which Python cannot read, stand for themselves by their places.
    quoted = re.findall("`([^`]*)`", where)
    plain = re.sub("`[^`]*`", lambda match: f"_{quoted.index(match[0][1:-1])}_", where)
    names = {f"_{position}_": name for position, name in enumerate(quoted)}
    for node in ast.walk(ast.parse(plain.strip(), mode="eval")):
        if isinstance(node, ast.Name):
            yield names.get(node.id, node.id), []
        if not (isinstance(node, ast.Compare) and isinstance(node.left, ast.Name)):
            continue
        for operator, side in zip(node.ops, node.comparators, strict=True):
            entries = side.elts if isinstance(side, ast.Tuple | ast.List) else [side]
            asked = []
            for entry in entries if isinstance(operator, ast.Eq | ast.In) else ():
                with contextlib.suppress(ValueError):  # another column, or what is computed
                    asked.append(ast.literal_eval(entry))
            yield names.get(node.left.id, node.left.id), asked
