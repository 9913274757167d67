"""Every key of the YAML files: ``python docs/config_manual.py`` writes ``config/README.md``."""

import re

from kronbench.resources import config_path, schema_path
from kronbench.yaml_files import read_yaml

SCHEMAS = ("config", "paper", "claims", "datasets", "outside", "field_best")

_HEAD = """\
# The files of this folder

`python docs/config_manual.py` writes this page from the descriptions in `workflow/schemas/`. The
schemas check these files before any work, and refuse unknown keys. The files of a paper are in
`src/kronbench_suite/papers/<paper>/`: `paper.yaml`, `claims/`, and its numbers in `printed/`.
"""


def manual() -> str:
    """All keys of all files as Markdown, nested as in the files."""
    parts = [_HEAD]
    for name in SCHEMAS:
        schema = read_yaml(schema_path(name))
        parts.append(f"\n## {schema['description']}\n\n")
        parts += [f"{line}\n" for line in _keys(schema, schema, 0)]
    return "".join(parts)


def _keys(entry, schema, depth):
    """A line for each key of a mapping, those of nested mappings indented below it."""
    required = entry.get("required", ())
    for key, value in entry.get("properties", {}).items():
        yield from _key(f"`{key}`", value, schema, depth, key in required)
    named = entry.get("additionalProperties")
    if isinstance(named, dict):
        yield from _key("*name*", named, schema, depth, False)


def _key(key, value, schema, depth, required):
    if "$ref" in value:
        value = {**schema["$defs"][value["$ref"].rsplit("/", 1)[1]], **value}
    kind = ", ".join([_kind(value), *(["required"] if required else [])])
    description = value.get("description", "")
    yield f"{'  ' * depth}- {key} ({kind}){f': {description}' if description else ''}"
    inner = value.get("items", value) if _kind(value).startswith("list") else value
    yield from _keys(inner, schema, depth + 1)


def _kind(value):
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    kinds = value["type"] if isinstance(value["type"], list) else [value["type"]]
    names = {"object": "mapping", "string": "text", "boolean": "true or false"}
    kinds = [names.get(kind, kind) for kind in kinds]
    if "array" in kinds:
        kinds[kinds.index("array")] = re.sub(r"^\w+", r"list of \g<0>s", _kind(value["items"]))
    return " or ".join(kinds)


if __name__ == "__main__":
    config_path("README.md").write_text(manual(), encoding="utf-8")
