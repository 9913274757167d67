"""Where papers and studies lie: in this package, or in folders from outside; and the checkout."""

import os
from pathlib import Path

from kronbench.resources import ADDED_REGISTRIES, CHECKOUT

_PACKAGE = Path(__file__).resolve().parent

# Where the package of the papers looks for folders: in itself, then beside those added.
PAPERS_PATH = [os.fspath(_PACKAGE / "papers")]
ADDED_PAPERS: dict[str, Path] = {}  # from outside, by name


def checkout_path(*parts: str) -> Path:
    """Path of a file of the workflow; with an installed wheel, of one in the current folder."""
    base = CHECKOUT if (CHECKOUT / "Snakefile").exists() else Path.cwd()
    return base.joinpath(*parts)


def shipped_papers() -> list[str]:
    """The papers, and the studies of our own, that have a folder here, by name."""
    return sorted(file.parent.name for file in _PACKAGE.glob("[ps]*/*/paper.yaml"))


def package_of(paper: str) -> str:
    """The package of a paper's modules: our own studies lie beside the papers."""
    room = "studies" if (_PACKAGE / "studies" / paper).is_dir() else "papers"
    return f"kronbench_suite.{room}.{paper}"


def add_paper(folder: Path) -> None:
    """Make a paper from outside known to this process, under the name of its folder.

    Its modules can then be imported as ``kronbench_suite.papers.<name>.measure`` and ``.draw``.
    """
    ADDED_PAPERS[folder.name] = folder
    if (file := folder / "data.yaml") not in ADDED_REGISTRIES:
        ADDED_REGISTRIES.append(file)
    if os.fspath(folder.parent) not in PAPERS_PATH:
        PAPERS_PATH.append(os.fspath(folder.parent))


def paper_path(paper: str, *parts: str) -> Path:
    """Path of a file in the folder of a paper."""
    return package_path(*package_of(paper).split(".")[1:], *parts)


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
