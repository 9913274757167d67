"""The page of data sets, from the registry; ``python docs/data_sets.py`` writes it."""

from pathlib import Path

from kronbench.resources import config_path
from kronbench.yaml_files import read_yaml

PAGE = Path(__file__).parent / "data-sets.md"

HEAD = """\
# The data sets and their terms

Written by `python docs/data_sets.py` from `config/datasets.yaml`. None of the data is part of this
repository or of an archive of results. Whoever fetches a file accepts its terms, as far as they
are known.
`kronbench data describe NAME` has addresses, checksums and sizes.
"""


def page() -> str:
    """Data sets by terms and citation, in the order of the registry."""
    groups = {}
    for name, entry in read_yaml(config_path("datasets.yaml")).items():
        groups.setdefault((entry["licence"], entry["citation"]), []).append((name, entry))
    parts = [HEAD]
    for (licence, citation), entries in groups.items():
        names = ", ".join(name for name, _ in entries)
        if len(entries) > 5:
            names = f"{entries[0][0]} and {len(entries) - 1} more"
        parts.append(f"\n## {names}\n\n")
        parts.append(f"Licence: {_line(licence)}\n\nCite: {_line(citation)}\n\n")
        parts.append("| name | what it is | beside the paper's |\n|---|---|---|\n")
        for name, entry in entries:
            parts.append(f"| `{name}` | {_line(entry['title'])} | {_beside(entry)} |\n")
    return "".join(parts)


def _line(text):
    return " ".join(text.split()).replace("|", "\\|")


def _beside(entry):
    notes = [entry["agreement"]] if "agreement" in entry else []
    others = entry.get("other_data", {})
    notes += [f"other data ({paper}): {_line(text)}" for paper, text in others.items()]
    return "; ".join(notes)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
