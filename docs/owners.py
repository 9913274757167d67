"""Authors, address and DOI stand in CITATION.cff: ``python docs/owners.py`` writes them elsewhere.

They go into codemeta.json, pyproject.toml, README.md and docs/index.md; a test says where one of
these differs. The owners fill in ``authors``, and add ``repository-code`` and ``doi``.
"""

import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
_MORE = "; replace ADDRESS with the repository URL"


def files() -> dict[str, str]:
    """The text of each file, as CITATION.cff has it to be."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    names = ("codemeta.json", "pyproject.toml", "README.md", "docs/index.md")
    text = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    authors, address = citation["authors"], citation.get("repository-code")

    codemeta = json.loads(text["codemeta.json"])
    codemeta["author"] = [_described(author) for author in authors]
    if address:
        codemeta["codeRepository"] = address
    if doi := citation.get("doi"):
        codemeta["identifier"] = f"https://doi.org/{doi}"
    text["codemeta.json"] = json.dumps(codemeta, indent=2, ensure_ascii=False) + "\n"

    listed = ", ".join(f'{{ name = "{_name(author)}" }}' for author in authors)
    project = re.sub(
        r"^authors = .*$", f"authors = [{listed}]", text["pyproject.toml"], flags=re.M
    )
    if address:
        project = re.sub(r"^\[project\.urls\]\n.*\n\n", "", project, flags=re.M)
        urls = f'[project.urls]\nRepository = "{address}"\n\n[project.scripts]'
        project = project.replace("[project.scripts]", urls)
        for name in ("README.md", "docs/index.md"):
            told = re.sub(r"@ git\+\S+@v", f"@ git+{address}@v", text[name])
            text[name] = told.replace(_MORE, "")
    text["pyproject.toml"] = project
    return text


def _name(author):
    """An author in one string."""
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _described(author):
    """An author as codemeta has it."""
    if "name" in author:
        return {"@type": "Organization", "name": author["name"]}
    person = {"familyName": author["family-names"], "givenName": author["given-names"]}
    known = {"@id": author["orcid"]} if "orcid" in author else {}
    return {"@type": "Person"} | known | person


if __name__ == "__main__":
    for name, text in files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
