"""Where papers and studies lie: in this package, or in folders from outside; and the checkout."""

import os
from dataclasses import dataclass
from pathlib import Path

from kronbench.resources import ADDED_REGISTRIES, CHECKOUT

_PACKAGE = Path(__file__).resolve().parent
_ROOMS = ("papers", "studies")  # which hold a folder for each

# Where the package of the papers looks for folders: in itself, then beside those added.
PAPERS_PATH = [os.fspath(_PACKAGE / "papers")]
ADDED_PAPERS: dict[str, Path] = {}  # from outside, by name

# The data sets of a shipped paper are known wherever the suite is imported, as those of a folder
# from outside are once it is added.
ADDED_REGISTRIES += sorted(
    file for room in _ROOMS for file in _PACKAGE.glob(f"{room}/*/data.yaml")
)


@dataclass(frozen=True)
class PaperFolder:
    """The files and modules of one paper, or of one study of our own."""

    name: str
    path: Path
    package: str  # the import path of its modules; a folder from outside is one of the papers

    def module(self, part: str, name: str) -> str:
        """The import path of a module in one of its folders, such as ``measure``."""
        return f"{self.package}.{part}.{name}"

    def printed(self, name: str) -> Path:
        """A file of printed numbers; ``name`` may begin with another paper: "airola/..."."""
        other, _, file = name.rpartition("/")
        folder = paper_folder(other) if other else self
        return folder.path / "printed" / file

    @property
    def claims(self) -> list[Path]:
        """Its files of claims, in the order of their names."""
        return sorted((self.path / "claims").glob("*.yaml"))


def paper_folder(name: str) -> PaperFolder:
    """The folder of a paper: one from outside, a study beside the papers, or a shipped paper."""
    is_study = name not in ADDED_PAPERS and (_PACKAGE / "studies" / name).is_dir()
    room = "studies" if is_study else "papers"
    return PaperFolder(name, package_path(room, name), f"kronbench_suite.{room}.{name}")


def shipped_papers() -> list[str]:
    """The papers, and the studies of our own, that have a folder here, by name."""
    files = (file for room in _ROOMS for file in _PACKAGE.glob(f"{room}/*/paper.yaml"))
    return sorted(file.parent.name for file in files)


def add_paper(folder: Path) -> None:
    """Make a paper from outside known to this process, under the name of its folder.

    Its modules can then be imported as ``kronbench_suite.papers.<name>.measure`` and ``.plot``.
    """
    ADDED_PAPERS[folder.name] = folder
    if (file := folder / "data.yaml") not in ADDED_REGISTRIES:
        ADDED_REGISTRIES.append(file)
    if os.fspath(folder.parent) not in PAPERS_PATH:
        PAPERS_PATH.append(os.fspath(folder.parent))


def package_path(*parts: str) -> Path:
    """Path of a file inside the package; of a paper from outside, in its own folder."""
    if parts[:1] == ("papers",) and len(parts) > 1 and parts[1] in ADDED_PAPERS:
        return ADDED_PAPERS[parts[1]].joinpath(*parts[2:])
    return _PACKAGE.joinpath(*parts)


def checkout_path(*parts: str) -> Path:
    """Path of a file of the workflow; with an installed wheel, of one in the current folder."""
    base = CHECKOUT if (CHECKOUT / "Snakefile").exists() else Path.cwd()
    return base.joinpath(*parts)
