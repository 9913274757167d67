"""The page of checks, from their docstrings; ``python docs/checks.py`` writes it."""

import inspect
from pathlib import Path

import yaml

from kronbench.yaml_files import read_yaml
from kronbench_suite.report import checks
from kronbench_suite.resources import paper_folder, shipped_papers

CONFIG = Path(__file__).parents[1] / "config" / "config.yaml"
PAGE = Path(__file__).parent / "reference" / "checks.md"

HEAD = """\
# The checks of claims

Written by `python docs/checks.py` from `kronbench_suite.report.checks`. An entry of a paper's
`claims/` has a `check` with the `kind` of this page and its arguments. `where` selects the rows,
by a query on their columns: `where: method == 'SVM' and fold in (0, 1)`. A name that no scale has
is refused before any job. In the examples, which are of shipped papers, `{name}` is filled in from
the `for` of the entry. [What a verdict says](../verdicts.md) has the rules of intervals and
groups.

All have in common:
"""


def page() -> str:
    """Each kind with what it says, its arguments, and the shortest entry of a shipped paper."""
    parts = [HEAD, "\n", _text(checks.__doc__.partition("All have in common:\n\n")[2]), "\n"]
    for kind, check in checks.CHECKS.items():
        arguments = list(inspect.signature(check).parameters.values())[1:]
        names = ", ".join(
            f"`{one.name}`" if one.default is one.empty else f"`{one.name}` ({one.default!r})"
            for one in arguments
        )
        parts.append(f"\n## {kind}\n\n{_text(check.__doc__)}\n\n")
        parts.append(f"Arguments, with the default of those that can be left out: {names}.\n\n")
        parts.append(f"Example: `check: {_example(kind)}`\n")
    return "".join(parts)


def _text(docstring):
    return inspect.cleandoc(docstring).replace("``", "`")


def _example(kind):
    """The shortest check of that kind in a paper that the configuration lists, written out."""
    entries = [
        entry["check"]
        for paper in filter(shipped_papers().__contains__, read_yaml(CONFIG)["papers"])
        for file in paper_folder(paper).claims
        for entry in read_yaml(file).get("claims", [])
        if entry.get("check", {}).get("kind") == kind
    ]
    written = [
        yaml.safe_dump(
            entry, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6
        ).strip()
        for entry in entries
    ]
    return min(written, key=lambda text: ("{" in text[1:], len(text)))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
