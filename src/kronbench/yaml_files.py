"""Reading the project's YAML files: each fault is one sentence that names file and place."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from kronbench.errors import InputError, extra_for
from kronbench.resources import schema_path

_NUMBER = re.compile(
    r"[+-]?(((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf|nan)", re.I | re.A
)


def read_yaml(path: str | Path) -> Any:
    """The content of a YAML file, in which no key may be given twice."""
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_OnceLoader)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:  # no UTF-8, or too many digits
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None


def validate(content: object, schema: str, what: str | Path) -> None:
    """Check against ``<schema>.schema.yaml``, in one sentence with the place of a fault."""
    with extra_for(f"the check of {what}"):
        import jsonschema
    validator = jsonschema.Draft202012Validator(read_yaml(schema_path(schema)))
    errors = validator.iter_errors(content)
    error = min(errors, key=lambda error: list(map(str, error.absolute_path)), default=None)
    if error is None:
        return
    place = ".".join(map(str, error.absolute_path))
    message = error.message
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        unknown = [key for key in error.instance if key not in known]
        message = f"unknown key {', '.join(map(repr, unknown))}; known are: {', '.join(known)}"
    raise InputError(f"{what}: {place + ': ' if place else ''}{message}")


def number_or_text(text: str) -> int | float | str:
    """The number that a text is, a whole one where it can be; else the text itself.

    What a number would not keep stays text: "007", "1_000", "1e400", digits of other scripts.
    """
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    if math.isinf(number) and text[-1].isdigit():
        return text
    return number if set(text) & set(".eEnN") else int(text)


class _OnceLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Safe YAML in which a key given twice is an error, not the loss of the first."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", node.start_mark
                )
        return super().construct_mapping(node, deep=deep)
