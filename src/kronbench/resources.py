"""Where files lie: those that travel with the package, and the user's cache.

A checkout holds configuration and schemas at its top level; an installed wheel holds copies
inside the package.
"""

import os
import re
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]

# Where the package ``kronbench.papers`` looks for folders: in itself, then beside those added.
PAPERS_PATH = [os.fspath(_PACKAGE / "papers")]
ADDED_PAPERS: dict[str, Path] = {}  # from outside, by name


def cache_folder() -> Path:
    """``KRONBENCH_CACHE``, or ``kronbench`` in ``XDG_CACHE_HOME``, by default ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("KRONBENCH_CACHE") or f"{base}/kronbench").expanduser()


def checkout_path(*parts: str) -> Path:
    """Path of a file of the workflow; with an installed wheel, of one in the current folder."""
    base = _CHECKOUT if (_CHECKOUT / "Snakefile").exists() else Path.cwd()
    return base.joinpath(*parts)


def config_path(*parts: str) -> Path:
    """Path of a file below ``config/``."""
    return _find("config", _CHECKOUT / "config").joinpath(*parts)


def shipped_papers() -> list[str]:
    """The papers that have a folder here, by name."""
    return sorted(file.parent.name for file in package_path("papers").glob("*/paper.yaml"))


def add_paper(folder: Path) -> None:
    """Make a paper from outside known to this process, under the name of its folder.

    Its modules can then be imported as ``kronbench.papers.<name>.measure`` and ``.draw``.
    """
    ADDED_PAPERS[folder.name] = folder
    if os.fspath(folder.parent) not in PAPERS_PATH:
        PAPERS_PATH.append(os.fspath(folder.parent))


def paper_path(paper: str, *parts: str) -> Path:
    """Path of a file in the folder of a paper."""
    return package_path("papers", paper, *parts)


def claim_files(paper: str) -> list[Path]:
    """The files of claims on a paper, in the order of their names."""
    return sorted(paper_path(paper, "claims").glob("*.yaml"))


def printed_path(paper: str, name: str) -> Path:
    """Path of a paper's printed numbers; ``name`` may begin with another paper: "airola/..."."""
    other, _, file = name.rpartition("/")
    return paper_path(other or paper, "printed", file)


def package_path(*parts: str) -> Path:
    """Path of a file inside the package; of a paper from outside, in its own folder."""
    if parts[:1] == ("papers",) and len(parts) > 1 and parts[1] in ADDED_PAPERS:
        return ADDED_PAPERS[parts[1]].joinpath(*parts[2:])
    return _PACKAGE.joinpath(*parts)


def schema_path(name: str) -> Path:
    """Path of ``<name>.schema.yaml`` below ``workflow/schemas/``."""
    return _find("schemas", _CHECKOUT / "workflow" / "schemas") / f"{name}.schema.yaml"


def without_credentials(url: str) -> str:
    """An address for messages and notes, without user name and password."""
    return re.sub(r"(?<=://)[^/?#]*@", "", url)


def _find(installed: str, checkout: Path) -> Path:
    inside = _PACKAGE / installed
    return inside if inside.is_dir() else checkout
