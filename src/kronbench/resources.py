"""Where files lie: configuration and schemas, which travel with the package, and the user's cache.

A checkout holds configuration and schemas at its top level; an installed wheel holds copies
inside the package.
"""

import os
import re
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent
CHECKOUT = LIBRARY.parents[1]

# Files of data sets that are read beside ``config/datasets.yaml``, such as those of a paper.
ADDED_REGISTRIES: list[Path] = []


def cache_folder() -> Path:
    """``KRONBENCH_CACHE``, or ``kronbench`` in ``XDG_CACHE_HOME``, by default ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("KRONBENCH_CACHE") or f"{base}/kronbench").expanduser()


def config_path(*parts: str) -> Path:
    """Path of a file below ``config/``."""
    return _find("config", CHECKOUT / "config").joinpath(*parts)


def schema_path(name: str) -> Path:
    """Path of ``<name>.schema.yaml`` below ``workflow/schemas/``."""
    return _find("schemas", CHECKOUT / "workflow" / "schemas") / f"{name}.schema.yaml"


def without_credentials(url: str) -> str:
    """An address for messages and notes, without user name and password."""
    return re.sub(r"(?<=://)[^/?#]*@", "", url)


def _find(installed: str, checkout: Path) -> Path:
    inside = LIBRARY / installed
    return inside if inside.is_dir() else checkout
